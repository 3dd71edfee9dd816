"""`two-looks`: half of the people send a bit of the whole range, the others a bit of a window around that answer."""

from __future__ import annotations

import math

from dame.device.randomisers import OneBit
from dame.estimates import estimate_from_reading, read_measure
from dame.planning.plans import MeasureRound, Plan
from dame.protocols import register
from dame.protocols.base import Protocol, forecast


class TwoLooks(Protocol):
    """Bits only; the second window holds what the first left open, and the spread of people's means."""

    name = "two-looks"
    summary = "a bit of the whole range, then a bit of a narrower window; two rounds"
    kinds = ((MeasureRound, MeasureRound),)

    def plan(self, brief, **choices):
        """Two rounds of half of the people each."""
        bit = OneBit.spending(brief.alpha)
        error = math.sqrt(4 * bit.variance(0.5) / (brief.users / 2))
        spread = brief.sizes.expectation(lambda m: m**-0.5)  # a mean of m records has at most this deviation
        width = min(4 * error + 3 * spread, 2.0)
        looks = [
            MeasureRound(name=name, share=0.5, half_width=half, cap=1.0, noise=bit, error_after=min(half * error, 1.0))
            for name, half in (("first look", 1.0), ("second look", width))
        ]
        mse = (width * error) ** 2
        return Plan(protocol=self.name, brief=brief, rounds=tuple(looks), forecast=forecast(brief, mse))

    def question(self, plan, tallies):
        """The same bit twice: around the middle, then around what the first answers say."""
        centre = self._centre(plan, tallies[0]) if tallies and tallies[0].reports else 0.0
        return plan.rounds[len(tallies)].ask(plan.brief, len(tallies), centre)

    def estimate(self, plan, tallies):
        """The second look."""
        last, users = tallies[-1], [tally.reports for tally in tallies]
        return estimate_from_reading(read_measure(last, plan.rounds[1].gain(plan.brief, last.question)), users)

    def _centre(self, plan, tally):
        reading = read_measure(tally, plan.rounds[0].gain(plan.brief, tally.question))
        return min(max(reading.value, -1.0), 1.0)


register(TwoLooks())
