"""Spark clusters on this machine whose workers are processes of their own, and environments packed for them."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dame.engines.spark_sessions import packaged_java
from tests.docs.blocks import ROOT, blocks_of
from tests.docs.test_blocks import free_port

LOOPBACK = "127.0.0.1"
PATIENCE = 120
"""Seconds to wait for a process on a busy machine."""
LEFT_OUT = ("PYTHONPATH", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "SPARK_REMOTE", "SPARK_CONF_DIR", "MASTER")
"""Variables by which workers would find this package without any archive, or a cluster of somebody else."""
SOURCES = ("pyproject.toml", "README.md", "LICENSE", "src")


def documented(words: str) -> str:
    """The block of docs/scale.md that contains these words."""
    (block,) = [block for block in blocks_of((ROOT / "docs/scale.md").read_text("utf-8")) if words in block.code]
    return block.code


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """Where commands run: a folder, and the variables of an environment in which Spark starts."""

    folder: Path
    environment: dict[str, str]

    @classmethod
    def in_folder(cls, folder: Path) -> Machine:
        """A machine with Spark and Java, whose `python3` is this one; Spark writes nothing outside the folder."""
        import pyspark

        home, tools = folder / "spark", folder / "tools"
        for place in (home, tools):
            place.mkdir()
        for part in Path(pyspark.__file__).parent.iterdir():
            (home / part.name).symlink_to(part)
        find = f'PYTHONPATH="{ROOT / "src"}${{PYTHONPATH:+:$PYTHONPATH}}"'
        for name, words in {"dame": "-m dame", "python3": ""}.items():
            (tools / name).write_text(f'#!/bin/sh\n{find} exec "{sys.executable}" {words} "$@"\n', "utf-8")
            (tools / name).chmod(0o755)
        kept = {name: value for name, value in os.environ.items() if name not in LEFT_OUT}
        paths = [str(tools), str(home / "bin"), os.environ["PATH"]]
        own = {"PATH": os.pathsep.join(paths), "SPARK_HOME": str(home), "SPARK_LOCAL_IP": LOOPBACK}
        java = {} if "JAVA_HOME" in kept or shutil.which("java") else {"JAVA_HOME": packaged_java()}
        # Quick to start rather than to run, and nothing in the folders of others.
        options = f"-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Djava.io.tmpdir={folder}"
        return cls(folder=folder, environment={**kept, **own, **java, "JAVA_TOOL_OPTIONS": options})

    def run(self, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """What became of a block of commands."""
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code],
            cwd=self.folder,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=4 * PATIENCE,
            check=False,
        )

    @contextmanager
    def running(self, name: str, ready: str, *words: str, **variables: str) -> Iterator[None]:
        """A process that runs until it is left, and has written when it was ready."""
        log = self.folder / f"{name}.log"
        with log.open("wb") as written:
            process = subprocess.Popen(
                words,
                cwd=self.folder,
                env={**self.environment, **variables},
                stdout=written,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            started = time.monotonic()
            while ready not in (said := log.read_text("utf-8", "replace")):
                assert process.poll() is None, said[-3000:]
                assert time.monotonic() < started + PATIENCE, said[-3000:]
                time.sleep(0.1)
            yield
        finally:  # with everything that it started
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE)


@contextmanager
def standalone(machine: Machine, workers: int) -> Iterator[str]:
    """The address of a master with so many workers."""
    port, start = free_port(), [str(Path(machine.environment["SPARK_HOME"]) / "bin" / "spark-class")]
    place = ["--host", LOOPBACK, "--webui-port", "0"]
    master = f"spark://{LOOPBACK}:{port}"
    with ExitStack() as stack:
        words = [*start, "org.apache.spark.deploy.master.Master", *place, "--port", str(port)]
        stack.enter_context(machine.running("master", "New state: ALIVE", *words))
        for number in range(workers):
            limits = ["--cores", "1", "--memory", "1g", "--work-dir", str(machine.folder / f"work-{number}")]
            words = [*start, "org.apache.spark.deploy.worker.Worker", *place, *limits, master]
            stack.enter_context(machine.running(f"worker-{number}", "Successfully registered", *words))
        yield master


@contextmanager
def connect_server(machine: Machine, master: str) -> Iterator[str]:
    """The address of a server of Spark Connect on a cluster, whose workers have this package installed."""
    port, script = free_port(), str(Path(machine.environment["SPARK_HOME"]) / "sbin" / "start-connect-server.sh")
    settings = {
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.bindAddress": LOOPBACK,
        "spark.driver.host": LOOPBACK,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.pyspark.python": str(machine.folder / "packed" / "bin" / "python"),
    }
    words = ["bash", script, "--master", master, *(f"--conf={name}={value}" for name, value in settings.items())]
    with machine.running("connect", "Spark Connect server started", *words, SPARK_NO_DAEMONIZE="1"):
        yield f"sc://{LOOPBACK}:{port}"


def packed_environment(cache: Path, machine: Machine) -> None:
    """Puts the packed environment of the documents into a machine's folder; it is packed again when something changed."""
    code = documented("venv-pack -p packed")
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        key = _key(code)
        if not (cache / "key").exists() or (cache / "key").read_text() != key:
            _pack(cache, machine, code)
            (cache / "key").write_text(key)
    for name in ("packed", "dame.tar.gz"):
        (machine.folder / name).symlink_to(cache / name)


def _pack(cache: Path, machine: Machine, code: str) -> None:
    (cache / "key").unlink(missing_ok=True)
    (cache / "dame.tar.gz").unlink(missing_ok=True)
    shutil.rmtree(cache / "src", ignore_errors=True)
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, cache / name)
    done = Machine(folder=cache, environment=machine.environment).run(code)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def _key(code: str) -> str:
    """A hash of all that the packed environment depends on."""
    files = [path for name in SOURCES for path in (ROOT / name, *sorted((ROOT / name).rglob("*.*"))) if path.is_file()]
    parts = [code, sys.version, sys.base_prefix, *(str(path.relative_to(ROOT)) for path in files)]
    whole = hashlib.sha256("\n".join(parts).encode())
    for path in files:
        if path.suffix != ".pyc":
            whole.update(path.read_bytes())
    return whole.hexdigest()
