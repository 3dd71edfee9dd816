"""The main job on a built-in population: people with daily screen time, some for three days and some for three years.

Nothing here is a shortcut: every person's records go through the device code, with real coins and the strict report
codec.
"""

from __future__ import annotations

import random
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dame.device.answering import answer_with_coins
from dame.device.assignment import slot_of
from dame.device.coins import Coins, SystemCoins
from dame.device.questions import Question
from dame.device.reports import Report, report_bytes
from dame.estimates import Outcome, to_units
from dame.planning.machines import MachinePlan
from dame.populations.distributions import Beta
from dame.protocols import drive_one
from dame.sizes import Sizes
from dame.studies.plans import Plan
from dame.studies.study import plan as make_plan
from dame.tally import Tally

HOURS = (0.0, 12.0)
DAYS = "zipf:1.2:1000"
DAILY = Beta(2.0, 3.6)
UNIT = "hours a day"


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """A study that was carried out: what was planned, what was asked, counted and found, and the truth."""

    study: Plan
    outcome: Outcome
    true_mean: float
    records: int
    bytes_sent: int
    seconds: float

    @property
    def plan(self) -> MachinePlan:
        """The one machine of the study."""
        return self.study.only


class _RepeatableCoins:
    """Words from a seed: for a demonstration that can be repeated, never for a person's report."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def words(self, count: int) -> Sequence[int]:
        return [self._random.getrandbits(64) for _ in range(count)]


def run_demo(
    users: int,
    alpha: float,
    protocol: str,
    seed: int | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Demo:
    """One study, device by device; `progress` is told after each round how many devices have answered."""
    started = time.perf_counter()
    sizes = Sizes.parse(DAYS)
    study = "screen-time-" + (secrets.token_hex(8) if seed is None else str(seed))
    plan = make_plan(users=users, alpha=alpha, sizes=sizes, protocol=protocol, bounds=HOURS, study=study)
    people = _people(users, sizes, np.random.default_rng(seed))
    outcome = _carried_out(plan.only, people, SystemCoins() if seed is None else _RepeatableCoins(seed), progress)
    return Demo(
        study=plan,
        outcome=outcome,
        true_mean=to_units(DAILY.mean, *HOURS),
        records=sum(map(len, people)),
        bytes_sent=sum(tally.reports * report_bytes(tally.question) for tally in outcome.tallies),
        seconds=time.perf_counter() - started,
    )


def _people(users: int, sizes: Sizes, rng: np.random.Generator) -> list[list[float]]:
    """Each person's daily hours, one list for each device."""
    days = sizes.sample(rng, users)
    hours = (DAILY.records(rng, int(days.sum())) + 1) * (HOURS[1] - HOURS[0]) / 2 + HOURS[0]
    return [person.tolist() for person in np.split(hours, np.cumsum(days)[:-1])]


def _carried_out(
    plan: MachinePlan, people: Sequence[Sequence[float]], coins: Coins, progress: Callable[[int], None]
) -> Outcome:
    own = [slot_of(plan.study, plan.shares, f"person-{number}") for number in range(len(people))]
    answered = 0

    def answer(question: Question) -> Tally:
        nonlocal answered
        asked = [records for records, slot in zip(people, own, strict=True) if slot == question.round]
        tally = _collect(question, asked, coins)
        answered += tally.reports
        progress(answered)
        return tally

    return drive_one(plan, answer)


def _collect(question: Question, asked: Sequence[Sequence[float]], coins: Coins) -> Tally:
    """The tally of a slot: each device answers, its report travels as bytes, and is decoded and added."""
    tally = Tally.zero(question)
    for records in asked:
        sent = answer_with_coins(question, records, coins).encode(question)
        tally = tally.add(Report.decode(question, sent))
    return tally
