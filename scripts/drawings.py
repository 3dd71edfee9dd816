"""The drawings of the documents: `python scripts/drawings.py` writes docs/figures/how-*.svg and people.svg.

Whatever looks like data in them is data: questions, coins and tallies are those of the package, with a seed.
"""

from __future__ import annotations

import csv
import math
import random
import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "src"))

import dame  # noqa: E402
from dame.device import Bins, Bits, Question, Value, Window, Windows  # noqa: E402
from dame.device.answering import respond  # noqa: E402
from dame.device.coins import ReplayCoins  # noqa: E402
from dame.estimates import to_units  # noqa: E402
from dame.experiments import style  # noqa: E402
from dame.monitoring import window_ends  # noqa: E402
from dame.populations.simulation import simulate_once  # noqa: E402
from dame.protocols import plan_mean  # noqa: E402
from dame.vectorised.lenses import read  # noqa: E402

FIGURES = ROOT / "docs" / "figures"
OURS, BLUE, GREEN, GREY, PALE = "#D55E00", "#0072B2", "#009E73", "#7F7F7F", "#DCE6F0"
WIDE = 6.8


def main() -> None:
    """Writes every drawing."""
    drawings = {
        "how-flow": flow,
        "how-anatomy": anatomy,
        "how-vote": vote,
        "how-bit": bit,
        "how-rounds": rounds,
        "how-odds": odds,
        "people": people,
    }
    for name, draw in drawings.items():
        picture = style.images(lambda _, draw=draw: draw(), [])[".svg"]  # type: ignore[arg-type]
        (FIGURES / f"{name}.svg").write_bytes(picture)
        print(FIGURES / f"{name}.svg")


def sheet(height: float) -> tuple[Figure, Axes]:
    """An empty sheet without axes, one unit an inch."""
    figure = Figure(figsize=(WIDE, height))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, WIDE), ylim=(0, height))
    axes.set_axis_off()
    return figure, axes


def box(axes: Axes, x: float, y: float, width: float, height: float, text: str, **look) -> None:
    """A rounded box with words in it."""
    colours = {"facecolor": PALE, "edgecolor": BLUE, **look}
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=0.08", lw=1, **colours))
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=7.5, linespacing=1.35)


def arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], text: str = "", **look) -> None:
    """An arrow with words above it."""
    line = {"color": GREY, "arrowstyle": "-|>", "mutation_scale": 9, "lw": 1, **look}
    axes.add_patch(FancyArrowPatch(start, end, **line))
    if text:
        axes.text((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + 0.06, text, ha="center", va="bottom", fontsize=6.5)


def flow() -> Figure:
    """Who holds what: records stay left of the dotted line."""
    figure, axes = sheet(2.9)
    rng = np.random.default_rng(2)
    for place, (name, records) in enumerate((("Ada", "3 records"), ("Ben", "40 records"), ("Cleo", "30,000 records"))):
        y = 2.1 - 0.8 * place
        box(axes, 0.1, y, 1.75, 0.6, f"{name}'s device\n{records}, α-private coins")
        bits = "".join(map(str, rng.integers(0, 2, 8)))
        arrow(axes, (1.87, y + 0.3), (3.55, 1.6 - 0.1 * place), color=OURS)
        axes.text(2.45, y + 0.34 - 0.32 * (place > 1), bits, color=OURS, fontsize=8, ha="left", family="monospace")
    axes.plot([2.05, 2.05], [0.1, 2.8], ls=":", color="black", lw=1)
    axes.text(2.0, 0.05, "records stay here", ha="right", fontsize=7, style="italic")
    axes.text(2.1, 0.05, "only reports pass", ha="left", fontsize=7, style="italic", color=OURS)
    box(axes, 3.6, 1.1, 1.15, 0.75, "tally\nexact integer\nsums")
    box(axes, 5.45, 1.1, 1.25, 0.75, "estimate\nwith an\ninterval", facecolor="#FBE6DA", edgecolor=OURS)
    arrow(axes, (4.77, 1.47), (5.43, 1.47))
    arrow(axes, (4.2, 1.08), (1.0, 0.48), "", connectionstyle="arc3,rad=-0.25")
    axes.text(3.35, 0.33, "next question, to other people", fontsize=7, ha="left")
    return figure


def anatomy() -> Figure:
    """From records to a report, with the numbers of one person: what each part of a question does."""
    records = (52.0, 31.0, 47.0, 40.0)
    lens = Windows(windows=(Window(-0.32, -2.0, 2.0), Window(-0.28, -2.0, 2.0)))
    channel = Bits.single(1.0)
    question = Question(
        study="drawing", round=2, alpha=1.0, statistic=Value(low=0.0, high=120.0), lens=lens, channel=channel
    )
    person, words = question.statistic.summarise(records), random.Random(3).randbytes(16)
    report = respond(question, person, ReplayCoins(words))
    position, word = lens.position(person, report.window), int.from_bytes(words[8:], "big")
    threshold = channel.threshold(position)
    sent = report.encode(question)
    sign = "<" if word < threshold else "≥"
    columns = (
        ("records", f"{', '.join(f'{record:g}' for record in records)}\nminutes"),
        (
            "statistic",
            f"{len(records)} records,\nmean {person.mean:.3f}\non the scale −1 … 1".replace("mean -", "mean −"),
        ),
        ("lens", f"window {report.window} of 0, 1, by a coin:\nher place in it, from 0 to 1,\nis {position:.2f}"),
        ("channel", f"a random word\n{word:016x}\n{sign} {threshold:016x}"),
        ("report", f"window {report.window}, value {report.value}:\n{len(sent)} bytes\n{sent.hex()}"),
    )
    figure, axes = sheet(1.6)
    width, gap = 1.16, 0.22
    for place, (name, words_) in enumerate(columns):
        x, ours = 0.06 + place * (width + gap), name == "report"
        look = {"facecolor": "#FBE6DA", "edgecolor": OURS} if ours else {}
        box(axes, x, 0.98, width, 0.46, name, **look)
        axes.text(x + width / 2, 0.88, words_, ha="center", va="top", fontsize=6, linespacing=1.4)
        if place:
            arrow(axes, (x - gap + 0.02, 1.21), (x - 0.02, 1.21), color=OURS if ours else GREY)
    edge = 0.06 + 4 * (width + gap) - gap / 2
    axes.plot([edge, edge], [0.08, 1.55], ls=":", color="black", lw=1)
    axes.text(edge - 0.05, 0.1, "on the device; the question says how", ha="right", fontsize=7, style="italic")
    axes.text(edge + 0.05, 0.1, "all that leaves it", ha="left", fontsize=7, style="italic", color=OURS)
    return figure


def vote() -> Figure:
    """From marks to noisy bits to a tally that finds the mean."""
    bins, alpha, voters = 16, 1.0, 4000
    channel, lens = Bits.optimised(alpha, bins), Bins(bins=bins, width=2 / bins)
    rng = np.random.default_rng(5)
    means = np.clip(rng.normal(0.22, 0.1, voters), -1, 1)
    marked = np.bincount(read(lens, np.ones(voters, dtype=np.int64), means).which, minlength=bins + 1)[:bins]
    yes, no = channel.probability(1.0), channel.probability(0.0)
    figure = Figure(figsize=(WIDE, 2.3), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1))
    _one_ballot(left, bins, yes, no)
    ones = rng.binomial(marked, yes) + rng.binomial(voters - marked, no)
    places = np.arange(bins)
    right.bar(places, ones, color=PALE, edgecolor=BLUE, lw=0.6, label="ones that came in")
    right.plot(places, (ones - voters * no) / (yes - no), color=OURS, marker="o", ms=3, label="noise taken out")
    right.plot(places, marked, color="black", marker="x", ms=3, ls=":", lw=0.8, label="true marks (nobody sees them)")
    right.set_title(f"{voters:,} such rows, added up")
    right.set_xlabel("bin")
    right.legend(fontsize=6)
    return figure


def _one_ballot(axes: Axes, bins: int, yes: float, no: float) -> None:
    own, words = 9, np.random.default_rng(8).random(bins)
    sent = [int(word < (yes if bin_ == own else no)) for bin_, word in enumerate(words)]
    for bin_ in range(bins):
        for y, value, colour in ((1.5, int(bin_ == own), BLUE), (0.0, sent[bin_], OURS)):
            face = colour if value else "white"
            axes.add_patch(Rectangle((bin_, y), 0.9, 0.6, facecolor=face, edgecolor=colour, lw=0.8))
            shade = "white" if value else colour
            axes.text(bin_ + 0.45, y + 0.28, str(value), ha="center", va="center", fontsize=6.5, color=shade)
    axes.text(0, 2.25, "her row: one mark, in the bin of her mean (stays on the device)", fontsize=6.5, color=BLUE)
    axes.text(0, -0.45, "what she sends: every bit after a coin", fontsize=6.5, color=OURS)
    axes.text(
        8, 1.03, f"1 → 1 with probability {yes:.2f}     0 → 1 with probability {no:.2f}", ha="center", fontsize=6.5
    )
    axes.set_xlim(-0.2, bins + 0.2)
    axes.set_ylim(-0.9, 2.8)
    axes.set_title("One person's vote, α = 1")
    axes.set_axis_off()


def bit() -> Figure:
    """The chance of a 1 against the mean: the same coin on a wide and on a narrow window."""
    coin = Bits.single(1.0)
    low, high = coin.probability(0.0), coin.probability(1.0)
    figure = Figure(figsize=(WIDE, 2.4), layout="constrained")
    whole, narrow = figure.subplots(1, 2, sharey=True)
    minutes = np.linspace(0, 120, 500)
    for axes, left, right, title in (
        (whole, 0, 120, "A bit of the whole range"),
        (narrow, 38, 54, "A bit of a window around the centre"),
    ):
        chance = low + (high - low) * np.clip((minutes - left) / (right - left), 0, 1)
        axes.axvspan(left, right, color=PALE, lw=0)
        axes.plot(minutes, chance, color=OURS, lw=1.6)
        error = 0.5 / math.sqrt(1000) / (high - low) * (right - left)
        axes.set_title(f"{title}\n1,000 answers: ±{1.96 * error:.1f} minutes")
        axes.set_xlabel("a person's mean, in minutes")
        axes.set_ylim(0, 1)
        for level, words in ((low, "1 / (1 + e^α)"), (high, "e^α / (1 + e^α)")):
            axes.axhline(level, color=GREY, lw=0.6, ls=":")
            axes.text(119, level + 0.02, words, ha="right", fontsize=6, color=GREY)
    whole.set_ylabel("chance that she sends 1")
    return figure


def rounds() -> Figure:
    """The windows of a simulated study: each is narrower, around a better centre."""
    sizes, truth = dame.Sizes.parse("constant:400"), -0.27
    plan = plan_mean(users=30_000, alpha=1.0, sizes=sizes, bounds=(0, 120), study="drawing")
    people_ = dame.Population.synthetic(sizes, dame.parse_distribution(f"rademacher:{truth}"))
    outcome = simulate_once(plan, people_, np.random.default_rng(4))
    tallies, estimate = outcome.tallies, outcome.estimate
    figure = Figure(figsize=(WIDE, 2.2), layout="constrained")
    axes = figure.subplots()
    last = len(tallies)
    for row, (round_, tally) in enumerate(zip(plan.rounds, tallies, strict=True)):
        seen = window_ends(plan.brief, tally.question)  # bins are everywhere
        left, right = (0.0, 120.0) if seen is None else (seen.low, seen.high)
        axes.barh(last - row, right - left, left=left, height=0.5, color=PALE, edgecolor=BLUE, lw=0.8)
        axes.text(-2, last - row, f"{round_.name}, {tally.reports:,} people", ha="right", va="center", fontsize=7)
    low, high = estimate.interval
    axes.plot([low, high], [0, 0], color=OURS, lw=4, solid_capstyle="butt")
    axes.plot(estimate.value, 0, "o", color=OURS, ms=4)
    axes.text(-2, 0, "estimate and interval", ha="right", va="center", fontsize=7, color=OURS)
    axes.axvline(to_units(truth, 0, 120), color="black", lw=0.8, ls=(0, (4, 2)), label="true mean")
    axes.set_yticks([])
    axes.set_xlim(0, 120)
    axes.set_xlabel("minutes; what each round looks at")
    axes.legend(loc="lower right")
    return figure


def odds() -> Figure:
    """What a report can change at most in the mind of somebody who sees it."""
    figure = Figure(figsize=(3.6, 2.6), layout="constrained")
    axes = figure.subplots()
    before = np.linspace(0.001, 0.999, 500)
    for alpha, colour in ((3.0, OURS), (1.0, BLUE), (0.5, GREEN)):
        factor = math.exp(alpha)
        upper = before * factor / (before * factor + 1 - before)
        lower = before / (before + (1 - before) * factor)
        axes.fill_between(100 * before, 100 * lower, 100 * upper, color=colour, alpha=0.25, lw=0)
        axes.plot(100 * before, 100 * upper, color=colour, lw=1, label=f"α = {alpha:g}")
        axes.plot(100 * before, 100 * lower, color=colour, lw=1)
    axes.plot([0, 100], [0, 100], color="black", lw=0.8)
    axes.set_xlabel("suspicion before, %")
    axes.set_ylabel("suspicion after, % (at most, at least)")
    axes.legend()
    return figure


def people() -> Figure:
    """People needed for ±0.01, from the table of the benchmarks."""
    wanted = {"DAME, paper": ("published protocol", BLUE), "one-bit": ("one-bit", GREEN)}
    wanted["**DAME, adaptive**"] = ("DAME (adaptive)", OURS)
    with (ROOT / "docs" / "benchmarks.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["part"] == "accuracy" and "α = 1," in row["setting"]]
    needed = {(row["setting"].split(",")[0], row["contestant"]): float(row["people"]) for row in rows if row["people"]}
    names = {
        "poisson:5": "about 5 records each",
        "zipf:1.5:10000": "most have few,\nsome thousands",
        "poisson:500": "about 500 each",
        "two-point:100000:1000000:0.5": "100,000 and more",
    }
    figure = Figure(figsize=(WIDE, 2.5), layout="constrained")
    axes = figure.subplots()
    for shift, (contestant, (label, colour)) in enumerate(wanted.items()):
        heights = [needed[sizes, contestant] for sizes in names]
        places = np.arange(len(names)) + 0.27 * (shift - 1)
        axes.bar(places, heights, width=0.25, color=colour, label=label)
        for place, height in zip(places, heights, strict=True):
            axes.text(place, height * 1.1, f"{float(f'{height:.2g}'):,.0f}", ha="center", fontsize=5.5)
    axes.set_yscale("log")
    axes.set_ylim(bottom=300, top=axes.get_ylim()[1] * 2)
    axes.set_xticks(range(len(names)), names.values())
    axes.set_ylabel("people needed")
    axes.set_title("People needed to know a mean within 1 % of the half-range (95 %), α = 1")
    axes.legend(ncols=3, loc="upper right")
    return figure


if __name__ == "__main__":
    main()
