"""What people ask of a study on the command line: options and study files become the fields of a `Study`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dame import checks
from dame.cli import options
from dame.errors import InvalidInput
from dame.sizes import Sizes
from dame.studies.files import read_study
from dame.studies.parsing import target_from_text
from dame.studies.targets import Mean

TARGET_FORMS = "mean:COLUMN:LO:HI  share:COLUMN:above:X  share:COLUMN:below:X  share:COLUMN:is:VALUE  sd:COLUMN:LO:HI"

Targets = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        metavar="T",
        help=f"What the study shall tell, given once for each: {TARGET_FORMS}. Then may follow "
        "**name=…**, **weight=…** and **present=…** (the share of people who have the column), with colons between.",
    ),
]
Bounds = Annotated[
    tuple[str, str] | None,
    typer.Option("--bounds", metavar="LO HI", help="Bounds of the values; records are clipped to them."),
]
Alpha = Annotated[
    str | None, typer.Option("--alpha", metavar="A", help="Privacy budget α of each person, such as 0.5 or 22/35.")
]
Group = Annotated[
    str | None,
    typer.Option("--group", metavar="COL", help="What is known of everybody, such as country or arm: one result each."),
]
Identity = Annotated[str | None, typer.Option("--identity", help="Identity of the study; random when absent.")]


def study_fields(
    file: Path | None,
    *,
    targets: Sequence[str] | None,
    bounds: tuple[str, str] | None,
    **given: object,
) -> dict[str, Any]:
    """The fields of a `Study`: those of a study file, with what was given on the command line in their place.

    `given` are fields by name, None where nothing was given.
    """
    fields = {} if file is None else read_study(file)
    fields |= {name: what for name, what in given.items() if what is not None}
    if targets:
        if bounds is not None:
            raise InvalidInput("bounds", " ".join(bounds), "absent beside --target, which has its own")
        fields["targets"] = [target_from_text(text) for text in targets]
    elif bounds is not None:
        fields["targets"] = [Mean(column="", bounds=options.bounds_pair(bounds))]
    return fields


def alpha_number(words: str | None) -> float | None:
    """The budget as people type it, if it was given."""
    return None if words is None else checks.alpha(checks.number_from_text("alpha", words))


def users_number(words: str | None) -> int | None:
    """The number of people as it is typed, if it was given."""
    return None if words is None else options.whole_number("users", words)


def sizes_of(words: str | None) -> Sizes | None:
    """The distribution of sizes, if it was given."""
    return None if words is None else Sizes.parse(words)


def spread_given(words: str | None) -> float | str | None:
    """The standard deviation between users, if it was given."""
    return None if words is None else options.spread(words)


def numbers_by_name(option: str, words: Sequence[str] | None) -> dict[str, float]:
    """Numbers as people type them: NAME=NUMBER for each target, or one NUMBER, which gets an empty name."""
    found: dict[str, float] = {}
    for text in words or ():
        name, named, number = text.rpartition("=")
        if name in found or (named and not name):
            raise InvalidInput(option, text, "NAME=NUMBER, given once for each target")
        found[name] = checks.positive(option, checks.number_from_text(option, number), 1e300)
    return found


def require(fields: Mapping[str, object], *names: str) -> None:
    """Refuses fields without these."""
    for name in names:
        if name not in fields:
            where = "with --target, with --bounds," if name == "targets" else f"with --{name}"
            raise InvalidInput(name, None, f"given, {where} or in a study file")
