"""A running service for the tests of the client, whose devices do not keep anybody waiting."""

from tests.service.conftest import live_server, no_pace, postgres, serve

__all__ = ["live_server", "no_pace", "postgres", "serve"]
