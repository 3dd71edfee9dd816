"""The device client: takes part in a study over HTTP, with the standard library alone."""
