"""Scripts for whoever writes a device: coins where the outcome of a channel changes, and channels that are refused."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from dame.device.channels import Bits, Channel, Choice, Comparing, Laplace
from dame.device.lenses import Bins, Lens, Reading, SizeClasses, Windows
from dame.device.questions import Question
from dame.device.statistics import Value
from vectors.coins import LARGEST, MINUS_ZERO, far_noise
from vectors.outcomes import Document, answer_operation
from vectors.spoilt import changed_channel, lacking_channel

FAR = 46
"""Noise of so many scales is clamped, at 45 beyond the grid."""


def telling_answers(name: str, question: Question, records: Sequence[object], window: int = 0) -> list[Document]:
    """Answers in one of the windows, with coins on both sides of each end at which the outcome changes.

    The window is drawn by the first and by the last word that lead to it, in turn.
    """
    reading = question.lens.reading(question.statistic.summarise(records), window)
    return [
        answer_operation(name, question, records, 7, [*window_word(question.lens, window, last=turn % 2 == 1), *coins])
        for turn, coins in enumerate(telling_coins(question.channel, reading))
    ]


def window_word(lens: Lens, window: int, last: bool) -> list[int]:
    """The first or the last word that leads to a window; none where there is no choice."""
    each = 1 << 64 - lens.window_bits
    return [(window + 1) * each - 1 if last else window * each] if lens.window_bits else []


@singledispatch
def telling_coins(channel: Channel, reading: Reading) -> list[list[int]]:
    """Words for a draw, chosen where something happens that random words would miss."""
    raise NotImplementedError(channel.kind)


@telling_coins.register
def _of_thresholds(channel: Comparing, reading: Reading) -> list[list[int]]:
    ends = channel.ends(reading)
    words = {0, *(word for some in ends for end in some for word in (end - 1, end)), LARGEST}
    return [[word] * len(ends) for word in sorted(words)]


@telling_coins.register
def _of_noise(channel: Laplace, reading: Reading) -> list[list[int]]:
    del reading
    return [far_noise(FAR, negative=False), far_noise(FAR, negative=True), MINUS_ZERO]


# --- refusals


def channel_refusals() -> list[Document]:
    """Documents whose channel is none, does not fit the lens, or would spend more than α."""
    return [*_malformed(), *_misfits(), *_greedy()]


def _asked(lens: Lens, channel: Channel, alpha: float) -> Question:
    """A good question, to be spoilt."""
    statistic = Value(low=0.0, high=10.0)
    return Question(study="vectors", round=1, alpha=alpha, statistic=statistic, lens=lens, channel=channel)


def _malformed() -> list[Document]:
    bits = _asked(Bins(bins=4, width=0.5), Bits.optimised(1.0, 4), 1.0)
    choice = _asked(SizeClasses(classes=4), Choice.spending(1.0, 4), 1.0)
    laplace = _asked(Windows.whole_range(), Laplace.spending(1.0, steps=10), 1.0)
    thresholds: list[Document] = [
        {"yes": "8AC7230489E80000", "no": "7000000000000000"}, {"yes": "800", "no": "7ff"}, {"yes": 1, "no": 2},
        {"yes": "7000000000000000", "no": "8000000000000000"}, {"yes": "8000000000000000", "no": "8000000000000000"},
        {"yes": "8000000000000000", "no": "0000000000000000"}, {"yes": "0x80000000000000", "no": "7000000000000000"},
        {"yes": "10000000000000000", "no": "7000000000000000"}, {"yes": None, "no": "7000000000000000"},
    ]  # fmt: skip
    bins: list[Document] = [{"bins": bins} for bins in (0, 1, 3, 5, 2**20 + 1, 4.5, "4", None, True, [4])]
    kinds: list[Document] = [{"kind": kind} for kind in ("gauss", "laplace", None, 7, ["bits"])]
    grids: list[Document] = [
        {"steps": 0}, {"steps": 2**24 + 1, "scale": 2**44}, {"steps": 2.5}, {"steps": "10"}, {"scale": 0},
        {"scale": 2**45 + 1}, {"scale": None}, {"bins": 1}, {"kind": "bits"},
    ]  # fmt: skip
    return [
        *(changed_channel(bits, change) for change in (*thresholds, *bins, *kinds, {"steps": 10})),
        *(changed_channel(choice, change) for change in (*thresholds, *bins, {"kind": "laplace"})),
        *(changed_channel(laplace, change) for change in grids),
        *(document for question in (bits, choice, laplace) for document in lacking_channel(question)),
        *(bits.to_json() | {"channel": channel} for channel in (None, "bits", [], {}, 7)),
    ]


def _misfits() -> list[Document]:
    """A choice where not everybody marks exactly one bin, and channels for other numbers of bins."""
    choice, classes = Choice.spending(1.0, 4), _asked(SizeClasses(classes=4), Choice.spending(1.0, 4), 1.0)
    lenses = [
        Bins(bins=4, width=0.5, min_size=2), Bins(bins=4, width=0.5, neighbours=1), Bins(bins=3, width=0.5),
        Windows.whole_range(), Windows.segments((-1.0, -0.5, 0.0, 0.5, 1.0)), SizeClasses(classes=5),
    ]  # fmt: skip
    window = _asked(Windows.whole_range(), Bits.single(1.0), 1.0)
    channels = [choice, Choice.spending(1.0, 2), Bits.optimised(1.0, 4), Bits.optimised(1.0, 2)]
    return [
        *(classes.to_json() | {"lens": lens.to_json()} for lens in lenses),
        *(window.to_json() | {"channel": channel.to_json()} for channel in channels),
        *(classes.to_json() | {"channel": channel.to_json()} for channel in (Laplace.spending(1.0), Bits.single(1.0))),
    ]


def _greedy() -> list[Document]:
    """Channels that spend a hair more than α, or far more; chances that do not sum to 1."""
    alpha = 22 / 35
    lens, single, voted = Windows.whole_range(), Bits.single(alpha), Bits.symmetric(alpha, 8, marks=3)
    hot, chosen = Bits.optimised(alpha, 4), Choice.spending(alpha, 3)
    window = _asked(lens, single, alpha)
    around = _asked(Bins(bins=8, width=0.25, neighbours=1), voted, alpha)
    one = _asked(SizeClasses(classes=4), hot, alpha)
    classes = _asked(SizeClasses(classes=3), chosen, alpha)
    noise = Laplace.spending(alpha)
    return [
        *(changed_channel(window, _pair(yes, no)) for yes, no in (
            (single.yes + 1, single.no - 1), (2, 1), (2**33, 2**32), (2**64 - 2**32, 2**64 - 2**33),
            (2**64 - 1, 2**64 - 2),
        )),
        changed_channel(around, _pair(voted.yes + 1, voted.no - 1)),
        changed_channel(one, _pair(hot.yes, hot.no - 1)),
        *(changed_channel(classes, _pair(yes, no)) for yes, no in (
            (chosen.yes + 2, chosen.no - 1), (chosen.yes + 1, chosen.no), (chosen.yes, chosen.no - 1),
            (chosen.yes - 1, chosen.no), (2**64 - 2, 1), (2**63, 2**62 + 1), (2**62, 3 * 2**61),
        )),
        changed_channel(_asked(lens, noise, alpha), {"scale": noise.scale - 1}),
        *(asked.to_json() | {"alpha": 0.62} for asked in (window, around, one, classes, _asked(lens, noise, alpha))),
    ]  # fmt: skip


def _pair(yes: int, no: int) -> Document:
    return {"yes": f"{yes:016x}", "no": f"{no:016x}"}
