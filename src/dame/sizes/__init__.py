"""The distribution of the number of records per user: P(m ≥ a), E sqrt(m ∧ a), E[sqrt(m)·1{m ≤ a}], draws, text."""

from dame.sizes.sizes import Sizes

__all__ = ["Sizes"]
