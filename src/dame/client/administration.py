"""What the administrator of a study does, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dame.client.http import Answer, Server
from dame.client.signed import participant_name

AT_ONCE = 10_000
"""Invitations that are asked for in one request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Where a study is, and the key of its administrator."""

    server: str
    study: str
    administrator_key: str = field(repr=False)

    def to_json(self) -> dict[str, object]:
        """The access as a JSON object; keep it secret."""
        return {"server": self.server, "study": self.study, "administrator_key": self.administrator_key}


def create_study(
    server: Server,
    plan: object,
    *,
    title: str | None = None,
    close_at_count: Sequence[int | None] | None = None,
    deadlines: Sequence[str | None] | None = None,
    minimum_reports: int | None = None,
    keep_reports_days: float | None = None,
    administrator: str | None = None,
    about: Mapping[str, str] | None = None,
    operator_key: str | None = None,
) -> dict[str, Any]:
    """The identity of a new study, and its administrator's key, which nobody will tell again."""
    wanted = {
        "plan": plan,
        "title": title,
        "close_at_count": close_at_count,
        "deadlines": deadlines,
        "minimum_reports": minimum_reports,
        "keep_reports_days": keep_reports_days,
        "administrator": administrator,
        "about": about,
    }
    given = {name: value for name, value in wanted.items() if value is not None}
    return server.post_json("studies", document=given, secret=operator_key).document()


class Administration:
    """One study, for whoever holds its administrator's key."""

    def __init__(self, access: Access, server: Server | None = None) -> None:
        self._access = access
        self._server = server or Server(access.server)

    def public(self) -> dict[str, Any]:
        """What everybody may know about the study."""
        return self._server.get("studies", self._access.study).document()

    def status(self) -> dict[str, Any]:
        """Counts, histograms, refusals, and what was found so far."""
        return self._get("status").document()

    def answered(self, tokens: Sequence[str]) -> list[bool | None]:
        """For each token whether a report came with it; None where it was not given out for this study."""
        found: list[bool | None] = []
        for start in range(0, len(tokens), AT_ONCE):
            hashes = [participant_name(token) for token in tokens[start : start + AT_ONCE]]
            found += self._post("answered", document={"tokens": hashes})["answered"]
        return found

    def result(self) -> dict[str, Any]:
        """What a finished study tells."""
        return self._get("result").document()

    def invite(self, count: int, group: str | None = None, expires: str | None = None) -> Iterator[Mapping[str, str]]:
        """New invitations, for people of a group where the plan has groups: token and link of each."""
        given = {"group": group, "expires": expires}
        whose = {name: value for name, value in given.items() if value is not None}
        while count > 0:
            some = self._post("invitations", document={"count": min(count, AT_ONCE), **whose})
            yield from some["invitations"]
            count -= AT_ONCE

    def close_round(self, index: int, anyway: bool = False) -> dict[str, Any]:
        """The status after a round was closed; with fewer reports than the study waits for, only if anyway."""
        return self._post("rounds", str(index), "close", document={"anyway": anyway}, attempts=8)

    def end(self) -> dict[str, Any]:
        """The status after the study was ended."""
        return self._post("end", document={})

    def delete(self) -> dict[str, Any]:
        """The name of the study, which is deleted."""
        return self._post("delete", document={"study": self._access.study})

    def purge(self) -> dict[str, Any]:
        """The closed rounds whose reports were deleted."""
        return self._post("purge", document={})

    def withdraw(self, tokens: Sequence[str]) -> dict[str, int]:
        """How many invitations were withdrawn, answered before, and unknown."""
        done = {"withdrawn": 0, "answered": 0, "unknown": 0}
        for start in range(0, len(tokens), AT_ONCE):
            some = self._post("withdraw", document={"tokens": tokens[start : start + AT_ONCE]})
            done = {name: done[name] + some[name] for name in done}
        return done

    def administrators(self) -> dict[str, Any]:
        """The names of the study's administrators."""
        return self._get("administrators").document()

    def add_administrator(self, name: str) -> dict[str, Any]:
        """The key of a new administrator."""
        return self._post("administrators", document={"name": name})

    def remove_administrator(self, name: str) -> dict[str, Any]:
        """The names of those who stay."""
        return self._post("administrators", "remove", document={"name": name})

    def acts(self) -> dict[str, Any]:
        """The audit trail of the study."""
        return self._get("acts").document()

    def tally(self, index: int) -> dict[str, Any]:
        """The tally of a closed round, with the question that was asked and the tallies of groups."""
        return self._get("rounds", str(index), "tally").document()

    def reports(self, index: int, group: str | None = None) -> tuple[str, int, bytes]:
        """The identity of a closed round's question, the length of a report, and reports one after the other.

        These are all reports, or those of a group.
        """
        answer = self._get("rounds", str(index), "reports", query=None if group is None else {"group": group})
        return answer.headers["x-dame-question"], int(answer.headers["x-dame-report-bytes"]), answer.body

    def _get(self, *path: str, query: Mapping[str, str] | None = None) -> Answer:
        key = self._access.administrator_key
        return self._server.get("studies", self._access.study, *path, secret=key, query=query)

    def _post(self, *path: str, document: object, attempts: int = 1) -> dict[str, Any]:
        key = self._access.administrator_key
        answer = self._server.post_json(
            "studies", self._access.study, *path, document=document, secret=key, attempts=attempts
        )
        return answer.document()
