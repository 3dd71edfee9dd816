"""Examples for tests: a question of every kind, and for the conformance suites lenses, and channels in every making.

A new statistic, lens or channel joins `STATISTIC_EXAMPLES`, `LENS_EXAMPLES` or `MAKINGS` (and the strategies), and
inherits every test that runs over these.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable

from dame.device.channels import Bits, Channel, Choice, Laplace
from dame.device.lenses import Bins, Lens, SizeClasses, Window, Windows
from dame.device.parts import Part
from dame.device.questions import Question
from dame.device.statistics import Drawn, Indicator, Present, Square, Statistic, Value
from dame.device.stripes import Level, Stripes

ALPHAS = (1e-6, 0.01, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0)
ALPHA = 22 / 35
LOW, HIGH = 0.0, 10.0
BORDERS = (-1.0, -0.5, 0.125, 0.25, 1.0)
NOT_NUMBERS = (math.nan, True, False, "1", None, [1], {}, 1j)
NOT_FINITE = (math.inf, -math.inf)
TOO_LARGE = 10**5000
"""A number that Python does not print."""


def ask(lens: Lens, channel: Channel, alpha: float, **header: object) -> Question:
    """A question with this lens and this channel."""
    return Question(**{"study": "s", "round": 0, "alpha": alpha, "lens": lens, "channel": channel, **header})


def _asked(round_: int, lens: Lens, channel: Channel, **header: object) -> Question:
    usual = {"study": "sleep", "round": round_, "statistic": Value(low=LOW, high=HIGH)}
    return ask(lens, channel, ALPHA, **{**usual, **header})


VOTE = _asked(0, Bins(bins=8, width=0.25, neighbours=1, min_size=7), Bits.symmetric(ALPHA, bins=8, marks=3))
SIZES = _asked(0, SizeClasses(classes=12), Bits.optimised(ALPHA, bins=12))
CHOICE = _asked(2, SizeClasses(classes=3), Choice.spending(ALPHA, bins=3))
BIT = _asked(1, Windows(windows=(Window(0.125, -1.0, 2.0),), cap=7.0, between_sd=0.1), Bits.single(ALPHA))
DITHER = _asked(
    1, Windows(windows=(Window(-0.125, -1.0, 2.0), Window(0.375, -1.0, 2.0)), least_weight=0.5), Bits.single(ALPHA)
)
SEGMENTS = _asked(0, Windows.segments(BORDERS), Bits.single(ALPHA))
STRIPES = _asked(0, Stripes.single(0.5, phases=8, min_size=5), Bits.single(ALPHA))
GRID = _asked(1, Windows(windows=(Window(0.125, -1.0, 2.0),), between_sd=0.1), Laplace.spending(ALPHA))
LATE = Indicator(column="delay", relation="above", than="15")
SHARE = _asked(1, Windows.whole_range(), Bits.single(ALPHA), target="late", statistic=LATE)
SPREAD = _asked(2, BIT.lens, Bits.single(ALPHA), target="sd", statistic=Square(column="hours", low=LOW, high=HIGH))
HAVE = _asked(0, Windows.whole_range(), Bits.single(ALPHA), target="have", statistic=Present(column="delay"))
DRAWN = Drawn(column="hours", low=LOW, high=HIGH)
ONE = _asked(3, Stripes.single(0.5, phases=8), Bits.single(ALPHA), target="one", statistic=DRAWN)
QUESTIONS = (VOTE, SIZES, CHOICE, BIT, DITHER, SEGMENTS, STRIPES, GRID, SHARE, SPREAD, HAVE, ONE)

STATISTIC_EXAMPLES: dict[type[Statistic], tuple[Statistic, ...]] = {
    Value: (Value(), Value(low=LOW, high=HIGH), Value(column="hours", low=-1e6, high=-1e-3)),
    Square: (Square(), Square(low=LOW, high=HIGH), Square(column="hours", low=-1e6, high=-1e-3)),
    Drawn: (Drawn(), Drawn(low=LOW, high=HIGH), Drawn(column="hours", low=-1e6, high=-1e-3)),
    Indicator: (
        LATE,
        Indicator(relation="below", than="-1.5e-3"),
        Indicator(column="colour", relation="is", than="dark red"),
        Indicator(column="stars", relation="is", than="5"),
    ),
    Present: (Present(column=""), Present(column="delay")),
}

LENS_EXAMPLES: dict[type[Lens], tuple[Lens, ...]] = {
    Bins: (
        Bins(bins=1, width=2.0),
        Bins(bins=1, width=2.0, min_size=3),
        Bins(bins=4, width=0.5),
        Bins(bins=6, width=1 / 3, neighbours=1, min_size=5),
        Bins(bins=40, width=0.05, neighbours=2),
        Bins(bins=190, width=0.01, origin=-0.9, neighbours=4, min_size=2),
        Bins(bins=2**20, width=2.0**-19, neighbours=3, min_size=9),
    ),
    SizeClasses: tuple(SizeClasses(classes=classes) for classes in (1, 2, 5, 63, 70)),
    Windows: (
        Windows.whole_range(),
        BIT.lens,
        DITHER.lens,
        SEGMENTS.lens,
        Windows(windows=(Window(0.25, -2.5, 1.5), Window(-1.0, 0.0, 3.0)), cap=100.0, least_weight=0.3),
        Windows.segments((-0.9, -0.5, 0.0, 1e-9, 0.25, 0.3, 0.31, 0.75, 0.99)),
    ),
    Stripes: (
        STRIPES.lens,
        Stripes.single(4.0),
        Stripes.single(4.2, phases=1),
        Stripes.single(8.0, phases=4, min_size=2),
        Stripes.single(1 / 3, phases=2, min_size=2**62),
        Stripes.single(0.01, phases=64, min_size=10_000),
        Stripes.single(1e-6),
        Stripes(levels=(Level(4.2, 5), Level(0.9, 3, 4), Level(0.01, 120, 10_000))),
    ),
}
"""Lenses with people at all bins and at both ends of all windows: two of them differ as much as the lens allows."""

ONE_BIN = (*LENS_EXAMPLES[Windows], *LENS_EXAMPLES[Stripes])
"""Lenses with a single bin, for a single bit."""

_LAPLACE_STEPS = 15
"""Few enough to enumerate, and enough that a whole scale comes near any α."""

MAKINGS: dict[str, Callable[[float], tuple[Question, ...]]] = {
    "Bits.single": lambda alpha: tuple(ask(lens, Bits.single(alpha), alpha) for lens in ONE_BIN),
    "Bits.symmetric": lambda alpha: (
        ask(Bins(bins=6, width=1 / 3, neighbours=1, min_size=5), Bits.symmetric(alpha, bins=6, marks=3), alpha),
        ask(SizeClasses(classes=3), Bits.symmetric(alpha, bins=3, marks=1), alpha),
    ),
    "Bits.optimised": lambda alpha: (
        ask(Bins(bins=4, width=0.5), Bits.optimised(alpha, bins=4), alpha),
        ask(Bins(bins=3, width=2 / 3, min_size=5), Bits.optimised(alpha, bins=3), alpha),
        ask(SizeClasses(classes=4), Bits.optimised(alpha, bins=4), alpha),
    ),
    "Choice.spending": lambda alpha: (
        *(ask(SizeClasses(classes=n), Choice.spending(alpha, bins=n), alpha) for n in (2, 3, 8)),
        ask(Bins(bins=5, width=0.4), Choice.spending(alpha, bins=5), alpha),
    ),
    "Laplace.spending": lambda alpha: (
        ask(Windows.whole_range(), Laplace.spending(alpha, steps=_LAPLACE_STEPS), alpha),
        ask(DITHER.lens, Laplace.spending(alpha, steps=_LAPLACE_STEPS), alpha),
        ask(STRIPES.lens, Laplace.spending(alpha, steps=_LAPLACE_STEPS), alpha),
        ask(Bins(bins=1, width=2.0, min_size=3), Laplace.spending(alpha, steps=_LAPLACE_STEPS), alpha),
    ),
}
"""For every way to make a channel that spends α, questions that use all of it up."""


def every_making(alphas: Iterable[float]) -> list[Question]:
    """Questions with a channel made in every way, for each of the budgets."""
    return [question for alpha in alphas for make in MAKINGS.values() for question in make(alpha)]


def own(kinds: Iterable[type[Part]]) -> list[type[Part]]:
    """The classes of a registry that this package itself brings: a test may have registered others."""
    return [kind for kind in kinds if kind.__module__.startswith("dame.")]


def ways_to_make(channels: Iterable[type[Channel]]) -> set[str]:
    """The names of all class methods that make a channel for a budget."""
    return {
        f"{kind.__name__}.{name}"
        for kind in channels
        for name, method in inspect.getmembers(kind, inspect.ismethod)
        if method.__self__ is kind and name != "from_json"
    }


def question_name(question: Question) -> str:
    """A short name for the list of tests."""
    return f"{question.statistic.kind}-{question.lens.kind}-{question.channel.kind}-{question.alpha:.3g}"


def part_name(part: Part) -> str:
    """A short name for the list of tests."""
    return part.kind
