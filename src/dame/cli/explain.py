"""A plan in words and a small picture: what each round does, what it leaves open, and what others would need."""

from __future__ import annotations

import math
from collections.abc import Mapping

from rich.table import Table

from dame.audit.poisoning import largest_shift
from dame.cli import options, output
from dame.device.randomisers import OneBit
from dame.planning.plans import Brief, MeasureRound, PartRound, PlaceRound, Plan, Round, SizeRound, VoteRound


def show(plan: Plan, competitors: Mapping[str, float]) -> None:
    """Prints a plan for people."""
    output.people.print(output.figures(f"Plan: protocol {plan.protocol}", _rows(plan)))
    output.people.print()
    output.people.print(_rounds_table(plan))
    for sentence in reasons(plan):
        output.people.print(sentence)
    for note in plan.notes:
        output.people.print(f"note: {note}")
    if competitors:
        output.people.print("\n[bold]For the same error[/bold]")
    for name, factor in competitors.items():
        output.people.print(f"  {name:8} {_times(factor)}")


def _rows(plan: Plan) -> list[tuple[str, str]]:
    forecast, brief = plan.forecast, plan.brief
    ratio = forecast.predicted_rmse**2 / forecast.limit_mse
    return [
        ("users", f"{plan.users:,}"),
        ("alpha", f"{plan.alpha:.6g} for each user, spent in one report"),
        ("sizes", brief.sizes.label),
        ("values", f"from {brief.low:g} to {brief.high:g}"),
        ("mean", options.WHOSE_MEAN[brief.weights]),
        ("users' own means", _spread(brief)),
        *((name, f"{value:.6g}") for name, value in plan.details.items()),
        ("predicted RMSE", f"{forecast.predicted_rmse:.4g} {_promised_for(plan)}"),
        ("risk / limit", f"{ratio:.3g} (the information limit is an RMSE of {forecast.limit_mse**0.5:.4g})"),
        ("wrong location", f"chance at most {forecast.failure_probability:.2g}"),
        ("RMSE with failures", f"{forecast.predicted_rmse_with_failures:.4g}"),
        ("paper's bounds", f"RMSE between {forecast.lower_bound**0.5:.3g} and {forecast.upper_bound**0.5:.3g}"),
        ("malicious users", f"1 % of them can shift the estimate by {largest_shift(plan):.3g}"),
    ]


def _spread(brief: Brief) -> str:
    if brief.between_sd is None:
        return "differ; how much is learnt from the first users"
    if not brief.between_sd:
        return "all the same: everybody draws from one law"
    return f"differ with a standard deviation of {brief.between_sd * brief.half_range:.3g}"


def _learns_spread(plan: Plan) -> bool:
    return plan.protocol == "adaptive" and plan.brief.users_differ


def _promised_for(plan: Plan) -> str:
    if _learns_spread(plan):
        return "on average over populations that are plausible"
    return "for the worst law, when the location is right"


def _rounds_table(plan: Plan) -> Table:
    """The rounds, with a bar for the error that each leaves: a factor of ten is as long everywhere."""
    table = Table(title="Rounds", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for heading in ("", "users", "question", "error left", ""):
        table.add_column(heading)
    least = min(round_.error_after for round_ in plan.rounds)
    span = max(math.log10(1 / max(least, 1e-300)), 1e-9) + 0.5
    for index, round_ in enumerate(plan.rounds, start=1):
        error = min(max(round_.error_after, 1e-300), 1.0)
        length = (math.log10(error) + span) / span
        table.add_row(
            f"{index} {round_.name}",
            f"{round_.share * plan.users:,.0f} ({round_.share:.0%})",
            describe(round_),
            f"{error * plan.brief.half_range:.3g}",
            output.bar(length, 24),
        )
    return table


def describe(round_: Round) -> str:
    """What a round asks, in a few words."""
    if isinstance(round_, SizeRound):
        return f"how many records? One of {round_.bins} classes, each twice as large as the one before"
    if isinstance(round_, PlaceRound):
        asked = f"one of {len(round_.places)} places" if round_.places else "one of a few places that answers suggest"
        return f"{asked}; every user counts once"
    if isinstance(round_, PartRound):
        parts = f"{len(round_.borders) - 1} parts of the range" if round_.borders else "a few parts, as answers suggest"
        return f"a bit on one of {parts}; every user counts once"
    if isinstance(round_, VoteRound):
        who = "" if round_.min_size <= 1 else f", from {round_.min_size:,} records on"
        return f"which of {round_.bins:,} bins?{who}"
    kind = "a bit" if isinstance(round_.noise, OneBit) else "a noisy place"
    arms = " with two arms" if round_.dither else ""
    if round_.cap == 1:
        return f"{kind}{arms} on the whole range"
    cap = "all records count" if round_.cap is None else f"up to {round_.cap:,.0f} records count"
    return f"{kind}{arms}, window ±{round_.half_width:.3g} standard deviations, {cap}"


def reasons(plan: Plan) -> list[str]:
    """Why the planner chose this."""
    first, *rest = plan.rounds
    if isinstance(first, SizeRound):
        return ["The sizes are asked for first, since nobody knows them: all later rounds follow from the answers."]
    if not rest:
        if plan.protocol != "adaptive":
            return []
        return ["A single round is best here: looking for the centre first would cost more than a narrow window saves."]
    sentences = []
    if _learns_spread(plan):
        return [
            "The first users show where the means lie and how far apart: that decides where and how finely to look."
        ]
    if isinstance(first, VoteRound) and first.bins > 1:
        sentences.append("Votes locate the mean, because users' means are far sharper than plain bits could locate.")
    elif plan.protocol == "adaptive":
        sentences.append("Plain bits locate the mean: with so few records a user, votes for bins would not be sharper.")
    last = rest[-1]
    if isinstance(last, MeasureRound) and last.dither:
        sentences.append(
            "The last round has two arms, which tell how strongly bits react: that is measured, not assumed."
        )
    return sentences


def _times(factor: float) -> str:
    if math.isinf(factor):
        return "cannot reach it with any number of people"
    if factor < 0.995:
        return f"would need {factor:.2f} times as many people: it is better here"
    return f"would need {factor:,.3g} times as many people"
