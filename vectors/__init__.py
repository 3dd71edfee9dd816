"""Test vectors: scripts of operations with expected outcomes, and the generator that wrote them."""
