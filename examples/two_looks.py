"""`two-looks`: half of the people send a bit of the whole range, the others a bit of a window around that answer."""

from __future__ import annotations

import math

from dame.device import Bits
from dame.estimates import estimate_from, read_window
from dame.planning.machines import MachinePlan
from dame.planning.rounds import Round, mean_weight, moved, windows_around_zero
from dame.protocols import register
from dame.protocols.base import Protocol, forecast


class TwoLooks(Protocol):
    """Bits only; the second window holds what the first left open, and the spread of people's means."""

    name = "two-looks"
    summary = "a bit of the whole range, then a bit of a narrower window; two rounds"
    shapes = frozenset({("windows bits", "windows bits")})

    def plan(self, brief, **choices):
        """Two rounds of half of the people each."""
        bit = Bits.single(brief.alpha)
        error = math.sqrt(4 * bit.variance(0.5) / (brief.users / 2))
        spread = brief.sizes.expectation(lambda m: m**-0.5)  # a mean of m records has at most this deviation
        width = min(4 * error + 3 * spread, 2.0)
        looks = [
            Round(
                name=name,
                share=0.5,
                lens=windows_around_zero(half, cap=1.0),
                channel=bit,
                error_after=min(half * error, 1.0),
            )
            for name, half in (("first look", 1.0), ("second look", width))
        ]
        mse = (width * error) ** 2
        return MachinePlan(protocol=self.name, brief=brief, rounds=tuple(looks), forecast=forecast(brief, mse))

    def question(self, plan, history):
        """The same bit twice: around the middle, then around what the first answers say."""
        centre = self._look(plan, history[0]).value if history and history[0].reports else 0.0
        look = plan.rounds[len(history)]
        return look.ask(plan.brief, len(history), moved(look.lens, min(max(centre, -1.0), 1.0)))

    def estimate(self, plan, history):
        """The second look."""
        return estimate_from(self._look(plan, history[-1]), [tally.reports for tally in history])

    def _look(self, plan, tally):
        lens = tally.question.lens
        return read_window(tally, lens, mean_weight(lens, plan.brief.sizes))


register(TwoLooks())
