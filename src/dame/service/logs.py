"""One JSON object a line on standard error. Never a token, a key, an address of a person, or the bytes of a report.

Accepted reports leave no line at all: the time of an upload is nobody's business. They are counted in the metrics.
"""

from __future__ import annotations

import json
import sys
import time
from threading import Lock
from typing import TextIO


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
