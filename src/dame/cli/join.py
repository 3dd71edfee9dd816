"""`dame join`: one device takes part in a study."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from dame import checks
from dame.cli import options, output
from dame.client.http import Refused, Unreachable
from dame.client.invitations import invitation
from dame.client.participation import Participation, Terms
from dame.client.public_log import PublicLog
from dame.client.records_file import OwnRecords, read_records
from dame.device.ledger import Ledger
from dame.errors import InvalidInput, plain

DEFAULT_LEDGER = "~/.dame/ledger.sqlite"
ALPHA_LIMIT = 3.0
"""Budgets above it are accepted by whoever says so: at 3, a suspicion of 50 % can become one of 95 %."""
NOT_NOW = frozenset({"too-early", "too-late", "not-finished", "unavailable", "rate-limited", "failed"})
"""Refusals that are nobody's mistake."""


def join(
    address: Annotated[str, typer.Argument(metavar="LINK", help="The invitation link, or the address of the service.")],
    data: Annotated[
        Path, typer.Option("--data", metavar="FILE", help="Your records, CSV or JSON; they stay on this device.")
    ],
    value: Annotated[
        str, typer.Option("--value", metavar="COL", help="The column with the values, if the study names none.")
    ] = "",
    token: Annotated[
        str | None, typer.Option("--token", metavar="T", help="Your token, if it is not in the link.")
    ] = None,
    study: Annotated[
        str | None, typer.Option("--study", metavar="S", help="The study, if it is not in the link.")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="K", help="The study's public key, if not in the link.")
    ] = None,
    plan: Annotated[
        str | None, typer.Option("--plan", metavar="P", help="The identity of the study's plan, if not in the link.")
    ] = None,
    alpha: Annotated[
        str | None, typer.Option("--alpha", metavar="A", help="The most privacy budget that you agree to spend here.")
    ] = None,
    alpha_limit: Annotated[
        str,
        typer.Option(
            "--alpha-limit", metavar="A", help="Refuse any study that asks for a larger budget, before it is asked."
        ),
    ] = f"{ALPHA_LIMIT:g}",
    bounds: Annotated[
        tuple[str, str] | None, typer.Option("--bounds", metavar="LO HI", help="The bounds that you expect.")
    ] = None,
    cap: Annotated[
        str | None,
        typer.Option(
            "--cap", metavar="A", help="The most that this device may ever spend over all studies; remembered."
        ),
    ] = None,
    ledger: Annotated[
        str,
        typer.Option("--ledger", envvar="DAME_LEDGER", metavar="FILE", help="What this device has answered so far."),
    ] = DEFAULT_LEDGER,
    wait: Annotated[
        str, typer.Option("--wait", metavar="SECONDS", help="How long to wait for your round, if it is not open yet.")
    ] = "0",
    yes: Annotated[bool, typer.Option("--yes", help="Agree to what the study asks for without being asked.")] = False,
    verify_log: Annotated[
        bool,
        typer.Option(
            "--verify-log", help="Fetch the service's public log, and refuse a plan or question that is not in it."
        ),
    ] = False,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Take part in a study: check who asks and what for, answer once, keep the report, send it until it has arrived.

    The first time, this device remembers the study's key, plan and α; later it refuses anything else. A second call
    sends the same report again, and never another one.

    The file is a CSV file with a header, a JSON list of objects, or bare numbers. The study asks you about one of its
    columns. Whoever has no such column sends a report like anybody else: nobody but you is told.

    Example: `dame join "https://study.example.org/join#study=…" --data my.csv`
    """
    options.seed_number(seed)  # a report is never drawn from a seed
    own = read_records(data, value)  # before anybody is contacted: whether there are records must not show
    invited = invitation(address, token, study, key, plan)
    limit = checks.number_from_text("alpha-limit", alpha_limit)
    _check_limit(invited.alpha or 0.0, limit)
    patience = checks.number_from_text("wait", wait)
    if not 0 <= patience <= 1e7:
        raise InvalidInput("wait", wait, "seconds, at least 0")
    with _opened(ledger, cap) as book, told():
        part = Participation(invited, book)
        terms = part.terms()
        _check_limit(terms.enrolment.alpha, limit)
        _check_wishes(terms, alpha, bounds)
        question = _in_words(part, terms)  # asked for before her records are looked at again, which takes its time
        log = part.verify_log(terms) if verify_log else None
        answered = book.report(terms.enrolment.study) is not None
        missing = "" if answered else _missing(own, terms)
        enrolled = book.enrolment(terms.enrolment.study) is not None
        if not (yes or alpha is not None or enrolled):
            _ask(terms, book, question)
        report = part.take_part(terms, own.asked_for, patience)
        _tell(terms, book, report, answered, missing, log, as_json)


@contextmanager
def told() -> Iterator[None]:
    """Says in one sentence why something could not be done now; exit code 1, as nobody made a mistake."""
    try:
        yield
    except Unreachable as problem:
        sentence = str(problem)
    except Refused as problem:
        if problem.reason not in NOT_NOW:
            raise
        sentence = str(problem)
    else:
        return
    print(f"dame: {plain(sentence)}", file=sys.stderr)
    raise typer.Exit(1)


@contextmanager
def _opened(path: str, cap: str | None) -> Iterator[Ledger]:
    place = Path(path).expanduser()
    if path == DEFAULT_LEDGER:
        place.parent.mkdir(mode=0o700, exist_ok=True)
    ledger = Ledger(place)
    try:
        place.chmod(0o600)
        if cap is not None:
            ledger.set_cap(checks.number_from_text("cap", cap))
        yield ledger
    finally:
        ledger.close()


def _check_limit(alpha: float, limit: float) -> None:
    if not alpha <= limit:
        raise InvalidInput("alpha", alpha, f"at most {limit:g}: a larger budget needs --alpha-limit {alpha:g}")


def _check_wishes(terms: Terms, alpha: str | None, bounds: tuple[str, str] | None) -> None:
    asked, expected = terms.enrolment, terms.statistic.range
    if alpha is not None and asked.alpha > checks.number_from_text("alpha", alpha):
        raise InvalidInput("alpha", asked.alpha, f"at most the {alpha} that you agree to: the study asks for more")
    if bounds is not None and options.bounds_pair(bounds) != expected:
        raise InvalidInput("bounds", expected, "those that you expect: the study has others")


def _missing(own: OwnRecords, terms: Terms) -> str:
    """What the records lack, if nothing in them counts; those that cannot be used are refused before she is asked."""
    own.check(terms.statistic)
    missing, left_out = own.missing(terms.statistic), own.left_out(terms.statistic)
    if missing:
        output.notes.print(
            f"note: {missing}. Your report is drawn like anybody else's, and nobody can tell.", markup=False
        )
    elif left_out:
        output.notes.print(f"note: {left_out} records without a value were left out")
    return missing


def _in_words(part: Participation, terms: Terms) -> str:
    """What will be asked; who comes early can only be told so."""
    try:
        question = part.question(terms)
    except Refused:
        return "The question is not there now: your round is not open."
    return f"The question: {question.lens.words}. The answer: {question.channel.words}."


def _ask(terms: Terms, ledger: Ledger, question: str) -> None:
    asked, cap = terms.enrolment, ledger.cap()
    spent = f"{float(ledger.spent()):g}{'' if cap is None else f' of at most {cap:g}'}"
    said = {"who asks": terms.asker, "why": terms.purpose, "questions to": terms.contact, "you agree to": terms.consent}
    told_about = "".join(f"{name}: {text}\n" for name, text in said.items() if text)
    about = told_about or "This study does not say who asks.\n"
    words = (
        f"{about}{terms.title} (study {asked.study}) asks one question about your records: {terms.statistic.words}.\n"
        f"{question}\nYour answer leaves this device once, as a few random bits: "
        f"alpha = {asked.alpha:g} (spent before: {spent}).\n{in_words(asked.alpha)}"
    )
    output.notes.print(plain(words), markup=False)
    if not sys.stdin.isatty():
        raise InvalidInput("agreement", "nobody to ask", "given with --yes or --alpha")
    typer.confirm("Do you agree?", abort=True, err=True)


def in_words(alpha: float) -> str:
    """What a budget allows, as one would tell it to a person."""
    factor = math.exp(alpha)
    after = 100 * factor / (1 + factor)
    return (
        f"Whoever sees it can become at most {factor:.3g} times surer of anything about you (e^alpha): "
        f"a suspicion of 50 % becomes at most {after:.3g} %."
    )


def _tell(
    terms: Terms, ledger: Ledger, report: bytes, again: bool, missing: str, log: PublicLog | None, as_json: bool
) -> None:
    asked, (target, round_) = terms.enrolment, terms.slots[terms.slot]
    document = {
        "study": asked.study,
        "state": "sent",
        "target": target,
        "round": round_,
        "alpha": asked.alpha,
        "column": terms.statistic.column,
        "bounds": list(terms.statistic.range),
        "missing": missing or None,
        "report": report.hex(),
        "sent_again": again,
        "spent": float(ledger.spent()),
        "cap": ledger.cap(),
        "log": None if log is None else {"size": len(log.entries), "head": log.head},
    }
    if as_json:
        output.print_json(document)
    else:
        word = "sent again" if again else "sent"
        output.people.print(
            f"report {report.hex()} {word} in round {round_} of '{target}'; "
            f"alpha spent so far: {float(ledger.spent()):g}",
            markup=False,
            soft_wrap=True,
        )
        if log is not None:
            output.people.print(
                f"public log: {len(log.entries)} entries, the last one {log.head}: others must see the same",
                markup=False,
                soft_wrap=True,
            )
