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
        # Sums are rounded, not the entries one by one: where a report has exactly one mark, all of them have as many.
        ends = np.rint(people * np.cumsum(entries))
        sums = zip(np.diff(ends, prepend=0.0).tolist(), question.channel.entry_limits, strict=True)
        return people, [min(max(int(total), low * people), high * people) for total, (low, high) in sums]

    return Tally.of(question, map(window, range(count)))
