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
    metrics_key: str | None = None
    public_url: str | None = None
    trusted_proxy: str | None = None
    rate_limit: float = 500.0
    refusal_limit: float = 10.0
    storage_key: str | None = None
    """Seals the signing keys in the database; several with commas, the newest first."""
    otlp_endpoint: str | None = None
    """Where metrics are sent (OpenTelemetry, HTTP), if anywhere."""
    header_timeout: float = 10.0
    body_timeout: float = 60.0
    """Seconds that the head and the body of a request may take to arrive."""
    max_connections: int = 0
    """0 for as many as the file descriptors allow."""

    def __post_init__(self) -> None:
        checks.whole("port", self.port, 0, 65535)
        checks.real("rate limit", self.rate_limit, 0.0, 1e9)
        checks.real("refusal limit", self.refusal_limit, 0.0, 1e9)
        checks.real("header timeout", self.header_timeout, 0.1, 1e9)
        checks.real("body timeout", self.body_timeout, 0.1, 1e9)
        checks.whole("max connections", self.max_connections, 0, 10**6)
        for name, address in (("public-url", self.public_url), ("otlp-endpoint", self.otlp_endpoint)):
            if address is not None and not address.startswith(("http://", "https://")):
                raise InvalidInput(name, address, "an address that begins with http:// or https://")
        for name, key in (("operator-key", self.operator_key), ("metrics-key", self.metrics_key)):
            if key is not None and len(key) < 16:
                raise InvalidInput(name, "a short text", "a secret of at least 16 characters")
        if self.operator_key is None:
            self._check_private()

    def _check_private(self) -> None:
        """Refuses a server that strangers could reach, and create studies on."""
        needed = "unless there is an operator key (DAME_OPERATOR_KEY)"
        if not is_loopback(self.host):
            raise InvalidInput("host", self.host, f"this machine's own (127.0.0.1), {needed}")
        if self.public_url is not None:
            raise InvalidInput("public-url", self.public_url, f"absent, {needed}: strangers could create studies")
        if self.trusted_proxy is not None:
            raise InvalidInput("trusted-proxy", self.trusted_proxy, f"absent, {needed}: strangers could create studies")


def is_loopback(host: str) -> bool:
    """Whether a server that listens there can be reached from its own machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
