"""Asks the server on this machine whether it is ready, for health checks:  python -m dame.service.probe

Exit code 0 if it is, and 1 if not. It takes the port from DAME_PORT, as the server does.
"""

from __future__ import annotations

import http.client
import os
import sys

SECONDS = 4.0


def is_ready(port: int) -> bool:
    """Whether the server on this port, and its database, answer in time."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == http.client.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if is_ready(int(os.environ.get("DAME_PORT", "8000"))) else 1)
