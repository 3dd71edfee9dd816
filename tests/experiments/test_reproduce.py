"""Quick runs: numbers, not pixels; the same seed gives the same files on any number of processes."""

from __future__ import annotations

import csv
import dataclasses
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dame.errors import InvalidInput
from dame.experiments import EXPERIMENTS, Experiment, chosen, figure_2, figure_2_published, reproduce, steps
from dame.experiments.adaptive import fewest
from dame.experiments.base import stream_seed
from dame.experiments.power_law import LARGE, SMALL, power_sizes
from dame.experiments.style import AUTHORS
from dame.experiments.tidy import TidyTable

RISK_COLUMNS = {"sizes", "users", "alpha", "theta", "protocol", "repetitions", "mean", "median", "p10", "p90", "limit"}


def small(experiment: Experiment) -> Experiment:
    """The experiment without the protocol whose planner takes time, and with the fewest studies."""

    def tasks(quick: bool):
        kept = [task for task in experiment.tasks(quick) if task.protocol != "adaptive"]
        return [dataclasses.replace(task, repetitions=3) for task in kept]

    return dataclasses.replace(experiment, tasks=tasks)


def rows_of(experiment: Experiment) -> TidyTable:
    return TidyTable.of(
        row for task in small(experiment).tasks(True) for row in task.rows(stream_seed(1, experiment.name, task.stream))
    )


@pytest.fixture(scope="module")
def text_setting() -> TidyTable:
    return rows_of(figure_2.EXPERIMENT)


@pytest.fixture(scope="module")
def code_setting() -> TidyTable:
    return rows_of(figure_2_published.EXPERIMENT)


def test_tables_have_the_expected_columns(text_setting: TidyTable, code_setting: TidyTable) -> None:
    for table in (text_setting, code_setting):
        assert {*RISK_COLUMNS, "m1", "m2", "rho"} <= set(table.columns)


def test_dame_is_kent_where_the_effective_size_is_the_smallest(text_setting: TidyTable) -> None:
    paper = text_setting.where(protocol="paper", m_tilde=figure_2.SMALL)
    assert {row["rho"] for row in paper.rows} == {share for share in figure_2.QUICK_SHARES if share < 1}
    for row in paper.rows:
        assert text_setting.one("mean", protocol="kent", rho=row["rho"], theta=row["theta"]) == row["mean"]


def test_dame_separates_from_kent_in_the_setting_of_the_code(code_setting: TidyTable) -> None:
    for theta in (0.0, 0.5):
        paper, kent = (code_setting.one("mean", protocol=p, rho=0.78, theta=theta) for p in ("paper", "kent"))
        assert kent > 10 * paper
    before = code_setting.where(rho=figure_2_published.QUICK_SHARES[0], theta=0.0)
    assert before.one("mean", protocol="paper") == before.one("mean", protocol="kent")


def test_authors_divisor_is_biased_away_from_zero_only(code_setting: TidyTable) -> None:
    at = code_setting.where(rho=0.78)
    assert at.one("mean_estimate", theta=0.5, protocol=AUTHORS) == pytest.approx(0.393, abs=0.003)
    assert at.one("mean_estimate", theta=0.5, protocol="paper") == pytest.approx(0.5, abs=0.003)
    assert at.one("mean_estimate", theta=0.0, protocol=AUTHORS) == pytest.approx(0, abs=0.003)


def test_same_seed_same_files_on_any_number_of_processes(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["figure-1-bottom"]
    contents = []
    for workers in (1, 2):
        made = reproduce([experiment], tmp_path / str(workers), quick=True, workers=workers, seed=5)
        (result,) = made.results
        contents.append([path.read_bytes() for path in (*result.files, made.report)])
    assert contents[0] == contents[1]


def test_risks_depend_on_the_seed_only(tmp_path: Path) -> None:
    task = small(EXPERIMENTS["figure-2"]).tasks(True)[0]
    assert task.rows(7) == task.rows(7)
    assert task.rows(7) != task.rows(8)


def test_streams_have_seeds_of_their_own() -> None:
    seeds = {stream_seed(*key) for key in ((1, "a", 0), (1, "a", 1), (1, "b", 0), (2, "a", 0), (1, "a/1", 0))}
    assert len(seeds) == 5


def test_files_and_progress(tmp_path: Path) -> None:
    told: list[int] = []
    experiments = [EXPERIMENTS[name] for name in ("figure-1-top", "figure-1-bottom")]
    made = reproduce(experiments, tmp_path / "new" / "place", quick=True, progress=told.append)
    assert told == list(range(1, steps(experiments, True) + 1))
    names = {f"{e.name}.{kind}" for e in experiments for kind in ("csv", "png", "svg")} | {"report.md"}
    assert {path.name for path in (tmp_path / "new" / "place").iterdir()} == names
    rows = list(csv.DictReader((tmp_path / "new" / "place" / "figure-1-top.csv").read_text().splitlines()))
    assert len(rows) == len(made.results[0].table.rows)
    assert "trivial 4 at 75 of 75 points" in made.report.read_text()


def test_files_name_no_date(tmp_path: Path) -> None:
    (result,) = reproduce([EXPERIMENTS["figure-1-bottom"]], tmp_path, quick=True).results
    assert b"dc:date" not in result.files[2].read_bytes()
    assert b"Software" not in result.files[1].read_bytes()


def test_a_file_in_the_way_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InvalidInput, match="directory"):
        reproduce(chosen("all"), tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_unknown_experiments_are_refused() -> None:
    with pytest.raises(InvalidInput, match="figure-1-top"):
        chosen("figure-3")


def test_power_sizes_follow_the_power_law() -> None:
    sizes = power_sizes(0.5)
    assert sizes.survival(SMALL) == 1
    for x in (0.01, 0.3, 0.9):
        assert sizes.survival(SMALL + (LARGE - SMALL) * x) == pytest.approx(1 - x**0.5, abs=2e-3)


@pytest.mark.parametrize("threshold", [1, 2, 17, 1000, 123_456])
def test_fewest_finds_the_threshold(threshold: int) -> None:
    found = fewest(lambda users: users >= threshold, 1, 0.01)
    assert threshold <= found <= threshold * 1.01 + 1


def test_importing_without_matplotlib_names_the_extra() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; import dame.experiments"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "a picture needs the extra 'plots': pip install 'dame-ldp[plots]'" in done.stderr


@pytest.mark.slow
def test_everything_quickly_and_twice(tmp_path: Path) -> None:
    started = time.process_time()
    first = reproduce(chosen("all"), tmp_path / "one", quick=True)
    assert time.process_time() - started < 60
    reproduce(chosen("all"), tmp_path / "two", quick=True)
    assert len(first.results) == len(EXPERIMENTS)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name
    text = first.report.read_text()
    assert all(f"## {name}:" in text for name in EXPERIMENTS)
