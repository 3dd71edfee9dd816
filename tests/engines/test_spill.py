"""Folders for temporary files: gone with their process, or, if that was killed, with the next one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from dame.engines.spill import LOCK, SECONDS_TO_LOCK, spill_folder

HOLD = """
import pathlib, time
from dame.engines.spill import spill_folder
with spill_folder() as folder:
    (pathlib.Path(folder) / "records").write_text("private")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def _own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A process that is using a folder, which looks old."""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        age(folder)
        yield process, folder
    finally:
        process.kill()
        process.communicate()


def age(folder: Path) -> None:
    then = (folder / LOCK).stat().st_mtime - 2 * SECONDS_TO_LOCK
    os.utime(folder / LOCK, (then, then))


def test_a_folder_goes_with_its_use(tmp_path: Path) -> None:
    with spill_folder() as folder:
        assert Path(folder).parent == tmp_path
        (Path(folder) / "records").write_text("private")
    assert not any(tmp_path.iterdir())


def test_a_folder_in_use_is_left_alone(holder: tuple[subprocess.Popen[str], Path]) -> None:
    _, folder = holder
    with spill_folder():
        assert (folder / "records").exists()


def test_what_a_killed_process_left_behind_is_removed(holder: tuple[subprocess.Popen[str], Path]) -> None:
    process, folder = holder
    process.kill()
    process.wait()
    assert (folder / "records").exists()
    with spill_folder():
        assert not folder.exists()


def test_a_folder_that_may_not_be_locked_yet_is_left_alone(tmp_path: Path) -> None:
    young = tmp_path / "dame-spill-young"
    young.mkdir()
    (young / LOCK).touch()
    with spill_folder():
        assert young.exists()
    age(young)
    with spill_folder():
        assert not young.exists()
