"""The round of stripes that a planner proposes, where stripes are better than plain bits."""

from __future__ import annotations

from dame.device.channels import Bits
from dame.device.parts import narrowed
from dame.device.stripes import Stripes
from dame.planning.brief import Brief
from dame.planning.machines import MachinePlan
from dame.planning.rounds import Round
from dame.protocols.one_round.design import StripeDesign, best_design
from dame.protocols.one_round.tuning import TUNING
from dame.protocols.whole_range import bit_risk

FAILURE = 1e-6
"""The largest chance of a wrong stripe, unless told otherwise."""
STRIPES = "stripes bits"
"""The shape of a round of stripes."""


def best_stripes(brief: Brief, failure: float) -> StripeDesign | None:
    """The stripes to ask about; None where plain bits are as good, or no stripes are certain enough."""
    design = best_design(brief, failure)
    plain = bit_risk(Bits.single(brief.alpha), brief.users)
    return design if design is not None and design.risk < TUNING.gain * plain else None


def striped_round(brief: Brief, design: StripeDesign) -> Round:
    """The one round, for everybody."""
    error = min(design.risk**0.5, 1.0)
    return Round(name="measure", share=1.0, lens=design.lens, channel=Bits.single(brief.alpha), error_after=error)


def notes(design: StripeDesign) -> tuple[str, ...]:
    """What a plan says of its stripes."""
    widths = "one width" if len(design.levels) == 1 else f"{len(design.levels)} widths"
    return (f"one round: stripes of {widths}; the chance of a wrong stripe is at most {design.failure:.1g}",)


def reasons(plan: MachinePlan) -> list[str]:
    """Why the planner chose stripes, in sentences."""
    levels = narrowed(Stripes, plan.rounds[0].lens).levels
    finest, count = levels[-1], sum(level.phases for level in levels)
    width = finest.wavelength / 2 * plan.brief.half_range
    first = f"Everybody is asked once. Stripes {width:.3g} wide, on {finest.phases / count:.0%} of the people, measure"
    if len(levels) == 1:
        return [f"{first}; they are so wide that none is mistaken for another."]
    return [f"{first}; wider ones, on the others, tell which of these stripes is meant."]
