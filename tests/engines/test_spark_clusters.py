"""Whole studies on clusters of separate workers, by the commands of docs/scale.md; tallies are those of DuckDB."""

from __future__ import annotations

import json
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
FILES = 4

KILLED = '''
import json, os, signal, time
import psutil
from dame.engines.study import carry_out

context = SparkSession.getActiveSession().sparkContext

def cached():
    return sum(info.numCachedPartitions() for info in context._jsc.sc().getRDDStorageInfo())

def kill_one(rounds):
    """After the first round, one of the two executors, and its users with it."""
    if rounds > 1:
        return
    words = {process: process.info["cmdline"] or () for process in psutil.process_iter(["cmdline"])}
    mine = [process for process, said in words.items() if context.applicationId in said]
    mine = [process for process in mine if any("ExecutorBackend" in word for word in words[process])]
    before = cached()
    mine[0].kill()
    while cached() == before:
        time.sleep(0.05)
    print(json.dumps({"executors": len(mine), "partitions": before, "left": cached()}))
'''
"""Appended to the documented script."""
PLAIN = "from dame.engines.study import carry_out\nimport json\nkill_one = lambda rounds: None\n"
TALLIES = """
outcome = carry_out(plan, people.reduced, seed=7, progress=kill_one)[0]
print(json.dumps({"study": people.study, "tallies": [tally.to_json() for tally in outcome.tallies]}))
"""


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in several files, with values on both sides of the bounds, some nulls and some records without a user."""
    folder, rng = tmp_path_factory.mktemp("table") / "records.parquet", np.random.default_rng(6)
    folder.mkdir()
    for number in range(FILES):
        users, hours = rng.integers(0, 300, 1500), rng.normal(6.0, 5.0, 1500)
        columns = {"id": pa.array(users, mask=users == 7), "hours": pa.array(hours, mask=users % 50 == 9)}
        pq.write_table(pa.table(columns), folder / f"part-{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine.in_folder(tmp_path_factory.mktemp("machine"))


@pytest.fixture(scope="module")
def packed(machine: Machine, request: pytest.FixtureRequest) -> None:
    packed_environment(request.config.cache.mkdir("spark-environment"), machine)


@pytest.fixture(scope="module")
def master(machine: Machine) -> Iterator[str]:
    with standalone(machine, workers=2) as address:
        yield address


@pytest.fixture(scope="module")
def server(machine: Machine, master: str) -> Iterator[str]:
    with connect_server(machine, master) as address:
        yield address


def embedded(records: Path, study: str) -> list[object]:
    """The tallies of the documented study by DuckDB."""
    people = dame.Population.table(str(records / "*.parquet"), user="id", value="hours", bounds=(0, 24), study=study)
    plan = dame.plan(users=people.users, alpha=1.0, sizes=people.sizes, bounds=(0, 24), study=study)
    return [tally.to_json() for tally in carry_out(plan, people.reduced, seed=7)[0].tallies]


def test_the_documented_command_on_workers_of_this_machine(call: Call, machine: Machine, records: Path) -> None:
    code = documented('dame pilot "$RECORDS"')
    done = machine.run(code, CLUSTER="local-cluster[2,1,1024]", RECORDS=str(records))
    assert done.returncode == 0, done.stderr[-3000:]
    there = json.loads(done.stdout)
    words = ["--user", "id", "--value", "hours", "--bounds", 0, 24, "--alpha", 1, "--seed", 1]
    here = document(call, "pilot", f"{records}/*.parquet", *words)
    assert {**here, "seconds": 0} == {**there, "seconds": 0}


def test_spark_submit_with_the_packed_environment(machine: Machine, packed: None, master: str, records: Path) -> None:
    """The documented script, and then the same study again while an executor is killed between two rounds."""
    (machine.folder / "pilot.py").write_text(documented("SparkSession.builder.getOrCreate()") + KILLED + TALLIES)
    done = machine.run(documented("spark-submit --master"), CLUSTER=master, RECORDS=str(records))
    assert done.returncode == 0, done.stderr[-3000:]
    estimate, killed, tallies = done.stdout.splitlines()
    assert estimate.startswith("Estimate(")
    seen, told = json.loads(killed), json.loads(tallies)
    assert seen["executors"] == 2
    assert seen["left"] < seen["partitions"]
    assert len(told["tallies"]) > 1
    assert told["tallies"] == embedded(records, told["study"])


def test_spark_connect(machine: Machine, packed: None, server: str, records: Path) -> None:
    (machine.folder / "connect.py").write_text(documented("SparkSession.builder.remote") + PLAIN + TALLIES)
    done = machine.run(f'python3 connect.py {server} "$RECORDS"', RECORDS=str(records))
    assert done.returncode == 0, done.stderr[-3000:]
    estimate, tallies = done.stdout.splitlines()
    assert estimate.startswith("Estimate(")
    told = json.loads(tallies)
    assert told["tallies"] == embedded(records, told["study"])


def test_workers_without_the_package_are_one_sentence(machine: Machine, server: str, records: Path) -> None:
    done = machine.run(documented('dame pilot "$RECORDS"'), CLUSTER=server, RECORDS=str(records))
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert "No module named" in line


def test_a_missing_file_is_one_sentence(machine: Machine, server: str, records: Path) -> None:
    done = machine.run(documented('dame pilot "$RECORDS"'), CLUSTER=server, RECORDS=f"{records}/none.parquet")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "PATH_NOT_FOUND" in line
