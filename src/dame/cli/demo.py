"""`dame demo`: the main job, from plan to estimate, on a built-in population."""

from __future__ import annotations

from typing import Annotated

import typer

from dame import checks
from dame.cli import options, output
from dame.cli.explain import show as show_plan
from dame.populations.demo import UNIT, Demo, play_demo
from dame.device.questions import Measure, Vote
from dame.device.randomisers import OneBit
from dame.estimates import to_units
from dame.planning.codec import plan_to_json
from dame.protocols import DEFAULT
from dame.tally import Tally

MOST_BARS = 24


def demo(
    users: Annotated[str, typer.Option("--users", metavar="N", help="Number of people.")] = "20000",
    alpha: Annotated[str, typer.Option("--alpha", metavar="A", help="Privacy budget of each person.")] = "1",
    protocol: options.ProtocolName = DEFAULT,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Run a whole study on 20,000 made-up people with daily screen time, and compare with the truth.

    Some people have one day of records, some have a thousand. Every record stays in its (simulated) device: one small
    randomised report per person is all that leaves it.
    """
    count = options.whole_number("users", users, 1, 10**6)
    with output.progress_of("devices", count) as progress:
        played = play_demo(
            count, checks.number_from_text("alpha", alpha), protocol, options.seed_number(seed), progress
        )
    if as_json:
        output.print_json(_document(played))
    else:
        _show(played)


def _document(played: Demo) -> dict[str, object]:
    return {
        **played.estimate.to_json(),
        "true_mean": played.true_mean,
        "records": played.records,
        "bytes_sent": played.bytes_sent,
        "seconds": played.seconds,
        "plan": plan_to_json(played.plan),
        "tallies": [tally.to_json() for tally in played.tallies],
    }


def _show(played: Demo) -> None:
    people = output.people
    people.print(
        f"[bold]{played.plan.users:,} people, {played.records:,} days of screen time.[/bold] "
        "What is the mean, if no record may leave its device?\n"
    )
    show_plan(played.plan, {})
    output.people.print("\n[bold]What the reports said[/bold] (● mean place in the window, noise removed)")
    for tally in played.tallies:
        if isinstance(tally.question, Vote):
            _show_votes(tally, tally.question, played)
        else:
            _show_bits(tally, tally.question, played)
    _show_estimate(played)


def _show_votes(tally: Tally, question: Vote, played: Demo) -> None:
    """Bars of the debiased share of votes around the elected bin."""
    shares = [question.code.debias(tally.mean(bin_)) for bin_ in range(question.bins)]
    best = shares.index(max(shares))
    first = min(max(best - MOST_BARS // 2, 0), max(question.bins - MOST_BARS, 0))
    brief = played.plan.brief
    output.people.print(f"\n[bold]Votes[/bold] of {tally.reports:,} people, noise removed ({UNIT})")
    for bin_ in range(first, min(first + MOST_BARS, question.bins)):
        left, right = (brief.low + (edge + 1) * brief.half_range for edge in question.edges(bin_))
        mark = " ◀ elected" if bin_ == best else ""
        output.people.print(f"{left:7.2f} – {right:5.2f}  {output.bar(shares[bin_])} {shares[bin_]:.1%}{mark}")


def _show_bits(tally: Tally, question: Measure, played: Demo) -> None:
    """The mean place of a round in its window, noise removed, and around which centre the window was."""
    if not isinstance(question.noise, OneBit) or not tally.reports:
        return
    ones = sum(ones for _, ones in tally.arms)
    place = min(max(question.noise.debias(ones / tally.reports), 0.0), 1.0)
    centre = to_units(question.centre, played.plan.brief.low, played.plan.brief.high)
    round_ = played.plan.rounds[question.round]
    line = output.ruler(0.0, 1.0, {"┼": 0.5, "●": place}, width=24)
    output.people.print(
        f"{round_.name:8} {tally.reports:7,} bits, {ones / tally.reports:6.1%} ones   {line}   centre {centre:.3f}"
    )


def _show_estimate(played: Demo) -> None:
    estimate, brief = played.estimate, played.plan.brief
    low, high = estimate.interval
    rows = [
        ("estimate", f"{estimate.value:.3f} {UNIT}, standard error {estimate.standard_error:.3f}"),
        ("95 % interval", f"{low:.3f} to {high:.3f}"),
        ("true mean", f"{played.true_mean:.3f}"),
        ("sent", f"{played.bytes_sent / played.plan.users:.1f} bytes per person, {played.seconds:.1f} s in all"),
    ]
    output.people.print()
    output.people.print(output.figures("Result", rows))
    reach = max(high - low, 2 * abs(estimate.value - played.true_mean))
    left, right = max(low - reach, brief.low), min(high + reach, brief.high)
    marks = {"├": low, "┤": high, "●": estimate.value, "T": played.true_mean}
    output.people.print(f"{left:.2f} {output.ruler(left, right, marks)} {right:.2f}")
    output.people.print("[dim]● estimate   ├ ┤ interval   T truth[/dim]")
    for note in estimate.notes:
        output.people.print(f"note: {note}")
