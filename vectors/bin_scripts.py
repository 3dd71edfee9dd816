"""Scripts for whoever writes a device: the lens `bins`, through every channel."""

from __future__ import annotations

from collections.abc import Iterator

from dame.device.channels import Bits, Choice, Laplace
from dame.device.lenses import Bins
from dame.device.parts import narrowed
from dame.device.questions import Question
from dame.device.statistics import Value
from vectors.channel_scripts import telling_answers
from vectors.outcomes import Document, answer_operation
from vectors.people import alike
from vectors.spoilt import changed_lens, lacking_lens

ODD = 'Études "α" \\ 😀'
"""A study whose name needs escapes."""


def bin_questions() -> dict[str, dict[str, Question]]:
    """Questions through bins, by the kind of their channel."""
    return {"bits": _bits(), "choice": _choices(), "laplace": _laplace()}


def _bits() -> dict[str, Question]:
    """With and without neighbours, one bin, borders that no double hits, odd units, and bins that all people mark."""
    return {
        "paper": Question(
            study="vectors", round=0, alpha=1.0, lens=Bins(bins=8, width=0.25, neighbours=1, min_size=3),
            channel=Bits.symmetric(1.0, 8, marks=3),
        ),
        "one-hot": Question(
            study=ODD, target="β 😀", round=3, alpha=22 / 35, statistic=Value(low=0.0, high=10.0),
            lens=Bins(bins=10, width=0.2, min_size=2), channel=Bits.optimised(22 / 35, 10),
        ),
        "single-bin": Question(
            study="vectors", round=0, alpha=1e-6, lens=Bins(bins=1, width=2.5, min_size=4), channel=Bits.single(1e-6),
        ),
        "wide": Question(
            study="vectors", round=63, alpha=32.0, statistic=Value(low=-1e16, high=1e22),
            lens=Bins(bins=19, width=1 / 9, origin=-0.75, neighbours=2), channel=Bits.symmetric(32.0, 19, marks=5),
        ),
        "all-alike": Question(
            study="vectors", round=0, alpha=1e-6, lens=Bins(bins=2, width=1.0, neighbours=1),
            channel=Bits(bins=2, yes=2**64 - 1, no=1),
        ),
    }  # fmt: skip


def _choices() -> dict[str, Question]:
    """Two bins and many, a small and a large α; everybody marks exactly one bin, or all of them."""
    return {
        "two": Question(
            study="vectors", round=0, alpha=1.0, lens=Bins(bins=2, width=1.0), channel=Choice.spending(1.0, 2),
        ),
        "three": Question(
            study=ODD, round=3, alpha=22 / 35, statistic=Value(low=0.0, high=10.0),
            lens=Bins(bins=3, width=1 / 3, origin=-0.5), channel=Choice.spending(22 / 35, 3),
        ),
        "many": Question(
            study="vectors", round=1, alpha=32.0, statistic=Value(low=1e-7, high=1e-5), lens=Bins(bins=19, width=0.1),
            channel=Choice.spending(32.0, 19),
        ),
        "cautious": Question(
            study="vectors", round=1, alpha=1e-6, lens=Bins(bins=5, width=0.4), channel=Choice.spending(1e-6, 5),
        ),
        "all-alike": Question(
            study="vectors", round=0, alpha=1e-6, lens=Bins(bins=2, width=1.0, neighbours=1),
            channel=Choice(bins=2, yes=2**64 - 7, no=7),
        ),
    }  # fmt: skip


def _laplace() -> dict[str, Question]:
    """A single bin, that people with enough records mark, or all."""
    return {
        "some": Question(
            study="vectors", round=0, alpha=1.0, lens=Bins(bins=1, width=2.0, min_size=3),
            channel=Laplace.spending(1.0, steps=1000),
        ),
        "everybody": Question(
            study="vectors", round=0, alpha=1e-6, lens=Bins(bins=1, width=2.0), channel=Laplace(steps=2, scale=1),
        ),
    }  # fmt: skip


def bin_refusals() -> list[Document]:
    """Documents with bins that must be refused."""
    bits, noisy = bin_questions()["bits"], bin_questions()["laplace"]["everybody"]
    changes: list[Document] = [
        {"bins": 0}, {"bins": 2**20 + 1}, {"bins": 2.5}, {"bins": [8]}, {"bins": "8"}, {"bins": 7}, {"width": 0},
        {"width": -0.25}, {"width": 1e13}, {"width": None}, {"origin": 1.5}, {"origin": True}, {"neighbours": 17},
        {"neighbours": -1}, {"neighbours": 2}, {"min_size": 0}, {"min_size": 2**63}, {"classes": 8},
        {"kind": "size-classes"},
    ]  # fmt: skip
    return [
        *(changed_lens(bits["paper"], change) for change in changes),
        *lacking_lens(bits["paper"]),
        # Bins that all people mark alike cost nothing; where people differ, the channel costs what it can.
        *(changed_lens(bits["all-alike"], change) for change in ({"min_size": 2}, {"neighbours": 0})),
        changed_lens(noisy, {"min_size": 2}),
    ]


def bin_answers(kind: str) -> list[Document]:
    """Means on borders and at the ends, people with too few records; and coins where the outcome changes."""
    script = []
    for name, question in bin_questions()[kind].items():
        lens = narrowed(Bins, question.lens)
        for seed, mean in enumerate(_means(lens)):
            script.append(answer_operation(name, question, alike(question, mean, lens.min_size), seed))
        for size in sorted({lens.min_size, max(lens.min_size - 1, 1)}):
            script.append(answer_operation(name, question, alike(question, 1.0, size), size))
            script += telling_answers(name, question, alike(question, 0.1, size))
    return script


def _means(lens: Bins) -> Iterator[float]:
    """The ends, the first borders and the middle one, a hair beside it, and somewhere."""
    yield from (-1.0, 1.0, 0.3)
    for border in sorted({1, 2, lens.bins // 2}):
        yield lens.origin + border * lens.width
    middle = lens.origin + lens.bins // 2 * lens.width
    yield from (middle - 2.0**-30, middle + 2.0**-30)
