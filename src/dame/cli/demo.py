"""`dame demo`: the main job, from plan to estimate, on a built-in population."""

from __future__ import annotations

from functools import singledispatch
from typing import Annotated

import typer

from dame import checks
from dame.cli import options, output
from dame.cli.explain import show_machine
from dame.device.lenses import Bins, Lens, Windows
from dame.estimates import to_units
from dame.populations.demo import UNIT, Demo, run_demo
from dame.protocols import DEFAULT
from dame.studies.codec import plan_to_json
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
        done = run_demo(count, checks.number_from_text("alpha", alpha), protocol, options.seed_number(seed), progress)
    if as_json:
        output.print_json(_document(done))
    else:
        _show(done)


def _document(done: Demo) -> dict[str, object]:
    return {
        **done.outcome.estimate.to_json(),
        "true_mean": done.true_mean,
        "records": done.records,
        "bytes_sent": done.bytes_sent,
        "seconds": done.seconds,
        "plan": plan_to_json(done.study),
        "tallies": [tally.to_json() for tally in done.outcome.tallies],
    }


def _show(done: Demo) -> None:
    people = output.people
    people.print(
        f"[bold]{done.plan.users:,} people, {done.records:,} days of screen time.[/bold] "
        "What is the mean, if no record may leave its device?\n"
    )
    show_machine(done.plan)
    people.print("\n[bold]What the reports said[/bold] (● mean place in the window, noise removed)")
    for tally in done.outcome.tallies:
        if tally.reports:
            _show_tally(tally.question.lens, tally, done)
    _show_estimate(done)


@singledispatch
def _show_tally(lens: Lens, tally: Tally, done: Demo) -> None:
    """What was asked, and of how many; lenses whose answers make a picture have a function of their own."""
    output.people.print(f"{_name(tally, done)} {tally.reports:7,} reports: {lens.words}")


@_show_tally.register
def _show_votes(lens: Bins, tally: Tally, done: Demo) -> None:
    """Bars of the debiased share of votes around the elected bin."""
    shares = [tally.question.channel.debias(tally.mean(bin_)) for bin_ in range(lens.bins)]
    best = shares.index(max(shares))
    first = min(max(best - MOST_BARS // 2, 0), max(lens.bins - MOST_BARS, 0))
    brief = done.plan.brief
    output.people.print(f"\n[bold]Votes[/bold] of {tally.reports:,} people, noise removed ({UNIT})")
    for bin_ in range(first, min(first + MOST_BARS, lens.bins)):
        left, right = (to_units(edge, brief.low, brief.high) for edge in lens.edges(bin_))
        mark = " ◀ elected" if bin_ == best else ""
        output.people.print(f"{left:7.2f} – {right:5.2f}  {output.bar(shares[bin_])} {shares[bin_]:.1%}{mark}")


@_show_tally.register
def _show_place(lens: Windows, tally: Tally, done: Demo) -> None:
    """The mean place of a round in its windows, noise removed, and around which centre they were."""
    place = min(max(tally.question.channel.debias(tally.mean()), 0.0), 1.0)
    middle = sum(window.centre for window in lens.windows) / len(lens.windows)
    line = output.ruler(0.0, 1.0, {"┼": 0.5, "●": place}, width=24)
    centre = to_units(middle, done.plan.brief.low, done.plan.brief.high)
    output.people.print(f"{_name(tally, done)} {tally.reports:7,} reports   {line}   centre {centre:.3f}")


def _name(tally: Tally, done: Demo) -> str:
    return f"{done.plan.rounds[tally.question.round].name:8}"


def _show_estimate(done: Demo) -> None:
    estimate, brief = done.outcome.estimate, done.plan.brief
    low, high = estimate.interval
    rows = [
        ("estimate", f"{estimate.value:.3f} {UNIT}, standard error {estimate.standard_error:.3f}"),
        ("95 % interval", f"{low:.3f} to {high:.3f}"),
        ("true mean", f"{done.true_mean:.3f}"),
        ("sent", f"{done.bytes_sent / done.plan.users:.1f} bytes per person, {done.seconds:.1f} s in all"),
    ]
    output.people.print()
    output.people.print(output.figures("Result", rows))
    reach = max(high - low, 2 * abs(estimate.value - done.true_mean))
    left, right = max(low - reach, brief.low), min(high + reach, brief.high)
    marks = {"├": low, "┤": high, "●": estimate.value, "T": done.true_mean}
    output.people.print(f"{left:.2f} {output.ruler(left, right, marks)} {right:.2f}")
    output.people.print("[dim]● estimate   ├ ┤ interval   T truth[/dim]")
    for note in estimate.notes:
        output.people.print(f"note: {note}")
