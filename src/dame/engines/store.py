"""People kept for later rounds: in memory, or, beyond a limit, in a file without a name."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import IO

from dame.engines.answers import Addressed, tally_all
from dame.engines.layout import Layout
from dame.engines.people import Held, People
from dame.engines.reduced import TablePart
from dame.engines.survey import Survey
from dame.tally import Tally

IN_MEMORY = 2**29
"""Bytes of people that are kept in memory unless told otherwise: 22 million users with one statistic."""


class PeopleStore:
    """Parts of people, in the order in which they were added."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        self._room = in_memory
        self._parts: list[People] = []
        self._file: IO[bytes] | None = None
        self._written: list[tuple[Held, int]] = []

    def add(self, people: People) -> None:
        """Keeps some more people."""
        self._room -= people.held.bytes_each * len(people)
        if self._room >= 0:
            self._parts.append(people)
        elif len(people):
            self._write(people)

    def close(self) -> None:
        """Forgets everybody."""
        self._parts = []
        if self._file is not None:
            self._file.close()

    def __iter__(self) -> Iterator[People]:
        yield from self._parts
        if self._file is not None:
            self._file.seek(0)
            for held, length in self._written:
                yield People.unpacked(self._file.read(length), held)

    def _write(self, people: People) -> None:
        # A file without a name is gone when the process is, whatever ends it.
        self._file = self._file or tempfile.TemporaryFile(prefix="dame-people-")  # noqa: SIM115  it lives as long as this
        packed = people.packed()
        self._file.write(packed)
        self._written.append((people.held, len(packed)))


class KeptTable:
    """A reduced table whose people are kept in this process: rounds and repetitions need no second look at records."""

    def __init__(
        self, layout: Layout, parts: Iterable[TablePart], in_memory: int = IN_MEMORY, counted: Survey | None = None
    ) -> None:
        self.people = PeopleStore(in_memory)
        self._survey = Survey()
        for part in parts:
            self.people.add(part.people)
            self._survey += part.survey
        if counted is not None:  # at the end: so statistics keep their order
            self._survey += counted
        self._survey.check(layout)

    def survey(self) -> Survey:
        """What was counted."""
        return self._survey

    def tallies(self, addressed: Sequence[Addressed]) -> list[dict[str, Tally]]:
        """For each question the tally of each group."""
        return tally_all(addressed, self.people)

    def close(self) -> None:
        """Frees what is kept of the table."""
        self.people.close()
