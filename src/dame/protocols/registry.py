"""The protocols by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dame.errors import InvalidInput
from dame.protocols.adaptive import Adaptive
from dame.protocols.base import Protocol
from dame.protocols.duchi import Duchi
from dame.protocols.kent import Kent
from dame.protocols.one_bit import OneBitMean
from dame.protocols.paper import Paper

_BY_NAME: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (Adaptive(), Paper(), Kent(), Duchi(), OneBitMean())
}
PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(_BY_NAME)
DEFAULT = "adaptive"


def register(protocol: Protocol) -> None:
    """Adds a protocol of one's own: planning, simulation, tables, audits and the conformance suite know it from now on.

    Both ends of a study must have registered it. Names that are taken are refused.
    """
    if not isinstance(protocol, Protocol) or protocol.name in _BY_NAME:
        raise InvalidInput("protocol", protocol, f"a Protocol with a name other than {', '.join(_BY_NAME)}")
    _BY_NAME[protocol.name] = protocol


def protocol_named(name: str) -> Protocol:
    """The protocol of that name."""
    if not isinstance(name, str) or name not in PROTOCOLS:
        raise InvalidInput("protocol", name, f"one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
