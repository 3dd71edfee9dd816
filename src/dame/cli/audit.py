"""`dame audit`: the exact privacy loss of everything that a device can be asked."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Annotated

import typer
from rich.table import Table

from dame import checks
from dame.audit import Check, Finding, sampled
from dame.audit import audit as run_audit
from dame.cli import options, output
from dame.protocols import PROTOCOLS, protocol_named

PASSED, FAILED = 0, 1
EXPECTED = 1200
"""About so many questions are checked by default."""


def audit(
    protocol: Annotated[
        list[str] | None, typer.Option("--protocol", metavar="P", help="Only this protocol; may be repeated.")
    ] = None,
    alpha: Annotated[
        list[str] | None,
        typer.Option("--alpha", metavar="A", help="Only this α; may be repeated. Default: from 1e-6 to 32."),
    ] = None,
    samples: Annotated[
        str,
        typer.Option(
            "--samples",
            metavar="N",
            help="Also ask the device N times for each kind of question and certify a lower bound on its loss.",
        ),
    ] = "0",
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> int:
    """Check that no report reveals more than its α, exactly, for every question that plans can ask.

    Reads the integer thresholds off the running device, and compares likelihood ratios as rational numbers. Exit code 1
    if any check fails. The samples of `--samples` come from the operating system's generator: no seed repeats them.

    Example: `dame audit --protocol adaptive --alpha 0.5`
    """
    options.seed_number(seed)
    names = [protocol_named(name).name for name in protocol] if protocol else list(PROTOCOLS)
    budgets = [checks.alpha(checks.number_from_text("alpha", words)) for words in alpha] if alpha else None
    draws = options.whole_number("samples", samples, 0, 10**9)
    started, verdicts = time.monotonic(), []
    with output.progress_of("questions", EXPECTED) as progress:
        for verdict in run_audit(names, budgets):
            verdicts.append(verdict)
            progress(len(verdicts))
    findings = _findings(budgets or [1.0], draws)
    seconds = time.monotonic() - started
    if as_json:
        output.print_json(_document(verdicts, findings, seconds))
    else:
        _show(verdicts, findings, seconds)
    passed = all(one.passed for one in verdicts) and not any(finding.guilty for _, finding in findings)
    return PASSED if passed else FAILED


def _findings(alphas: Sequence[float], draws: int) -> list[tuple[str, Finding]]:
    if not draws:
        return []
    pilot = max(draws // 3, 30)
    return [found for alpha in alphas for found in sampled(alpha, pilot, draws)]


def _document(verdicts: Sequence[Check], findings: Sequence[tuple[str, Finding]], seconds: float) -> dict[str, object]:
    return {
        "checks": [verdict.to_json() for verdict in verdicts],
        "sampled": [{"name": name, **finding.to_json()} for name, finding in findings],
        "questions": len(verdicts),
        "failed": sum(not one.passed for one in verdicts) + sum(finding.guilty for _, finding in findings),
        "seconds": seconds,
    }


def _show(verdicts: Sequence[Check], findings: Sequence[tuple[str, Finding]], seconds: float) -> None:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for column in ("protocol and α", "questions", "claimed ε", "largest exact ε", "spend all of it", ""):
        table.add_column(column, justify="left" if column in ("protocol and α", "") else "right")
    for name, group in itertools.groupby(verdicts, key=lambda verdict: verdict.name.partition(" users=")[0]):
        table.add_row(name, *_summary(list(group)))
    output.people.print(table)
    for one in verdicts:
        if not one.passed:
            output.people.print(f"[bold red]FAILED[/bold red] {one.name}: {one.problem} (ε {one.epsilon_exact:.6g})")
    for name, found in findings:
        output.people.print(_told(name, found))
    failed = sum(not one.passed for one in verdicts)
    output.people.print(
        f"[bold]{len(verdicts)} questions, {failed or 'none'} failed[/bold], {seconds:.1f} s. A question that does not "
        "spend all of its α has a single bin, overlapping votes, or a window with an end that nobody can reach."
    )


def _summary(group: Sequence[Check]) -> tuple[str, ...]:
    largest, tight = max(one.epsilon_exact for one in group), sum(one.tight for one in group)
    verdict = "ok" if all(one.passed for one in group) else "[bold red]FAILED[/bold red]"
    return str(len(group)), f"{group[0].epsilon_claimed:.6g}", f"{largest:.6g}", str(tight), verdict


def _told(name: str, found: Finding) -> str:
    verdict = "[bold red]FAILED[/bold red]" if found.guilty else "ok"
    return (
        f"from outside, {name}: ε is at least {found.epsilon_lower:.4g} (claimed {found.epsilon_claimed:.4g}; "
        f"{found.draws:,} reports of each of two people; wrong with probability {found.false_alarm:g})  {verdict}"
    )
