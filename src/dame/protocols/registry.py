"""The protocols by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from dame.errors import InvalidInput
from dame.protocols.adaptive import Adaptive
from dame.protocols.base import Protocol
from dame.protocols.distribution import DistributionOfPeople
from dame.protocols.duchi import Duchi
from dame.protocols.kent import Kent
from dame.protocols.one_bit import OneBitMean
from dame.protocols.one_round.machine import OneRound
from dame.protocols.paper import Paper
from dame.protocols.quantiles import QuantilesOfPeople

_BY_NAME: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (Adaptive(), Paper(), Kent(), Duchi(), OneBitMean(), OneRound())
}
PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(_BY_NAME)
"""Protocols for a mean, among which a study may choose."""
OF_PEOPLE: Mapping[str, Protocol] = MappingProxyType(
    {protocol.name: protocol for protocol in (QuantilesOfPeople(), DistributionOfPeople())}
)
"""Protocols that tell where people are: their targets name them."""
DEFAULT = "adaptive"


def register(protocol: Protocol) -> None:
    """Adds a protocol of one's own: planning, simulation, tables, audits and the conformance suite know it from now on.

    Both ends of a study must have registered it. Names that are taken are refused.
    """
    if not isinstance(protocol, Protocol) or protocol.name in {*_BY_NAME, *OF_PEOPLE}:
        raise InvalidInput("protocol", protocol, f"a Protocol with a name other than {', '.join(_BY_NAME)}")
    _BY_NAME[protocol.name] = protocol


def protocol_named(name: str) -> Protocol:
    """The protocol of that name."""
    if isinstance(name, str) and name in OF_PEOPLE:
        return OF_PEOPLE[name]
    if not isinstance(name, str) or name not in PROTOCOLS:
        raise InvalidInput("protocol", name, f"one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
