"""The database at rest: for its owner only, and its signing keys sealed where the environment has a key for that."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from dame.errors import InvalidInput
from dame.service.app import create_app
from dame.service.database import Database
from dame.service.settings import Settings
from dame.service.signing import public_key
from dame.service.vault import Vault
from tests.service.studies import Live, answer_of, plan_document

OLD, NEW = "o" * 32, "n" * 32


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_database_is_for_its_owner_only(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        database = Database(str(tmp_path / "dame.sqlite"))
        with database.writing() as connection:
            connection.execute(text("INSERT INTO acts (study, at, who, act, details) VALUES ('', 0, '', '', '')"))
        files = sorted(tmp_path.iterdir())
        assert [file.name for file in files] == ["dame.sqlite", "dame.sqlite-shm", "dame.sqlite-wal"]
        assert [mode(file) for file in files] == [0o600] * 3
        database.close()
    finally:
        os.umask(before)


def test_a_database_that_others_could_read_is_taken_away_from_them(tmp_path: Path) -> None:
    path = tmp_path / "dame.sqlite"
    Database(str(path)).close()
    path.chmod(0o644)
    database = Database(str(path))
    assert {mode(file) for file in tmp_path.iterdir()} == {0o600}
    database.close()


def test_what_a_served_database_leaves_is_private_too(tmp_path: Path) -> None:
    code = "import os; os.umask(0o022); import dame.cli; dame.cli.main()"
    command = [sys.executable, "-c", code, "serve", "--database", "d.sqlite", "--port", "0", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()
        masked = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        process.kill()
    assert {mode(file) for file in tmp_path.iterdir()} == {0o600}
    assert "Umask:\t0077" in masked


def stored_keys(address: str) -> dict[str, bytes]:
    database = Database(address)
    with database.reading() as connection:
        rows = {row.study: bytes(row.signing_key) for row in connection.execute(text("SELECT * FROM studies"))}
    database.close()
    return rows


def test_a_study_runs_with_a_sealed_key(address: str, serve: Callable[..., Live]) -> None:
    live = serve(address, storage_key=NEW)
    study = live.create()
    tokens = study.by_round(study.invite(60))
    assert study.upload(tokens[0][0], answer_of(study.question(0))).status_code == 200
    assert study.close(0).json()["open_rounds"] == [1]
    (stored,) = stored_keys(address).values()
    opened = Vault([NEW]).open(stored, study.study)
    assert public_key(opened) == study.public()["public_key"]
    assert opened not in stored
    assert study.question(1).round == 1


def test_keys_are_sealed_rotated_and_opened_again(address: str) -> None:
    def started(storage_key: str | None) -> None:
        create_app(Settings(database=address, storage_key=storage_key)).state.services.database.close()

    database = Database(address)
    from dame.service.studies import Studies

    for name in ("one", "two"):
        Studies(database).create(plan_document(name))
    database.close()
    plain = stored_keys(address)
    assert {len(key) for key in plain.values()} == {32}
    started(OLD)
    sealed = stored_keys(address)
    assert not any(plain[name] in sealed[name] for name in plain)
    for wrong in (None, NEW):
        with pytest.raises(InvalidInput, match="storage-key must be that with which this database was sealed"):
            started(wrong)
    started(OLD)
    assert stored_keys(address) == sealed, "nothing to do"
    started(f"{NEW}, {OLD}")
    rotated = stored_keys(address)
    assert all(rotated[name] != sealed[name] for name in plain)
    started(NEW)
    assert {name: Vault([NEW]).open(key, name) for name, key in rotated.items()} == plain
    with pytest.raises(InvalidInput, match="storage-key"):
        started(OLD)


def test_a_sealed_key_belongs_to_its_study_and_is_not_altered() -> None:
    vault = Vault([NEW])
    sealed = vault.seal(b"k" * 32, "one")
    assert vault.open(sealed, "one") == b"k" * 32
    assert vault.seal(b"k" * 32, "one") != sealed
    altered = sealed[:-1] + bytes([sealed[-1] ^ 1])
    for stored, study in ((sealed, "two"), (altered, "one"), (b"", "one"), (sealed[:10], "one")):
        with pytest.raises(InvalidInput, match="storage-key"):
            vault.open(stored, study)
    for short in ("short", "", f"{NEW},", ","):
        with pytest.raises(InvalidInput, match="at least 32"):
            Vault.of_text(short)
