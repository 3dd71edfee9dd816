"""Populations: where sizes and means come from, and studies simulated on them."""
