"""One JSON object a line on standard error. Never a token, a key, an address of a person, or the bytes of a report.

Accepted reports leave no line at all: the time of an upload is nobody's business. They are counted in the metrics.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from threading import Lock
from typing import TextIO

from dame.errors import DameError


class Log:
    """Writes events, whole lines at a time."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._lock = Lock()

    def event(self, name: str, **facts: object) -> None:
        """Writes an event with its facts."""
        line = json.dumps({"time": round(time.time(), 3), "event": name, **facts}, default=str)
        with self._lock:
            stream = self._stream or sys.stderr
            stream.write(line + "\n")
            stream.flush()

    def failure(self, name: str, error: Exception, **facts: object) -> None:
        """Writes that something failed: which error and where, never what was in the hands of the code that failed.

        Errors of our own are sentences without secrets, and are told.
        """
        where = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-8:]]
        detail = {"detail": str(error)} if isinstance(error, DameError) else {}
        self.event(name, **facts, error=type(error).__name__, **detail, where=where)
