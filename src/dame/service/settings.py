"""How a server is set up: by flags, or by the environment variables DAME_…"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from dame import checks
from dame.errors import InvalidInput

REPORT_BYTES = 2**17 + 8
"""The longest report that a question can ask for: 2^20 bins, and the 8 bytes that name the question."""
BATCH_BYTES = 2**24
DOCUMENT_BYTES = 2**24


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where a server listens, where it stores, whom it believes, and what it limits (rates in requests a second)."""

    database: str = "dame.sqlite"
    host: str = "127.0.0.1"
    port: int = 8000
    operator_key: str | None = None
    public_url: str | None = None
    trusted_proxy: str | None = None
    rate_limit: float = 500.0
    refusal_limit: float = 10.0

    def __post_init__(self) -> None:
        checks.whole("port", self.port, 0, 65535)
        checks.real("rate limit", self.rate_limit, 0.0, 1e9)
        checks.real("refusal limit", self.refusal_limit, 0.0, 1e9)
        if self.public_url is not None and not self.public_url.startswith(("http://", "https://")):
            raise InvalidInput("public-url", self.public_url, "an address that begins with http:// or https://")
        if self.operator_key is not None and len(self.operator_key) < 16:
            raise InvalidInput("operator-key", "a short text", "a secret of at least 16 characters")
        if self.operator_key is None and not is_loopback(self.host):
            raise InvalidInput(
                "host", self.host, "this machine's own (127.0.0.1), unless there is an operator key (DAME_OPERATOR_KEY)"
            )


def is_loopback(host: str) -> bool:
    """Whether a server that listens there can be reached from its own machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
