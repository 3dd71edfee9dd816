"""Scripts for whoever writes a device: the lens `size-classes`, through every channel."""

from __future__ import annotations

from dame.device.channels import Bits, Choice, Laplace
from dame.device.lenses import SizeClasses
from dame.device.questions import Question
from dame.device.statistics import Value
from vectors.channel_scripts import telling_answers
from vectors.outcomes import Document, answer_operation
from vectors.people import alike
from vectors.spoilt import changed_lens, lacking_lens


def size_class_questions() -> dict[str, dict[str, Question]]:
    """Questions through classes of sizes, by the kind of their channel."""
    return {"bits": _bits(), "choice": _choices(), "laplace": _laplace()}


def _bits() -> dict[str, Question]:
    """Several classes in odd units, many, and a single one, which costs nothing."""
    return {
        "classes": Question(
            study="vectors", target="sizes", round=0, alpha=1.0, statistic=Value(low=0.0, high=10.0),
            lens=SizeClasses(classes=5), channel=Bits.optimised(1.0, 5),
        ),
        "symmetric": Question(
            study="vectors", round=5, alpha=8.0, lens=SizeClasses(classes=9), channel=Bits.symmetric(8.0, 9, marks=1),
        ),
        "one-class": Question(
            study="vectors", round=0, alpha=1e-6, lens=SizeClasses(classes=1), channel=Bits(yes=2**63, no=1),
        ),
    }  # fmt: skip


def _choices() -> dict[str, Question]:
    """Two, a few and many classes; a small and a large α."""
    return {
        "two": Question(
            study="vectors", round=0, alpha=1e-6, lens=SizeClasses(classes=2), channel=Choice.spending(1e-6, 2),
        ),
        "four": Question(
            study="vectors", round=1, alpha=3.0, statistic=Value(low=-40.0, high=85.0), lens=SizeClasses(classes=4),
            channel=Choice.spending(3.0, 4),
        ),
        "seven": Question(
            study="vectors", round=2, alpha=32.0, statistic=Value(low=-1e16, high=1e22), lens=SizeClasses(classes=7),
            channel=Choice.spending(32.0, 7),
        ),
        "frugal": Question(
            study="vectors", round=2, alpha=2.0, lens=SizeClasses(classes=3), channel=Choice.spending(1.5, 3),
        ),
    }  # fmt: skip


def _laplace() -> dict[str, Question]:
    """A single class, which everybody marks."""
    return {
        "one-class": Question(
            study="vectors", round=0, alpha=0.5, lens=SizeClasses(classes=1), channel=Laplace(steps=10, scale=3),
        ),
    }  # fmt: skip


def size_class_refusals() -> list[Document]:
    """Documents with classes of sizes that must be refused."""
    good, single = _bits()["classes"], _laplace()["one-class"]
    changes: list[Document] = [
        {"classes": 0}, {"classes": -1}, {"classes": 2**20 + 1}, {"classes": 4}, {"classes": 6}, {"classes": "5"},
        {"classes": 5.5}, {"classes": None}, {"classes": True}, {"classes": [5]}, {"bins": 5}, {"min_size": 1},
        {"width": 0.25}, {"kind": "bins"}, {"kind": "sizes"},
    ]  # fmt: skip
    return [
        *(changed_lens(good, change) for change in changes),
        *lacking_lens(good),
        changed_lens(single, {"classes": 2}),
    ]


def size_class_answers(kind: str) -> list[Document]:
    """Both ends of the classes, more records than the last one asks for, and coins where the outcome changes."""
    script = []
    for name, question in size_class_questions()[kind].items():
        for seed, size in enumerate((1, 2, 3, 4, 7, 8, 15, 16, 33)):
            script.append(answer_operation(name, question, alike(question, 0.1, size), seed))
        for size in sorted({1, min(2 ** (question.lens.bins - 1), 16)}):
            script += telling_answers(name, question, alike(question, -1.0, size))
    return script
