"""Hypothesis strategies: any question, of any lens and any channel that suits it; people, reports, JSON of any shape.

questions()                                  # every kind
questions(lenses(Windows), Laplace)          # a noisy position in a window
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from hypothesis import strategies as st

from dame.device.channels import Bits, Channel, Choice, Laplace
from dame.device.lenses import MOST_WINDOWS, Bins, Lens, SizeClasses, Window, Windows
from dame.device.questions import Question, question_id
from dame.device.records import Summary
from dame.device.reports import Report
from dame.device.statistics import Drawn, Indicator, Present, Square, Statistic, Value
from dame.device.stripes import Level, Stripes
from dame.errors import InvalidInput

alphas = st.one_of(st.floats(1e-6, 32.0), st.sampled_from([1e-6, 0.1, 22 / 35, 1.0, 3.0, 8.0, 32.0]))
studies = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12).filter(str.isprintable)
sizes = st.one_of(st.integers(1, 200), st.integers(1, 2**62))
means = st.one_of(st.floats(-1, 1), st.sampled_from([-1.0, -0.5, -0.0, 0.0, 0.25, 0.5, 1.0]))
people = st.builds(Summary, size=sizes, mean=means)
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=10,
)


def records(longest: int = 30) -> st.SearchStrategy[list[float]]:
    """Records of one person, inside and outside of all bounds."""
    return st.lists(st.one_of(st.floats(-1e9, 1e9), st.floats(-1, 1)), min_size=1, max_size=longest)


# --- statistics


@st.composite
def bounds(draw: st.DrawFn) -> tuple[float, float]:
    low = draw(st.one_of(st.just(-1.0), st.just(0.0), st.floats(-1e6, 1e6)))
    return low, low + draw(st.floats(1e-3, 1e6))


columns = st.one_of(
    st.just(""), st.sampled_from(["minutes", "Gr\u00fc\u00dfe \U0001f600", "toString", "__proto__", "0"]), studies
)
numerals = st.one_of(
    st.floats(-1e9, 1e9).map(repr),
    st.integers(-(10**20), 10**20).map(str),
    st.sampled_from(["0", "-0", "+1.5e0", ".5", "7.", "1E3", "-2.5e-7", "007", "1e-400", "9007199254740993"]),
)
"""Texts that stand for numbers."""


def _bounded(kind: type[Value] | type[Square] | type[Drawn]) -> st.SearchStrategy[Statistic]:
    return st.builds(lambda column, ends: kind(column=column, low=ends[0], high=ends[1]), columns, bounds())


STATISTIC_STRATEGIES: dict[type[Statistic], st.SearchStrategy[Statistic]] = {
    Value: _bounded(Value),
    Square: _bounded(Square),
    Drawn: _bounded(Drawn),
    Indicator: st.one_of(
        st.builds(Indicator, column=columns, relation=st.sampled_from(["above", "below"]), than=numerals),
        st.builds(Indicator, column=columns, relation=st.just("is"), than=st.one_of(numerals, studies)),
    ),
    Present: st.builds(Present, column=columns),
}


def statistics(*kinds: type[Statistic]) -> st.SearchStrategy[Statistic]:
    """Statistics of these kinds; of every kind unless told."""
    return st.one_of(*(STATISTIC_STRATEGIES[kind] for kind in kinds or STATISTIC_STRATEGIES))


def rows(column: str, longest: int = 12, *cells: st.SearchStrategy[object]) -> st.SearchStrategy[list[object]]:
    """Records of one person, some of them with the column, some without it; its cells are numbers unless told."""
    cell = st.one_of(*cells) if cells else st.one_of(st.floats(-1e9, 1e9), st.integers(-100, 100))
    without = st.dictionaries(st.sampled_from(["other", "more"]), st.one_of(st.none(), st.text(max_size=3)))
    named = st.one_of(without, st.builds(lambda rest, own: {**rest, column: own}, without, st.one_of(st.none(), cell)))
    return st.lists(st.one_of(cell, named) if column else cell, max_size=longest)


def texts_and_numbers(statistic: Statistic) -> st.SearchStrategy[object]:
    """Cells for statistics that read texts, among them the one that an indicator looks for."""
    own = [statistic.than, statistic.number or 0.0] if isinstance(statistic, Indicator) else []
    return st.one_of(st.sampled_from([*own, "", "1", 1.0, 1, True]), studies, numerals, st.floats(-1e9, 1e9))


def takes_texts(statistic: Statistic) -> bool:
    """Whether texts count as values."""
    return getattr(statistic, "relation", "") == "is" or isinstance(statistic, Present)


def asked_rows() -> st.SearchStrategy[tuple[Statistic, list[object]]]:
    """Statistics, each with records that suit it: some lack the column, and there may be none at all."""

    def suiting(statistic: Statistic) -> st.SearchStrategy[tuple[Statistic, list[object]]]:
        cells = [texts_and_numbers(statistic)] if takes_texts(statistic) else []
        return st.tuples(st.just(statistic), rows(statistic.column, 12, *cells))

    return statistics().flatmap(suiting)


def present_values(values: list[object], column: str) -> list[object]:
    """The values of the records that have one, found in another way than the device does."""
    cells = [value[column] if isinstance(value, dict) and column in value else value for value in values]
    return [cell for cell in cells if cell is not None and not isinstance(cell, dict)]


# --- lenses


@st.composite
def bins(draw: st.DrawFn, most: int = 70) -> Bins:
    return Bins(
        **draw(_one_mark(1, most)),
        neighbours=draw(st.integers(0, 3)),
        min_size=draw(st.one_of(st.just(1), st.integers(1, 200), st.integers(1, 2**62))),
    )


def _one_mark(fewest: int, most: int) -> st.SearchStrategy[dict[str, object]]:
    """What `Bins` are when everybody marks one."""
    return st.fixed_dictionaries(
        {
            "bins": st.integers(fewest, most),
            "width": st.one_of(st.floats(1e-3, 4.0), st.sampled_from([2.0**-k for k in range(8)])),
            "origin": st.one_of(st.just(-1.0), st.floats(-1.0, 1.0)),
        }
    )


def size_classes(fewest: int = 1, most: int = 70) -> st.SearchStrategy[SizeClasses]:
    return st.integers(fewest, most).map(lambda classes: SizeClasses(classes=classes))


@st.composite
def _window(draw: st.DrawFn) -> Window:
    left = draw(st.floats(-100, 100))
    return Window(draw(st.one_of(means, st.floats(-3, 3))), left, left + draw(st.floats(1e-2, 100)))


@st.composite
def freely_placed_windows(draw: st.DrawFn) -> Windows:
    count = 2 ** draw(st.integers(0, 3))
    return Windows(
        windows=tuple(draw(st.lists(_window(), min_size=count, max_size=count))),
        cap=draw(st.one_of(st.none(), st.just(1.0), st.floats(1e-3, 1e6))),
        between_sd=draw(st.one_of(st.just(0.0), st.floats(0.0, 1.0))),
        least_weight=draw(st.one_of(st.just(0.0), st.floats(0.0, 100.0))),
    )


def borders(most_segments: int = 8) -> st.SearchStrategy[list[float]]:
    """Borders of 1, 2, 4 … segments."""
    counts = [2**k + 1 for k in range(MOST_WINDOWS.bit_length()) if 2**k <= most_segments]
    rising = [st.lists(means, min_size=n, max_size=n, unique=True).map(sorted).filter(_apart) for n in counts]
    return st.one_of(*rising)


def _apart(rising: list[float]) -> bool:
    return all(right - left >= 1e-12 for left, right in itertools.pairwise(rising))


def segments() -> st.SearchStrategy[Windows]:
    return borders().map(Windows.segments)


@st.composite
def stripes(draw: st.DrawFn) -> Stripes:
    """Stripes of one wavelength or of several, whose phases are 1, 2, 4 … together."""
    wavelengths = st.one_of(st.floats(1e-6, 8.0), st.sampled_from([2.0**k for k in range(-16, 4)]))
    count = 2 ** draw(st.integers(0, MOST_WINDOWS.bit_length() - 1))
    borders = sorted(draw(st.sets(st.integers(1, count - 1), max_size=5))) if count > 1 else []
    phases = [right - left for left, right in itertools.pairwise((0, *borders, count))]
    return Stripes(levels=[Level(draw(wavelengths), each, draw(st.one_of(st.just(1), sizes))) for each in phases])


LENS_STRATEGIES: dict[type[Lens], st.SearchStrategy[Lens]] = {
    Bins: bins(),
    SizeClasses: size_classes(),
    Windows: st.one_of(st.just(Windows.whole_range()), freely_placed_windows(), segments()),
    Stripes: stripes(),
}


def lenses(*kinds: type[Lens]) -> st.SearchStrategy[Lens]:
    """Lenses of these kinds; of every kind unless told."""
    return st.one_of(*(LENS_STRATEGIES[kind] for kind in kinds or LENS_STRATEGIES))


# --- channels


def _marks(lens: Lens) -> int:
    return max(1, *map(max, lens.differences))


CHANNEL_MAKERS: dict[type[Channel], tuple[Callable[[float, Lens, int], Channel], ...]] = {
    Bits: (
        lambda alpha, lens, steps: Bits.symmetric(alpha, bins=lens.bins, marks=_marks(lens)),
        lambda alpha, lens, steps: Bits.optimised(alpha, bins=lens.bins),
        lambda alpha, lens, steps: Bits.single(alpha),
    ),
    Choice: (lambda alpha, lens, steps: Choice.spending(alpha, bins=lens.bins),),
    Laplace: (lambda alpha, lens, steps: Laplace.spending(alpha, steps=steps),),
}
"""Channels for a budget and a lens; they need not suit it."""

CHANNEL_LENSES: dict[type[Channel], st.SearchStrategy[Lens]] = {
    Bits: lenses(),
    Choice: st.one_of(size_classes(fewest=2), _one_mark(2, 70).map(lambda fields: Bins(**fields))),
    Laplace: st.one_of(lenses(Windows), lenses(Stripes), bins(most=1)),
}
"""Lenses that a channel suits."""


@st.composite
def channels(draw: st.DrawFn, lens: Lens, alpha: float, *kinds: type[Channel]) -> Channel:
    """Channels of these kinds (of every kind unless told) that suit a lens and a budget."""
    steps = draw(st.one_of(st.just(2**20), st.integers(1, 2**24)))
    makers = itertools.chain.from_iterable(CHANNEL_MAKERS[kind] for kind in kinds or CHANNEL_MAKERS)
    return draw(st.sampled_from([own for make in makers if (own := _suiting(make, alpha, lens, steps)) is not None]))


def _suiting(make: Callable[[float, Lens, int], Channel], alpha: float, lens: Lens, steps: int) -> Channel | None:
    try:
        channel = make(alpha, lens, steps)
        suits = channel.bins == lens.bins and channel.loss(lens.differences).within(alpha)
    except InvalidInput:
        return None
    return channel if suits else None


# --- questions and reports


@st.composite
def questions(draw: st.DrawFn, lens: st.SearchStrategy[Lens] | None = None, *kinds: type[Channel]) -> Question:
    """Questions with such lenses, and channels of these kinds; of every kind unless told."""
    kinds = kinds or tuple(CHANNEL_MAKERS)
    if lens is None:
        kinds = (draw(st.sampled_from(kinds)),)
        lens = CHANNEL_LENSES[kinds[0]]
    alpha, own = draw(alphas), draw(lens)
    return Question(
        study=draw(studies),
        target=draw(st.one_of(st.just("mean"), studies)),
        round=draw(st.integers(0, 63)),
        alpha=alpha,
        statistic=draw(statistics()),
        lens=own,
        channel=draw(channels(own, alpha, *kinds)),
    )


def values_of(question: Question) -> st.SearchStrategy[int]:
    """Values of reports that a device could send."""
    low, high = question.channel.values
    return st.one_of(st.integers(low, high), st.sampled_from([low, high, min(max(0, low), high)]))


def reports_of(question: Question) -> st.SearchStrategy[Report]:
    """Reports that a device could send."""
    windows = st.integers(0, question.lens.window_count - 1)
    return st.builds(Report, question=st.just(question_id(question)), window=windows, value=values_of(question))


def answered_questions() -> st.SearchStrategy[tuple[Question, Report]]:
    """Questions, each with a report that a device could send."""
    return questions().flatmap(lambda question: st.tuples(st.just(question), reports_of(question)))
