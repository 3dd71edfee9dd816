"""One JSON object a line on standard error, whoever writes it.

Never a token, a key, an address of a person, or the bytes of a report.
Accepted reports leave no line at all: the time of an upload is nobody's business. They are counted in the metrics.
"""

from __future__ import annotations

import json
import logging
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


class EventHandler(logging.Handler):
    """Makes events of what libraries log, so that every line is JSON; of an error it tells which, and where."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Writes an event."""
        facts = {"logger": record.name, "level": record.levelname.lower()}
        error = record.exc_info[1] if record.exc_info else None
        if isinstance(error, Exception):
            self._log.failure("log", error, **facts)
        else:
            self._log.event("log", **facts, message=record.getMessage()[:500])


def log_everything(log: Log) -> None:
    """Sends what this process logs and warns of to one log, and nowhere else."""
    logging.captureWarnings(True)
    root = logging.getLogger()
    root.handlers[:] = [EventHandler(log)]
