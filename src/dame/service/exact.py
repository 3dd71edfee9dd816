"""What all shapes of requests and answers have in common, and those of curves."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Exact(BaseModel):
    """A request or an answer: nothing that is not described, and no number that JSON does not have."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


class QuantileDocument(Exact):
    """The point that a share `at` of people lies below."""

    at: float
    estimate: float
    standard_error: float
    interval: list[float]
    share_error: float


class Where(Exact):
    """Where people are, if a study told: `values` are quantiles, the rest is the cumulative curve and its band."""

    values: list[QuantileDocument] | None = None
    edges: list[float] | None = None
    cdf: list[float] | None = None
    low: list[float] | None = None
    high: list[float] | None = None
