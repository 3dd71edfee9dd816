"""Whole studies on clusters of separate workers, by the commands of docs/scale.md; tallies are those of DuckDB."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dame
from dame.engines.study import carry_out
from tests.engines.calls import Call, document
from tests.engines.clusters import Machine, connect_server, documented, packed_environment, standalone

pytestmark = pytest.mark.xdist_group("clusters")

PILOT = documented('dame pilot "$RECORDS"')
WORDS = ("--user", "id", "--value", "hours", "--bounds", 0, 24, "--alpha", 1, "--seed", 1)
"""The options of that command, without the engine."""
LAYOUT = {"user": "id", "value": "hours", "bounds": (0, 24)}

KILL = """
import sys, psutil
of_spark = [one for one in psutil.process_iter(["cmdline"]) if sys.argv[1] in (one.info["cmdline"] or ())]
executors = [one for one in of_spark if any("ExecutorBackend" in word for word in one.info["cmdline"])]
number_of = lambda one: one.info["cmdline"][one.info["cmdline"].index("--executor-id") + 1]
(chosen,) = [one for one in executors if number_of(one) == sys.argv[2]]
chosen.kill()
print(len(executors))
"""
"""Kills one of the executors of an application, by its number."""

KILLED = """
import json, subprocess, time

context = SparkSession.getActiveSession().sparkContext

def cached():
    return sum(info.numCachedPartitions() for info in context._jsc.sc().getRDDStorageInfo())

def keeper():
    spark = context._jsc.sc()
    kept = [spark.statusStore().rdd(one.id()).partitions().get() for one in spark.getRDDStorageInfo()]
    return next(parts.head().executors().head() for parts in kept if not parts.isEmpty())

def after_a_round(rounds):
    if rounds == 1:
        before = cached()
        executors = subprocess.check_output(["python3", "kill.py", context.applicationId, keeper()], text=True)
        while cached() == before:  # until Spark knows
            time.sleep(0.05)
        print(json.dumps({"executors": int(executors), "partitions": before, "left": cached()}))
"""
"""Appended to the documented script: a study in which the users on one of the executors are lost."""

QUIET = """
import json
after_a_round = lambda rounds: None
"""
TALLIES = """
from dame.engines.study import carry_out
((outcome,),) = carry_out(plan, people.reduced, seed=7, progress=after_a_round)
print(json.dumps({"study": people.study, "tallies": [tally.to_json() for tally in outcome.tallies]}))
"""

COMPLAINTS = """
session.conf.set("spark.sql.execution.pyspark.python", "{python}")
for table in (frame, session.read.parquet("{missing}")):
    try:
        dame.Population.spark(table, user="id", value="hours", bounds=(0, 24)).users
    except dame.DameError as problem:
        print(json.dumps([type(problem).__name__, str(problem)]))
"""
"""Appended to the script for Spark Connect: what a worker without packages and a missing file come to."""

WITHOUT_PACKAGES = (
    "The Python of a worker (No module named 'dame') needs the extra 'engine': pip install 'dame-ldp[engine]'"
)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in several files, with values on both sides of the bounds, some nulls and some records without a user."""
    folder, rng = tmp_path_factory.mktemp("table") / "records.parquet", np.random.default_rng(6)
    folder.mkdir()
    for number in range(4):
        users, hours = rng.integers(0, 300, 1500), rng.normal(6.0, 5.0, 1500)
        columns = {"id": pa.array(users, mask=users == 7), "hours": pa.array(hours, mask=users % 50 == 9)}
        pq.write_table(pa.table(columns), folder / f"part-{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """This machine, with a folder of its own; workers leave gigabytes in it."""
    folder = tmp_path_factory.mktemp("machine")
    yield Machine.in_folder(folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def packed(machine: Machine, request: pytest.FixtureRequest) -> None:
    """The packed environment, made by the documented command."""
    packed_environment(request.config.cache.mkdir("spark-environment"), machine)


@pytest.fixture(scope="module")
def master(machine: Machine) -> Iterator[str]:
    with standalone(machine, workers=2) as address:
        yield address


@pytest.fixture(scope="module")
def server(machine: Machine, packed: None, master: str) -> Iterator[str]:
    with connect_server(machine, master) as address:
        yield address


def embedded(records: Path, study: str) -> list[object]:
    """The tallies of the documented study by DuckDB."""
    people = dame.Population.table(str(records / "*.parquet"), **LAYOUT, study=study)
    plan = dame.plan(users=people.users, alpha=1.0, sizes=people.sizes, bounds=(0, 24), study=study)
    return [tally.to_json() for tally in carry_out(plan, people.reduced, seed=7)[0][0].tallies]


def same_pilot(call: Call, records: Path, there: str) -> bool:
    """Whether the documented pilot was the same as with DuckDB, tallies and all."""
    left_out = {"seconds": 0, "engine": 0}
    return {**document(call, "pilot", f"{records}/*.parquet", *WORDS), **left_out} == {**json.loads(there), **left_out}


def test_workers_on_this_machine(call: Call, machine: Machine, records: Path) -> None:
    done = machine.run(PILOT, CLUSTER="local-cluster[2,1,1024]", RECORDS=str(records))
    assert done.returncode == 0, done.stderr[-3000:]
    assert same_pilot(call, records, done.stdout)


def test_spark_submit_with_the_packed_environment(machine: Machine, packed: None, master: str, records: Path) -> None:
    """The documented script, and then the same study again while an executor is killed between two rounds."""
    script = documented("SparkSession.builder.getOrCreate()") + KILLED + TALLIES
    (machine.folder / "pilot.py").write_text(script, "utf-8")
    (machine.folder / "kill.py").write_text(KILL, "utf-8")
    done = machine.run(documented("spark-submit --master"), CLUSTER=master, RECORDS=str(records))
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    estimate, killed, tallies = done.stdout.splitlines()
    assert estimate.startswith("Estimate(")
    seen, told = json.loads(killed), json.loads(tallies)
    assert seen["executors"] == 2
    assert seen["left"] < seen["partitions"]
    assert len(told["tallies"]) > 1
    assert told["tallies"] == embedded(records, told["study"])


class TestSparkConnect:
    """Through a server on the same two workers."""

    def test_the_documented_script(self, machine: Machine, server: str, records: Path) -> None:
        bare, missing = machine.folder / "bare", records / "none.parquet"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
        complaints = COMPLAINTS.format(python=bare / "bin" / "python", missing=missing)
        script = documented("SparkSession.builder.remote") + QUIET + TALLIES + complaints
        (machine.folder / "connect.py").write_text(script, "utf-8")
        done = machine.run(f'python3 connect.py {server} "$RECORDS"', RECORDS=str(records))
        assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        estimate, tallies, no_package, no_file = done.stdout.splitlines()
        assert estimate.startswith("Estimate(")
        told = json.loads(tallies)
        assert told["tallies"] == embedded(records, told["study"])
        assert json.loads(no_package) == ["MissingExtra", WITHOUT_PACKAGES]
        kind, sentence = json.loads(no_file)
        assert kind == "InvalidInput"
        assert sentence.startswith("table must be something that Spark reads ([PATH_NOT_FOUND]")
        assert "\n" not in sentence

    def test_the_command(self, call: Call, machine: Machine, server: str, records: Path) -> None:
        done = machine.run(PILOT, CLUSTER=server, RECORDS=str(records))
        assert done.returncode == 0, done.stderr[-3000:]
        assert same_pilot(call, records, done.stdout)

    def test_a_missing_file_is_one_sentence(self, machine: Machine, server: str, records: Path) -> None:
        done = machine.run(PILOT, CLUSTER=server, RECORDS=f"{records}/none.parquet")
        assert done.returncode == 2
        assert done.stdout == ""
        (line,) = done.stderr.splitlines()
        assert line.startswith("dame: table must be something that Spark reads ([PATH_NOT_FOUND]")
