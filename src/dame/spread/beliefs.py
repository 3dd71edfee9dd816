"""Learning about a population from noisy reports: a mixture of Dirichlet processes, kept by normal arithmetic.

A round observes averages, over the population, of known functions of a user's mean (*features*): which bin it is in,
or where in a window it lies. Under a Dirichlet process with middle F, averages of features f and g have means E_F f,
E_F g and covariance Cov_F(f, g) / (grip + 1); taken as normal, they are updated by the rounds in closed form, and each
population of the family is weighed by how well it foretold them. Crowd and minority are processes of their own, and
the minority's share varies by a part of itself only: a share is never negative.

Two more things vary. Every population may depart from all shapes by a little, anywhere in the range: the *doubt*, a
variance of the size of the reports' own noise. Without it a narrow shape would deny what lies far from it, however
little the reports can tell. And the mean that is asked for is that of the users at hand, of whom a round sees a part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dame.spread.family import CROWD, MINORITY, Family

Floats = NDArray[np.float64]
Features = Callable[[Floats], Floats]
"""Values of users' means, of any shape, to features along a further last axis."""

GRIP = 20.0
"""How firmly a population keeps to its shape: as much as if so many of its users had been seen."""
LOOSE = 0.3
"""How loosely a minority keeps to its share: the standard deviation, in shares. About the steps of the family."""
_FORGOTTEN = -14.0
"""Populations whose log weight falls below this are dropped."""
_MOST = 4500
"""So many populations are kept at most, the likeliest."""
_ANYWHERE = np.concatenate([[-1.0], -1 + (np.arange(16) + 0.5) / 8, [1.0]])
"""Where a population may depart from its shape."""
_SPREAD = float(np.var(_ANYWHERE))
_TINY = 1e-14
_HALVINGS = 44
"""Of an interval of length 6: leaves less than 1e-12."""


def identity(values: Floats) -> Floats:
    """The feature whose average is the mean of the users' means."""
    return values[..., None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Posterior:
    """What is believed of some averages: by population, with the weights of these."""

    weights: Floats
    means: Floats
    covariances: Floats

    @property
    def mean(self) -> Floats:
        """The expected averages."""
        return np.asarray(self.weights @ self.means)

    @property
    def covariance(self) -> Floats:
        """The covariance of the averages, within populations and between them."""
        apart = self.means - self.mean
        within = np.tensordot(self.weights, self.covariances, axes=1)
        return np.asarray(within + (self.weights[:, None] * apart).T @ apart)

    def quantile(self, level: float) -> float:
        """A quantile of the first average."""
        from scipy import special  # slow to load

        spread = np.sqrt(np.maximum(self.covariances[:, 0, 0], _TINY))
        # Halving is quick enough, and a table is read in less time than scipy.optimize is loaded.
        low, high = -3.0, 3.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            if float(self.weights @ special.ndtr((middle - self.means[:, 0]) / spread)) < level:
                low = middle
            else:
                high = middle
        return high


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
    """Features by atom, their averages by population, and how they hang together with what was observed."""

    values: Floats
    anywhere: Floats
    averages: Floats
    shared: Floats
    solved: Floats
    means: Floats
    firm: float

    def split(self, count: int) -> list[Outlook]:
        """So many outlooks, each with as many of the features, in their order."""
        return [self._part(number, count) for number in range(count)]

    def _part(self, number: int, count: int) -> Outlook:
        width = self.means.shape[-1] // count
        mine = (..., slice(number * width, (number + 1) * width))
        values, anywhere, averages = self.values[mine], self.anywhere[mine], self.averages[mine]
        return Outlook(values, anywhere, averages, self.shared[mine], self.solved[mine], self.means[mine], self.firm)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Beliefs:
    """Populations with their log weights, and what was observed so far: features by atom, their values and noise.

    `anywhere` are the features at the places where populations may depart from their shapes, `doubt` is the variance
    of such departures, and `users` are those whose mean is asked for (infinitely many: the mean of the law).
    """

    family: Family
    log_weights: Floats
    features: Floats
    anywhere: Floats
    observed: Floats
    noise: Floats
    doubt: float
    users: float

    @classmethod
    def before(cls, family: Family, departure: float = 0.0, users: float = math.inf) -> Beliefs:
        """What is believed before any report; `departure` is the variance of the mean that no shape explains."""
        from scipy import special  # slow to load

        return cls(
            family=family,
            log_weights=family.log_prior - special.logsumexp(family.log_prior),
            features=np.empty((*family.values.shape, 0)),
            anywhere=np.empty((len(_ANYWHERE), 0)),
            observed=np.empty(0),
            noise=np.empty((0, 0)),
            doubt=departure / _SPREAD,
            users=users,
        )

    def after(self, features: Features, observed: Floats, noise: Floats) -> Beliefs:
        """What is believed once averages of features were observed, with noise of known covariance."""
        from scipy import special  # slow to load

        fresh = features(self.family.values)
        foretold = self.of(features)
        fit = _log_density(observed - foretold.means, foretold.covariances + noise)
        log_weights = self.log_weights + fit
        log_weights = log_weights - special.logsumexp(log_weights)
        kept = log_weights > _FORGOTTEN
        if len(kept) > _MOST:
            kept &= log_weights >= np.partition(log_weights, -_MOST)[-_MOST]
        return replace(
            self,
            family=self.family.part(kept),
            log_weights=log_weights[kept] - special.logsumexp(log_weights[kept]),
            features=np.concatenate([self.features[kept], fresh[kept]], axis=-1),
            anywhere=np.concatenate([self.anywhere, features(_ANYWHERE)], axis=-1),
            observed=np.concatenate([self.observed, observed]),
            noise=_apart_from_each_other(self.noise, noise),
        )

    def of(self, features: Features) -> Posterior:
        """What is now believed of the averages of some features over the population."""
        return self._posterior(self.outlook(features))

    def of_mean(self) -> Posterior:
        """What is now believed of the mean of the users at hand."""
        return self._posterior(self.outlook(identity, sampled=True))

    def outlook(self, features: Features, sampled: bool = False) -> Outlook:
        """Some features, ready to be combined with others; `sampled`: averaged over the users at hand."""
        fresh, anywhere = features(self.family.values), features(_ANYWHERE)
        shares, averages = self.family.shares, _averages(self.family.shares, fresh)
        firm = self._firm(sampled)
        shared = firm * _covariances(shares, self.features, fresh) + self.doubt * _covariance(self.anywhere, anywhere)
        known = self._firm(False) * _covariances(shares, self.features, self.features)
        known = known + self.noise + self.doubt * _covariance(self.anywhere, self.anywhere)
        solved = np.asarray(np.linalg.solve(known, shared), dtype=np.float64)
        misses = (self.observed - _averages(shares, self.features))[:, None, :]
        means = averages + (misses @ solved)[:, 0, :]
        return Outlook(fresh, anywhere, averages, shared, solved, means, firm)

    def together(self, one: Outlook, other: Outlook) -> Floats:
        """The covariance, by population, of each feature of one outlook with its counterpart in the other."""
        firm, shares = max(one.firm, other.firm), self.family.shares
        apart = np.mean(one.anywhere * other.anywhere, axis=0) - one.anywhere.mean(axis=0) * other.anywhere.mean(axis=0)
        before = firm * _paired_covariances(shares, one.values, other.values) + self.doubt * apart
        return np.asarray(before - np.sum(one.shared * other.solved, axis=1))

    def thinned(self, count: int) -> Beliefs:
        """A few populations that stand for all of them: drawn at even steps of the summed weights."""
        steps = np.cumsum(np.exp(self.log_weights))
        drawn = np.searchsorted(steps, (np.arange(count) + 0.5) / count * steps[-1])
        rows, times = np.unique(drawn, return_counts=True)
        chosen = np.zeros(len(steps), dtype=bool)
        chosen[rows] = True
        return replace(
            self,
            family=self.family.part(chosen),
            log_weights=np.log(times / count),
            features=self.features[chosen],
        )

    @property
    def width(self) -> float:
        """The expected width of the population."""
        return float(np.exp(self.log_weights) @ self.family.widths)

    def _firm(self, sampled: bool) -> float:
        """What a covariance under a shape is multiplied by: how far a population, or its users, keep to the shape."""
        return (1 + (GRIP / self.users if sampled else 0.0)) / (GRIP + 1)

    def _posterior(self, seen: Outlook) -> Posterior:
        before = seen.firm * _covariances(self.family.shares, seen.values, seen.values)
        before = before + self.doubt * _covariance(seen.anywhere, seen.anywhere)
        covariances = before - seen.shared.transpose(0, 2, 1) @ seen.solved
        return Posterior(weights=np.exp(self.log_weights), means=seen.means, covariances=covariances)


def _apart_from_each_other(one: Floats, other: Floats) -> Floats:
    """The covariance of the noise of two rounds, which have nothing in common."""
    both = np.zeros((len(one) + len(other),) * 2)
    both[: len(one), : len(one)] = one
    both[len(one) :, len(one) :] = other
    return both


def _averages(shares: Floats, features: Floats) -> Floats:
    return np.asarray((shares[:, None, :] @ features)[:, 0, :])


def _covariances(shares: Floats, one: Floats, other: Floats) -> Floats:
    """The covariances of each feature with each other, by population: in crowd and minority, and by their shares."""
    total = _apart(shares, one)[:, :, None] * _apart(shares, other)[:, None, :]
    for part in (CROWD, MINORITY):
        share, first, second = shares[:, part], one[:, part], other[:, part]
        products = first.transpose(0, 2, 1) @ (share[:, :, None] * second)
        total += share.sum(axis=1)[:, None, None] * products
        total -= _averages(share, first)[:, :, None] * _averages(share, second)[:, None, :]
    return total


def _paired_covariances(shares: Floats, one: Floats, other: Floats) -> Floats:
    """The same for each feature with its counterpart; a single one has every feature as its counterpart."""
    total = _apart(shares, one) * _apart(shares, other)
    for part in (CROWD, MINORITY):
        share, first, second = shares[:, part], one[:, part], other[:, part]
        total += share.sum(axis=1)[:, None] * _averages(share, first * second)
        total -= _averages(share, first) * _averages(share, second)
    return total


def _apart(shares: Floats, features: Floats) -> Floats:
    """What averages change by where a minority is larger by one standard deviation of its share."""
    minority = shares[:, MINORITY].sum(axis=1)[:, None]
    crowd = _averages(shares[:, CROWD], features[:, CROWD]) / (1 - minority)
    change = _averages(shares[:, MINORITY], features[:, MINORITY]) - minority * crowd
    return np.asarray(LOOSE * math.sqrt(GRIP + 1) * change)


def _covariance(one: Floats, other: Floats) -> Floats:
    """The covariances of two sets of features where all places are as likely."""
    return np.asarray(one.T @ other / len(one) - np.outer(one.mean(axis=0), other.mean(axis=0)))


def _log_density(misses: Floats, covariances: Floats) -> Floats:
    """The normal log density of each row, up to a constant."""
    root = np.linalg.cholesky(covariances)
    scaled = np.linalg.solve(root, misses[:, :, None])[:, :, 0]
    volume = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    return np.asarray(-(scaled**2).sum(axis=1) / 2 - volume)
