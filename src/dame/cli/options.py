"""Options that several commands share, and the reading of what people type."""

from __future__ import annotations

from typing import Annotated

import typer

from dame import checks
from dame.errors import InvalidInput
from dame.planning.codec import LEARN
from dame.protocols import PROTOCOLS

SIZE_FORMS = (
    "constant:100  poisson:5  uniform:1:99  binomial:1000:0.005  geometric:0.1  zipf:1.5:10000  "
    "two-point:M1:M2:RHO  counts:FILE"
)

SizesText = Annotated[str, typer.Option("--sizes", metavar="M", help=f"Records per person: {SIZE_FORMS}.")]
# Examples, not forms: Typer's help would make emoji of the ":a:" in beta:a:b, and of ":-1:".
DATA_FORMS = "rademacher:0.5  beta:2:6  uniform:-0.2:1  point:0.3  two-point:-0.5:1:0.9"
PROTOCOL = typer.Option(
    "--protocol",
    metavar="P",
    help="  ".join(f"**{protocol.name}**: {protocol.summary}." for protocol in PROTOCOLS.values()),
)
ProtocolName = Annotated[str, PROTOCOL]
BETWEEN_SD = typer.Option(
    "--between-sd",
    metavar="B",
    help="Standard deviation of the people's own means, as a fraction of the half-range; 0 if all records are from "
    f"one distribution; **{LEARN}** to find out.",
)
WEIGHTS_OPTION = typer.Option(
    "--weights", metavar="W", help="**equal**: each person counts once.  **precision**: by the effective size."
)
WHOSE_MEAN = {
    "equal": "each user counts once",
    "precision": "users with more records count more (square root of the effective size)",
}
"""What the weights mean, in words."""

Seed = Annotated[str | None, typer.Option("--seed", metavar="S", help="Makes the run repeatable.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output, nothing else.")]


def whole_number(field: str, words: str, low: int = 1, high: int = 10**12) -> int:
    """A whole number as people type it: `10000`, `10_000` or `1e6`."""
    value = checks.number_from_text(field, words)
    if not value.is_integer():
        raise InvalidInput(field, words, "a whole number")
    exact = int(words) if words.strip().lstrip("+-").replace("_", "").isdecimal() else int(value)
    return checks.whole(field, exact, low, high)


def seed_number(words: str | None) -> int | None:
    """The seed, if one was given."""
    return None if words is None else whole_number("seed", words, 0, 2**63)


def spread(words: str) -> float | str:
    """The standard deviation between users, or `learn`."""
    if words == LEARN:
        return LEARN
    try:
        return checks.real("between-sd", float(words), 0.0, 1.0)
    except ValueError:
        raise InvalidInput("between-sd", words, f"a number from 0 to 1, or '{LEARN}'") from None


def bounds_pair(words: tuple[str, str]) -> tuple[float, float]:
    """The two bounds."""
    low, high = (checks.number_from_text("bounds", word) for word in words)
    return checks.bounds(low, high)
