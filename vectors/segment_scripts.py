"""Scripts for whoever writes a device: the lens `windows`, with segments of the range and with many windows."""

from __future__ import annotations

from dame.device.channels import Bits, Laplace
from dame.device.lenses import Window, Windows
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.device.statistics import Value
from vectors.bin_scripts import ODD
from vectors.channel_scripts import telling_answers
from vectors.outcomes import Document, answer_operation
from vectors.people import alike


def segment_questions() -> dict[str, dict[str, Question]]:
    """Questions through several windows, by the kind of their channel."""
    return {"bits": _bits(), "laplace": _laplace()}


def _bits() -> dict[str, Question]:
    """2, 4 and 8 segments: all of the range or some of it, of the same width or not, narrow; and 64 windows."""
    return {
        "halves": Question(
            study="vectors", round=0, alpha=1.0, lens=Windows.segments((-1.0, 0.0, 1.0)), channel=Bits.single(1.0),
        ),
        "two": Question(
            study=ODD, round=3, alpha=22 / 35, statistic=Value(low=0.0, high=10.0),
            lens=Windows.segments((-0.5, 0.125, 0.25)), channel=Bits.single(22 / 35),
        ),
        "quarters": Question(
            study="vectors", round=0, alpha=0.6, statistic=Value(low=-60.0, high=120.0),
            lens=Windows.segments((-1.0, -0.5, 0.0, 0.5, 1.0)), channel=Bits.single(0.6),
        ),
        "four": Question(
            study="vectors", round=1, alpha=8.0, statistic=Value(low=1e-7, high=1e-5),
            lens=Windows.segments((-0.9, -1 / 3, 0.1, 0.7, 1.0)), channel=Bits.single(8.0),
        ),
        "eight": Question(
            study="vectors", round=63, alpha=1e-6,
            lens=Windows.segments(tuple(0.1 * border**3 / 64 - 0.3 for border in range(9))), channel=Bits.single(1e-6),
        ),
        "narrow": Question(
            study="vectors", round=2, alpha=32.0, statistic=Value(low=-1e16, high=1e22),
            lens=Windows.segments((-1e-5, 0.0, 1e-12, 1e-5, 0.9)), channel=Bits.single(32.0),
        ),
        "sixty-four": Question(
            study="vectors", round=2, alpha=2.0,
            lens=Windows(
                windows=tuple(Window(index / 32 - 1, -0.5, 0.5) for index in range(64)), cap=4.0, least_weight=1.5
            ),
            channel=Bits.single(2.0),
        ),
    }  # fmt: skip


def _laplace() -> dict[str, Question]:
    """Four segments, with noise on the position in one of them."""
    return {
        "quarters": Question(
            study="vectors", round=0, alpha=1.0, lens=Windows.segments((-1.0, -0.5, 0.0, 0.5, 1.0)),
            channel=Laplace.spending(1.0, steps=100),
        ),
    }  # fmt: skip


def segment_answers(kind: str) -> list[Document]:
    """Means at, between and beyond the ends; in every window the words that draw it and coins that tell."""
    script = []
    for name, question in segment_questions()[kind].items():
        lens = narrowed(Windows, question.lens)
        for seed, (mean, size) in enumerate(_people(lens)):
            records = alike(question, mean, size)
            script.append(answer_operation(name, question, records, seed))
        for window in range(min(lens.window_count, 8)):
            mean = (window + 1 / 3) * 2 / lens.window_count - 1
            script += telling_answers(name, question, alike(question, mean, 1), window)
    return script


def _people(lens: Windows) -> list[tuple[float, int]]:
    """Means and sizes; both ends, the middle and a third of the first windows among the means."""
    ends = [(centre + left, centre + right) for centre, left, right in lens.windows[:4]]
    inside = [left + (right - left) * part for left, right in ends for part in (0.0, 1 / 3, 1 / 2, 1.0)]
    means = [-1.0, 1.0, *sorted({min(max(mean, -1.0), 1.0) for mean in inside})]
    return [(mean, 1 + 4 * (index % 3 // 2)) for index, mean in enumerate(means)]
