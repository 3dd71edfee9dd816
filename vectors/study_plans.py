"""A plan of each protocol, fixed by hand: the arithmetic of planners is no part of the vectors."""

from __future__ import annotations

from dame.device.channels import Bits, Laplace
from dame.device.lenses import Bins, Windows
from dame.device.questions import MEAN
from dame.device.statistics import Value
from dame.device.stripes import Level, Stripes
from dame.planning.brief import Brief
from dame.planning.machines import Forecast, MachinePlan
from dame.planning.rounds import Round, windows_around_zero
from dame.sizes import Sizes
from dame.studies.plans import Plan, TargetPlan
from dame.studies.targets import Mean

FORECAST = Forecast(
    predicted_rmse=0.125, predicted_rmse_with_failures=0.25, failure_probability=0.0625, limit_mse=0.001,
    lower_bound=1e-7, upper_bound=4.0,
)  # fmt: skip


def plans() -> dict[str, Plan]:
    """The plans by the names of their scripts: each of a study of one mean."""
    return {name: _study_of(machine) for name, machine in _machines().items()}


def _study_of(machine: MachinePlan) -> Plan:
    target = Mean(column="", bounds=(machine.brief.low, machine.brief.high), name=MEAN)
    return Plan(targets=(TargetPlan(target=target, machines=(machine,)),))


def _machines() -> dict[str, MachinePlan]:
    brief = Brief(
        users=48, alpha=1.0, sizes=Sizes.parse("uniform:1:6"), statistic=Value(low=0.0, high=8.0), study="vectors-study"
    )
    vote = Round(
        name="locate", share=0.5, lens=Bins(bins=7, width=0.3, neighbours=1, min_size=2),
        channel=Bits.symmetric(1.0, 7, marks=3),
    )  # fmt: skip
    window = Round(
        name="measure", share=0.5, lens=windows_around_zero(1.4, cap=2.0), channel=Laplace.spending(1.0)
    )  # fmt: skip
    details = {"m_tilde": 2, "tau": 0.15, "bins": 7, "phi": 0.75}
    whole = Round(name="measure", share=1.0, lens=Windows.whole_range(), channel=Laplace.spending(1.0))
    bit = Round(name="measure", share=1.0, lens=Windows.whole_range(), channel=Bits.single(1.0))
    return {
        "paper": MachinePlan(
            protocol="paper", brief=brief, rounds=(vote, window), forecast=FORECAST, details=details, notes=("a note",)
        ),
        "kent": MachinePlan(protocol="kent", brief=brief, rounds=(vote, window), forecast=FORECAST, details=details),
        "duchi": MachinePlan(protocol="duchi", brief=brief, rounds=(whole,), forecast=FORECAST),
        "one-bit": MachinePlan(protocol="one-bit", brief=brief, rounds=(bit,), forecast=FORECAST),
        "adaptive": _one_distribution(),
        "adaptive-segments": _between_users(),
        "one-round": _one_round(),
    }  # fmt: skip


def _one_distribution() -> MachinePlan:
    """Votes, then a window, then two: all records are from one distribution."""
    brief = Brief(users=72, alpha=3.0, sizes=Sizes.parse("two-point:2:9:0.5"), study="vectors-adaptive")
    bits = Bits.single(3.0)
    rounds = (
        Round(name="locate", share=0.25, lens=Bins(bins=6, width=0.35, min_size=9), channel=Bits.optimised(3.0, 6)),
        Round(
            name="refine", share=0.25, lens=windows_around_zero(2.5, cap=None, fitted=True), channel=bits,
            error_after=0.1,
        ),
        Round(
            name="finish", share=0.5, lens=windows_around_zero(1.5, cap=9.0, fitted=True, dither=0.2), channel=bits,
            error_after=0.05,
        ),
    )  # fmt: skip
    details = {"frontier_ratio": 2.5}
    return MachinePlan(protocol="adaptive", brief=brief, rounds=rounds, forecast=FORECAST, details=details)


def _one_round() -> MachinePlan:
    """Stripes of three widths, asked of everybody at once."""
    brief = Brief(
        users=400, alpha=4.0, sizes=Sizes.parse("two-point:2:9:0.5"), statistic=Value(low=0.0, high=8.0),
        study="vectors-one-round",
    )  # fmt: skip
    lens = Stripes(levels=(Level(4.2, 5), Level(2.5, 3, 2), Level(1.5, 8, 2)))
    ask = Round(name="measure", share=1.0, lens=lens, channel=Bits.single(4.0), error_after=0.1)
    return MachinePlan(protocol="one-round", brief=brief, rounds=(ask,), forecast=FORECAST)


def _between_users() -> MachinePlan:
    """Segments of the range, then narrower ones: users' own means vary."""
    brief = Brief(
        users=48, alpha=2.0, sizes=Sizes.parse("uniform:1:6"), statistic=Value(low=0.0, high=8.0), between_sd=None,
        study="vectors-segments",
    )  # fmt: skip
    lens = Windows.segments([border / 4 - 1 for border in range(9)])
    rounds = tuple(
        Round(name=name, share=0.5, lens=lens, channel=Bits.single(2.0), error_after=0.2)
        for name in ("locate", "finish")
    )
    return MachinePlan(protocol="adaptive", brief=brief, rounds=rounds, forecast=FORECAST)
