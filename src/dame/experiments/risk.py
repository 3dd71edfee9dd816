"""Measured risk: studies of one protocol at one setting, simulated many times, for every θ that is asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dame.device.lenses import Windows
from dame.device.parts import narrowed
from dame.estimates import Outcome, read_window
from dame.experiments.base import Task
from dame.experiments.style import AUTHORS
from dame.experiments.tidy import Row, Value
from dame.planning.machines import MachinePlan
from dame.populations.distributions import rademacher
from dame.populations.population import Population
from dame.populations.simulation import simulate_once, wrong_window
from dame.protocols import plan_mean
from dame.sizes import Sizes

ALPHA = 22 / 35
PUBLISHED = ("duchi", "kent", "paper")
"""The protocols of the paper's figures."""
PROTOCOLS = (*PUBLISHED, "one-bit", "adaptive")
CHEAP = (*PUBLISHED, "one-bit")
"""Those whose plans cost nothing; that of `adaptive` takes seconds for sizes that are spread out."""
THETAS = (0.0, 0.5)
SEEDS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskTask(Task):
    """One plan, `repetitions` studies for each θ with records of -1 and 1, and one row for each θ.

    `point` are further columns of the rows. All protocols of a point share its stream: where two plans are the same,
    so are their rows. With `reread`, the tallies are also read with the divisor of the authors' code; `choices` are
    what the planner is told besides.
    """

    index: int
    point: tuple[tuple[str, Value], ...]
    sizes: str
    users: int
    protocol: str
    alpha: float = ALPHA
    thetas: tuple[float, ...] = THETAS
    repetitions: int = SEEDS
    reread: bool = False
    choices: tuple[tuple[str, float], ...] = ()

    @property
    def stream(self) -> int:
        """The number of the point."""
        return self.index

    def rows(self, seed: int) -> list[Row]:
        """For each θ the squared errors of the studies: mean, median, 10 % and 90 % quantile."""
        sizes = Sizes.parse(self.sizes)
        setting = {"users": self.users, "alpha": self.alpha, "protocol": self.protocol, **dict(self.choices)}
        plan = plan_mean(sizes=sizes, study="reproduce", **setting)  # type: ignore[arg-type]
        return [row for theta in self.thetas for row in self._rows_at(plan, theta, seed)]

    def _rows_at(self, plan: MachinePlan, theta: float, seed: int) -> Iterator[Row]:
        population = Population.synthetic(plan.brief.sizes, rademacher(theta))
        children = np.random.SeedSequence(seed).spawn(self.repetitions)
        studies = [simulate_once(plan, population, np.random.default_rng(child)) for child in children]
        failures = sum(wrong_window(plan, outcome, theta) for outcome in studies)
        values = np.array([outcome.estimate.value for outcome in studies])
        yield self._row(plan, self.protocol, theta, values, failures)
        if self.reread:
            yield self._row(plan, AUTHORS, theta, np.array([authors_reading(plan, one) for one in studies]), failures)

    def _row(self, plan: MachinePlan, protocol: str, theta: float, values: NDArray[np.float64], failures: int) -> Row:
        errors = (values - theta) ** 2
        low, middle, high = (float(q) for q in np.quantile(errors, (0.1, 0.5, 0.9)))
        forecast = plan.forecast
        return {
            **dict(self.point),
            "sizes": plan.brief.sizes.label,
            "users": self.users,
            "alpha": self.alpha,
            "theta": theta,
            "protocol": protocol,
            "m_tilde": int(plan.details["m_tilde"]) if "m_tilde" in plan.details else "",
            "repetitions": len(values),
            "mean": float(errors.mean()),
            "mean_se": float(errors.std() / math.sqrt(len(errors))),
            "median": middle,
            "p10": low,
            "p90": high,
            "mean_estimate": float(values.mean()),
            "failures": failures,
            "predicted": forecast.predicted_rmse_with_failures**2,
            "limit": forecast.limit_mse,
            "lower_bound": forecast.lower_bound,
            "upper_bound": forecast.upper_bound,
        }


def authors_reading(plan: MachinePlan, outcome: Outcome) -> float:
    """The estimate of the same tallies with E min(m, sqrt(m̃)) where E sqrt(min(m, m̃)) belongs."""
    tally = outcome.tallies[1]
    lens = narrowed(Windows, tally.question.lens)
    right, wrong = divisors(plan.brief.sizes, float(lens.cap or 1.0))
    return min(max(read_window(tally, lens, right).value * right / wrong, -1.0), 1.0)


def divisors(sizes: Sizes, m_tilde: float) -> tuple[float, float]:
    """The paper's divisor E sqrt(min(m, m̃)), and that of the authors' code, E min(m, sqrt(m̃))."""
    root = math.sqrt(m_tilde)
    return sizes.mean_sqrt(m_tilde), sizes.expectation(lambda m: np.minimum(m, root))


def risk_tasks(
    points: Sequence[tuple[tuple[tuple[str, Value], ...], str]], users: int, protocols: Sequence[str], repetitions: int
) -> list[Task]:
    """Tasks for every protocol at every point, given by its columns and its sizes; DAME is also read wrongly."""
    return [
        RiskTask(
            index=index,
            point=point,
            sizes=sizes,
            users=users,
            protocol=protocol,
            repetitions=repetitions,
            reread=protocol == "paper",
        )
        for index, (point, sizes) in enumerate(points)
        for protocol in protocols
    ]
