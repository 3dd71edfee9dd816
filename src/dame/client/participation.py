"""One person's part in a study: check everything, answer once, keep the report, send it until it is accepted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dame import checks
from dame.client.ed25519 import verify
from dame.client.http import Refused, Server
from dame.client.invitations import Invitation
from dame.client.signed import participant_name, plan_identity, signed_bytes
from dame.device.assignment import slot_of
from dame.device.ledger import Enrolment, Ledger
from dame.device.questions import Question, Slot, question_from_json
from dame.device.statistics import Statistic, Value
from dame.errors import DameError, InvalidInput

POLL_SECONDS = 5.0
_EARLY = "too-early"


class Untrusted(DameError):
    """The server asks for something else than what this person agreed to, or cannot prove that the study asks it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a person agrees to: α for everything that she will ever send in this study, and how values are clipped.

    `slots` and `shares` are those of the plan: the rounds of its targets, and the share of the people in each.
    """

    enrolment: Enrolment
    title: str
    slots: tuple[Slot, ...]
    shares: tuple[float, ...]

    @property
    def slot(self) -> int:
        """The place, in the list of slots, of the one in which she answers."""
        return slot_of(self.enrolment.study, self.shares, self.enrolment.participant)

    @property
    def statistic(self) -> Statistic:
        """What is averaged over her records: their values, within the bounds."""
        return Value(low=self.enrolment.low, high=self.enrolment.high)


class Participation:
    """Takes part in one study, with one token and one ledger."""

    def __init__(self, invited: Invitation, ledger: Ledger, server: Server | None = None) -> None:
        self._invited = invited
        self._ledger = ledger
        self._server = server or Server(invited.base)

    def terms(self) -> Terms:
        """What the study asks for. Whoever enrolled before is told if anything of it has changed since."""
        study = self._invited.study or self._only_study()
        document = self._server.get("studies", study).document()
        try:
            terms = _terms(study, document, self._invited)
        except (KeyError, TypeError, ValueError, AttributeError) as problem:
            raise Untrusted(f"the server's description of the study cannot be used: {problem}") from None
        self._ledger.check_enrolment(terms.enrolment)
        return terms

    def agree(self, terms: Terms) -> None:
        """Pins the terms: from now on this device refuses anything else in this study."""
        self._ledger.enrol(terms.enrolment)

    def question(self, terms: Terms) -> Question:
        """The question of this person's slot, if the study signed it and it is what she agreed to."""
        pinned = terms.enrolment
        answer = self._server.get("studies", pinned.study, "rounds", str(terms.slot), "question").document()
        document, signature = answer.get("question"), answer.get("signature")
        if not isinstance(signature, str) or not _signed(pinned, document, signature):
            raise Untrusted("the question is not signed by the study's key: it was altered, or somebody else asks it")
        try:
            question = question_from_json(document)
        except InvalidInput as problem:
            raise Untrusted(f"the question cannot be answered: {problem}") from None
        _check_question(question, terms)
        return question

    def answer(self, question: Question, samples: Iterable[object]) -> bytes:
        """The report, which is stored before anybody sees it; the stored one if there is one."""
        return self._ledger.answer(question, samples)

    def send(self, terms: Terms, report: bytes) -> None:
        """Sends a report, the same bytes at every attempt, until the server says that it is stored."""
        study = terms.enrolment.study
        self._server.post_bytes("studies", study, "reports", body=report, secret=self._invited.token)
        self._ledger.mark_sent(study)

    def take_part(self, terms: Terms, samples: Callable[[], Iterable[object]], wait: float = 0.0) -> bytes:
        """All of it: the report, once it is accepted. `samples` is called only if there is no report yet.

        Whoever is too early waits at most so many seconds for her round.
        """
        self.agree(terms)
        until = time.monotonic() + wait
        while True:
            try:
                report = self._report(terms, samples)
                self.send(terms, report)
                return report
            except Refused as refusal:
                if refusal.reason != _EARLY or time.monotonic() >= until:
                    raise
            time.sleep(min(POLL_SECONDS, max(until - time.monotonic(), 0.0)))

    def _report(self, terms: Terms, samples: Callable[[], Iterable[object]]) -> bytes:
        try:
            question = self.question(terms)
        except Refused:
            # A round that is over has no question any more; a report that was made in time may still be on its way.
            stored = self._ledger.report(terms.enrolment.study)
            if stored is None:
                raise
            return stored
        return self.answer(question, () if self._ledger.report(terms.enrolment.study) is not None else samples())

    def _only_study(self) -> str:
        studies = self._server.get("studies").document().get("studies")
        names = [one.get("study") for one in studies if isinstance(one, dict)] if isinstance(studies, list) else []
        if len(names) != 1:
            raise InvalidInput("study", None, f"named: the server has {len(names)} studies")
        return checks.text("study", names[0], 128)


def _terms(study: str, document: Mapping[str, Any], invited: Invitation) -> Terms:
    plan = document["plan"]
    low, high = checks.bounds(*plan["bounds"])
    if plan["study"] != study:
        raise InvalidInput("study", plan["study"], repr(study))
    key = invited.key or document["public_key"]
    if document["public_key"] != key:
        raise Untrusted("the server's key is not the one in the invitation: somebody else answers for the study")
    enrolment = Enrolment(
        study=study,
        participant=participant_name(invited.token),
        key=key,
        plan_id=plan_identity(plan),
        alpha=checks.alpha(plan["alpha"]),
        low=low,
        high=high,
    )
    shares = tuple(checks.positive("share", round_["share"], 1.0) for round_ in plan["rounds"])
    return Terms(
        enrolment=enrolment,
        title=checks.text("title", document["title"], 200),
        slots=tuple(Slot(checks.text("target", plan["target"], 64), index) for index in range(len(shares))),
        shares=shares,
    )


def _signed(pinned: Enrolment, question: object, signature: str) -> bool:
    try:
        return verify(bytes.fromhex(pinned.key), signed_bytes(pinned.plan_id, question), bytes.fromhex(signature))
    except ValueError:
        return False


def _check_question(question: Question, terms: Terms) -> None:
    pinned = terms.enrolment
    asked = {
        "study": (question.study, pinned.study),
        "target and round": (tuple(question.slot), tuple(terms.slots[terms.slot])),
        "alpha": (question.alpha, pinned.alpha),
        "statistic": (question.statistic.to_json(), terms.statistic.to_json()),
    }
    for name, (is_, agreed) in asked.items():
        if is_ != agreed:
            raise Untrusted(f"the question has {name} {is_!r}, and {agreed!r} was agreed to")
