"""One question of every kind, and plans of every protocol, for small tables."""

from __future__ import annotations

from functools import cache

from dame.device.channels import Bits, Channel, Choice, Laplace
from dame.device.lenses import Bins, Lens, SizeClasses, Window, Windows
from dame.device.questions import Question
from dame.device.stripes import Stripes
from dame.protocols import PROTOCOLS
from dame.sizes import Sizes
from dame.studies.plans import Plan
from dame.studies.study import plan as make_plan

ALPHA = 1.5


def ask(lens: Lens, channel: Channel) -> Question:
    """The question of this lens and this channel."""
    return Question(study="study", round=0, alpha=ALPHA, lens=lens, channel=channel)


def window(cap: float | None = None, *centres: float) -> Windows:
    """Windows of one width around these centres."""
    return Windows(windows=tuple(Window(centre, -2.0, 2.0) for centre in centres or (0.1,)), cap=cap)


ONE_BIT = Bits.single(ALPHA)

QUESTIONS: dict[str, Question] = {
    "vote": ask(Bins(bins=13, width=2 / 13, min_size=2), Bits.optimised(ALPHA, 13)),
    "vote for neighbours": ask(Bins(bins=64, width=2 / 64, neighbours=1), Bits.symmetric(ALPHA, 64, marks=3)),
    "one bin": ask(Bins(bins=1, width=3.0), Bits.optimised(ALPHA, 1)),
    "size classes": ask(SizeClasses(classes=6), Bits.optimised(ALPHA, 6)),
    "choice of a size class": ask(SizeClasses(classes=6), Choice.spending(ALPHA, 6)),
    "choice of a bin": ask(Bins(bins=300, width=2 / 300), Choice.spending(ALPHA, 300)),
    "bit": ask(window(), ONE_BIT),
    "two windows": ask(window(9.0, -0.1, 0.3), ONE_BIT),
    "four segments": ask(Windows.segments((-1.0, -0.6, -0.1, 0.3, 1.0)), ONE_BIT),
    "eight segments": ask(Windows.segments(tuple(n / 16 for n in range(-4, 5))), ONE_BIT),
    "thresholds": ask(Stripes.single(4.0), ONE_BIT),
    "fine stripes": ask(Stripes.single(1e-3, phases=8, min_size=3), ONE_BIT),
    "laplace": ask(window(1.0), Laplace.spending(ALPHA, 2**12)),
    "coarse laplace": ask(window(), Laplace(steps=1, scale=1)),
    "laplace in two windows": ask(window(1.0, -0.1, 0.3), Laplace.spending(ALPHA, 2**12)),
}


@cache
def plans(users: int, bounds: tuple[float, float] = (-1.0, 1.0), study: str = "study") -> dict[str, Plan]:
    """A plan of every protocol."""
    sizes = Sizes.parse("uniform:1:60")
    return {
        name: make_plan(users=users, alpha=ALPHA, sizes=sizes, protocol=name, bounds=bounds, study=study)
        for name in PROTOCOLS
    }
