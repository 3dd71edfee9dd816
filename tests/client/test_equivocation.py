"""A service that shows different people different studies of one name, and what stops it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dame
from dame.cli.app import run
from dame.cli.join import in_words
from dame.client.participation import Participation, Untrusted
from dame.device.ledger import Ledger
from dame.errors import AlreadyAnswered
from tests.client.test_columns import SLOTS, Service, invited, link_to
from tests.client.test_columns import service as _service

service = _service
CSV = "minutes,colour,hours\n30,red,7.5\n"
ALONE = dame.plan(users=40, alpha=32.0, sizes="poisson:5", protocol="duchi", bounds=(0, 120), study="commute")


def other_plan(service: Service) -> None:
    """From now on the service describes another study of the same name, with α = 32 and Laplace noise."""
    service.plan = json.loads(json.dumps(dame.plan_to_json(ALONE)))
    service.asked = dict.fromkeys(SLOTS.values(), dame.questions(ALONE)[0])


@pytest.fixture
def join(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    (tmp_path / "my.csv").write_text(CSV)

    def called(link: str, *more: str) -> tuple[int, str]:
        words = ["--data", str(tmp_path / "my.csv"), "--ledger", str(tmp_path / "book"), *more]
        code = run(["join", link, *words])
        return code, " ".join(capsys.readouterr().err.split())

    return called


def test_another_plan_than_the_invitations_is_refused(service: Service, tmp_path: Path) -> None:
    one = invited(service, "minutes")
    other_plan(service)
    part = Participation(one, Ledger(tmp_path / "book"))
    with pytest.raises(Untrusted, match="plan is not the one in the invitation"):
        part.terms()


def test_another_alpha_than_the_invitations_is_refused_by_the_command(service: Service, join) -> None:
    link = link_to(service, "minutes")
    other_plan(service)
    code, told = join(link, "--yes", "--alpha-limit", "32")
    assert code == 2
    assert "the server's plan has alpha 32.0, and the invitation names 1.0" in told
    assert [request[0] for request in service.requests] == ["GET"]


def test_a_budget_above_three_must_be_allowed_before_anybody_is_asked(service: Service, join) -> None:
    other_plan(service)
    link = link_to(service, "minutes").replace("alpha=1.0", "alpha=32.0")
    for more in ((), ("--yes",), ("--alpha", "32"), ("--alpha-limit", "31.9")):
        code, told = join(link, *more)
        assert code == 2
        assert "a larger budget needs --alpha-limit 32" in told
    assert service.requests == []
    assert join(link.replace("&alpha=32.0", ""), "--yes")[0] == 2, "an invitation that hides it"
    assert [request[0] for request in service.requests] == ["GET"]
    assert join(link, "--yes", "--alpha-limit", "32", "--value", "minutes")[0] == 0


@pytest.mark.parametrize(
    ("alpha", "factor", "after"), [(0.5, "1.65", "62.2 %"), (1.0, "2.72", "73.1 %"), (3.0, "20.1", "95.3 %")]
)
def test_a_budget_is_told_in_words(alpha: float, factor: str, after: str) -> None:
    assert f"at most {factor} times surer" in in_words(alpha)
    assert f"a suspicion of 50 % becomes at most {after}." in in_words(alpha)


def test_the_prompt_says_what_the_budget_means(service: Service, join) -> None:
    code, told = join(link_to(service, "minutes"))
    assert code == 2, "there is nobody to ask"
    assert in_words(1.0) in told


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        ({"answered": True, "granted": False}, "nothing is drawn a second time"),
        ({"answered": False, "granted": False}, "another device has begun to answer"),
        ({"answered": False}, "another device has begun to answer"),
    ],
)
def test_an_invitation_that_was_used_elsewhere_draws_nothing(
    service: Service, tmp_path: Path, monkeypatch, state: dict, sentence: str
) -> None:
    """Another ledger has sent its report, or is about to: a fresh draw would tell more."""
    documents = service._document
    monkeypatch.setattr(service, "_document", lambda path: state if path[-1] == "invitation" else documents(path))
    ledger = Ledger(tmp_path / "book")
    part = Participation(invited(service, "minutes"), ledger)
    with pytest.raises(AlreadyAnswered, match=sentence):
        part.take_part(part.terms(), lambda _: [{"minutes": 3}])
    assert ledger.spent() == 0
    assert [request[0] for request in service.requests] == ["GET", "GET", "PUT"]
