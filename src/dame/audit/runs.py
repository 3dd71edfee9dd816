"""Whole audits: every question of the chosen protocols, exactly; and a few of each kind, from the outside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dame.audit.black_box import Finding, listen
from dame.audit.cases import cases
from dame.audit.exact import Check, check_question
from dame.device import answer
from dame.device.questions import Measure, PartMeasure, PlaceVote, Question, SizeVote, Vote
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode
from dame.protocols import PROTOCOLS


def audit(protocols: Sequence[str] = tuple(PROTOCOLS), alphas: Sequence[float] | None = None) -> Iterator[Check]:
    """The verdict on every question that the plans of these protocols can ask."""
    for case in cases(protocols, alphas):
        yield check_question(case.name, case.question)


def sampled(alpha: float, pilot: int, draws: int) -> Iterator[tuple[str, Finding]]:
    """What an auditor from the outside certifies about `dame.device.answer`, for each kind of question."""
    for name, question in kinds(alpha).items():
        yield f"{name} alpha={alpha:.4g}", listen(answer, question, pilot, draws)


def kinds(alpha: float) -> dict[str, Question]:
    """One question of each kind, small enough to sample: lists of records must be short, reports few."""
    paper, one_hot = UnaryCode.symmetric(alpha, marks=3), UnaryCode.optimised(alpha)
    bit, noise = OneBit.spending(alpha), DiscreteLaplace.spending(alpha)
    return {
        "vote with neighbours": Vote(
            study="audit", round=0, alpha=alpha, bins=8, width=0.25, neighbours=1, min_size=3, code=paper
        ),
        "vote": Vote(study="audit", round=0, alpha=alpha, bins=8, width=0.25, min_size=3, code=one_hot),
        "vote for a size": SizeVote(study="audit", round=0, alpha=alpha, bins=8, code=one_hot),
        "vote for a place": PlaceVote(
            study="audit",
            round=0,
            alpha=alpha,
            places=(-0.6, -0.1, 0.2, 0.9),
            code=OneOfMany.spending(alpha, 4),
        ),
        "one bit": Measure(study="audit", round=0, alpha=alpha, centre=0.2, left=-2.0, right=2.0, noise=bit),
        "one bit, dithered": Measure(
            study="audit", round=0, alpha=alpha, centre=0.2, left=-2.0, right=2.0, dither=0.3, noise=bit
        ),
        "one bit on a part": PartMeasure(
            study="audit", round=0, alpha=alpha, borders=(-1.0, -0.4, 0.0, 0.1, 0.9), noise=bit
        ),
        "noisy grid point": Measure(study="audit", round=0, alpha=alpha, centre=0.2, left=-2.0, right=2.0, noise=noise),
    }
