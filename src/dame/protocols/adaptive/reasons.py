"""Why the planner chose what it chose, in sentences for people."""

from __future__ import annotations

from dame.planning.plans import Plan
from dame.protocols.paper import VOTES_LOCATE

SIZES_FIRST = "The sizes are asked for first, since nobody knows them: all later rounds follow from the answers."
ONE_ROUND = "A single round is best here: looking for the centre first would cost more than a narrow window saves."
MEANS_FIRST = "The first users show where the means lie and how far apart: that decides where and how finely to look."
BITS_LOCATE = "Plain bits locate the mean: with so few records a user, votes for bins would not be sharper."
TWO_WINDOWS = "The last round has two windows, which tell how strongly bits react: that is measured, not assumed."

_LOCATED_BY = {"bins": VOTES_LOCATE, "windows": BITS_LOCATE}
"""By the lens of the first round."""


def sentences(plan: Plan) -> list[str]:
    """Why a plan has these rounds."""
    first, *rest = plan.rounds
    if first.lens.kind not in _LOCATED_BY:
        return [SIZES_FIRST]
    if not rest:
        return [ONE_ROUND]
    if plan.brief.users_vary:
        return [MEANS_FIRST]
    return [_LOCATED_BY[first.lens.kind], *([TWO_WINDOWS] if rest[-1].lens.window_count > 1 else [])]
