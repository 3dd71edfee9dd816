"""One study on several servers of one PostgreSQL database: how often uploads wait for one another, and how many arrive.

    python -m benchmarks.several_servers [--servers 1 2 4] [--seconds 5] [--json FILE]

Each server is a process that stores groups of reports as fast as it can, all to one round. Every five milliseconds the
database is asked how many of its connections are at work, and how many of them wait for a lock.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psycopg

from benchmarks.service import Study, places
from dame.service import auth
from dame.service.database import Database
from dame.service.uploads import Upload, Uploads

GROUP = 50
"""Reports in one transaction: about what arrives during a commit."""
_SAMPLE = (
    "SELECT count(*) FILTER (WHERE state <> 'idle'), count(*) FILTER (WHERE wait_event_type = 'Lock')"
    " FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
)


def work(database: str, tokens: Path, seconds: float) -> None:
    """One server: stores groups for so many seconds after a line came in, and prints how many reports that were."""
    study, report, *given = tokens.read_text(encoding="ascii").split()
    uploads = Uploads(Database(database))
    groups = [
        [Upload(study, auth.digest(token), bytes.fromhex(report)) for token in given[start : start + GROUP]]
        for start in range(0, len(given), GROUP)
    ]
    print("ready", flush=True)
    sys.stdin.readline()
    stored, until = 0, time.perf_counter() + seconds
    for group in groups:
        if time.perf_counter() > until:
            break
        assert not any(uploads.accept(group).refusals)
        stored += len(group)
    else:
        raise AssertionError("more tokens are needed for so many seconds")
    print(stored, flush=True)


def measured(study: Study, database: str, servers: int, seconds: float, folder: Path) -> dict[str, float]:
    """Reports a second of so many servers together, and the share of their time at work that they waited for locks."""
    processes = []
    for place in range(servers):
        tokens = folder / f"tokens-{servers}-{place}"
        given = study.tokens(int(40_000 * seconds))
        tokens.write_text(" ".join(["load", study.report().hex(), *given]), encoding="ascii")
        command = [sys.executable, "-m", "benchmarks.several_servers", "--work", database, str(tokens)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        processes.append(subprocess.Popen([*command, "--seconds", str(seconds)], **pipes))
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    begin, active, waiting = time.perf_counter(), 0, 0
    with psycopg.connect(database, autocommit=True) as connection:
        while time.perf_counter() < begin + seconds:
            at_work, stuck = connection.execute(_SAMPLE).fetchone()
            active, waiting = active + at_work, waiting + stuck
            time.sleep(0.005)
    stored = sum(int(process.stdout.readline()) for process in processes)
    for process in processes:
        assert process.wait(30) == 0
    return {
        "reports_per_second": stored / seconds,
        "waiting_for_locks": waiting / max(active, 1),
        "reports": stored,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", nargs=2, metavar=("DATABASE", "TOKENS"))
    parser.add_argument("--servers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", metavar="FILE")
    chosen = parser.parse_args()
    if chosen.work:
        work(chosen.work[0], Path(chosen.work[1]), chosen.seconds)
        return
    results = {}
    with places("postgresql") as new:
        for servers in chosen.servers:
            database, _ = new()
            study = Study(database)
            with tempfile.TemporaryDirectory() as folder:
                figures = measured(study, database, servers, chosen.seconds, Path(folder))
            counted = study.rounds.recount(study.study, 0)
            assert sum(tally.reports for tally in counted.values()) == figures["reports"], "a report was lost"
            study.database.close()
            results[servers] = figures
            print(
                f"{servers} servers: {figures['reports_per_second']:9,.0f} reports/s,"
                f" {figures['waiting_for_locks']:6.1%} of the time at work spent waiting for locks",
                flush=True,
            )
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
