"""The figures and tables of the paper, one file each, and ours: `reproduce` runs them and writes what they show."""

from dame.errors import MissingExtra

try:
    import matplotlib  # noqa: F401
except ImportError:
    raise MissingExtra("a picture", "plots") from None

from dame.experiments.base import Experiment
from dame.experiments.registry import EXPERIMENTS, chosen
from dame.experiments.run import SEED, ExperimentResult, Reproduction, reproduce, steps

__all__ = ["EXPERIMENTS", "SEED", "Experiment", "ExperimentResult", "Reproduction", "chosen", "reproduce", "steps"]
