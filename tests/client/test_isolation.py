"""The client loads the standard library, the device, and nothing else."""

from __future__ import annotations

from tests.device.test_isolation import foreign_modules

EVERYTHING = "import dame.client.participation, dame.client.administration, dame.client.ed25519"


def test_the_client_loads_no_third_party_module() -> None:
    assert foreign_modules(EVERYTHING) == ""
