"""A running service for the tests of the client."""

from tests.service.conftest import live_server, postgres, serve

__all__ = ["live_server", "postgres", "serve"]
