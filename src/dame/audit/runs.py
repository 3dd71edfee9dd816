"""Whole audits: every question of the chosen protocols, exactly; and a few of each kind, from the outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dame.audit.black_box import Finding, listen
from dame.audit.cases import STUDY, all_cases
from dame.audit.exact import Check, check_question
from dame.device import Bins, Bits, Choice, Laplace, Question, SizeClasses, Stripes, Window, Windows, answer
from dame.protocols import PROTOCOLS


def audit(protocols: Sequence[str] = tuple(PROTOCOLS), alphas: Sequence[float] | None = None) -> Iterator[Check]:
    """The verdict on every question that the plans of these protocols can ask."""
    for case in all_cases(protocols, alphas):
        yield check_question(case.name, case.question)


def sampled(alpha: float, pilot: int, draws: int) -> Iterator[tuple[str, Finding]]:
    """What an auditor from the outside certifies about `dame.device.answer`, for each kind of question."""
    for name, question in kinds(alpha).items():
        yield f"{name} alpha={alpha:.4g}", listen(answer, question, pilot, draws)


def kinds(alpha: float) -> dict[str, Question]:
    """A question with each lens and each channel, small enough to sample: lists of records must be short."""
    bins, classes, bit = 8, SizeClasses(classes=8), Bits.single(alpha)
    window = Windows(windows=(Window(0.2, -2.0, 2.0),))
    dithered = Windows(windows=(Window(-0.1, -2.0, 2.0), Window(0.5, -2.0, 2.0)))
    parts = {
        "vote with neighbours": (
            Bins(bins=bins, width=0.25, neighbours=1, min_size=3),
            Bits.symmetric(alpha, bins, marks=3),
        ),
        "vote": (Bins(bins=bins, width=0.25, min_size=3), Bits.optimised(alpha, bins)),
        "vote for a size": (classes, Bits.optimised(alpha, bins)),
        "choice of a size": (classes, Choice.spending(alpha, bins)),
        "one bit": (window, bit),
        "one bit, dithered": (dithered, bit),
        "one bit on a segment": (Windows.segments((-1.0, -0.4, 0.0, 0.1, 0.9)), bit),
        "one bit on stripes": (Stripes.single(0.5, phases=4, min_size=3), bit),
        "noisy position": (window, Laplace.spending(alpha)),
    }
    return {
        name: Question(study=STUDY, round=0, alpha=alpha, lens=lens, channel=channel)
        for name, (lens, channel) in parts.items()
    }
