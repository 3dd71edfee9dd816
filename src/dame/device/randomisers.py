"""The randomisers: each knows its exact privacy loss, and the bias and variance that it adds.

Each turns a *position* into a report, and `debias` turns the mean of many reports back into the mean position:

- `UnaryCode`: a row of marks (1 where a person votes, 0 elsewhere) becomes a row of noisy bits;
- `OneOfMany`: a person at one of a few places, or between two of them, becomes a single mark;
- `OneBit`: a place in the window, in [0, 1], becomes one bit;
- `DiscreteLaplace`: a place in the window, in [0, 1], becomes a grid point plus integer noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dame import checks
from dame.device.coins import Coins, discrete_laplace
from dame.device.exact import WORD, exp_lower, float_upper, ln_upper, symmetric_threshold
from dame.errors import InvalidInput

POSITION_STEPS = 2**32
"""Resolution at which a place in the window sets the threshold of a bit."""


def grid_point(position: float, steps: int) -> int:
    """The nearest of the grid points 0 … steps to a place in [0, 1]; a place outside counts as the nearer end."""
    return math.floor(min(max(position, 0.0), 1.0) * steps + 0.5)


def _set_whole(randomiser: object, name: str, field: str, low: int, high: int) -> None:
    # Whole numbers of other libraries become Python's own: theirs overflow, and privacy is computed with these.
    object.__setattr__(randomiser, name, checks.whole(field, getattr(randomiser, name), low, high))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnaryCode:
    """Bits drawn independently: 1 with probability yes/2^64 where the person votes, no/2^64 elsewhere.

    Privacy: a vote that marks a bins and another that marks b others differ by a·ln(yes/no) +
    b·ln((2^64-no)/(2^64-yes)). Utility: (bit - P(1|0)) / (P(1|1) - P(1|0)) is an unbiased estimate of a mark.
    Reference: randomised response (Warner 1965; DAME, localisation phase); optimised unary encoding (Wang et al.
    2017).
    """

    yes: int
    no: int

    def __post_init__(self) -> None:
        _set_whole(self, "yes", "yes threshold", 1, WORD - 1)
        _set_whole(self, "no", "no threshold", 1, WORD - 1)
        if not self.no < self.yes:
            raise InvalidInput("no threshold", self.no, f"below the yes threshold {self.yes}")

    @classmethod
    def symmetric(cls, alpha: float, marks: int) -> UnaryCode:
        """Each bit is kept with the same probability, at most e^b/(1+e^b), with b = α / (2·marks) for each bit."""
        keep = symmetric_threshold(Fraction(checks.alpha(alpha)) / (2 * marks))
        return cls(yes=keep, no=WORD - keep)

    @classmethod
    def optimised(cls, alpha: float) -> UnaryCode:
        """Optimised unary encoding of a single mark: P(1|1) = 1/2, and P(1|0) as small as α allows."""
        return cls(yes=WORD // 2, no=WORD - symmetric_threshold(Fraction(checks.alpha(alpha))))

    def loss_ratio(self, gained: int, lost: int) -> Fraction:
        """The largest likelihood ratio of one vote over another: `gained` marks of its own, `lost` of the other's."""
        mark, blank = Fraction(self.yes, self.no), Fraction(WORD - self.no, WORD - self.yes)
        return mark**gained * blank**lost

    def epsilon(self, marks: int = 1) -> float:
        """The exact privacy loss between two votes of so many marks each with none in common, rounded up to a float."""
        return ln_upper(self.loss_ratio(marks, marks))

    def draw(self, first: int, last: int, bins: int, coins: Coins) -> int:
        """`bins` noisy bits for marks on first … last (none when first > last), bin j as bit j of an integer."""
        value = 0
        for bin_, word in enumerate(coins.words(bins)):
            threshold = self.yes if first <= bin_ <= last else self.no
            value |= (word < threshold) << bin_
        return value

    def debias(self, mean_bit: float) -> float:
        """The share of users that voted for a bin, from the mean of its bits."""
        return (mean_bit - self.no / WORD) * WORD / (self.yes - self.no)

    def bias(self, mark: float) -> float:
        """Expectation of the debiased bit minus the mark: none, for marks of 0 and 1 and mixtures of them."""
        return self.debias(self.probability(mark)) - mark

    def variance(self, mark: float) -> float:
        """Variance of one debiased bit of a user (or a random user) whose mark is 1 with probability `mark`."""
        p = self.probability(mark)
        return p * (1 - p) * (WORD / (self.yes - self.no)) ** 2

    def probability(self, mark: float) -> float:
        """Probability that a bit is 1 when the mark is 1 with probability `mark`."""
        return (self.no + mark * (self.yes - self.no)) / WORD


@dataclass(frozen=True, slots=True, kw_only=True)
class OneOfMany(UnaryCode):
    """One mark among a few: on the person's own with probability yes/2^64, on each of the others with no/2^64.

    Somebody between two neighbouring marks has the chances of either, in proportion. Privacy: ln(yes/no) between any
    two people, since every chance lies in [no, yes]. Utility: as for `UnaryCode`, but marks exclude each other, which
    makes them sharper. Reference: randomised response among k (Warner 1965; Kairouz, Oh, Viswanath 2014).
    """

    @classmethod
    def spending(cls, alpha: float, count: int) -> OneOfMany:
        """The mark among `count` that spends α: the own one as likely as α allows."""
        no = math.ceil(WORD / (exp_lower(Fraction(checks.alpha(alpha))) + count - 1))
        return cls(yes=WORD - (count - 1) * no, no=no)

    def loss_ratio(self, gained: int = 1, lost: int = 1) -> Fraction:
        """The largest likelihood ratio of one person over another, e^epsilon: 1 where they have the same mark."""
        return Fraction(self.yes, self.no) if gained or lost else Fraction(1)

    def ends(self, first: int, part: int, count: int) -> list[int]:
        """Where the words end that lead to each mark, for a person `part`/2^32 of the way from `first` to the next."""
        moved = (self.yes - self.no) * part >> 32
        extra = [0] * first + [self.yes - self.no - moved] + [self.yes - self.no] * (count - first - 1)
        return [(mark + 1) * self.no + more for mark, more in enumerate(extra)]

    def draw_between(self, first: int, part: int, count: int, coins: Coins) -> int:
        """A single mark as one bit of an integer, for a person `part`/2^32 of the way from `first` to the next."""
        (word,) = coins.words(1)
        # Everybody takes the same steps, wherever she is.
        return 1 << sum(word >= end for end in self.ends(first, part, count)[:-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class OneBit:
    """One bit: 1 with a probability that rises linearly from low/2^64 to high/2^64 across the window.

    Privacy: the larger of ln(high/low) and ln((2^64-low)/(2^64-high)), reached by the two ends of the window.
    Utility: unbiased up to 2^-33 of the window; variance at most (B/2)² of the window, B = (e^α+1)/(e^α-1).
    Reference: Duchi, Jordan, Wainwright (2018); deployed as 1BitMean (Ding, Kulkarni, Yekhanin 2017).
    """

    low: int
    high: int

    def __post_init__(self) -> None:
        _set_whole(self, "low", "low threshold", 1, WORD - 1)
        _set_whole(self, "high", "high threshold", 1, WORD - 1)
        if not self.low < self.high:
            raise InvalidInput("low threshold", self.low, f"below the high threshold {self.high}")

    @classmethod
    def spending(cls, alpha: float) -> OneBit:
        """The bit that spends α: both ends of the window as far apart as α allows."""
        high = symmetric_threshold(Fraction(checks.alpha(alpha)))
        return cls(low=WORD - high, high=high)

    def loss_ratio(self) -> Fraction:
        """The largest likelihood ratio between two people, e^epsilon."""
        return max(Fraction(self.high, self.low), Fraction(WORD - self.low, WORD - self.high))

    def epsilon(self) -> float:
        """The exact privacy loss, rounded up to a float."""
        return ln_upper(self.loss_ratio())

    def threshold(self, position: float) -> int:
        """The integer threshold at a place in [0, 1]; never outside [low, high], whatever the place."""
        return self.low + ((self.high - self.low) * grid_point(position, POSITION_STEPS) >> 32)

    def draw(self, position: float, coins: Coins) -> int:
        """A bit for a person whose place in the window is `position`."""
        (word,) = coins.words(1)
        return int(word < self.threshold(position))

    def debias(self, mean_bit: float) -> float:
        """The mean place in the window, from the mean of the bits."""
        return (mean_bit - self.low / WORD) * WORD / (self.high - self.low)

    def bias(self, position: float) -> float:
        """Expectation of the debiased bit minus the place: only what rounding to 2^-32 of the window costs."""
        return self.debias(self.threshold(position) / WORD) - position

    def variance(self, position: float) -> float:
        """Variance of one debiased bit, in squared window widths."""
        p = self.threshold(position) / WORD
        return p * (1 - p) * (WORD / (self.high - self.low)) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteLaplace:
    """The place in the window, rounded to one of the grid points 0 … steps, plus an integer k of weight
    exp(-|k|/scale).

    Privacy: steps / scale, exactly: rounding comes before the noise, and the scale covers the rounded window.
    Utility: bias at most half a step; variance 2·scale² steps² (a little less). The report is clamped to `reach`
    steps beyond the window, which changes it with probability below 10^-19 and keeps one person's weight on the sum
    bounded. Reference: geometric mechanism (Ghosh, Roughgarden, Sundararajan 2009); sampler of Canonne, Kamath,
    Steinke (2020).
    """

    steps: int
    scale: int

    def __post_init__(self) -> None:
        _set_whole(self, "steps", "grid steps", 1, 2**24)
        _set_whole(self, "scale", "noise scale", 1, 2**45)

    @classmethod
    def spending(cls, alpha: float, steps: int = 2**20) -> DiscreteLaplace:
        """The noise that spends α on a window of `steps` grid steps: the smallest whole scale of at least steps/α."""
        return cls(steps=steps, scale=math.ceil(steps / Fraction(checks.alpha(alpha))))

    @property
    def reach(self) -> int:
        """How far beyond the window a report can lie, in steps."""
        return 45 * self.scale

    def loss(self) -> Fraction:
        """The exact privacy loss."""
        return Fraction(self.steps, self.scale)

    def epsilon(self) -> float:
        """The exact privacy loss, rounded up to a float."""
        return float_upper(self.loss())

    def draw(self, position: float, coins: Coins) -> int:
        """A noisy grid point for a person whose place in the window is `position`."""
        noisy = grid_point(position, self.steps) + discrete_laplace(coins, self.scale)
        return min(max(noisy, -self.reach), self.steps + self.reach)

    def debias(self, mean_report: float) -> float:
        """The mean place in the window, from the mean of the reports."""
        return mean_report / self.steps

    def bias(self, position: float) -> float:
        """Expectation of the debiased report minus the place: what rounding to the grid costs."""
        return grid_point(position, self.steps) / self.steps - position

    def variance(self, position: float) -> float:
        """Variance of one debiased report, in squared window widths; the same at every place."""
        del position
        return 1 / (2 * self.steps**2 * math.sinh(1 / (2 * self.scale)) ** 2)
