"""The device's lenses and channels for many people at once, on numpy arrays: the same integers, bit for bit.

No float decides anything in a draw. With `SecureWords` the draws may leave an edge site; with `FastWords` the same
code, and so the same distribution, serves simulation; with keyed words a draw can be repeated.
"""
