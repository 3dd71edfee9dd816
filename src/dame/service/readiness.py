"""Whether the database answers, asked at most once a second: whoever watches may look as often as she likes."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock

from sqlalchemy import text

from dame.service.database import Database

GOOD_FOR = 1.0
"""Seconds for which a good answer is believed; a bad one is asked again."""


class Readiness:
    """The last good answer of one database."""

    def __init__(self, database: Database, clock: Callable[[], float] = time.monotonic) -> None:
        self._database = database
        self._clock = clock
        self._lock = Lock()
        self._until = -1.0

    def check(self) -> None:
        """Raises what is wrong with the database, if something is."""
        with self._lock:
            if self._clock() < self._until:
                return
            with self._database.reading() as connection:
                connection.execute(text("SELECT 1"))
            self._until = self._clock() + GOOD_FOR
