"""Sums of size distributions to 40 digits, written without the package: the oracle of its tests."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp

mp.mp.dps = 40


def power_sum(exponent, first: int, last: int):
    """Σ i^exponent for i = first..last, by Euler–Maclaurin beyond 60."""
    exponent = mp.mpf(exponent)
    start = min(max(first, 60), last + 1)
    head = mp.fsum(mp.mpf(i) ** exponent for i in range(first, start))
    if start > last:
        return head
    a, b = mp.mpf(start), mp.mpf(last)
    integral = mp.log(b / a) if exponent == -1 else (b ** (exponent + 1) - a ** (exponent + 1)) / (exponent + 1)
    total = head + integral + (a**exponent + b**exponent) / 2
    falling = exponent
    for k in range(1, 16):
        order = 2 * k - 1
        change = b ** (exponent - order) - a ** (exponent - order)
        total += mp.bernoulli(2 * k) / mp.factorial(2 * k) * falling * change
        falling *= (exponent - order) * (exponent - order - 1)
    return total


def decaying_sqrt_sum(decay, last: int):
    """Σ sqrt(i)·exp(-decay·i) for i = 1..last, by its power series; decay·last must be moderate."""
    return mp.fsum((-decay) ** k / mp.factorial(k) * power_sum(mp.mpf(k) + mp.mpf(1) / 2, 1, last) for k in range(90))


def poisson_survival(rate: int, a: int):
    """P(m ≥ a) of a Poisson law, term by term from the first; zeros are not left out."""
    term = mp.exp(a * mp.log(rate) - mp.loggamma(a + 1) - rate)
    total = term
    while term > total * mp.mpf(10) ** -35 or a < rate:
        a += 1
        term *= mp.mpf(rate) / a
        total += term
    return total


def binomial_survival(trials: int, success: float, a: int):
    """P(m ≥ a) of a binomial law, term by term from the first; zeros are not left out."""
    p = mp.mpf(success)
    log_choose = mp.loggamma(trials + 1) - mp.loggamma(a + 1) - mp.loggamma(trials - a + 1)
    term = mp.exp(log_choose + a * mp.log(p) + (trials - a) * mp.log1p(-p))
    total = term
    while term > total * mp.mpf(10) ** -35 or a < trials * success:
        term *= (trials - a) * p / ((a + 1) * (1 - p))
        total += term
        a += 1
    return total


def atoms(spec: str) -> dict[int, mp.mpf]:
    """The probabilities of a law with few atoms; an unbounded one is cut where they are under 1e-60."""
    name, *words = spec.split(":")
    weights = _WEIGHTS[name](*words)
    total = mp.fsum(weights.values())
    return {size: weight / total for size, weight in weights.items() if weight > 0}


def survival(law: dict[int, mp.mpf], a: float):
    return mp.fsum(p for m, p in law.items() if m >= a)


def mean_sqrt_below(law: dict[int, mp.mpf], a: float):
    return mp.fsum(mp.sqrt(m) * p for m, p in law.items() if m <= a)


def mean_sqrt(law: dict[int, mp.mpf], cap: float):
    return mp.fsum(mp.sqrt(m if m <= cap else mp.mpf(cap)) * p for m, p in law.items())


def mean(law: dict[int, mp.mpf]):
    return mp.fsum(m * p for m, p in law.items())


def _poisson(mean_text: str):
    rate = mp.mpf(float(mean_text))
    last = int(float(mean_text) + 60 * math.sqrt(float(mean_text)) + 200)
    log_rate = mp.log(rate)
    return {i: mp.exp(i * log_rate - mp.loggamma(i + 1) - rate) for i in range(1, last)}


def _binomial(trials_text: str, success_text: str):
    trials, success = int(trials_text), mp.mpf(float(success_text))
    return {i: mp.binomial(trials, i) * success**i * (1 - success) ** (trials - i) for i in range(1, trials + 1)}


def _geometric(success_text: str):
    success = mp.mpf(float(success_text))
    last = int(140 / float(success_text))
    return {i: success * (1 - success) ** (i - 1) for i in range(1, last)}


def _nbinom(wanted: str, success_text: str):
    n, success = int(wanted), mp.mpf(float(success_text))
    return {k: mp.binomial(k + n - 1, k) * success**n * (1 - success) ** k for k in range(1, 3000)}


_WEIGHTS = {
    "constant": lambda m: {int(m): mp.mpf(1)},
    "poisson": _poisson,
    "uniform": lambda low, high: {i: mp.mpf(1) for i in range(int(low), int(high) + 1)},
    "binomial": _binomial,
    "geometric": _geometric,
    "zipf": lambda s, last: {i: mp.mpf(i) ** -mp.mpf(float(s)) for i in range(1, int(last) + 1)},
    "two-point": lambda a, b, rho: {int(a): 1 - mp.mpf(float(rho)), int(b): mp.mpf(float(rho))},
    "histogram": lambda text: {
        int(size): mp.mpf(Fraction(weight).numerator) / Fraction(weight).denominator
        for size, weight in (pair.split("=") for pair in text.split(","))
    },
    "scipy": lambda name, *words: {"nbinom": _nbinom}[name](*words),
}
