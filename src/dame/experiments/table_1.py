"""Table 1: the rates 1/(nα²), 1/(mnα²) and 1/((E sqrt(m))² nα²) beside the slopes of measured risks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dame.experiments import style
from dame.experiments.base import Experiment, Task, stream_seed
from dame.experiments.report import bullets, grid
from dame.experiments.risk import CHEAP, PROTOCOLS, RiskTask
from dame.experiments.slopes import slope, slope_error
from dame.experiments.tidy import Row, TidyTable
from dame.sizes import Sizes

THETA = 0.3
USERS = 10**5
COUNTS, QUICK_COUNTS = (20_000, 60_000, 200_000, 600_000), (20_000, 60_000)
RECORDS, QUICK_RECORDS = (10**4, 10**5, 10**6, 10**7), (10**4, 10**6)
TYPICAL = 10**5
SETTINGS = {"one": "m = 1", "constant": "m the same for all", "random": "m ~ M, geometric"}
RATES = {"users": -1.0, "records": -1.0, "mean_sqrt": -2.0}
"""The exponents of the minimax rates, in each of the things that vary."""
LABELS = {"users": "n, users", "records": "m, records per user", "mean_sqrt": "E sqrt(m)"}
PANELS = (
    ("one", "users"),
    ("constant", "users"),
    ("constant", "records"),
    ("random", "users"),
    ("random", "mean_sqrt"),
)
BLANK = 1
"""The place among the panels that the legend takes."""


def sizes_of(setting: str, records: int) -> str:
    """The sizes of a setting; geometric ones have the mean `records`."""
    return {"one": "constant:1", "constant": f"constant:{records}", "random": f"geometric:{1 / records!r}"}[setting]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTask(Task):
    """The risk of one protocol along one line of settings, and the slope of its logarithm."""

    index: int
    setting: str
    varies: str
    points: tuple[tuple[int, int], ...]
    """Users and records of each point."""
    protocol: str
    repetitions: int

    @property
    def stream(self) -> int:
        """The number of the line."""
        return self.index

    def rows(self, seed: int) -> list[Row]:
        """The rows of the points, with the slope of the whole line in each."""
        found = [self._point(index, *point, seed) for index, point in enumerate(self.points)]
        x, y, error = (TidyTable.of(found).column(name) for name in ("x", "mean", "mean_se"))
        line = {"slope": slope(x, y), "slope_se": slope_error(x, y, error), "rate": RATES[self.varies]}
        return [{**row, **line} for row in found]

    def _point(self, index: int, users: int, records: int, seed: int) -> Row:
        sizes = sizes_of(self.setting, records)
        x = {"users": users, "records": records, "mean_sqrt": Sizes.parse(sizes).mean_sqrt()}[self.varies]
        (row,) = RiskTask(
            index=index,
            point=(("setting", self.setting), ("varies", self.varies), ("x", x)),
            sizes=sizes,
            users=users,
            protocol=self.protocol,
            thetas=(THETA,),
            repetitions=self.repetitions,
        ).rows(stream_seed(seed, self.varies, index))
        return row


def tasks(quick: bool) -> Sequence[Task]:
    """One task for each protocol and each thing that varies in each setting."""
    counts, records = (QUICK_COUNTS, QUICK_RECORDS) if quick else (COUNTS, RECORDS)
    return [
        SweepTask(
            index=index,
            setting=setting,
            varies=varies,
            points=tuple((users, TYPICAL) for users in counts)
            if varies == "users"
            else tuple((USERS, count) for count in records),
            protocol=protocol,
            repetitions=8 if quick else 100,
        )
        for index, (setting, varies) in enumerate(PANELS)
        for protocol in PROTOCOLS
        if not (quick and setting == "random" and protocol not in CHEAP)
    ]


def draw(table: TidyTable) -> Figure:
    """Risk against what varies, one panel each, with the slope of the rate as a grey line."""
    figure, panels = style.panels(3, 2, 5.2)
    empty = panels.pop(BLANK)
    empty.set_axis_off()
    empty.legend(handles=style.handles((*PROTOCOLS, "rate")), loc="center")
    for axes, (setting, varies) in zip(panels, PANELS, strict=True):
        _panel(axes, table.where(setting=setting, varies=varies))
        if varies == "users":
            counts = [int(str(count)) for count in table.where(varies=varies).distinct("users")]
            axes.set_xticks(counts, [f"{count // 1000}k" for count in counts])
        axes.set_title(SETTINGS[setting], loc="left")
        axes.set_xlabel(LABELS[varies])
        axes.set_ylabel("mean squared error")
    return figure


def _panel(axes: Axes, table: TidyTable) -> None:
    for name in map(str, table.distinct("protocol")):
        part = table.where(protocol=name)
        x, y = part.column("x"), part.column("mean")
        if name in ("paper", "adaptive"):
            style.curve(axes, "rate", x, y[0] * (x / x[0]) ** part.column("rate"), zorder=1)
        style.curve(axes, name, x, y)
    style.logarithmic(axes)


def section(table: TidyTable) -> str:
    """What the table shows."""
    head = ["setting", "varies", "rate", *(style.SERIES[name].label for name in PROTOCOLS)]
    return "\n\n".join(
        (
            f"Slopes of log mean squared error (± standard error) at θ = {THETA:g}, α = 22/35, beside the exponent of "
            "the minimax rate:",
            grid(head, [_line(table, *panel) for panel in PANELS]),
            bullets(
                "**Agrees**: DAME follows the rates where many records count: slope "
                f"{_slope(table, 'constant', 'records')} in m and {_slope(table, 'random', 'mean_sqrt')} in E sqrt(m); "
                "its logarithm makes it a little flatter. `adaptive` follows them without a logarithm.",
                "Kent follows the rate for equal sizes; with unequal ones it goes by the smallest, here a single "
                f"record, and gains nothing: slope {_slope(table, 'random', 'mean_sqrt', 'kent')}.",
                "Duchi (Laplace) and one-bit do not gain from more records per user.",
                "**Does not agree**: in n the slope of DAME under M is steeper than -1 as long as m̃ still grows: "
                f"{_slope(table, 'random', 'users')}. The rates are for n → ∞.",
            ),
        )
    )


def _line(table: TidyTable, setting: str, varies: str) -> list[str]:
    slopes = [_slope(table, setting, varies, name) for name in PROTOCOLS]
    return [SETTINGS[setting], LABELS[varies], f"{RATES[varies]:g}", *slopes]


def _slope(table: TidyTable, setting: str, varies: str, protocol: str = "paper") -> str:
    rows = table.where(setting=setting, varies=varies, protocol=protocol).rows
    return f"{float(rows[0]['slope']):.2f} ± {float(rows[0]['slope_se']):.2f}" if rows else "not run"


EXPERIMENT = Experiment(
    name="table-1", title="measured rates beside the minimax rates", tasks=tasks, draw=draw, section=section
)
