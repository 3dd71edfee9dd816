"""Studies: several targets, each by machines of its own on its own people, planned, asked and read together."""
