"""Single machines for tests: one run of a simulated study, and the way through JSON."""

from __future__ import annotations

import json

import numpy as np

from dame.estimates import Estimate
from dame.planning.codec import machine_to_json
from dame.planning.machines import MachinePlan
from dame.populations.population import Population
from dame.populations.simulation import simulate_once
from dame.protocols import machine_from_json


def run_machine(plan: MachinePlan, population: Population, seed: int) -> Estimate:
    """What one simulated run of a machine finds."""
    return simulate_once(plan, population, np.random.default_rng(seed)).estimate


def to_json(plan: MachinePlan) -> dict[str, object]:
    """The plan of a machine, as JSON brings it."""
    return json.loads(json.dumps(machine_to_json(plan)))


def from_json(document: object, of: MachinePlan) -> MachinePlan:
    """The plan in a document, for the study and the α of another."""
    return machine_from_json(document, of.study, of.alpha)
