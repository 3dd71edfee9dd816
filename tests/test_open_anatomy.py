"""The anatomy is open: a lens and a channel of one's own go through the whole house, and not a line of it changes."""

import json
from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np
import pandas as pd

import dame
from dame import audit, device, protocols
from dame.device import CHANNELS, LENSES, Choice, Comparing, Lens, Reading
from dame.protocols import next as next_step
from dame.protocols import plan_mean
from dame.vectorised.channels import CHANNEL_FORMS, OneWordForm
from dame.vectorised.lenses import LENS_FORMS, LensForm, Readings
from dame.vectorised.reports import answer_many, report_totals
from tests.machines import run_machine


@dataclass(frozen=True)
class Side(Lens):  # Is your mean below 0, or not? Everybody marks one of two bins.
    kind, bins, words, differences = "side", 2, "on which side of 0?", frozenset({(0, 0), (1, 1)})

    def reading(self, person, window=0):
        return Reading(*[int(person.mean >= 0)] * 2)

    def extremes(self):
        return [device.records.Summary(size=size, mean=mean) for size in (1, 9) for mean in (-1.0, 0.0, 1.0)]


class SideForm(LensForm):
    def read(self, lens, sizes, means, windows):
        return Readings(which=(means >= 0).astype(np.intp), first=np.arange(2), last=np.arange(2))


@dataclass(frozen=True)
class Shrug(Comparing):  # The own side with chance 1/2, the other with 1/4, else a shrug; the rest is as in `Choice`.
    kind, bins, values, words, yes, no = "shrug", 2, (0, 2), "a side, or a shrug", 2**63, 2**62
    loss, value_of, entries, entry_limits = Choice.loss, Choice.value_of, Choice.entries, Choice.entry_limits
    probability, debias, bias, variance = Choice.probability, Choice.debias, Choice.bias, Choice.variance

    def ends(self, reading):
        return [[(2 - reading.first) * self.no, 3 * self.no]]


class ShrugForm(OneWordForm):
    def ends(self, channel, readings):
        by_side = np.array([channel.ends(Reading(side, side))[0] for side in (0, 1)], np.uint64)
        return by_side[readings.first[readings.which]].T


class Sides(protocols.one_bit.OneBitMean):  # A protocol that asks with them: how many more people are above 0?
    name, shapes = "sides", frozenset({("side shrug",)})

    def plan(self, brief, **choices):
        ask = dame.planning.rounds.Round(name="side", share=1.0, lens=Side(), channel=Shrug())
        return replace(super().plan(brief), rounds=(ask,))

    def estimate(self, plan, history):
        value = 1 - 2 * history[0].question.channel.debias(history[0].mean())
        return dame.Estimate(value=value, standard_error=1.0, interval=(-1.0, 1.0), users=(history[0].reports,))


def test_they_go_through_the_whole_house():
    with patch.dict(LENSES._classes), patch.dict(CHANNELS._classes), patch.dict(protocols.registry._BY_NAME):
        LENSES.register(Side)
        LENS_FORMS.register(Side, SideForm())
        CHANNELS.register(Shrug)
        CHANNEL_FORMS.register(Shrug, ShrugForm())
        protocols.register(Sides())
        plan = plan_mean(users=300, alpha=0.6932, sizes=dame.Sizes.constant(1), protocol="sides")
        question, frame = next_step(plan, []), pd.DataFrame({"who": range(300), "value": np.linspace(-1, 1, 300)})
        sizes, sent = np.ones(300, np.int64), device.answer(question, [0.3, 0.9]).encode(question)
        assert device.question_from_json(json.loads(json.dumps(question.to_json()))) == question
        assert dame.Tally.zero(question).add(device.Report.decode(question, sent)).reports == 1
        assert report_totals(question, answer_many(question, sizes, frame["value"].to_numpy()))[0][0] == 300
        people = dame.Population.arrays(sizes, frame["value"])  # simulated
        table = dame.Population.table(frame, user="who", value="value", bounds=(-1, 1))  # a pilot, by DuckDB
        assert all(abs(run_machine(plan, each, seed=1).value) < 0.7 for each in (people, table))
        assert audit.check_question("ours", question).passed  # many at once against the device, too
        assert not audit.listen(device.answer, question, pilot=300, draws=2_000).guilty
        assert 0 < audit.largest_shift(plan) <= 2
