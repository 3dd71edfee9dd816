"""Accuracy for the same privacy: the risk of everybody on the same populations, beside the information limit.

Contestants with one round and independent reports are measured by their scores: the estimate is the mean of n scores,
so its risk is the variance of a score over n, plus the squared bias. That is as good as very many repetitions. The
protocols of DAME have several rounds, and are simulated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

import dame
from benchmarks.peers import baselines, packages, scenes
from benchmarks.peers.installed import MISSING, is_installed, titled
from benchmarks.peers.installed import PEERS as PACKAGES
from benchmarks.peers.rows import Row
from benchmarks.peers.scenes import RealTable, Users
from dame.errors import InvalidInput
from dame.populations.simulation import simulate
from dame.protocols import plan_mean
from dame.protocols.needed import users_needed
from dame.theory.information_limit import limit

Floats = NDArray[np.float64]
ALPHAS = {"22/35": 22 / 35, "1": 1.0}
USERS = (10**4, 10**5)
MARGIN = 0.01
TARGET = MARGIN / 1.96
"""The RMSE that gives a 95 % interval of ±0.01."""
OURS = {"adaptive": "**DAME, adaptive**", "paper": "DAME, paper"}
CENTRAL = "central mean (trusted collector)"
UNKNOWN = math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is measured."""

    users: tuple[int, ...] = USERS
    drawn: int = 100_000
    called: int = 20_000
    """Users drawn for formulas, and for packages that are called once for each."""
    repetitions: int = 200
    alphas: tuple[str, ...] = tuple(ALPHAS)
    sizes: tuple[str, ...] = scenes.SIZES
    people: bool = True


QUICK = Effort(
    users=(10**4,), drawn=20_000, called=2_000, repetitions=20, alphas=("1",), sizes=scenes.SIZES[:2], people=False
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A mechanism whose estimate is the mean of scores; `aim` is what the scores are centred on, without noise."""

    name: str
    package: str | None = None
    scores: Callable[[Generator, Users, float], Floats]
    aim: Callable[[Users], Floats] = lambda users: users.means

    @property
    def title(self) -> str:
        """The name in the table."""
        return f"{self.name} ({self.package})" if self.package else self.name


def bins_of(users: Users) -> NDArray[np.int64]:
    """Which of 64 bins of [-1, 1] holds each user's mean."""
    return np.clip(((users.means + 1) / 2 * packages.BINS).astype(np.int64), 0, packages.BINS - 1)


MIDDLES = (2 * np.arange(packages.BINS) + 1) / packages.BINS - 1


def histogram_scores(rng: Generator, users: Users, alpha: float) -> Floats:
    """The contribution of each user to the mean of the debiased histogram."""
    del rng  # the package draws for itself
    reports = np.array(packages.multi_freq_reports(bins_of(users), alpha))
    yes, no = 0.5, 1 / (1 + math.exp(alpha))
    return np.asarray((reports - no) @ MIDDLES / (yes - no))


PEERS = (
    Peer(
        name="Laplace on the mean",
        package="diffprivlib",
        scores=lambda _, users, alpha: packages.diffprivlib_laplace(users.means, alpha),
    ),
    Peer(
        name="Laplace on the mean",
        package="opendp",
        scores=lambda _, users, alpha: packages.opendp_laplace(users.means, alpha),
    ),
    Peer(name="one-bit", scores=lambda rng, users, alpha: baselines.one_bit(rng, users.means, alpha)),
    Peer(name="Piecewise", scores=lambda rng, users, alpha: baselines.piecewise(rng, users.means, alpha)),
    Peer(name="Hybrid", scores=lambda rng, users, alpha: baselines.hybrid(rng, users.means, alpha)),
    Peer(
        name="one record each, one-bit",
        scores=lambda rng, users, alpha: baselines.one_bit(rng, users.records, alpha),
        aim=lambda users: users.means if not users.fixed else users.records,
    ),
    Peer(
        name="OUE histogram, 64 bins",
        package="multi-freq-ldpy",
        scores=histogram_scores,
        aim=lambda users: MIDDLES[bins_of(users)],
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Risk:
    """Of one contestant in one setting: variance of one score, and bias."""

    variance: float
    bias: float = 0.0

    def at(self, users: int) -> float:
        """The mean squared error with so many users."""
        return self.variance / users + self.bias**2

    def people(self) -> float:
        """How many users the target takes; infinite where the bias alone misses it."""
        room = TARGET**2 - self.bias**2
        return math.ceil(self.variance / room) if room > 0 else math.inf


def measure(effort: Effort, data: Path | None, say: Callable[[str], None] = lambda _: None) -> Iterator[Row]:
    """All rows of this part."""
    for alpha in effort.alphas:
        for spec in effort.sizes:
            say(f"accuracy: {spec}, α = {alpha}")
            yield from synthetic_rows(effort, spec, alpha)
        for table in scenes.real_tables(data) if data else ():
            say(f"accuracy: {table.name}, α = {alpha}")
            yield from real_rows(effort, table, alpha)


def synthetic_rows(effort: Effort, spec: str, alpha_text: str) -> Iterator[Row]:
    """Ours and all peers for one distribution of sizes."""
    alpha, sizes, rng = ALPHAS[alpha_text], dame.Sizes.parse(spec), np.random.default_rng(1)
    populations = [scenes.synthetic(rng, sizes, each, effort.drawn) for each in scenes.DISTRIBUTIONS]
    peers = {peer: worst_risk(peer, populations, alpha, effort, rng) for peer in PEERS if usable(peer.package)}
    needed = {name: people_needed(sizes, alpha, name) for name in OURS} if effort.people else {}
    for users in effort.users:
        setting = f"{spec}, α = {alpha_text}, n = {users:.0e}".replace("e+0", "e")
        least = limit(users, alpha, sizes)

        def row(name: str, risk: float, people: float | None, setting: str = setting, least: float = least) -> Row:
            return Row(
                part="accuracy",
                setting=setting,
                contestant=name,
                value=risk,
                unit="risk",
                ratio=risk / least,
                people=people,
            )

        for name, title in OURS.items():
            yield row(title, our_risk(sizes, alpha, users, name, effort.repetitions), needed.get(name))
        for peer in PEERS:
            if peer in peers:
                yield row(peer.title, peers[peer].at(users), peers[peer].people())
            else:
                yield missing("accuracy", setting, peer.title)
        if usable("opendp"):
            yield row(CENTRAL, *central_risk(populations, alpha, users))
        else:
            yield missing("accuracy", setting, CENTRAL)


def worst_risk(peer: Peer, populations: list[Users], alpha: float, effort: Effort, rng: Generator) -> Risk:
    """The risk at the distribution that is worst for a peer (with many users a bias counts most)."""
    count = effort.called if peer.package else effort.drawn
    risks = [risk_of(peer, first(users, count), alpha, rng) for users in populations]
    return Risk(variance=max(risk.variance for risk in risks), bias=max(abs(risk.bias) for risk in risks))


def risk_of(peer: Peer, users: Users, alpha: float, rng: Generator) -> Risk:
    """The risk on these users, or on the distribution that they come from."""
    bias = float(np.mean(peer.aim(users)) - np.mean(users.means))
    if not users.fixed:
        return Risk(variance=float(np.var(peer.scores(rng, users, alpha))), bias=bias)
    # The same users again: only the coins differ, and half of the squared difference is their variance.
    passes = max(2, 40_000 // len(users.means))
    pairs = [(peer.scores(rng, users, alpha), peer.scores(rng, users, alpha)) for _ in range(passes)]
    return Risk(variance=float(np.mean([(one - other) ** 2 / 2 for one, other in pairs])), bias=bias)


def first(users: Users, count: int) -> Users:
    """The first so many of some users."""
    if users.fixed:
        return users
    return Users(sizes=users.sizes[:count], means=users.means[:count], records=users.records[:count])


def our_risk(sizes: dame.Sizes, alpha: float, users: int, protocol: str, repetitions: int) -> float:
    """The worst measured risk of a protocol over the distributions."""
    plan = plan_mean(users=users, alpha=alpha, sizes=sizes, protocol=protocol)
    populations = [dame.Population.synthetic(sizes, dame.parse_distribution(each)) for each in scenes.DISTRIBUTIONS]
    return max(simulate(plan, population, repetitions, seed=7).mse for population in populations)


def people_needed(sizes: dame.Sizes, alpha: float, protocol: str, **choices: float) -> float:
    """How many people a protocol needs by its own forecast."""
    try:
        return users_needed(
            lambda users: plan_mean(users=users, alpha=alpha, sizes=sizes, protocol=protocol, **choices),
            lambda plan: plan.forecast.counted_rmse,
            TARGET,
        ).users
    except InvalidInput:
        return math.inf


def central_risk(populations: list[Users], alpha: float, users: int, calls: int = 50) -> tuple[float, float]:
    """The risk of a noisy mean by a trusted collector: spread of the users' means, and noise measured over calls."""
    spread = 0.0 if populations[0].fixed else max(float(np.var(each.means)) for each in populations)
    values = np.resize(populations[0].means, users)
    noise = float(np.var([packages.opendp_central_mean(values, alpha) for _ in range(calls)], ddof=1))
    people = spread / TARGET**2
    # spread/n + noise·(users/n)² = target², solved for n.
    total = people / 2 + math.sqrt(people**2 / 4 + noise * users**2 / TARGET**2)
    return spread / users + noise, math.ceil(total)


def real_rows(effort: Effort, table: RealTable, alpha_text: str) -> Iterator[Row]:
    """Ours and all peers on the users of a real table; the limit knows no spread between users."""
    alpha, users, rng = ALPHAS[alpha_text], table.users, np.random.default_rng(2)
    count = len(users.means)
    setting = f"{table.name}, α = {alpha_text}, n = {count:,}"
    least = limit(count, alpha, table.sizes)

    def row(name: str, risk: float, people: float | None = None) -> Row:
        return Row(
            part="real", setting=setting, contestant=name, value=risk, unit="risk", ratio=risk / least, people=people
        )

    for title, protocol, spread in (
        (OURS["adaptive"], "adaptive", table.between_sd),
        ("DAME, adaptive, not told the spread", "adaptive", 0.0),
        (OURS["paper"], "paper", 0.0),
    ):
        yield row(title, table_risk(table, alpha, protocol, spread, effort.repetitions))
    for peer in PEERS:
        if usable(peer.package):
            risk = risk_of(peer, users, alpha, rng)
            yield row(peer.title, risk.at(count))
        else:
            yield missing("real", setting, peer.title)
    if usable("opendp"):
        yield row(CENTRAL, central_risk([users], alpha, count)[0])
    else:
        yield missing("real", setting, CENTRAL)


def table_risk(table: RealTable, alpha: float, protocol: str, spread: float, repetitions: int) -> float:
    """The measured risk of a protocol on fixed users, whose means are said to have such a spread."""
    count = len(table.users.means)
    choices = {"between_sd": spread} if spread else {}
    plan = plan_mean(users=count, alpha=alpha, sizes=table.sizes, protocol=protocol, **choices)
    population = dame.Population.arrays(table.users.sizes, table.users.means)
    return simulate(plan, population, repetitions, seed=7).mse


def usable(package: str | None) -> bool:
    """Whether a contestant can take part."""
    return package is None or is_installed(package)


def missing(part: str, setting: str, contestant: str) -> Row:
    """A row for somebody who is not here."""
    return Row(part=part, setting=setting, contestant=contestant, note=MISSING)


def versions() -> list[str]:
    """The peers that took part."""
    return [titled(package) for package in PACKAGES if is_installed(package)]
