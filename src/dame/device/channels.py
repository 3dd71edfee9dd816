"""Channels: the randomisers. Each turns a reading into a small integer, and knows what that costs and tells.

- `Bits`: every bin becomes a bit of its own; a single bin with a partial mark becomes a single bit;
- `Choice`: the one bin that is marked becomes one of all bins;
- `Laplace`: a partial mark on a single bin becomes a grid point plus integer noise.

Each knows its exact privacy loss, how its values travel and add up, and the bias and variance that it adds.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, Self

from dame import checks
from dame.device.coins import Coins, discrete_laplace
from dame.device.exact import WORD, Loss, exp_lower, symmetric_threshold
from dame.device.lenses import MOST_BINS, Differences, Reading
from dame.device.parts import Kinds, Part
from dame.errors import InvalidInput

MARK_STEPS = 2**32
"""Resolution at which a partial mark sets the threshold of a bit."""
_ONE_BELOW = bytes.maketrans(b"\0\1", b"10")
"""From outcomes to binary digits: a word below the threshold is a 1."""

Sums = Sequence[int]


def grid_point(mark: float, steps: int) -> int:
    """The nearest of the grid points 0 … steps to a mark in [0, 1]; a mark outside counts as the nearer end."""
    return math.floor(min(max(mark, 0.0), 1.0) * steps + 0.5)


class Channel(Part):
    """A randomiser of readings."""

    __slots__ = ()

    @property
    @abstractmethod
    def bins(self) -> int:
        """How many bins its readings have."""

    @abstractmethod
    def loss(self, differences: Differences) -> Loss:
        """The largest loss between two people whose readings differ in one of these ways."""

    @abstractmethod
    def draw(self, reading: Reading, coins: Coins) -> int:
        """The value that coins lead to. What coins are taken does not depend on the reading."""

    @property
    @abstractmethod
    def values(self) -> tuple[int, int]:
        """The smallest and the largest value."""

    @property
    def value_bits(self) -> int:
        """How many bits hold any value, counted from the smallest."""
        low, high = self.values
        return (high - low).bit_length()

    @abstractmethod
    def entries(self, value: int) -> tuple[int, ...]:
        """The integers that a value adds to a tally."""

    @property
    @abstractmethod
    def entry_limits(self) -> tuple[tuple[int, int], ...]:
        """The smallest and the largest integer that a value can add, for each entry."""

    def possible(self, reports: int, sums: Sums) -> bool:
        """Whether so many values can have these sums, each within its limits: whether the sums fit each other."""
        del reports, sums
        return True

    @abstractmethod
    def debias(self, mean: float) -> float:
        """The mean mark of a bin, from the mean of its first entry."""

    @abstractmethod
    def bias(self, mark: float) -> float:
        """Expectation of the debiased entry minus the mark."""

    @abstractmethod
    def variance(self, mark: float) -> float:
        """Variance of one debiased entry of a person with this mark."""

    @property
    @abstractmethod
    def words(self) -> str:
        """How it answers, in a few words."""


CHANNELS: Kinds[Channel] = Kinds("channel")


class Comparing(Channel):
    """A channel that compares random words with thresholds, and does nothing else: all of it can be read off these."""

    __slots__ = ()

    @abstractmethod
    def ends(self, reading: Reading) -> Sequence[Sequence[int]]:
        """For each word that a draw takes, the rising numbers at which the word's outcome goes up by one, from 0."""

    @abstractmethod
    def value_of(self, outcomes: Sequence[int]) -> int:
        """The value that the outcomes of all words make."""

    def draw(self, reading: Reading, coins: Coins) -> int:
        """The value that coins lead to: everybody takes as many words, and the same steps."""
        ends = self.ends(reading)
        return self.value_of(list(map(bisect_right, ends, coins.words(len(ends)))))


@dataclass(frozen=True, slots=True, kw_only=True)
class _TwoThresholds(Comparing):
    """What `Bits` and `Choice` share: the threshold of a marked bin, and that of a blank one."""

    yes: int
    no: int

    def _check_thresholds(self) -> None:
        for name in ("yes", "no"):
            object.__setattr__(self, name, checks.whole(f"{name} threshold", getattr(self, name), 1, WORD - 1))
        if not self.no < self.yes:
            raise InvalidInput("no threshold", self.no, f"below the yes threshold {self.yes}")

    def probability(self, mark: float) -> float:
        """Probability that the entry of a bin is 1 when its mark is 1 with probability `mark`."""
        return (self.no + mark * (self.yes - self.no)) / WORD

    @property
    def entry_limits(self) -> tuple[tuple[int, int], ...]:
        """At most one each."""
        return ((0, 1),) * self.bins

    def debias(self, mean: float) -> float:
        """The mean mark of a bin, from the mean of its entries."""
        return (mean - self.no / WORD) * WORD / (self.yes - self.no)

    def bias(self, mark: float) -> float:
        """Expectation of the debiased entry minus the mark: none, for marks of 0 and 1 and mixtures of them."""
        return self.debias(self.probability(mark)) - mark

    def variance(self, mark: float) -> float:
        """Variance of one debiased entry of a person (or a random person) whose mark is 1 with probability `mark`."""
        p = self.probability(mark)
        return p * (1 - p) * (WORD / (self.yes - self.no)) ** 2

    def to_json(self) -> dict[str, object]:
        """The channel as a JSON object; thresholds as 16 hexadecimal digits: a JSON number is too short."""
        return {**Part.to_json(self), "yes": f"{self.yes:016x}", "no": f"{self.no:016x}"}

    @classmethod
    def from_json(cls, given: Mapping[str, object]) -> Self:
        """The channel with the fields of a document."""
        return cls(**{**given, "yes": _unhex(given["yes"]), "no": _unhex(given["no"])})  # type: ignore[arg-type]


@CHANNELS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Bits(_TwoThresholds):
    """A bit for each bin, drawn independently: 1 with probability yes/2^64 where it is marked, no/2^64 elsewhere.

    A partial mark has a threshold between the two, in proportion. Privacy: two people of whom one marks a bins and the
    other b others differ by a·ln(yes/no) + b·ln((2^64-no)/(2^64-yes)). Utility: (bit - P(1|0)) / (P(1|1) - P(1|0)) is
    an unbiased estimate of a mark, up to 2^-33; for a single bit its variance is at most (B/2)², B = (e^α+1)/(e^α-1).
    Reference: randomised response (Warner 1965; DAME, localisation phase); optimised unary encoding (Wang et al. 2017);
    one bit for a mean (Duchi, Jordan, Wainwright 2018; Ding, Kulkarni, Yekhanin 2017).
    """

    kind = "bits"
    bins: int = field(default=1)

    def __post_init__(self) -> None:
        self._set_whole("bins", 1, MOST_BINS)
        self._check_thresholds()

    @classmethod
    def single(cls, alpha: float) -> Self:
        """The single bit that spends α: no mark and a whole one as far apart as α allows."""
        yes = symmetric_threshold(Fraction(checks.alpha(alpha)))
        return cls(yes=yes, no=WORD - yes)

    @classmethod
    def symmetric(cls, alpha: float, bins: int, marks: int) -> Self:
        """Each bit is kept with the same probability, at most e^b/(1+e^b), with b = α / (2·marks) for each bit."""
        keep = symmetric_threshold(Fraction(checks.alpha(alpha)) / (2 * marks))
        return cls(bins=bins, yes=keep, no=WORD - keep)

    @classmethod
    def optimised(cls, alpha: float, bins: int) -> Self:
        """Optimised unary encoding of a single mark: P(1|1) = 1/2, and P(1|0) as small as α allows."""
        return cls(bins=bins, yes=WORD // 2, no=WORD - symmetric_threshold(Fraction(checks.alpha(alpha))))

    def loss(self, differences: Differences) -> Loss:
        """The largest loss between two people whose readings differ in one of these ways."""
        mark, blank = Fraction(self.yes, self.no), Fraction(WORD - self.no, WORD - self.yes)
        return Loss(ratio=max(mark**gained * blank**lost for gained, lost in differences))

    def threshold(self, mark: float) -> int:
        """The integer threshold of a mark; never outside [no, yes], whatever the mark."""
        return self.no + ((self.yes - self.no) * grid_point(mark, MARK_STEPS) >> 32)

    def ends(self, reading: Reading) -> list[tuple[int]]:
        """One word for each bin, with its threshold."""
        first, last, mark = reading
        ends = [(self.no,)] * self.bins
        ends[first : last + 1] = [(self.threshold(mark),)] * (last + 1 - first)
        return ends

    def value_of(self, outcomes: Sequence[int]) -> int:
        """The bits as an integer, bin j as bit j: 1 where the word was below the threshold."""
        return int(bytes(outcomes).translate(_ONE_BELOW)[::-1], 2)

    @property
    def values(self) -> tuple[int, int]:
        """Any bits."""
        return 0, (1 << self.bins) - 1

    def entries(self, value: int) -> tuple[int, ...]:
        """The bits."""
        return tuple(value >> bin_ & 1 for bin_ in range(self.bins))

    def bias(self, mark: float) -> float:
        """Expectation of the debiased bit minus the mark: only what rounding a mark to 2^-32 costs."""
        return self.debias(self.threshold(mark) / WORD) - mark

    @property
    def words(self) -> str:
        """How it answers, in a few words."""
        return "a noisy bit" if self.bins == 1 else "a noisy bit for each"


@CHANNELS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(_TwoThresholds):
    """One of all bins: the one that is marked with probability yes/2^64, each of the others with no/2^64.

    Privacy: ln(yes/no) between any two people, each of whom marks exactly one bin. Utility: as for `Bits`, but the
    entries exclude each other; sharper than `Bits` where the bins are few or α is large. Reference: randomised response
    among k (Warner 1965; Kairouz, Oh, Viswanath 2014).
    """

    kind = "choice"
    words = "one of them, by chance not always the right one"
    bins: int = field()

    def __post_init__(self) -> None:
        self._set_whole("bins", 2, MOST_BINS)
        self._check_thresholds()
        if self.yes + (self.bins - 1) * self.no != WORD:
            raise InvalidInput("thresholds", self.yes, f"chances of {self.bins} bins that sum to 1")

    @classmethod
    def spending(cls, alpha: float, bins: int) -> Self:
        """The choice among so many bins that spends α: the own one as likely as α allows."""
        no = math.ceil(WORD / (exp_lower(Fraction(checks.alpha(alpha))) + bins - 1))
        return cls(bins=bins, yes=WORD - (bins - 1) * no, no=no)

    def loss(self, differences: Differences) -> Loss:
        """The largest loss between two people, each of whom marks exactly one bin."""
        if not differences <= {(0, 0), (1, 1)}:
            raise InvalidInput("channel", self.kind, "one for this lens: a choice needs exactly one mark of everybody")
        return Loss(ratio=Fraction(self.yes, self.no) if (1, 1) in differences else Fraction(1))

    def ends(self, reading: Reading) -> list[list[int]]:
        """One word, in stretches as long as the chances of the bins."""
        extra = self.yes - self.no
        ends = range(self.no, self.bins * self.no, self.no)
        return [[end + extra if bin_ >= reading.first else end for bin_, end in enumerate(ends)]]

    def value_of(self, outcomes: Sequence[int]) -> int:
        """The bin that was drawn."""
        return outcomes[0]

    @property
    def values(self) -> tuple[int, int]:
        """A bin."""
        return 0, self.bins - 1

    def entries(self, value: int) -> tuple[int, ...]:
        """1 for the bin that was drawn, 0 for the others."""
        return tuple(int(bin_ == value) for bin_ in range(self.bins))

    def possible(self, reports: int, sums: Sums) -> bool:
        """One bin a report."""
        return sum(sums) == reports


@CHANNELS.register
@dataclass(frozen=True, slots=True, kw_only=True)
class Laplace(Channel):
    """A partial mark, rounded to one of the grid points 0 … steps, plus an integer k of weight exp(-|k|/scale).

    Privacy: steps / scale, exactly: rounding comes before the noise, and the scale covers the rounded range. Utility:
    bias at most half a step; variance 2·scale² steps² (a little less). The value is clamped to `reach` steps beyond
    the grid, which changes it with probability below 10^-19 and keeps one person's weight on the sum bounded.
    Reference: geometric mechanism (Ghosh, Roughgarden, Sundararajan 2009); sampler of Canonne, Kamath, Steinke (2020).
    """

    kind = "laplace"
    words = "the position with noise"
    bins: ClassVar[int] = 1
    steps: int
    scale: int

    def __post_init__(self) -> None:
        self._set_whole("steps", 1, 2**24)
        self._set_whole("scale", 1, 2**45)

    @classmethod
    def spending(cls, alpha: float, steps: int = 2**20) -> Self:
        """The noise that spends α on so many grid steps: the smallest whole scale of at least steps/α."""
        return cls(steps=steps, scale=math.ceil(steps / Fraction(checks.alpha(alpha))))

    @property
    def reach(self) -> int:
        """How far beyond the grid a value can lie, in steps."""
        return 45 * self.scale

    def loss(self, differences: Differences) -> Loss:
        """The largest loss between two people: from one end of the grid to the other."""
        return Loss(exponent=Fraction(self.steps * max(map(max, differences)), self.scale))

    def draw(self, reading: Reading, coins: Coins) -> int:
        """A noisy grid point."""
        return self.noisy(grid_point(reading.mark_on(0), self.steps), discrete_laplace(coins, self.scale))

    def noisy(self, point: int, noise: int) -> int:
        """A grid point with noise, within the range of values."""
        low, high = self.values
        return min(max(point + noise, low), high)

    @property
    def values(self) -> tuple[int, int]:
        """The grid, and as far beyond it as the noise may reach."""
        return -self.reach, self.steps + self.reach

    def entries(self, value: int) -> tuple[int, ...]:
        """The noisy grid point and its square."""
        return value, value * value

    @property
    def entry_limits(self) -> tuple[tuple[int, int], ...]:
        """The range of values, and that of their squares."""
        low, high = self.values
        return (low, high), (0, max(low * low, high * high))

    def possible(self, reports: int, sums: Sums) -> bool:
        """The squares are no less than the sum needs."""
        return sums[0] * sums[0] <= reports * sums[1]

    def debias(self, mean: float) -> float:
        """The mean mark, from the mean of the noisy grid points."""
        return mean / self.steps

    def bias(self, mark: float) -> float:
        """Expectation of the debiased value minus the mark: what rounding to the grid costs."""
        return self.debias(grid_point(mark, self.steps)) - mark

    def variance(self, mark: float) -> float:
        """Variance of one debiased value; the same for every mark."""
        del mark
        return 1 / (2 * self.steps**2 * math.sinh(1 / (2 * self.scale)) ** 2)


def _unhex(value: object) -> int:
    if not isinstance(value, str) or len(value) != 16 or not set(value) <= set("0123456789abcdef"):
        raise InvalidInput("threshold", value, "16 hexadecimal digits")
    return int(value, 16)
