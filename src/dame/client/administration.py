"""What the administrator of a study does, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dame.client.http import Answer, Server

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
    operator_key: str | None = None,
) -> dict[str, Any]:
    """The identity of a new study, and its administrator's key, which nobody will tell again."""
    wanted = {"plan": plan, "title": title, "close_at_count": close_at_count, "deadlines": deadlines}
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

    def result(self) -> dict[str, Any]:
        """What a finished study tells."""
        return self._get("result").document()

    def invite(self, count: int, group: str | None = None) -> Iterator[Mapping[str, str]]:
        """New invitations, for people of a group where the plan has groups: token and link of each."""
        whose = {} if group is None else {"group": group}
        while count > 0:
            some = self._post("invitations", document={"count": min(count, AT_ONCE), **whose})
            yield from some["invitations"]
            count -= AT_ONCE

    def close_round(self, index: int) -> dict[str, Any]:
        """The status after a round was closed."""
        return self._post("rounds", str(index), "close", document={}, attempts=8)

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
