"""Questions: the public, frozen parameters of one round: a `Vote`, a `SizeVote`, a `PlaceVote` or a `Measure`.

A question is checked at birth, its privacy loss included: a device that holds a question object holds one whose exact
loss is at most the α it names. Whoever wrote the JSON, a question that would spend more cannot be built.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from dame import checks
from dame.device.exact import WORD, ln_upper, within_budget
from dame.device.randomiser_codec import choice_from_json, code_from_json, code_json, noise_from_json, noise_json
from dame.device.randomisers import POSITION_STEPS, DiscreteLaplace, OneBit, OneOfMany, UnaryCode, grid_point
from dame.device.records import Summary
from dame.errors import InvalidInput

MOST_BINS = 2**20
MOST_PLACES = 8
ARMS = (2, 4, 8)
MOST_RECORDS = 2**62
TAG_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """What every question names: the study, the round, the budget and the bounds to which records are clipped."""

    study: str
    round: int
    alpha: float
    low: float = -1.0
    high: float = 1.0

    def _check(self) -> None:
        checks.text("study", self.study, 128)
        self._set_whole("round", 0, 63)
        self._set_real("alpha", *checks.ALPHA_RANGE)
        checks.bounds(self.low, self.high)
        self._set_real("low", -math.inf, math.inf)
        self._set_real("high", -math.inf, math.inf)

    def _set_real(self, name: str, low: float, high: float) -> None:
        # An integer where a float is meant becomes one, and -0.0 becomes 0.0, or equal questions would have different
        # identities.
        object.__setattr__(self, name, checks.real(name, getattr(self, name), low, high) + 0.0)

    def _set_whole(self, name: str, low: int, high: int) -> None:
        object.__setattr__(self, name, checks.whole(name, getattr(self, name), low, high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote(_Asked):
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
            **_plain(self, Vote.__slots__),
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
        return {"kind": "size-vote", **_plain(self, ("bins",)), "code": code_json(self.code)}


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
        places = tuple(checks.real("places", place, -1.0, 1.0) + 0.0 for place in self.places)
        if not all(right - left >= 1e-12 for left, right in itertools.pairwise(places)):
            raise InvalidInput("places", places, "different numbers, the smaller ones first")
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "bins", len(places))
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
            **_plain(self, ()),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(_Asked):
    """Where in this window is your mean? The place of z = sqrt(size ∧ cap)·(mean - centre) in the window [left, right].

    `cap` None stands for no cap. With `between_sd` b > 0 the size m counts as the effective size 1/(1/m + b²). A cap
    of 1 gives every person the same weight. In the paper: the shrunk, projected mean, with cap m̃ and z =
    sqrt(m̃)·(x̂ - s).

    Nobody weighs less than `least_weight`: with half the window over the distance that a mean can have from the
    centre, people with few records use all of the window, and still never leave it.

    With `dither` d > 0 fair coins of the device move the centre, and the report says how far: to centre - d (arm 0) or
    centre + d (arm 1), or, with more `arms`, to one of as many places at even steps between these. Two arms together
    tell how strongly the bits react to the mean; windows side by side tell how many people are in each.
    """

    centre: float
    left: float
    right: float
    cap: float | None = None
    between_sd: float = 0.0
    least_weight: float = 0.0
    dither: float = 0.0
    arms: int = 2
    noise: OneBit | DiscreteLaplace

    def __post_init__(self) -> None:
        self._check()
        self._set_real("centre", -1.0, 1.0)
        self._set_real("left", -1e12, 1e12)
        self._set_real("right", -1e12, 1e12)
        self._set_real("between_sd", 0.0, 1.0)
        self._set_real("least_weight", 0.0, 1e12)
        self._set_real("dither", 0.0, 2.0)
        if not isinstance(self.noise, (OneBit, DiscreteLaplace)):
            raise InvalidInput("noise", self.noise, "a OneBit or a DiscreteLaplace")
        if self.dither and not isinstance(self.noise, OneBit):
            raise InvalidInput("dither", self.dither, "0 unless the noise is one bit")
        if type(self.arms) is not int or self.arms not in ARMS:
            raise InvalidInput("arms", self.arms, "2, 4 or 8")
        if self.arms > ARMS[0] and not self.dither:
            raise InvalidInput("arms", self.arms, f"{ARMS[0]} without a dither")
        if self.cap is not None:
            self._set_real("cap", 1e-12, float(MOST_RECORDS))
        if not self.right - self.left >= 1e-12:
            raise InvalidInput("window", (self.left, self.right), "two different numbers, the smaller one first")
        if not self._honest():
            raise InvalidInput("noise", self.epsilon(), f"such that the privacy loss is at most alpha = {self.alpha}")

    def _honest(self) -> bool:
        if isinstance(self.noise, DiscreteLaplace):
            return self.noise.loss() <= Fraction(self.alpha)
        return within_budget(self.noise.loss_ratio(), self.alpha)

    def weight(self, size: float) -> float:
        """The weight sqrt(size ∧ cap) of a person with so many records, but at least the least weight."""
        effective = size / (1.0 + size * (self.between_sd * self.between_sd)) if self.between_sd else float(size)
        root = math.sqrt(effective if self.cap is None else min(effective, self.cap))
        return max(root, self.least_weight)

    def arm_centre(self, arm: int) -> float:
        """The centre that goes with an arm of the dither."""
        last = self.arms - 1
        return self.centre + (2 * arm - last) * self.dither / last

    @property
    def arm_bits(self) -> int:
        """How many coins choose the arm."""
        return self.arms.bit_length() - 1 if self.dither else 0

    def position(self, person: Summary, arm: int = 0) -> float:
        """The place of a person in the window, 0 at its left and 1 at its right end, cut to [0, 1]."""
        z = self.weight(person.size) * (person.mean - self.arm_centre(arm))
        return min(max((z - self.left) / (self.right - self.left), 0.0), 1.0)

    def epsilon(self) -> float:
        """The exact privacy loss, rounded up to a float."""
        return self.noise.epsilon()

    @property
    def report_bits(self) -> int:
        """Size of a report: a bit (and the arm), or a two's complement integer that holds the noise's whole range."""
        if isinstance(self.noise, OneBit):
            return self.arm_bits + 1
        return (self.noise.steps + self.noise.reach).bit_length() + 1

    def to_json(self) -> dict[str, object]:
        """The question as a JSON object."""
        document = {"kind": "measure", **_plain(self, Measure.__slots__), "noise": noise_json(self.noise)}
        if self.arms == ARMS[0]:
            del document["arms"]  # two arms go without saying
        return document


Question = Vote | Measure
"""A SizeVote is a Vote, and so is a PlaceVote."""


def canonical(document: object) -> bytes:
    """The one text of a JSON document that its identity is taken from: sorted keys, no spaces, ASCII."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


@lru_cache(maxsize=256)
def question_id(question: Question) -> str:
    """The identity of a question: SHA-256 of its canonical JSON."""
    return hashlib.sha256(canonical(question.to_json())).hexdigest()


def question_tag(question: Question) -> bytes:
    """The first bytes of the identity, by which a report says which question it answers."""
    return bytes.fromhex(question_id(question))[:TAG_BYTES]


_SHARED = frozenset({"kind", "version", "study", "round", "alpha", "low", "high"})
_VOTE = _SHARED | {"bins", "width", "origin", "neighbours", "min_size", "code"}
_MEASURE = _SHARED | {"centre", "left", "right", "cap", "between_sd", "least_weight", "dither", "noise"}
_KINDS = {
    "vote": _VOTE,
    "size-vote": _SHARED | {"bins", "code"},
    "place-vote": _SHARED | {"places", "code"},
    "measure": _MEASURE,
}
_OPTIONAL = {"measure": frozenset({"arms"})}
VERSION = 1


def question_from_json(document: object) -> Question:
    """The question that a JSON object describes; anything missing, unknown or out of range is an InvalidInput."""
    kind = document.get("kind") if isinstance(document, dict) else document
    if not isinstance(kind, str) or kind not in _KINDS:
        raise InvalidInput("question kind", kind, "'vote', 'size-vote', 'place-vote' or 'measure'")
    fields = dict(checks.keys("question", document, _KINDS[kind], _OPTIONAL.get(kind, frozenset())))
    version = fields.pop("version")
    if type(version) is not int or version != VERSION:
        raise InvalidInput("question version", version, str(VERSION))
    del fields["kind"]
    if kind == "place-vote":
        return PlaceVote(**{**fields, "code": choice_from_json(fields["code"])})  # type: ignore[arg-type]
    if kind != "measure":
        vote = Vote if kind == "vote" else SizeVote
        return vote(**{**fields, "code": code_from_json(fields["code"])})  # type: ignore[arg-type]
    if "arms" in fields and fields["arms"] == ARMS[0]:
        raise InvalidInput("arms", ARMS[0], "absent, 4 or 8")  # one question has one document
    return Measure(**{**fields, "noise": noise_from_json(fields["noise"])})  # type: ignore[arg-type]


def _plain(question: Vote | Measure, own: Iterable[str]) -> dict[str, object]:
    names = (name for name in (*_Asked.__slots__, *own) if name not in ("code", "noise"))
    return {"version": VERSION, **{name: getattr(question, name) for name in names}}
