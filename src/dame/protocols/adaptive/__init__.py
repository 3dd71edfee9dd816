"""`adaptive`: the default. Locate by votes or plain bits, then a few rounds of single bits around an ever better
centre; or, under between-user variation, bits on segments of the range.

Every user sends bits only, once, with her whole α. See docs/adaptive.md.
"""

from dame.protocols.adaptive.machine import Adaptive

__all__ = ["Adaptive"]
