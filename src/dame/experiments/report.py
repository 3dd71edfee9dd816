"""The report of a run: a section for each experiment, every number of which was computed by that run."""

from __future__ import annotations

from collections.abc import Sequence

from dame.experiments.base import Experiment
from dame.experiments.tidy import TidyTable

_HEAD = """# Reproduction of "Distribution-Aware Mean Estimation under User-level Local Differential Privacy"

{kind}, seed {seed}. Every number below was computed by this run from the tables beside this file. Errors are mean
squared errors of means in [-1, 1]; "limit" is the information limit for fair records of -1 and 1.
"""
_QUICK = "A quick run: fewer points, fewer studies, fewer people, only good for checking that everything works"
_FULL = "A full run"


def report_text(results: Sequence[tuple[Experiment, TidyTable]], seed: int, quick: bool) -> str:
    """The report as Markdown."""
    sections = [_HEAD.format(kind=_QUICK if quick else _FULL, seed=seed)]
    for experiment, table in results:
        image = f"![{experiment.title}]({experiment.name}.png)"
        sections.append(f"## {experiment.name}: {experiment.title}\n\n{experiment.section(table)}\n\n{image}\n")
    return "\n".join(sections)


def grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def bullets(*sentences: str) -> str:
    """A list in Markdown."""
    return "\n".join(f"- {sentence}" for sentence in sentences if sentence)


def short(value: float) -> str:
    """A number with three significant digits, or all digits of its whole part where these are few."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"
