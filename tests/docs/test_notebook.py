"""The notebook plays a whole study: it is run as it is, and its study finds the truth."""

from __future__ import annotations

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "notebooks" / "whole-study.ipynb"


def printed(notebook: nbformat.NotebookNode) -> str:
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return "".join(output.text for output in outputs if output.output_type == "stream" and output.name == "stdout")


def pictures(notebook: nbformat.NotebookNode) -> int:
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    return sum("image/png" in output.get("data", {}) for output in outputs)


# The kernel's own sockets and event loops warn when it is stopped; what the cells do is what counts here.
@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs_from_top_to_bottom(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("JUPYTER_PLATFORM_DIRS", "1")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    stored = printed(notebook)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    assert pictures(notebook) == 5
    # What is drawn with a seed is what the stored notebook shows; the one report with real coins may differ.
    for line in ("the truth", "predicted error", "estimate "):
        assert re.findall(f"^.*{line}.*$", printed(notebook), re.MULTILINE) == re.findall(
            f"^.*{line}.*$", stored, re.MULTILINE
        )


def test_the_stored_notebook_shows_a_study_that_found_the_truth():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert pictures(notebook) == 5
    low, high, truth = map(
        float, re.search(r"interval ([\d.]+) to ([\d.]+); truth ([\d.]+)", printed(notebook)).groups()
    )
    assert low <= truth <= high
