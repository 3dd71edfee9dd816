"""Scripts for whoever writes a device: the lens `windows`, with one window or two, through every channel that fits."""

from __future__ import annotations

from dame.device.channels import Bits, Laplace
from dame.device.lenses import Window, Windows
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.device.statistics import Value
from vectors.channel_scripts import telling_answers
from vectors.outcomes import Document, answer_operation
from vectors.people import alike
from vectors.spoilt import changed_lens, lacking_lens


def window_questions() -> dict[str, dict[str, Question]]:
    """Questions through windows, by the kind of their channel."""
    return {"bits": _bits(), "laplace": _laplace()}


def _bits() -> dict[str, Question]:
    """Over the whole range, in a window with every kind of weight, in two windows and in two that share nothing."""
    return {
        "whole-range": Question(
            study="vectors", round=0, alpha=0.5, statistic=Value(low=-40.0, high=85.0), lens=Windows.whole_range(),
            channel=Bits.single(0.5),
        ),
        "capped": Question(
            study="vectors", round=1, alpha=22 / 35, lens=Windows(windows=(Window(0.21, -2.0, 2.0),), cap=20.25),
            channel=Bits.single(22 / 35),
        ),
        "least-weight": Question(
            study="vectors", round=1, alpha=3.0, lens=Windows(windows=(Window(0.21, -2.0, 2.0),), least_weight=1.8),
            channel=Bits.single(3.0),
        ),
        "between": Question(
            study="vectors", round=1, alpha=8.0, statistic=Value(low=1e-7, high=1e-5),
            lens=Windows(windows=(Window(-0.4, -1.5, 3.25),), cap=6.5, between_sd=0.3, least_weight=1.25),
            channel=Bits.single(8.0),
        ),
        "dithered": Question(
            study="vectors", round=2, alpha=1.0,
            lens=Windows(windows=(Window(0.025, -1.25, 1.25), Window(0.225, -1.25, 1.25)), between_sd=0.1),
            channel=Bits.single(1.0),
        ),
        "far-apart": Question(
            study="vectors", round=2, alpha=32.0,
            lens=Windows(windows=(Window(-3.0, 0.5, 4.0), Window(3.0, -1e12, -1e-3))),
            channel=Bits.single(32.0),
        ),
        "frugal": Question(
            study="vectors", round=2, alpha=2.0, lens=Windows(windows=(Window(0.0, -1.0, 1.0),), cap=1e-12),
            channel=Bits(yes=2**62, no=2**61),
        ),
    }  # fmt: skip


def _laplace() -> dict[str, Question]:
    """A fine grid, a coarse one, the widest noise, and two windows."""
    return {
        "fine": Question(
            study="vectors", round=1, alpha=1.0,
            lens=Windows(windows=(Window(0.3, -4.0, 2.8),), cap=16.0, between_sd=0.2), channel=Laplace.spending(1.0),
        ),
        "coarse": Question(
            study="vectors", round=0, alpha=3.0, lens=Windows.whole_range(), channel=Laplace.spending(3.0, steps=10),
        ),
        "widest": Question(
            study="vectors", round=0, alpha=1e-6, lens=Windows.whole_range(),
            channel=Laplace.spending(1e-6, steps=2**24),
        ),
        "dithered": Question(
            study="vectors", round=3, alpha=0.25, statistic=Value(low=0.0, high=10.0),
            lens=Windows(windows=(Window(-0.1, -1.5, 1.5), Window(0.1, -1.5, 1.5)), between_sd=0.05, least_weight=0.5),
            channel=Laplace.spending(0.25, steps=2**16),
        ),
    }  # fmt: skip


def window_refusals() -> list[Document]:
    """Documents with windows that must be refused."""
    good = _bits()["whole-range"]
    windows: list[object] = [
        None, 3, "0.5", {}, [], {"0": [0.0, -1.0, 1.0]}, [0.0, -1.0, 1.0], [[]], [[0.0, -1.0]], [[0.0, -1.0, 1.0, 1.0]],
        [["0", -1.0, 1.0]], [[None, -1.0, 1.0]], [[True, -1.0, 1.0]], [[0.0, [-1.0], 1.0]], [None], ["abc"],
        [{"centre": 0.0, "left": -1.0, "right": 1.0}], [[3.5, -1.0, 1.0]], [[0.0, 1.0, 1.0]], [[0.0, 1.0, -1.0]],
        [[0.0, 0.0, 9e-13]], [[0.0, -1e13, 1.0]], [[0.0, -1.0, 1e13]], [[0.0, -1.0, 1.0], [0.0, -1.0, "1"]],
        [[0.0, -1.0, 1.0], [0.0, 1.0, -1.0]],
        *([[0.0, -1.0, 1.0]] * count for count in (3, 5, 6, 7, 12, 65, 127, 129, 256)),
    ]  # fmt: skip
    changes: list[Document] = [
        *({"windows": value} for value in windows), {"cap": 0}, {"cap": "none"}, {"cap": 9e-13}, {"cap": 5e18},
        {"cap": True}, {"between_sd": -0.1}, {"between_sd": 1.5}, {"between_sd": None}, {"least_weight": -1},
        {"least_weight": 1e13}, {"least_weight": "0"}, {"dither": 0.0}, {"bins": 1}, {"kind": "bins"},
        {"kind": "window"},
    ]  # fmt: skip
    return [*(changed_lens(good, change) for change in changes), *lacking_lens(good)]


def window_answers(kind: str) -> list[Document]:
    """Both ends, the middle, many records; and in either window coins where the outcome changes."""
    script = []
    for name, question in window_questions()[kind].items():
        lens = narrowed(Windows, question.lens)
        centre = min(max(lens.windows[0].centre, -1.0), 1.0)
        people = [(-1.0, 1), (1.0, 1), (0.0, 1), (0.2, 3), (-0.37, 30), (centre, 9), (0.9, 49)]
        for seed, (mean, size) in enumerate(people):
            script.append(answer_operation(name, question, alike(question, mean, size), seed))
        for turn, (mean, size) in enumerate([(0.2, 3), (centre, 2)]):
            script += telling_answers(name, question, alike(question, mean, size), turn % lens.window_count)
    return script
