"""The public log of a service: which plans it has, which questions it asked, which pages it serves.

Every entry holds the hash of the one before it, so that two people who see the same last hash have seen the same log.
A service that shows different people different studies must show them different logs, and can be caught by comparing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dame.client.http import Server
from dame.device.questions import Question, canonical, question_id
from dame.errors import DameError

START = "0" * 64
"""What stands in the place of the hash before the first entry."""
MOST_ENTRIES = 1_000_000

Entry = Mapping[str, Any]


class ForkedLog(DameError):
    """The log of a service is no chain, was changed, or does not hold what the service asks for."""


def entry_hash(entry: Entry) -> str:
    """The hash of an entry, which the next one holds."""
    return hashlib.sha256(b"dame-log-v1\n" + canonical(entry)).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicLog:
    """A log whose chain was checked."""

    entries: Sequence[Entry]
    hashes: Sequence[str]

    @property
    def head(self) -> str:
        """The hash of the last entry: what two people compare."""
        return self.hashes[-1] if self.hashes else START

    def check_extends(self, size: int, head: str) -> None:
        """Refuses a log that is not the one that was seen before, with more entries at its end."""
        if size and (size > len(self.hashes) or self.hashes[size - 1] != head):
            raise ForkedLog(
                f"the service's log is not the one that this device saw before ({size} entries, {head}): it was changed"
            )

    def check_plan(self, study: str, plan_id: str, key: str) -> None:
        """Refuses a plan that is not in the log, or not the only one of its study."""
        found = self._of_kind("plan", study)
        if [(one.get("plan_id"), one.get("public_key")) for one in found] != [(plan_id, key)]:
            raise ForkedLog(f"the service's log has {len(found)} plans of study {study!r}, and not just this one")

    def check_question(self, question: Question) -> None:
        """Refuses a question that is not in the log, or not the only one of its slot."""
        slot = (question.target, question.round)
        found = [one for one in self._of_kind("question", question.study) if (one["target"], one["round"]) == slot]
        if [one.get("question_id") for one in found] != [question_id(question)]:
            raise ForkedLog(
                f"the service's log has {len(found)} questions of round {question.round + 1} of {question.target!r}, "
                "and not just this one"
            )

    def _of_kind(self, kind: str, study: str) -> list[Entry]:
        return [one for one in self.entries if (one.get("kind"), one.get("study")) == (kind, study)]


def checked_log(entries: Sequence[Entry]) -> PublicLog:
    """The log of these entries, if each holds its place and the hash of the one before it."""
    hashes: list[str] = []
    for place, entry in enumerate(entries):
        before = hashes[-1] if hashes else START
        if not isinstance(entry, dict) or (entry.get("place"), entry.get("previous")) != (place, before):
            raise ForkedLog(f"entry {place} of the service's log does not follow the one before it")
        hashes.append(entry_hash(entry))
    return PublicLog(entries=entries, hashes=hashes)


def fetched_log(server: Server) -> PublicLog:
    """The whole log of a service, checked."""
    entries: list[Entry] = []
    while True:
        document = server.get("log", query={"start": str(len(entries))}).document()
        more, size = document.get("entries"), document.get("size")
        if not isinstance(more, list) or not isinstance(size, int) or len(entries) + len(more) > MOST_ENTRIES:
            raise ForkedLog("the service's log cannot be read")
        entries += more
        if len(entries) >= size or not more:
            break
    log = checked_log(entries)
    if len(entries) == size and document.get("head") != log.head:
        raise ForkedLog("the service names another last entry of its log than the one that it shows")
    return log
