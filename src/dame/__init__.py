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
    from dame.planning.codec import plan_to_json
    from dame.planning.plans import Plan
    from dame.populations.distributions import parse_distribution
    from dame.populations.population import Population
    from dame.populations.simulation import Simulation, run, simulate
    from dame.protocols import first, next, plan, plan_from_json
    from dame.sizes import Sizes
    from dame.tally import Tally

__version__ = "0.1.0"

_HOMES = {
    "DameError": "dame.errors",
    "Estimate": "dame.estimates",
    "InvalidInput": "dame.errors",
    "Plan": "dame.planning.plans",
    "Population": "dame.populations.population",
    "Simulation": "dame.populations.simulation",
    "Sizes": "dame.sizes",
    "Tally": "dame.tally",
    "first": "dame.protocols",
    "next": "dame.protocols",
    "parse_distribution": "dame.populations.distributions",
    "plan": "dame.protocols",
    "plan_from_json": "dame.protocols",
    "plan_to_json": "dame.planning.codec",
    "run": "dame.populations.simulation",
    "simulate": "dame.populations.simulation",
}

__all__ = [
    "DameError",
    "Estimate",
    "InvalidInput",
    "Plan",
    "Population",
    "Simulation",
    "Sizes",
    "Tally",
    "device",
    "first",
    "next",
    "parse_distribution",
    "plan",
    "plan_from_json",
    "plan_to_json",
    "run",
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
