"""What a reader of the result learns about one person: amplification by shuffling, as a numerical bound.

The reports of a round are published without names: shuffled, or only as a tally. Whoever does not see single uploads
then cannot tell one person's report from those of the others, and her loss is far below α: it is (ε, δ)-differentially
private in the central sense. The bound below holds for every α-private report, with any of our lenses and channels.

Reference: Feldman, McMillan, Talwar, "Stronger privacy amplification by shuffling for Rényi and approximate
differential privacy" (SODA 2023), Theorem 3.2. Among n reports, each is, with probability 2/(e^α + 1), one that looks
as if it came from one of two given people, each of them as likely ("clones"). So what a reader sees of the person is at
most as telling as the pair (A + Δ, C − A + 1 − Δ), where C ~ Binomial(n − 1, 2/(e^α + 1)) clones are divided by fair
coins, A ~ Binomial(C, 1/2), and Δ is her own report through randomised response: 1 with probability e^α/(e^α + 1) in
one of two cases, 1/(e^α + 1) in the other. For exact bits it is nearly tight. Its δ at a given ε is a sum over C of
differences of binomial distributions, which is worked out here with directed bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dame import checks

DELTA = 1e-6
"""The δ that is stated unless another one is asked for."""
MOST_BLOCKS = 400
"""Into how many blocks the numbers of clones are put; each counts as its smallest number, which is the worst one."""
_TAIL = 1e-3
"""The share of δ that is spent on numbers of clones that are not looked at."""
_PRECISION = 1e-4

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CentralPrivacy:
    """What whoever reads a result, and sees no single upload, learns of a person: (ε, δ), beside her own α.

    `reports` is the number of the smallest set of reports that is told: a round, or a public group in it.
    """

    alpha: float
    reports: int
    delta: float = DELTA

    @property
    def epsilon(self) -> float:
        """ε of a person in the smallest set; others are hidden better."""
        return central_epsilon(self.alpha, self.reports, self.delta)

    def to_json(self) -> dict[str, object]:
        """It as a JSON object."""
        told = {"central_epsilon": self.epsilon, "central_delta": self.delta}
        return {"alpha": self.alpha, **told, "smallest_set": self.reports}


def central_epsilon(alpha: float, reports: int, delta: float = DELTA) -> float:
    """ε of a person among so many shuffled reports, each of them α-private, at a given δ; never above α.

    Assumption: the reader sees the reports of the round shuffled or tallied, and the others sent honest reports.
    """
    alpha = checks.alpha(alpha)
    reports = checks.whole("reports", reports, 1, 10**12)
    delta = checks.real("delta", delta, 1e-12, 0.5)
    return _epsilon(alpha, reports, delta, 2.0 / (math.exp(alpha) + 1.0))


@lru_cache(maxsize=1024)
def _epsilon(alpha: float, reports: int, delta: float, clones: float) -> float:
    """The smallest ε, up to rounding upwards, at which δ is small enough; `clones` is the chance of being one."""
    counts, weights, beyond = _clones(reports - 1, clones, _TAIL * delta)
    low, high = 0.0, alpha
    while high - low > _PRECISION * high and high > 1e-9:
        middle = (low + high) / 2
        if float(weights @ _divergence(counts, alpha, middle)) + beyond <= delta:
            high = middle
        else:
            low = middle
    return high


def _first(holds: Callable[[int], bool], most: int) -> int:
    """The first number from 0 on for which something holds that holds from there on; `most` if there is none."""
    low, high = 0, most
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _clones(others: int, chance: float, tail: float) -> tuple[Floats, Floats, float]:
    """Numbers of clones and their chances, in blocks, and the chance of numbers that are left out.

    More clones never tell more, so that a block counts as its smallest number, and all above the last as the last.
    """
    from scipy import special  # slow to load

    # The range of an incomplete beta function ends before `others`, where nothing is left to ask.
    first = _first(lambda count: bool(special.betainc(others - count, count + 1, 1 - chance) > tail), others)
    last = _first(lambda count: bool(special.betainc(count + 1, others - count, chance) < tail), others) + 1
    edges = np.unique(np.linspace(max(first, 0), min(last, others) + 1, MOST_BLOCKS + 1).astype(np.int64))
    # The chance of fewer than an edge: 0 before the first number, 1 behind the last.
    inside = np.clip(edges, 1, others)
    fewer = special.betainc(others - inside + 1.0, inside.astype(np.float64), 1 - chance)
    below = np.where(edges < 1, 0.0, np.where(edges > others, 1.0, fewer))
    below[-1] = 1.0  # whatever is above counts for the last block
    return edges[:-1].astype(np.float64), np.diff(below), float(below[0])


def _divergence(counts: Floats, alpha: float, epsilon: float) -> Floats:
    """The hockey-stick divergence of the two pairs at e^ε, for each number of clones.

    Among c clones the reader sees k = A + Δ out of c + 1. The ratio of the two likelihoods rises with k, so that the
    event of the largest difference is "k at least some number", and its two probabilities are binomial tails.
    """
    yes = 1.0 / (1.0 + math.exp(-alpha))
    # Likelihoods at k: (1 - p)·b(k; c) + p·b(k - 1; c) for p = yes and p = 1 - yes, and b(k - 1)/b(k) = k/(c + 1 - k).
    # Their ratio is at least e^ε from the k on at which k/(c + 1 - k) is at least the odds below.
    factor = math.exp(epsilon)
    odds = (factor * yes - (1.0 - yes)) / (yes - factor * (1.0 - yes))
    if odds <= 0.0 or not math.isfinite(odds):
        return np.zeros_like(counts)
    least = np.ceil(odds * (counts + 1.0) / (1.0 + odds) * (1.0 - 1e-12))
    above, at = _at_least(least, counts), _at_least(least - 1.0, counts)
    one = (1.0 - yes) * above + yes * at
    other = yes * above + (1.0 - yes) * at
    return np.maximum(one - factor * other, 0.0) * (1.0 + 1e-9)


def _at_least(least: Floats, counts: Floats) -> Floats:
    """P(Binomial(c, 1/2) ≥ k) for each c and k."""
    inside = np.clip(least - 1.0, 0.0, counts)
    from scipy.special import bdtrc  # slow to load

    tail = np.where(counts > 0, bdtrc(inside, counts.astype(np.int64), 0.5), 0.0)
    return np.where(least <= 0.0, 1.0, np.where(least > counts, 0.0, tail))
