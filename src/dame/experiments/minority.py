"""Ours: two sizes against ρ, where a minority holds most of the records: risk, limit, and when its vote is sure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dame.experiments import style
from dame.experiments.base import Experiment, Task
from dame.experiments.figure_2 import two_sizes
from dame.experiments.report import bullets, grid, short
from dame.experiments.risk import ALPHA, RiskTask
from dame.experiments.tidy import TidyTable
from dame.sizes import Sizes
from dame.theory import limit

USERS = 10**5
PAIRS = ((1, 10**6), (10**5, 10**8))
SHARES = (0.02, 0.05, 0.08, 0.11, 0.14, 0.17, 0.2, 0.3, 0.4)
THETA = 0.37
ROUNDS = 4
STUDIES = 24
SURE = 1500.0
"""About so large is nα²ρ² where a vote of the large users alone is sure."""


def tasks(quick: bool) -> Sequence[Task]:
    """`adaptive` with four rounds at every ρ."""
    pairs, shares = (PAIRS[1:], SHARES[6:7]) if quick else (PAIRS, SHARES)
    points = [two_sizes(small, large, share) for small, large in pairs for share in shares]
    return [
        RiskTask(
            index=index,
            point=point,
            sizes=sizes,
            users=USERS,
            protocol="adaptive",
            thetas=(THETA,),
            repetitions=2 if quick else STUDIES,
            choices=(("max_rounds", ROUNDS),),
        )
        for index, (point, sizes) in enumerate(points)
    ]


def sure_share() -> float:
    """The share ρ of large users from which on their vote alone is about sure."""
    return float(np.sqrt(SURE / (USERS * ALPHA**2)))


def draw(table: TidyTable) -> Figure:
    """A panel for each pair of sizes."""
    smalls = table.distinct("m1")
    figure, panels = style.panels(len(smalls), 1, 2.1 * len(smalls))
    for axes, small in zip(panels, smalls, strict=True):
        _panel(axes, table.where(m1=small))
    names = ("adaptive", "limit", "small")
    figure.legend(handles=style.handles(names), loc="outside lower center", ncols=2)
    return figure


def _panel(axes: Axes, table: TidyTable) -> None:
    small, large = (int(str(table.distinct(name)[0])) for name in ("m1", "m2"))
    rho = table.column("rho")
    style.curve(axes, "adaptive", rho, table.column("mean"))
    style.curve(axes, "limit", rho, table.column("limit"))
    alone = limit(USERS, ALPHA, Sizes.constant(small))
    style.curve(axes, "small", [0.0, float(rho.max())], [alone, alone])
    axes.axvline(sure_share(), color=style.SERIES["small"].colour, lw=0.6)
    style.logarithmic(axes, x=False)
    axes.set_title(f"sizes {small:,} and {large:,}, θ = {THETA}", loc="left")
    axes.set_xlabel("ρ, share of the large users; line: nα²ρ² = 1,500")
    axes.set_ylabel("mean squared error")


def section(table: TidyTable) -> str:
    """What the figure shows."""
    rows = [
        [str(row["sizes"]), short(float(str(row["mean"])) / float(str(row["limit"]))), str(row["failures"])]
        for row in table.rows
    ]
    return "\n\n".join(
        (
            "Mean risk in units of the limit, and studies whose last window was in a wrong place:",
            grid(["sizes", "risk / limit", "wrong"], rows),
            bullets(
                f"From ρ of about {sure_share():.2f} on a vote of the large users is sure by itself (nα²ρ² = 1,500). "
                "With the bits of later rounds a smaller share is enough; below it everybody locates."
            ),
        )
    )


EXPERIMENT = Experiment(
    name="minority", title="a minority with most of the records", tasks=tasks, draw=draw, section=section
)
