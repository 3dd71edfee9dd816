"""The right to draw: a token gives it to one device, whichever asks first, also when several ask at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from dame.client.http import Server
from dame.client.invitations import invitation
from dame.client.participation import Participation
from dame.device.ledger import Ledger
from dame.errors import AlreadyAnswered
from dame.service import auth
from tests.service.studies import Live, Run, answer_of

DEVICES = 8


@pytest.fixture
def live(address: str, serve: Callable[..., Live]) -> Live:
    return serve(address)


def claim(study: Run, token: str, value: str) -> httpx.Response:
    secret = {"Authorization": f"Bearer {token}"}
    return study.live.http.put(f"{study.base}/invitation", json={"claim": value}, headers=secret)


def test_of_many_devices_at_the_same_moment_one_may_draw(live: Live) -> None:
    study = live.create(protocol="one-bit")
    ready = threading.Barrier(DEVICES)

    def ask(token: str, device: int) -> bool:
        ready.wait()
        return claim(study, token, f"{device:064x}").json()["granted"]

    for token in study.invite(5):
        with ThreadPoolExecutor(DEVICES) as devices:
            granted = list(devices.map(ask, [token] * DEVICES, range(DEVICES)))
        assert sum(granted) == 1
        again = [claim(study, token, f"{device:064x}").json()["granted"] for device in range(DEVICES)]
        assert again == granted, "the device that may draw may ask again"


def test_a_claim_is_for_whoever_holds_a_token_that_is_good(live: Live) -> None:
    study, other = live.create(protocol="one-bit"), live.create("steps", "one-bit")
    one, two = study.invite(2)
    assert claim(study, "ab" * 16, "0" * 64).json()["reason"] == "unknown-token"
    assert claim(other, one, "0" * 64).json()["reason"] == "unknown-token"
    assert claim(study, one, "no").json()["reason"] == "invalid"
    study.post("withdraw", tokens=[two])
    assert claim(study, two, "0" * 64).json()["reason"] == "expired"
    assert study.upload(one, answer_of(study.question(0))).status_code == 200
    assert claim(study, one, "0" * 64).json() == {"answered": True, "granted": False}
    study.close(0)
    assert claim(study, one, "0" * 64).json() == {"answered": True, "granted": False}


def test_a_right_token_is_good_where_wrong_ones_came_from(address: str, serve: Callable[..., Live]) -> None:
    live = serve(address, refusal_limit=1.0)
    study = live.create(protocol="one-bit")
    (token,) = study.invite(1)
    assert {claim(study, auth.new_token(), "0" * 64).status_code for _ in range(10)} == {401, 429}
    assert claim(study, token, "0" * 64).json() == {"answered": False, "granted": True}
    state = live.http.get(f"{study.base}/invitation", headers={"Authorization": f"Bearer {token}"})
    assert state.json() == {"answered": False}


def test_a_second_ledger_draws_nothing_after_the_first_has_asked(live: Live, tmp_path: Path) -> None:
    """Also if the first one never sent its report; a new invitation is what helps then."""
    study = live.create(protocol="one-bit")
    secret = study.secret
    made = live.http.post(f"{study.base}/invitations", json={"count": 1}, headers=secret).json()
    invited = invitation(made["invitations"][0]["link"])
    first, second = (Participation(invited, Ledger(tmp_path / name), Server(live.base)) for name in ("one", "two"))
    question = first.question(first.terms())
    report = first.answer(question, [7.5] * 400)
    with pytest.raises(AlreadyAnswered, match="ask for a new invitation"):
        second.answer(question, [7.5] * 400)
    assert Ledger(tmp_path / "two").spent() == 0
    assert first.answer(question, []) == report
