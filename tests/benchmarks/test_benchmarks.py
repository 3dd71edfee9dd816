"""`python -m benchmarks --quick` measures, writes its files, and names the peers that are not installed."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks import __main__ as command
from benchmarks.peers import accuracy, installed, page, rows, scenes, speed


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder with one table of 400 people whose own means differ."""
    folder = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(1)
    user = np.repeat(np.arange(400), rng.integers(1, 40, 400))
    value = 5 + rng.normal(0, 1, 400)[user] + rng.normal(0, 2, len(user))
    pq.write_table(pa.table({"user": user, "value": value}), folder / "made.parquet")
    (folder / "made.json").write_text(json.dumps({"value_bounds": [0, 10]}), "utf-8")
    return folder


@pytest.fixture(scope="module")
def results(tmp_path_factory, data):
    """The files of a quick run."""
    out = tmp_path_factory.mktemp("out")
    document = out / "page.md"
    document.write_text(f"# Page\n\n{page.BEGIN}\nstale words\n{page.END}\n\nafter\n", "utf-8")
    (out / "figures").mkdir()
    words = ["--quick", "--out", str(out), "--data", str(data), "--page", str(document)]
    assert command.main(words) == 0
    return out


@pytest.fixture(scope="module")
def table(results):
    """The rows of a quick run."""
    with (results / "results.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_part_is_in_the_table(table):
    assert {row["part"] for row in table} == {"accuracy", "real", "speed", "footprint"}
    assert len(table) > 60


def test_a_row_has_a_figure_or_says_why_not(table):
    for row in table:
        assert bool(row["value"]) != bool(row["note"]), row
        assert not row["value"] or math.isfinite(float(row["value"]))


def test_peers_that_are_missing_are_named_and_the_others_measured(table):
    for package in installed.PEERS:
        own = [row for row in table if package in row["contestant"] and row["setting"] != "bytes of a report"]
        assert own
        assert all(bool(row["note"]) != installed.is_installed(package) for row in own)


def test_risks_stand_in_the_order_that_theory_gives_them(table):
    ratio = {row["contestant"]: float(row["ratio"]) for row in table if row["setting"].startswith("poisson:500")
             and row["ratio"]}  # fmt: skip
    # With 500 records each, one bit of the whole range has 500·2/π times the limit; ours is far below, the paper above.
    assert ratio["one-bit"] == pytest.approx(1000 / math.pi, rel=0.05)
    assert ratio["one record each, one-bit"] == pytest.approx(1000 / math.pi, rel=0.05)
    assert ratio["**DAME, adaptive**"] < 10 < ratio["Piecewise"] < ratio["one-bit"] < ratio["DAME, paper"]


def test_the_page_gets_tables_csv_and_figure(results):
    text = (results / "page.md").read_text("utf-8")
    assert "stale words" not in text
    assert text.startswith("# Page")
    assert text.endswith("after\n")
    assert "### Speed" in text
    assert (results / "results.md").read_text("utf-8") in text
    assert (results / "page.csv").read_text("utf-8") == (results / "results.csv").read_text("utf-8")
    for picture in (results / "results.png", results / "figures" / "page.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "named"),
    [(["cooking"], "cooking"), (["--data", "no-such-folder"], "no-such-folder"), (["--records", "nan"], "nan")],
)
def test_wrong_words_are_refused_in_one_sentence(words, named, capsys):
    with pytest.raises(SystemExit) as stop:
        command.main(words)
    assert stop.value.code == 2
    assert named in capsys.readouterr().err


def test_a_real_table_is_read_with_its_spread(data):
    (real,) = scenes.real_tables(data)
    assert real.users.fixed
    assert len(real.users.means) == 400
    # Standard deviation 1 on the scale 0 … 10 is 0.2 on -1 … 1.
    assert real.between_sd == pytest.approx(0.2, rel=0.2)


def test_the_risk_of_scores_is_the_risk_of_repeated_studies():
    """The shortcut by variances agrees with 400 studies of 2,000 users each."""
    rng = np.random.default_rng(3)
    sizes = accuracy.dame.Sizes.parse("poisson:5")
    peer = next(peer for peer in accuracy.PEERS if peer.name == "Piecewise")
    shortcut = accuracy.risk_of(peer, scenes.synthetic(rng, sizes, "rademacher:0.37", 100_000), 1.0, rng).at(2000)
    studies = [
        np.mean(peer.scores(rng, scenes.synthetic(rng, sizes, "rademacher:0.37", 2000), 1.0)) - 0.37 for _ in range(400)
    ]
    measured = np.mean(np.square(studies))
    assert shortcut == pytest.approx(measured, rel=5 * math.sqrt(2 / 400))


def test_a_bias_alone_can_make_a_target_unreachable():
    assert accuracy.Risk(variance=1.0, bias=0.01).people() == math.inf
    assert accuracy.Risk(variance=1.0).people() == math.ceil(1 / accuracy.TARGET**2)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (math.inf, "never"), (0.0, "0"), (123456.0, "123,000"), (0.5, "0.5"), (2e-5, "2.0e-05")],
)
def test_numbers_are_short(value, text):
    assert rows.short(value) == text


def test_the_quick_run_says_how_the_service_is_measured(table):
    (first, *_) = [row for row in table if row["setting"] == "service"]
    assert "python -m benchmarks.service" in first["note"]
    assert speed.load()
