"""One person's part in a study: check everything, answer once, keep the report, send it until it is accepted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dame import checks
from dame.client.ed25519 import verify
from dame.client.http import Refused, Server
from dame.client.invitations import Invitation
from dame.client.pacing import Pace
from dame.client.public_log import PublicLog, fetched_log
from dame.client.signed import participant_name, plan_identity, signed_bytes
from dame.device.answering import summarise
from dame.device.assignment import slot_of
from dame.device.coins import SystemCoins
from dame.device.ledger import Enrolment, Ledger
from dame.device.questions import Question, Slot, question_from_json
from dame.device.statistics import STATISTICS, Statistic
from dame.errors import AlreadyAnswered, DameError, InvalidInput

POLL_SECONDS = 5.0
_EARLY = "too-early"
_MOST_USERS = 10**12


class Untrusted(DameError):
    """The server asks for something else than what this person agreed to, or cannot prove that the study asks it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What a person agrees to: α for everything that she will ever send in this study, and what is averaged.

    `slots`, `shares` and `statistics` are those of the plan: the rounds of its targets, the share of the people in
    each, and what they are asked to average. The others are told by whoever made the study: who asks, why, whom to
    write to, and the text to agree to.
    """

    enrolment: Enrolment
    title: str
    slots: tuple[Slot, ...]
    shares: tuple[float, ...]
    statistics: tuple[Statistic, ...]
    asker: str = ""
    purpose: str = ""
    contact: str = ""
    consent: str = ""

    @property
    def slot(self) -> int:
        """The place, in the list of slots, of the one in which she answers."""
        return slot_of(self.enrolment.study, self.shares, self.enrolment.participant)

    @property
    def statistic(self) -> Statistic:
        """What is averaged over her records, in her slot."""
        return self.statistics[self.slot]


class Participation:
    """Takes part in one study, with one token and one ledger."""

    def __init__(
        self, invited: Invitation, ledger: Ledger, server: Server | None = None, pace: Pace | None = None
    ) -> None:
        self._invited = invited
        self._ledger = ledger
        self._server = server or Server(invited.base)
        self._pace = pace or Pace()
        self._asked: Question | None = None

    def terms(self) -> Terms:
        """What the study asks for. Whoever enrolled before is told if anything of it has changed since."""
        study = self._invited.study
        with self._pace.hearing():
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
        with self._pace.hearing():
            answer = self._server.get("studies", pinned.study, "rounds", str(terms.slot), "question").document()
        document, signature = answer.get("question"), answer.get("signature")
        if not isinstance(signature, str) or not _signed(pinned, document, signature):
            raise Untrusted("the question is not signed by the study's key: it was altered, or somebody else asks it")
        try:
            question = question_from_json(document)
        except InvalidInput as problem:
            raise Untrusted(f"the question cannot be answered: {problem}") from None
        _check_question(question, terms)
        self._asked = question
        return question

    def verify_log(self, terms: Terms) -> PublicLog:
        """The public log of the service: it holds this plan and this person's question, and no others in their place.

        Whoever has seen the log before is told if it is not the same log with more at its end.
        """
        with self._pace.hearing():
            log = fetched_log(self._server)
        log.check_extends(*self._ledger.log_seen(self._invited.base))
        log.check_plan(terms.enrolment.study, terms.enrolment.plan_id, terms.enrolment.key)
        if self._asked is not None:
            log.check_question(self._asked)
        self._ledger.keep_log(self._invited.base, len(log.entries), log.head)
        return log

    def answer(self, question: Question, records: Iterable[object]) -> bytes:
        """The report, which is stored before anybody sees it; the stored one if there is one.

        Somebody without records that count answers like anybody else: see `dame.device.answer`. The records are
        averaged first, however long that takes; then comes the moment at which anybody would have gone on.
        """
        person = summarise(question, records, SystemCoins())
        self._pace.wait()
        self._claim(question.study)
        return self._ledger.answer_for(question, person)

    def _claim(self, study: str) -> None:
        """Asks for the right to draw, which a token gives to one device: a second draw would tell more than agreed."""
        claim = {"claim": self._ledger.claim(study)}
        state = self._server.put_json(
            "studies", study, "invitation", document=claim, secret=self._invited.token
        ).document()
        if state.get("answered") is not False:
            raise AlreadyAnswered(
                f"a report was sent with this invitation to study {study!r}, and not from this device's ledger: "
                "nothing is drawn a second time"
            )
        if state.get("granted") is not True:
            raise AlreadyAnswered(
                f"another device has begun to answer with this invitation to study {study!r}: nothing is drawn here; "
                "if that device is lost, ask for a new invitation"
            )

    def send(self, terms: Terms, report: bytes) -> None:
        """Sends a report, the same bytes at every attempt, until the server says that it is stored."""
        study = terms.enrolment.study
        self._server.post_bytes("studies", study, "reports", body=report, secret=self._invited.token)
        self._ledger.mark_sent(study)

    def take_part(self, terms: Terms, records: Callable[[Question], Iterable[object]], wait: float = 0.0) -> bytes:
        """All of it: the report, once it is accepted. `records` is called only if there is no report yet.

        It gives the records for a question, out of what was read and checked before: whether a person has any must
        not show in what her device does after it was asked. Whoever is too early waits at most so many seconds for
        her round.
        """
        self.agree(terms)
        until = time.monotonic() + wait
        if self._asked is None:  # her records may have been looked at since the service was heard
            self._pace.wait()
        while True:
            try:
                report = self._report(terms, records)
                self.send(terms, report)
                return report
            except Refused as refusal:
                if refusal.reason != _EARLY or time.monotonic() >= until:
                    raise
            time.sleep(min(POLL_SECONDS, max(until - time.monotonic(), 0.0)))

    def _report(self, terms: Terms, records: Callable[[Question], Iterable[object]]) -> bytes:
        stored = self._ledger.report(terms.enrolment.study)
        try:
            question = self._asked or self.question(terms)
        except Refused:
            # A round that is over has no question any more; a report that was made in time may still be on its way.
            if stored is None:
                raise
            return stored
        return self._ledger.answer(question, ()) if stored is not None else self.answer(question, records(question))


def _terms(study: str, document: Mapping[str, Any], invited: Invitation) -> Terms:
    plan = document["plan"]
    if plan["study"] != study:
        raise InvalidInput("study", plan["study"], repr(study))
    enrolment = Enrolment(
        study=study,
        participant=participant_name(invited.token),
        key=document["public_key"],
        plan_id=plan_identity(plan),
        alpha=checks.alpha(plan["alpha"]),
    )
    _check_invited(enrolment, invited)
    asked = list(_asked(plan))
    if not asked:
        raise InvalidInput("targets", plan["targets"], "at least one, with rounds")
    return Terms(
        enrolment=enrolment,
        title=checks.text("title", document["title"], 200),
        slots=tuple(slot for slot, _, _ in asked),
        shares=tuple(share for _, share, _ in asked),
        statistics=tuple(statistic for _, _, statistic in asked),
        **{name: _words(document.get("about"), name) for name in ("asker", "purpose", "contact", "consent")},
    )


def _words(about: object, name: str) -> str:
    """What is told about a study, in printable lines."""
    words = about.get(name, "") if isinstance(about, dict) else ""
    lines = [line.replace("\t", " ") for line in words.splitlines() if line.strip()]
    return "\n".join(checks.text(name, line, 10_000) for line in lines)


def _check_invited(asked: Enrolment, invited: Invitation) -> None:
    """Refuses another study than the one that the invitation is for."""
    if asked.key != invited.key:
        raise Untrusted("the server's key is not the one in the invitation: somebody else answers for the study")
    if invited.alpha is not None and asked.alpha != invited.alpha:
        raise Untrusted(f"the server's plan has alpha {asked.alpha!r}, and the invitation names {invited.alpha!r}")
    if asked.plan_id != invited.plan_id:
        raise Untrusted("the server's plan is not the one in the invitation: others may have been shown another one")


def _asked(plan: Mapping[str, Any]) -> Iterator[tuple[Slot, float, Statistic]]:
    """Every slot of a plan, with the share of the people who answer in it, and what they are asked to average."""
    machines = [machine for target in plan["targets"] for machine in target["machines"]]
    users = sum(checks.whole("users", machine["users"], 1, _MOST_USERS) for machine in machines)
    for machine in machines:
        name, statistic = checks.text("target", machine["name"], 64), STATISTICS.from_json(machine["statistic"])
        for index, round_ in enumerate(machine["rounds"]):
            share = checks.positive("share", round_["share"], 1.0)
            yield Slot(name, index), share if len(machines) == 1 else machine["users"] * share / users, statistic


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
