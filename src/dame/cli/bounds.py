"""`dame bounds`: what the paper proves about a study before it is planned."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from dame import checks
from dame.cli import options, output
from dame.errors import InvalidInput
from dame.sizes import Sizes
from dame.theory import Bounds, Constants, limit
from dame.theory import bounds as both_bounds


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _People:
    """Who takes part: nα², and n and α themselves where they are known."""

    n_alpha2: float
    users: int | None = None
    alpha: float | None = None


def bounds(
    sizes: options.SizesText,
    users: Annotated[str | None, typer.Option("--users", metavar="N", help="Number of people.")] = None,
    alpha: Annotated[str | None, typer.Option("--alpha", metavar="A", help="Privacy budget α of each person.")] = None,
    n_alpha2: Annotated[
        str | None, typer.Option("--n-alpha2", metavar="X", help="nα² alone, in place of N and A.")
    ] = None,
    constants: Annotated[
        str,
        typer.Option(
            "--constants",
            metavar="C",
            help="**paper**: as printed. **unit**: all one but c4 = 8, which shows the shape and proves nothing.",
        ),
    ] = "paper",
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """The lower and the upper bound of the paper on the mean squared error, for values between -1 and 1.

    Example: `dame bounds --sizes poisson:5 --users 10000 --alpha 0.5`
    """
    options.seed_number(seed)  # nothing is drawn here; every command takes a seed
    distribution, people = Sizes.parse(sizes), _people(users, alpha, n_alpha2)
    found = both_bounds(distribution, people.n_alpha2, Constants.named(constants))
    floor = None if people.users is None or people.alpha is None else limit(people.users, people.alpha, distribution)
    warnings = found.warnings(people.alpha)
    if as_json:
        known = {} if floor is None else {"limit_mse": floor}
        document = {"sizes": distribution.spec, "n_alpha2": people.n_alpha2, **dataclasses.asdict(found)}
        output.print_json({**document, **known, "warnings": list(warnings)})
    else:
        _show(distribution, people, found, floor)
    for warning in warnings:
        output.notes.print(f"note: {warning}", soft_wrap=True, markup=False)


def _people(users: str | None, alpha: str | None, n_alpha2: str | None) -> _People:
    given = (users, alpha, n_alpha2)
    if n_alpha2 is not None and users is None and alpha is None:
        return _People(n_alpha2=checks.number_from_text("n-alpha2", n_alpha2))
    if users is None or alpha is None or n_alpha2 is not None:
        raise InvalidInput("users, alpha and n-alpha2", given, "the first two together, or the third alone")
    count, budget = options.whole_number("users", users), checks.alpha(checks.number_from_text("alpha", alpha))
    return _People(n_alpha2=count * budget**2, users=count, alpha=budget)


def _show(distribution: Sizes, people: _People, found: Bounds, floor: float | None) -> None:
    rows = [
        ("sizes", f"{distribution.label}, nα² = {people.n_alpha2:.6g}"),
        ("lower bound", f"{_error(found.lower)}, Theorem 1 at a = {found.lower_at:,}"),
        ("upper bound", f"{_error(found.upper)}, Theorem 2"),
        ("effective size m̃", f"{found.m_tilde:,}"),
        ("φ(m̃)", f"{found.phi:.4g}"),
    ]
    if floor is not None:
        rows.append(("information limit", f"{_error(floor)}, asymptotic, fair records of -1 and 1"))
    output.people.print(output.figures(f"Bounds with the constants '{found.constants}'", rows))


def _error(mse: float) -> str:
    return f"MSE {mse:.5g}  (RMSE {mse**0.5:.4g})"
