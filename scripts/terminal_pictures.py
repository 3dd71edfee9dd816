"""Pictures of what commands of the tutorial print: this script writes docs/figures/tutorial-*.svg.

The commands are run in a temporary folder, with the table that the tutorial makes.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from matplotlib.figure import Figure
from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

import dame  # noqa: E402
from dame.experiments import style  # noqa: E402
from dame.protocols import plan_mean  # noqa: E402
from tests.docs.blocks import blocks_of  # noqa: E402

TUTORIAL = ROOT / "docs" / "tutorial.md"
FIGURES = ROOT / "docs" / "figures"
COLUMNS = 92
PICTURES = {"tutorial-pilot": "dame pilot", "tutorial-plan": "dame plan --users 20000 --alpha 1"}
"""The name of each picture, and how its command in the tutorial begins."""


def main() -> None:
    """Writes the pictures."""
    blocks = blocks_of(TUTORIAL.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        table = next(block.code for block in blocks if "paretovariate" in block.code)
        subprocess.run([sys.executable, "-c", table], check=True, cwd=folder)
        for name, start in PICTURES.items():
            line = next(block.code.strip() for block in blocks if block.code.startswith(start))
            (FIGURES / f"{name}.svg").write_text(picture(line, printed(line, folder)), "utf-8")
    drawing = style.images(lambda _: choice_of_alpha(), [])[".svg"]  # type: ignore[arg-type]
    (FIGURES / "tutorial-alpha.svg").write_bytes(drawing)


def printed(line: str, folder: str) -> str:
    """What a command prints for people, with colours."""
    words = [sys.executable, "-m", "dame", *shlex.split(line)[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1"}
    return subprocess.run(words, check=True, cwd=folder, env=environment, capture_output=True, text=True).stdout


def picture(line: str, text: str) -> str:
    """A picture of a terminal."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ {line}\n"), soft_wrap=False)
    console.print(Text.from_ansi(text.rstrip()))
    drawing = console.export_svg(title="", unique_id="tutorial")
    # Fonts from elsewhere would be asked for by every reader: whatever monospaced font is there will do.
    return re.sub(r"@font-face \{.*?\}\s*", "", drawing, flags=re.DOTALL)


def choice_of_alpha() -> Figure:
    """The error that the planner predicts, against the number of people."""
    counts = (1_000, 3_000, 10_000, 30_000, 100_000)
    sizes = dame.Sizes.parse("zipf:1.5:400")
    figure = Figure(figsize=(4.4, 2.6), layout="constrained")
    axes = figure.subplots()
    for alpha, colour, mark in ((0.5, "#009E73", "v"), (1.0, "#0072B2", "o"), (2.0, "#D55E00", "^")):
        plans = [plan_mean(users=n, alpha=alpha, sizes=sizes, bounds=(0, 120)) for n in counts]
        errors = [plan.forecast.predicted_rmse for plan in plans]
        axes.plot(counts, errors, color=colour, marker=mark, label=f"α = {alpha:g}")
    style.logarithmic(axes)
    axes.set_yticks([0.2, 0.5, 1, 2, 5, 10], ["0.2", "0.5", "1", "2", "5", "10"])
    axes.set_xlabel("people")
    axes.set_ylabel("predicted error, minutes")
    axes.legend()
    return figure


if __name__ == "__main__":
    main()
