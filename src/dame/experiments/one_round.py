"""Ours: what can be known when everybody is asked once, and what further rounds would add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dame.experiments import style
from dame.experiments.adaptive import worst_ratios
from dame.experiments.base import Experiment, Task
from dame.experiments.report import bullets, grid, short
from dame.experiments.risk import ALPHA, SEEDS, RiskTask
from dame.experiments.tidy import Row, TidyTable, Value
from dame.protocols import plan_mean
from dame.sizes import Sizes
from dame.theory import LOSS_OF_ONE_ROUND, limit, one_round_limit

SIZES = ("poisson:50", "poisson:500", "constant:100000")
USERS = (10**3, 10**4, 10**5, 10**6)
THETAS = (0.0, 0.5, 0.9)
PROTOCOLS = ("one-bit", "one-round", "adaptive")
BOUND = "one-round-bound"
ROUNDS = (1, 2, 3, 4, 5, 6)
ROUNDS_USERS = 10**5


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundTask(Task):
    """The bound for one round, for some sizes and every number of users."""

    sizes: str
    counts: tuple[int, ...]

    def rows(self, seed: int) -> list[Row]:
        """One row for each number of users."""
        sizes = Sizes.parse(self.sizes)
        return [
            {
                **_point("limit", self.sizes, users, BOUND),
                "mean": one_round_limit(users, ALPHA, sizes),
                "limit": limit(users, ALPHA, sizes),
            }
            for users in self.counts
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsTask(Task):
    """What `adaptive` predicts in at most so many rounds."""

    sizes: str
    users: int
    rounds: int

    def rows(self, seed: int) -> list[Row]:
        """One row."""
        sizes = Sizes.parse(self.sizes)
        plan = plan_mean(users=self.users, alpha=ALPHA, sizes=sizes, max_rounds=self.rounds, study="reproduce")
        forecast = plan.forecast
        point = {**_point("rounds", self.sizes, self.users, "adaptive"), "rounds": self.rounds}
        return [{**point, "predicted": forecast.predicted_rmse**2, "limit": forecast.limit_mse}]


def _point(panel: str, sizes: str, users: int, protocol: str) -> dict[str, Value]:
    return {"panel": panel, "sizes": sizes, "users": users, "alpha": ALPHA, "protocol": protocol}


def tasks(quick: bool) -> Sequence[Task]:
    """The bound and measured risks for every distribution of sizes, and predicted risks against rounds."""
    distributions, counts = (SIZES[:1], USERS[1:2]) if quick else (SIZES, USERS)
    rounds = ROUNDS[:2] if quick else ROUNDS
    return [
        *(BoundTask(sizes=sizes, counts=counts) for sizes in distributions),
        *(
            _risk(sizes, users, name, 10 if quick else SEEDS)
            for sizes in distributions
            for users in counts
            for name in PROTOCOLS
        ),
        *(
            RoundsTask(sizes=sizes, users=counts[-1] if quick else ROUNDS_USERS, rounds=most)
            for sizes in distributions
            for most in rounds
        ),
    ]


def _risk(sizes: str, users: int, protocol: str, repetitions: int) -> RiskTask:
    return RiskTask(
        index=SIZES.index(sizes) * 100 + USERS.index(users),
        point=(("panel", "limit"),),
        sizes=sizes,
        users=users,
        protocol=protocol,
        thetas=THETAS,
        repetitions=repetitions,
    )


def draw(table: TidyTable) -> Figure:
    """A panel for each distribution of sizes, and the predicted risk against rounds."""
    distributions = _distributions(table)
    figure = Figure(figsize=(style.COLUMN, 5.6), layout="constrained")
    places = figure.subplot_mosaic("01;2R;LL", height_ratios=(1, 1, 0.36))
    for place, sizes in enumerate(distributions):
        _risk_panel(places[str(place)], table, sizes)
    for place in range(len(distributions), len(SIZES)):
        places[str(place)].set_axis_off()
    _rounds_panel(places["R"], table.where(panel="rounds"))
    places["L"].set_axis_off()
    places["L"].legend(handles=style.handles((*PROTOCOLS, BOUND, "limit")), loc="center", ncols=2)
    return figure


def _distributions(table: TidyTable) -> list[str]:
    return [str(sizes) for sizes in table.where(panel="limit").distinct("sizes")]


def _risk_panel(axes: Axes, table: TidyTable, sizes: str) -> None:
    for name in (*PROTOCOLS, BOUND):
        style.curve(axes, name, *worst_ratios(table, sizes, name))
    axes.axhline(1, color=style.SERIES["limit"].colour, lw=1.1, ls=style.SERIES["limit"].line)
    style.logarithmic(axes)
    axes.set_title(sizes, loc="left")
    axes.set_xlabel("n, users")
    axes.set_ylabel("worst risk / limit")


def _rounds_panel(axes: Axes, table: TidyTable) -> None:
    for sizes, line in zip(table.distinct("sizes"), ("-", (0, (4, 1.5)), (0, (1, 1))), strict=False):
        part = table.where(sizes=sizes)
        look = style.SERIES["adaptive"]
        ratios = part.column("predicted") / part.column("limit")
        axes.plot(part.column("rounds"), ratios, color=look.colour, marker=look.marker, ls=line, label=str(sizes))
    bound = style.SERIES[BOUND]
    axes.axhline(LOSS_OF_ONE_ROUND, color=bound.colour, ls=bound.line, lw=1.1)
    axes.axhline(1, color=style.SERIES["limit"].colour, lw=1.1, ls=style.SERIES["limit"].line)
    axes.set_ylim(bottom=0.8)
    axes.set_xticks([int(str(count)) for count in table.distinct("rounds")])
    axes.set_title(f"predicted, n = {int(str(table.distinct('users')[0])):,}", loc="left")
    axes.set_xlabel("at most so many rounds")
    axes.set_ylabel("worst risk / limit")
    axes.legend(fontsize=5.5)


def section(table: TidyTable) -> str:
    """What the figure shows."""
    users = [int(str(count)) for count in table.where(panel="limit").distinct("users")]
    names = (*PROTOCOLS, BOUND)
    head = ["sizes", *(style.SERIES[name].label for name in names)]
    rows = [[sizes, *(short(worst_ratios(table, sizes, n)[1][-1]) for n in names)] for sizes in _distributions(table)]
    return "\n\n".join(
        (
            f"Worst mean risk over θ = 0, 0.5, 0.9 in units of the information limit, at n = {users[-1]:,}, and what "
            "no protocol of one round can go below:",
            grid(head, rows),
            bullets(_failures(table), _added(table.where(panel="rounds"))),
        )
    )


def _failures(table: TidyTable) -> str:
    part = table.where(panel="limit", protocol="one-round")
    wrong, studies = (int(part.column(name).sum()) for name in ("failures", "repetitions"))
    return f"`one-round` took a wrong stripe in {wrong} of {studies:,} studies."


def _added(table: TidyTable) -> str:
    said = []
    for sizes in table.distinct("sizes"):
        part = table.where(sizes=sizes)
        ratios = part.column("predicted") / part.column("limit")
        said.append(f"{sizes} from {short(ratios[0])} to {short(ratios[-1])}")
    most = max(int(str(count)) for count in table.distinct("rounds"))
    return f"With at most one round and with at most {most}, `adaptive` predicts, times the limit: {', '.join(said)}."


EXPERIMENT = Experiment(
    name="one-round", title="everybody is asked once, and what rounds add", tasks=tasks, draw=draw, section=section
)
