"""Expected tallies: what the reports of given people add up to on average, rounded to integers."""

from __future__ import annotations

import numpy as np

from dame.device.questions import Question
from dame.tally import Tally
from dame.vectorised.channels import CHANNEL_FORMS
from dame.vectorised.lenses import Floats, Ints, read


def expected_tally(question: Question, sizes: Ints, means: Floats, shares: Floats, reports: int) -> Tally:
    """The tally that so many reports are expected to have, of people with these sizes and means, in these shares."""
    form, count = CHANNEL_FORMS.of(question.channel), question.lens.window_count

    def window(index: int) -> tuple[int, list[int]]:
        people = reports // count + (index < reports % count)
        entries = form.expected(question.channel, read(question.lens, sizes, means, index), shares)
        sums = zip(_rounded(people * entries), question.channel.entry_limits, strict=True)
        return people, [min(max(total, low * people), high * people) for total, (low, high) in sums]

    return Tally.of(question, map(window, range(count)))


def _rounded(totals: Floats) -> list[int]:
    """Each number rounded down or up, so that their sum is the nearest one: where a report has one mark, all have one.

    Those with the largest fractions are rounded up.
    """
    wholes = np.floor(totals)
    order = np.argsort(wholes - totals, kind="stable")
    wholes[order[: round(float(totals.sum() - wholes.sum()))]] += 1
    return [int(whole) for whole in wholes]
