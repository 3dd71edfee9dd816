"""`one-round`: everybody is asked the same thing, once: on which side of wide and of narrow stripes a mean lies.

`dame.protocols.one_round.machine` has the protocol; `adaptive` uses the rest of this package where a study may have one
round only. See docs/one-round.md.
"""
