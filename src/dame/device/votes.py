"""Votes: questions that are answered with marks, on bins, on classes of sizes or on places."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from dame.device.asked import Asked
from dame.device.exact import WORD, ln_upper, within_budget
from dame.device.randomiser_codec import code_json
from dame.device.randomisers import POSITION_STEPS, OneOfMany, UnaryCode, grid_point
from dame.device.records import MOST_RECORDS, Summary
from dame.errors import InvalidInput

MOST_BINS = 2**20
MOST_PLACES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote(Asked):
    """Which bin holds your mean? The bins are [origin + j·width, origin + (j+1)·width), the outer ones open-ended.

    A person with at least `min_size` records marks the bin of her mean and `neighbours` bins on either side; anybody
    else marks nothing. Every bit goes through the same coins. In the paper: equations (Vuj) and (privatization
    scheme), neighbours = 1.
    """

    bins: int
    width: float
    origin: float = -1.0
    neighbours: int = 0
    min_size: int = 1
    code: UnaryCode
    # Exactly this kind, no kind of it: the loss that a code claims holds for the coins of its own kind only.
    code_kind: ClassVar[type[UnaryCode]] = UnaryCode

    def __post_init__(self) -> None:
        self._check()
        self._set_whole("bins", 1, MOST_BINS)
        self._set_real("width", 1e-12, 1e12)
        self._set_real("origin", -1.0, 1.0)
        self._set_whole("neighbours", 0, 16)
        self._set_whole("min_size", 1, MOST_RECORDS)
        if type(self.code) is not self.code_kind:
            raise InvalidInput("code", self.code, f"a {self.code_kind.__name__}")
        if not within_budget(self.loss_ratio(), self.alpha):
            raise InvalidInput(
                "thresholds", self.epsilon(), f"such that the privacy loss is at most alpha = {self.alpha}"
            )

    def bin_of(self, mean: float) -> int:
        """The one bin that a mean belongs to."""
        return min(max(math.floor((mean - self.origin) / self.width), 0), self.bins - 1)

    def own_bin(self, person: Summary) -> int:
        """The one bin that a person belongs to."""
        return self.bin_of(person.mean)

    def marks(self, person: Summary) -> tuple[int, int]:
        """The first and the last bin that a person votes for; (1, 0) when for none."""
        # Everybody takes the same steps: neither the number of words nor the time may tell who votes.
        around = self.marks_around(self.own_bin(person))
        return around if person.size >= self.min_size else (1, 0)

    def marks_around(self, bin_: int) -> tuple[int, int]:
        """The first and the last bin that go with a bin."""
        return max(bin_ - self.neighbours, 0), min(bin_ + self.neighbours, self.bins - 1)

    def loss_ratio(self) -> Fraction:
        """The largest likelihood ratio between any two people's reports, e^epsilon."""
        return max(self.code.loss_ratio(gained, lost) for gained, lost in _differences(self.bins, self.neighbours))

    def epsilon(self) -> float:
        """The exact privacy loss, rounded up to a float."""
        return ln_upper(self.loss_ratio())

    @property
    def report_bits(self) -> int:
        """Size of a report."""
        return self.bins

    def edges(self, bin_: int) -> tuple[float, float]:
        """The borders of a bin, cut at -1 and 1."""
        left = self.origin + bin_ * self.width
        return max(left, -1.0), min(left + self.width, 1.0)

    def to_json(self) -> dict[str, object]:
        """The question as a JSON object; thresholds as 16 hexadecimal digits: a JSON number is too short."""
        return {
            "kind": "vote",
            **self._plain(Vote.__slots__),
            "code": code_json(self.code),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeVote(Vote):
    """How many records have you? A vote for the class of sizes [2^j, 2^(j+1)) that holds yours; the last is open-ended.

    Everybody marks exactly one class, whatever her records say. To the coins it is a vote like any other.
    """

    width: float = field(default=2.0, init=False)
    origin: float = field(default=-1.0, init=False)
    neighbours: int = field(default=0, init=False)
    min_size: int = field(default=1, init=False)

    def own_bin(self, person: Summary) -> int:
        """The class of a person's number of records."""
        return min(person.size.bit_length(), self.bins) - 1

    def to_json(self) -> dict[str, object]:
        """The question as a JSON object: only what may differ between two such questions."""
        return {"kind": "size-vote", **self._plain(("bins",)), "code": code_json(self.code)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceVote(Vote):
    """Which of these places is your mean at? One mark, drawn among the places by randomised response.

    A mean between two places goes to either by the same coin, so that it is right on average; a mean beyond the outer
    places goes to the nearer of them. Sizes play no part: everybody counts once.
    """

    places: tuple[float, ...]
    code: OneOfMany
    code_kind: ClassVar[type[UnaryCode]] = OneOfMany
    bins: int = field(default=0, init=False)
    width: float = field(default=2.0, init=False)
    origin: float = field(default=-1.0, init=False)
    neighbours: int = field(default=0, init=False)
    min_size: int = field(default=1, init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.places, (list, tuple)) or not 2 <= len(self.places) <= MOST_PLACES:
            raise InvalidInput("places", self.places, f"a list of 2 to {MOST_PLACES} numbers")
        self._set_rising("places")
        object.__setattr__(self, "bins", len(self.places))
        Vote.__post_init__(self)
        if self.code.yes + (self.bins - 1) * self.code.no != WORD:
            raise InvalidInput("thresholds", self.code.yes, f"chances of {self.bins} places that sum to 1")

    def own_bin(self, person: Summary) -> int:
        """The last place that is not to the right of a person, but never the last of all."""
        return sum(person.mean >= place for place in self.places[1:-1])

    def part(self, person: Summary) -> int:
        """How far a person is on the way from that place to the next, in steps of 2^-32."""
        first = self.own_bin(person)
        left, right = self.places[first], self.places[first + 1]
        return grid_point((person.mean - left) / (right - left), POSITION_STEPS)

    def loss_ratio(self) -> Fraction:
        """The largest likelihood ratio between any two people's reports, e^epsilon."""
        return self.code.loss_ratio()

    def to_json(self) -> dict[str, object]:
        """The question as a JSON object: only what may differ between two such questions."""
        return {
            "kind": "place-vote",
            **self._plain(()),
            "places": list(self.places),
            "code": code_json(self.code),
        }


@lru_cache(maxsize=256)
def _differences(bins: int, neighbours: int) -> frozenset[tuple[int, int]]:
    """How two votes can differ: (marks only in the first, marks only in the second), the empty vote included."""
    # Two full windows fit apart in 4·neighbours + 2 bins; more bins add no new difference.
    few = min(bins, 4 * neighbours + 2)
    votes = [frozenset(range(max(j - neighbours, 0), min(j + neighbours, few - 1) + 1)) for j in range(few)]
    votes.append(frozenset())
    return frozenset((len(one - other), len(other - one)) for one, other in itertools.product(votes, repeat=2))
