"""The experiments by name, in the order of the report."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dame.errors import InvalidInput
from dame.experiments import (
    adaptive,
    figure_1_bottom,
    figure_1_top,
    figure_2,
    figure_2_published,
    minority,
    one_round,
    power_law,
    table_1,
    table_2,
)
from dame.experiments.base import Experiment

_ORDER = (
    figure_1_top,
    figure_1_bottom,
    figure_2,
    figure_2_published,
    power_law,
    table_1,
    table_2,
    adaptive,
    minority,
    one_round,
)

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {module.EXPERIMENT.name: module.EXPERIMENT for module in _ORDER}
)
ALL = "all"


def chosen(name: str) -> list[Experiment]:
    """The experiment of that name, or all of them."""
    if name == ALL:
        return list(EXPERIMENTS.values())
    if name not in EXPERIMENTS:
        raise InvalidInput("experiment", name, f"one of {', '.join((*EXPERIMENTS, ALL))}")
    return [EXPERIMENTS[name]]
