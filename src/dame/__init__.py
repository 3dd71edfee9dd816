"""Means of data that never leave people's devices: user-level local differential privacy with unequal sizes.

    plan = dame.plan(users=10_000, alpha=0.5, sizes=dame.Sizes.parse("poisson:5"))
    estimate = dame.run(plan, dame.Population.synthetic(plan.brief.sizes, dame.parse_distribution("beta:2:6")), seed=1)

Names are loaded when they are first used, so that `dame.device` stays free of third-party imports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dame import device
    from dame.errors import DameError, InvalidInput
    from dame.estimates import Estimate
    from dame.populations.distributions import parse_distribution
    from dame.populations.population import Population
    from dame.populations.simulation import Simulation
    from dame.populations.studies import run, simulate
    from dame.sizes import Sizes
    from dame.studies.codec import plan_from_json, plan_to_json
    from dame.studies.people import distribution, quantiles
    from dame.studies.plans import Plan
    from dame.studies.results import Result
    from dame.studies.running import first, next, questions, result
    from dame.studies.study import Study, plan
    from dame.studies.targets import mean, sd, share
    from dame.tally import Tally

__version__ = "0.1.0"

_HOMES = {
    "DameError": "dame.errors",
    "Estimate": "dame.estimates",
    "InvalidInput": "dame.errors",
    "Plan": "dame.studies.plans",
    "Population": "dame.populations.population",
    "Result": "dame.studies.results",
    "Simulation": "dame.populations.simulation",
    "Sizes": "dame.sizes",
    "Study": "dame.studies.study",
    "Tally": "dame.tally",
    "distribution": "dame.studies.people",
    "first": "dame.studies.running",
    "mean": "dame.studies.targets",
    "next": "dame.studies.running",
    "parse_distribution": "dame.populations.distributions",
    "plan": "dame.studies.study",
    "plan_from_json": "dame.studies.codec",
    "plan_to_json": "dame.studies.codec",
    "quantiles": "dame.studies.people",
    "questions": "dame.studies.running",
    "result": "dame.studies.running",
    "run": "dame.populations.studies",
    "sd": "dame.studies.targets",
    "share": "dame.studies.targets",
    "simulate": "dame.populations.studies",
}

__all__ = [
    "DameError",
    "Estimate",
    "InvalidInput",
    "Plan",
    "Population",
    "Result",
    "Simulation",
    "Sizes",
    "Study",
    "Tally",
    "device",
    "distribution",
    "first",
    "mean",
    "next",
    "parse_distribution",
    "plan",
    "plan_from_json",
    "plan_to_json",
    "quantiles",
    "questions",
    "result",
    "run",
    "sd",
    "share",
    "simulate",
]


def __getattr__(name: str) -> object:
    if name == "device":
        return import_module("dame.device")
    if name not in _HOMES:
        raise AttributeError(f"module 'dame' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
