"""The collection service: durable uploads against a request that does nothing, batches, latency, and a million reports.

    python -m benchmarks.service [--database sqlite|postgresql|both] [--seconds 5] [--reports 1000000] [--json FILE]

Server and load run in two processes on one machine. Every ratio is taken within one run, and the phases take turns.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

import dame
from dame.client.signed import participant_name
from dame.device.assignment import slot_of
from dame.device.channels import Bits
from dame.device.lenses import Bins
from dame.device.parts import narrowed
from dame.device.questions import TAG_BYTES, Question, question_from_json, question_tag
from dame.device.reports import report_bytes
from dame.service import auth
from dame.service.database import Database
from dame.service.rounds import Rounds
from dame.service.settings import Settings
from dame.service.studies import Studies
from dame.service.uploads import Upload, Uploads

CONNECTIONS = 128
BATCH = 500
TURNS = 3


def one_round_plan(bins: int = 64) -> dict[str, object]:
    """A plan whose first round is a vote of so many bins, which nearly everybody answers."""
    plan = dame.plan(users=10_000, alpha=1.0, sizes=dame.Sizes.parse("poisson:50"), protocol="paper", study="load")
    vote, measure = plan.only.rounds
    lens = replace(narrowed(Bins, vote.lens), bins=bins, width=2 / bins)
    vote = replace(vote, share=0.999999, lens=lens, channel=replace(narrowed(Bits, vote.channel), bins=bins))
    changed = replace(plan.targets[0], machines=(replace(plan.only, rounds=(vote, replace(measure, share=1e-6))),))
    return json.loads(json.dumps(dame.plan_to_json(replace(plan, targets=(changed,)))))


# --- the server process


def run_server(database: str) -> None:
    from starlette.routing import Route

    from dame.service.answers import send_json
    from dame.service.app import create_app
    from dame.service.logs import Log
    from dame.service.server import configured, listen, run
    from dame.service.visits import whole_body

    class Nothing:
        """Reads the body and the token, and answers as an upload does."""

        async def __call__(self, scope, receive, send) -> None:
            await whole_body(receive, 2**20)
            await send_json(send, b'{"accepted":true}')

    settings = Settings(database=database, port=0, rate_limit=1e9, refusal_limit=1e9)
    app = create_app(settings, Log(Path(os.devnull).open("w")))  # noqa: SIM115
    app.router.routes.insert(0, Route("/nothing/{study}", Nothing(), methods=["POST"]))
    run(configured(settings, app), listen(settings), lambda address: print(address, flush=True))


@contextlib.contextmanager
def server(database: str) -> Iterator[tuple[int, int]]:
    """The port and the process id of a server on a database."""
    command = [sys.executable, "-m", "benchmarks.service", "--serve", database]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline().rpartition(":")[2]), process.pid
        finally:
            process.terminate()


# --- load


class Connection(asyncio.Protocol):
    """Sends the next request as soon as the answer to the one before is there; keeps the seconds that each took."""

    def __init__(self, next_request: Callable[[], bytes | None], seconds: list[float], expect: bytes) -> None:
        self._next, self._seconds, self._expect = next_request, seconds, expect
        self._buffer = b""
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport) -> None:
        self._transport = transport
        self.send()

    def send(self) -> None:
        request = self._next()
        if request is None:
            self._transport.close()
            self.done.set_result(None)
            return
        self._begin = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(b"\r\n\r\n")
        if not found or len(body) < int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]):
            return
        assert head.startswith(b"HTTP/1.1 200"), (head[:60], body[:300])
        assert self._expect in body, body[:300]
        self._seconds.append(time.perf_counter() - self._begin)
        self._buffer = b""
        self.send()

    def connection_lost(self, problem: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(problem or ConnectionError("closed"))


async def load(port: int, requests: Callable[[], bytes | None], connections: int, expect: bytes) -> list[float]:
    """The seconds of each request, over so many connections."""
    seconds: list[float] = []
    loop = asyncio.get_running_loop()
    opened = [
        (await loop.create_connection(lambda: Connection(requests, seconds, expect), "127.0.0.1", port))[1]
        for _ in range(connections)
    ]
    await asyncio.gather(*(one.done for one in opened))
    return seconds


def for_seconds(requests: Iterator[bytes], seconds: float) -> Callable[[], bytes | None]:
    until = time.perf_counter() + seconds
    return lambda: next(requests) if time.perf_counter() < until else None


async def paced(port: int, requests: Iterator[bytes], rate: float, seconds: float) -> list[float]:
    """The seconds from when each request was due to its answer, at a fixed rate: waiting counts."""
    loop = asyncio.get_running_loop()
    idle: asyncio.Queue[Paced] = asyncio.Queue()
    for _ in range(CONNECTIONS):
        _, one = await loop.create_connection(Paced, "127.0.0.1", port)
        idle.put_nowait(one)
    taken: list[float] = []

    async def ask(due: float, request: bytes) -> None:
        one = await idle.get()
        await one.ask(request)
        taken.append(time.perf_counter() - due)
        idle.put_nowait(one)

    begin, tasks = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        due = begin + number / rate
        if due > (now := time.perf_counter()):
            await asyncio.sleep(due - now)
        tasks.append(asyncio.create_task(ask(due, next(requests))))
    await asyncio.gather(*tasks)
    while not idle.empty():
        idle.get_nowait().transport.close()
    return taken


class Paced(asyncio.Protocol):
    """A connection for one request at a time."""

    def connection_made(self, transport) -> None:
        self.transport, self._buffer = transport, b""

    async def ask(self, request: bytes) -> None:
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        await self._answer

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._buffer.endswith(b"}"):
            assert self._buffer.startswith(b"HTTP/1.1 200"), self._buffer[:300]
            self._buffer = b""
            self._answer.set_result(None)


def post(path: str, body: bytes, token: str | None, kind: str = "application/octet-stream") -> bytes:
    secret = f"Authorization: Bearer {token}\r\n" if token else ""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{secret}"
    return f"{head}Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


# --- phases


class Study:
    """A study with tokens at hand, and reports for them."""

    def __init__(self, database: str) -> None:
        self.database = Database(database)
        self.studies = Studies(self.database)
        self.rounds = Rounds(self.database, self.studies)
        self.study = self.studies.create(one_round_plan()).study
        self.question: Question = question_from_json(self.rounds.question(self.study, 0).document)
        self.tag = question_tag(self.question)

    def tokens(self, count: int) -> list[str]:
        made: list[str] = []
        while len(made) < count:
            some = self.studies.invite(self.study, min(count - len(made) + 10, 100_000))
            shares = self.study.plan.shares
            made += [one for one in some if slot_of("load", shares, participant_name(one)) == 0]
        return made[:count]

    def report(self) -> bytes:
        return self.tag + secrets.token_bytes(report_bytes(self.question) - TAG_BYTES)


def measured(database: str, seconds: float) -> dict[str, float]:
    """Uploads, batches and latency on one database."""
    study = Study(database)
    path = "/api/v1/studies/load/reports"
    figures: dict[str, float] = {}
    with server(database) as (port, pid):
        asyncio.run(load(port, for_seconds(_nothings(study), 1.0), CONNECTIONS, b"true"))
        # Tokens for as many uploads as the quickest phase could take.
        spare = iter(study.tokens(int(12_000 * (seconds * (TURNS + 1) + 2))))
        uploads = (post(path, study.report(), token) for token in spare)
        rates: dict[str, list[float]] = {"nothing": [], "single": []}
        costs: dict[str, list[float]] = {"nothing": [], "single": []}
        for _ in range(TURNS):
            for name, requests in (("nothing", _nothings(study)), ("single", uploads)):
                begin, cost = time.perf_counter(), processor_seconds(pid)
                taken = asyncio.run(load(port, for_seconds(requests, seconds), CONNECTIONS, b"true"))
                rates[name].append(len(taken) / (time.perf_counter() - begin))
                costs[name].append((processor_seconds(pid) - cost) / len(taken))
        figures["nothing_per_second"] = float(np.median(rates["nothing"]))
        figures["uploads_per_second"] = float(np.median(rates["single"]))
        ratios = [one / other for one, other in zip(rates["single"], rates["nothing"], strict=True)]
        figures["ratio_to_nothing"] = float(np.median(ratios))
        # What the server's processor does for each: this says the same when others keep the machine busy.
        figures["nothing_cpu_us"], figures["upload_cpu_us"] = (1e6 * float(np.median(cost)) for cost in costs.values())
        figures["cpu_ratio"] = figures["nothing_cpu_us"] / figures["upload_cpu_us"]
        figures["batched_per_second"] = _batches(port, study, path, seconds)
        figures["batch_ratio"] = figures["batched_per_second"] / figures["uploads_per_second"]
        taken = asyncio.run(paced(port, uploads, figures["uploads_per_second"] / 2, seconds))
        figures["p50_ms_at_half_load"], figures["p99_ms_at_half_load"] = (
            1000 * np.percentile(taken, [50, 99])
        ).tolist()
    study.database.close()
    return figures


def _nothings(study: Study) -> Iterator[bytes]:
    while True:
        yield post("/nothing/load", study.report(), "0" * 32)


def _batches(port: int, study: Study, path: str, seconds: float) -> float:
    def bodies() -> Iterator[bytes]:
        tokens = study.tokens(int(60_000 * seconds))
        for start in range(0, len(tokens), BATCH):
            entries = [{"token": token, "report": study.report().hex()} for token in tokens[start : start + BATCH]]
            yield post(f"{path}/batch", json.dumps({"reports": entries}).encode(), None, "application/json")

    ready = iter(list(bodies()))  # made before the clock runs
    begin = time.perf_counter()
    until = begin + seconds
    taken = asyncio.run(
        load(port, lambda: next(ready, None) if time.perf_counter() < until else None, 4, b'"accepted","accepted"')
    )
    return len(taken) * BATCH / (time.perf_counter() - begin)


def large(database: str, reports: int, size: Callable[[], int]) -> dict[str, float]:
    """A round with very many reports of 64 bits: what it takes on the disk, to close, and to watch."""
    study = Study(database)
    uploads = Uploads(study.database)
    empty, begin = size(), time.perf_counter()
    left = reports
    while left > 0:
        tokens = study.tokens(min(left, 50_000))
        for start in range(0, len(tokens), 2000):
            group = [Upload("load", auth.digest(one), study.report()) for one in tokens[start : start + 2000]]
            assert not any(uploads.accept(group).refusals)
        left -= len(tokens)
    figures = {"reports": float(reports), "filling_seconds": time.perf_counter() - begin}
    figures["store_mb"] = (size() - empty) / 1e6
    key = study.studies.replace_key("load")
    with server(database) as (port, _):
        import httpx

        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Authorization": f"Bearer {key}"}) as client:
            client.get("/api/v1/studies/load/status")
            figures["status_ms_open"] = _milliseconds(lambda: client.get("/api/v1/studies/load/status"))
            begin = time.perf_counter()
            closed = client.post("/api/v1/studies/load/rounds/0/close", timeout=60).json()
            figures["closing_seconds"] = time.perf_counter() - begin
            assert closed["rounds"][0]["reports"] == reports
            figures["status_ms_closed"] = _milliseconds(lambda: client.get("/api/v1/studies/load/status"))
            figures["page_ms"] = _milliseconds(lambda: client.get("/dashboard"))
    study.database.close()
    return figures


def processor_seconds(pid: int) -> float:
    """The processor time that a process has used so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _milliseconds(action: Callable[[], object]) -> float:
    taken = []
    for _ in range(20):
        begin = time.perf_counter()
        action()
        taken.append(time.perf_counter() - begin)
    return 1000 * max(taken)


# --- databases


@contextlib.contextmanager
def places(kind: str) -> Iterator[Callable[[], tuple[str, Callable[[], int]]]]:
    """Makes new databases of a kind: their address, and how many bytes they have."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield lambda: _file_in(Path(tempfile.mkdtemp(dir=folder)))
        return
    import psycopg

    from tests.service.postgres import Postgres

    postgres = Postgres()
    try:
        postgres.start()

        def new() -> tuple[str, Callable[[], int]]:
            address = postgres.new_database()

            def size() -> int:
                with psycopg.connect(address) as connection:
                    row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
                    assert row is not None
                    return int(row[0])

            return address, size

        yield new
    finally:
        postgres.remove()


def _file_in(folder: Path) -> tuple[str, Callable[[], int]]:
    return str(folder / "dame.sqlite"), lambda: sum(file.stat().st_size for file in folder.iterdir())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", metavar="DATABASE")
    parser.add_argument("--database", choices=["sqlite", "postgresql", "both"], default="both")
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--reports", type=int, default=1_000_000)
    parser.add_argument("--json", metavar="FILE")
    chosen = parser.parse_args()
    if chosen.serve:
        run_server(chosen.serve)
        return
    results = {}
    for kind in ("sqlite", "postgresql") if chosen.database == "both" else (chosen.database,):
        with places(kind) as new:
            figures = measured(new()[0], chosen.seconds)
            if chosen.reports:
                figures |= large(*_large_arguments(new, chosen.reports))
        results[kind] = figures
        for name, value in figures.items():
            print(f"{kind:11} {name:22} {value:12,.2f}", flush=True)
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _large_arguments(
    new: Callable[[], tuple[str, Callable[[], int]]], reports: int
) -> tuple[str, int, Callable[[], int]]:
    address, size = new()
    return address, reports, size


if __name__ == "__main__":
    main()
