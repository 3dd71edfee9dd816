"""Pilots with between-user variation: whose mean is meant, the protocols side by side, and the picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.engines.calls import COLUMNS, Call, document, refusal

BOUNDS = ["--bounds", -2, 8]


def means_and_sizes(table: Path) -> tuple[np.ndarray, np.ndarray]:
    frame = pq.read_table(table).to_pandas().dropna()
    groups = frame.what.clip(-2, 8).groupby(frame.who)
    return groups.mean().to_numpy(), groups.size().to_numpy()


@pytest.mark.parametrize("spread", [0, 0.3])
def test_precision_has_its_own_truth(call: Call, table: Path, spread: float) -> None:
    means, sizes = means_and_sizes(table)
    weights = np.sqrt(1 / (1 / sizes + spread**2))
    words = ["--alpha", 4, "--weights", "precision", "--between-sd", spread, "--seed", 1]
    found = document(call, "pilot", table, *COLUMNS, *BOUNDS, *words)
    assert found["weights"] == "precision"
    assert found["true_mean"] == pytest.approx(weights @ means / weights.sum(), abs=1e-6)


def test_spread_is_learnt_unless_told(call: Call, table: Path) -> None:
    found = document(call, "pilot", table, *COLUMNS, *BOUNDS, "--alpha", 4, "--seed", 1)
    assert found["weights"] == "equal"
    assert [round_["name"] for round_ in found["rounds"]] == ["locate", "refine", "finish"]
    alike = document(call, "pilot", table, *COLUMNS, *BOUNDS, "--alpha", 4, "--seed", 1, "--between-sd", 0)
    assert alike["rounds"] != found["rounds"]


def test_protocols_side_by_side_and_their_picture(call: Call, table: Path, tmp_path: Path) -> None:
    picture = tmp_path / "pilot.png"
    words = ["--alpha", 4, "--seed", 1, "--repetitions", 4, "--plot", picture]
    found = document(call, "pilot", table, *COLUMNS, *BOUNDS, *words)
    assert set(found["protocols"]) == {"adaptive", "paper", "kent", "duchi", "one-bit", "one-round"}
    for scores in found["protocols"].values():
        assert scores["rmse"] > 0
        assert 0 <= scores["coverage"] <= 1
    assert found["protocols"]["adaptive"]["rmse"] == found["rmse"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir() if "draft" in path.name] == []


def test_the_rival_one_bit_is_the_protocol_one_bit(call: Call, table: Path) -> None:
    words = ["pilot", table, *COLUMNS, *BOUNDS, "--alpha", 4, "--seed", 3]
    rival = document(call, *words, "--compare")["protocols"]["one-bit"]
    alone = document(call, *words, "--protocol", "one-bit")
    assert rival["estimate"] == alone["estimate"]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--weights", "heavy"], "weights"),
        (["--weights", "precision"], "between_sd"),
        (["--between-sd", "-1"], "between-sd"),
        (["--between-sd", "some"], "between-sd"),
        (["--plot", "nowhere/pilot.png"], "plot"),
        (["--plot", "pilot.doc"], "plot"),
    ],
)
def test_refusals(call: Call, table: Path, words: list[str], named: str) -> None:
    assert named in refusal(call, "pilot", table, *COLUMNS, *BOUNDS, "--alpha", 1, *words)
