"""One question of every kind, and plans of every protocol, for small tables."""

from __future__ import annotations

from functools import cache

from dame.device.questions import Measure, PartMeasure, PlaceVote, Question, SizeVote, Vote
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode
from dame.planning.plans import Plan
from dame.protocols import PROTOCOLS
from dame.protocols import plan as make_plan
from dame.sizes import Sizes

ALPHA = 1.5
ASKED = {"study": "study", "round": 0, "alpha": ALPHA}
WINDOW = {"centre": 0.1, "left": -2.0, "right": 2.0}

QUESTIONS: dict[str, Question] = {
    "vote": Vote(**ASKED, bins=13, width=2 / 13, min_size=2, code=UnaryCode.optimised(ALPHA)),
    "vote for neighbours": Vote(**ASKED, bins=64, width=2 / 64, neighbours=1, code=UnaryCode.symmetric(ALPHA, 3)),
    "one bin": Vote(**ASKED, bins=1, width=3.0, code=UnaryCode.optimised(ALPHA)),
    "size vote": SizeVote(**ASKED, bins=6, code=UnaryCode.optimised(ALPHA)),
    "place vote": PlaceVote(**ASKED, places=(-0.7, -0.1, 0.3), code=OneOfMany.spending(ALPHA, 3)),
    "eight places": PlaceVote(**ASKED, places=tuple(n / 16 for n in range(8)), code=OneOfMany.spending(ALPHA, 8)),
    "bit": Measure(**ASKED, **WINDOW, noise=OneBit.spending(ALPHA)),
    "dithered bit": Measure(**ASKED, **WINDOW, cap=9.0, dither=0.2, noise=OneBit.spending(ALPHA)),
    "bit on a part": PartMeasure(**ASKED, borders=(-1.0, -0.6, -0.1, 0.3, 1.0), noise=OneBit.spending(ALPHA)),
    "bit on one of eight parts": PartMeasure(
        **ASKED, borders=tuple(n / 16 for n in range(-4, 5)), noise=OneBit.spending(ALPHA)
    ),
    "laplace": Measure(**ASKED, **WINDOW, cap=1.0, noise=DiscreteLaplace.spending(ALPHA, 2**12)),
    "coarse laplace": Measure(**ASKED, **WINDOW, noise=DiscreteLaplace(steps=1, scale=1)),
}


@cache
def plans(users: int, bounds: tuple[float, float] = (-1.0, 1.0), study: str = "study") -> dict[str, Plan]:
    """A plan of every protocol."""
    sizes = Sizes.parse("uniform:1:60")
    return {
        name: make_plan(users=users, alpha=ALPHA, sizes=sizes, protocol=name, bounds=bounds, study=study)
        for name in PROTOCOLS
    }
