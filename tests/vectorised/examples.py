"""One question for each way in which a lens and a channel go together, small enough for exact distributions."""

from __future__ import annotations

from dame.device.channels import Bits, Channel, Choice, Laplace
from dame.device.lenses import Bins, Lens, SizeClasses, Window, Windows
from dame.device.questions import Question
from dame.device.records import Summary
from dame.device.stripes import Stripes

ALPHA = 2.0
PAPER_ALPHA = 10.0
"""The paper spends a sixth of α on a bit, so a larger α is needed to see a mutant in a small test."""

PEOPLE = [Summary(size=5, mean=mean) for mean in (-0.9, -0.1, 0.0, 0.4, 0.45, 0.5)] + [Summary(size=1, mean=0.4)] * 2

BINS = Bins(bins=3, width=0.7, min_size=2)
EVERYBODYS_BINS = Bins(bins=3, width=0.7)
NEIGHBOURS = Bins(bins=3, width=0.7, neighbours=1, min_size=2)
CLASSES = SizeClasses(classes=3)
WINDOW = Windows(windows=(Window(-0.5, -1.5, 1.5),), cap=4.0)
DITHER = Windows(windows=(Window(-0.9, -1.5, 1.5), Window(-0.1, -1.5, 1.5)), cap=4.0)
SEGMENTS = Windows.segments((-1.0, -0.05, 0.2, 0.5, 0.9))
STRIPES = Stripes.single(0.7, phases=4, min_size=2)
NOISE = Laplace(steps=6, scale=2)


def ask(lens: Lens, channel: Channel, alpha: float = ALPHA) -> Question:
    """The question of this lens and this channel."""
    return Question(study="s", round=1, alpha=alpha, lens=lens, channel=channel)


QUESTIONS: dict[str, Question] = {
    "one-hot": ask(BINS, Bits.optimised(ALPHA, 3)),
    "three marks": ask(NEIGHBOURS, Bits.symmetric(PAPER_ALPHA, 3, marks=3), PAPER_ALPHA),
    "size classes": ask(CLASSES, Bits.optimised(ALPHA, 3)),
    "choice of a bin": ask(EVERYBODYS_BINS, Choice.spending(ALPHA, 3)),
    "choice of a size class": ask(CLASSES, Choice.spending(ALPHA, 3)),
    "bit": ask(WINDOW, Bits.single(ALPHA)),
    "two windows": ask(DITHER, Bits.single(ALPHA)),
    "segments": ask(SEGMENTS, Bits.single(ALPHA)),
    "stripes": ask(STRIPES, Bits.single(ALPHA)),
}
"""Channels that compare words with thresholds: sums of them have distributions of a few thousand outcomes."""

NOISY: dict[str, Question] = {
    "noise": ask(WINDOW, NOISE, 3.0),
    "noise in two windows": ask(DITHER, NOISE, 3.0),
    "noise on stripes": ask(STRIPES, NOISE, 3.0),
    "noise on a bin": ask(Bins(bins=1, width=2.0, min_size=2), NOISE, 3.0),
}
"""Noisy grid points."""
