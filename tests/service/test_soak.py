"""Ten minutes of bounded load: memory stays flat, nothing fails, everything is counted."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import httpx
import pytest

from dame.service import auth
from tests.service.studies import Live, answer_of
from tests.service.test_faults import Desk, prepared, server_process

SECONDS = float(os.environ.get("DAME_SOAK_SECONDS", "600"))
RATE = 100.0
"""Requests a second: a load that leaves the machine to others, too."""
GROWTH = 1.10
"""Memory at the end may be so many times that after the first tenth."""


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.slow
def test_ten_minutes_of_load(address: str) -> None:
    desk = Desk(address)
    study, uploads = prepared(desk, int(SECONDS * RATE / 2))
    statuses: dict[int, int] = {}
    memory: list[int] = []
    with server_process(address) as (process, base), httpx.Client(base_url=base, timeout=30) as client:
        begin = time.monotonic()
        for number, upload in enumerate(uploads):
            due = begin + 2 * number / RATE
            if (early := due - time.monotonic()) > 0:
                time.sleep(early)
            path = f"/api/v1/studies/{study.study}"
            secret = {"Authorization": f"Bearer {upload.token}"}
            for answer in (
                client.post(f"{path}/reports", content=upload.report, headers=secret),
                client.get(path) if number % 3 else client.post(f"{path}/reports", content=b"x", headers=secret),
            ):
                statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
            if number % 50 == 0:
                memory.append(resident_bytes(process.pid))
    assert statuses.keys() <= {200, 409}, statuses
    assert desk.reports(study, 0) == (len(uploads),) * 3
    settled = memory[len(memory) // 10 :]
    assert max(settled) <= GROWTH * settled[0], [size // 2**20 for size in settled[:: max(len(settled) // 20, 1)]]
    desk.database.close()


def test_a_moment_of_load_from_many_sides(live: Live) -> None:
    study = live.create()
    tokens = study.by_round(study.invite(400))[0]
    question = study.question(0)
    failed: list[object] = []

    def work(mine: list[str]) -> None:
        with httpx.Client(base_url=live.base, timeout=30) as client:
            for token in mine:
                secret = {"Authorization": f"Bearer {token}"}
                answer = client.post(f"{study.base}/reports", content=answer_of(question, records=3), headers=secret)
                if answer.status_code != 200:
                    failed.append(answer.text)

    threads = [threading.Thread(target=work, args=(tokens[start::8],)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failed
    assert study.status()["rounds"][0]["reports"] == len(tokens)
    assert auth.is_token(tokens[0])
