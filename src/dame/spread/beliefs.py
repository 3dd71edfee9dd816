"""Learning about a population from noisy reports: a mixture of Dirichlet processes, kept by normal arithmetic.

A round observes averages, over the population, of known functions of a user's mean (*features*): which bin it is in,
or where in a window it lies. Under a Dirichlet process with middle F, averages of features f and g have means E_F f,
E_F g and covariance Cov_F(f, g) / (grip + 1); taken as normal, they are updated by the rounds in closed form, and each
population of the family is weighed by how well it foretold them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from dame.spread.family import Family

Floats = NDArray[np.float64]
Features = Callable[[Floats], Floats]
"""Values of users' means, of any shape, to features along a further last axis."""

GRIP = 20.0
"""How firmly a population keeps to its shape: as much as if so many of its users had been seen."""
_FORGOTTEN = -14.0
"""Populations whose log weight falls below this are dropped."""
_TINY = 1e-14


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
        spread = np.sqrt(np.maximum(self.covariances[:, 0, 0], _TINY))

        def excess(point: float) -> float:
            return float(self.weights @ special.ndtr((point - self.means[:, 0]) / spread)) - level

        return float(optimize.brentq(excess, -3.0, 3.0, xtol=1e-12))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Beliefs:
    """Populations with their log weights, and what was observed so far: features by atom, their values and noise."""

    family: Family
    log_weights: Floats
    features: Floats
    observed: Floats
    variances: Floats

    @classmethod
    def before(cls, family: Family) -> Beliefs:
        """What is believed before any report."""
        return cls(
            family=family,
            log_weights=family.log_prior - special.logsumexp(family.log_prior),
            features=np.empty((*family.values.shape, 0)),
            observed=np.empty(0),
            variances=np.empty(0),
        )

    def after(self, features: Features, observed: Floats, variances: Floats) -> Beliefs:
        """What is believed once averages of features were observed, each with independent noise of known variance."""
        fresh = features(self.family.values)
        foretold = self._foretold(fresh)
        fit = _log_density(observed - foretold.means, foretold.covariances + np.diag(variances))
        log_weights = self.log_weights + fit
        log_weights = log_weights - special.logsumexp(log_weights)
        kept = log_weights > _FORGOTTEN
        return Beliefs(
            family=self.family.part(kept),
            log_weights=log_weights[kept] - special.logsumexp(log_weights[kept]),
            features=np.concatenate([self.features, fresh], axis=-1)[kept],
            observed=np.concatenate([self.observed, observed]),
            variances=np.concatenate([self.variances, variances]),
        )

    def of(self, features: Features) -> Posterior:
        """What is now believed of the averages of some features."""
        return self._foretold(features(self.family.values))

    @property
    def width(self) -> float:
        """The expected width of the population."""
        return float(np.exp(self.log_weights) @ self.family.widths)

    def _foretold(self, fresh: Floats) -> Posterior:
        shares = self.family.shares
        means, covariances = _averages(shares, fresh), _covariances(shares, fresh, fresh)
        if len(self.observed):
            known = _covariances(shares, self.features, self.features) + np.diag(self.variances)
            shared = _covariances(shares, self.features, fresh)
            lever = np.linalg.solve(known, shared).transpose(0, 2, 1)
            misses = self.observed - _averages(shares, self.features)
            means = means + (lever @ misses[:, :, None])[:, :, 0]
            covariances = covariances - lever @ shared
        return Posterior(weights=np.exp(self.log_weights), means=means, covariances=covariances)


def _averages(shares: Floats, features: Floats) -> Floats:
    return np.asarray((shares[:, None, :] @ features)[:, 0, :])


def _covariances(shares: Floats, one: Floats, other: Floats) -> Floats:
    products = one.transpose(0, 2, 1) @ (shares[:, :, None] * other)
    return np.asarray(
        (products - _averages(shares, one)[:, :, None] * _averages(shares, other)[:, None, :]) / (GRIP + 1)
    )


def _log_density(misses: Floats, covariances: Floats) -> Floats:
    """The normal log density of each row, up to a constant."""
    root = np.linalg.cholesky(covariances)
    scaled = np.linalg.solve(root, misses[:, :, None])[:, :, 0]
    volume = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    return np.asarray(-(scaled**2).sum(axis=1) / 2 - volume)
