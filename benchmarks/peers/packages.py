"""The peers, each called as its documentation says, vectorised where it can be."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BINS = 64


def diffprivlib_laplace(values: Floats, alpha: float) -> Floats:
    """Laplace noise on a number in [-1, 1], one call for each."""
    from diffprivlib.mechanisms import Laplace

    mechanism = Laplace(epsilon=alpha, delta=0.0, sensitivity=2.0)
    return np.array([mechanism.randomise(value) for value in values.tolist()])


def opendp_laplace(values: Floats, alpha: float) -> Floats:
    """Laplace noise on every entry of a vector, in one call."""
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    return np.asarray(dp.m.make_laplace(*space, 2 / alpha)(values.tolist()))


def opendp_whole_laplace(values: NDArray[np.int64], scale: float) -> NDArray[np.int64]:
    """Discrete Laplace noise on a vector of whole numbers: OpenDP's fastest exact noise."""
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    return np.asarray(dp.m.make_laplace(*space, scale)(values.tolist()))


def opendp_central_mean(values: Floats, alpha: float) -> float:
    """The mean with noise once, by somebody who is trusted with all values."""
    dp = _opendp()
    space = dp.vector_domain(dp.atom_domain(bounds=(-1.0, 1.0)), size=len(values)), dp.symmetric_distance()
    # One person's value may change: a distance of two, so that the sensitivity of the mean is 2/n.
    query = dp.t.make_mean(*space) >> dp.m.then_laplace(2 / (len(values) * alpha))
    return float(query(values.tolist()))


def opendp_bit_vectors(hot: NDArray[np.int64], alpha: float) -> NDArray[np.int64]:
    """Ones on each bin of randomised bit vectors (RAPPOR's symmetric bits, the only kind that OpenDP has)."""
    dp = _opendp()
    # Two one-hot rows differ in two bits, each at α/2; f is twice the chance of a flip.
    space = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    flip = dp.m.make_randomized_response_bitvec(*space, f=2 / (1 + np.exp(alpha / 2)))
    rows = np.packbits(np.eye(BINS, dtype=np.bool_), axis=1)
    reports = b"".join(flip(rows[bin_].tobytes()) for bin_ in hot.tolist())
    bits = np.unpackbits(np.frombuffer(reports, dtype=np.uint8).reshape(len(hot), -1), axis=1)
    return np.asarray(bits.sum(axis=0, dtype=np.int64))


def pure_ldp_votes(hot: NDArray[np.int64], alpha: float) -> Floats:
    """Debiased counts of pure-ldp's optimised unary encoding."""
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    client = UEClient(epsilon=alpha, d=BINS, use_oue=True, index_mapper=lambda bin_: bin_)
    server = UEServer(epsilon=alpha, d=BINS, use_oue=True, index_mapper=lambda bin_: bin_)
    for bin_ in hot.tolist():
        server.aggregate(client.privatise(bin_))
    return np.array([server.estimate(bin_, suppress_warnings=True) for bin_ in range(BINS)])


def multi_freq_reports(hot: NDArray[np.int64], alpha: float) -> list[Floats]:
    """Reports of multi-freq-ldpy's optimised unary encoding (numba)."""
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Client

    return [UE_Client(bin_, BINS, alpha, optimal=True) for bin_ in hot.tolist()]


def multi_freq_votes(hot: NDArray[np.int64], alpha: float) -> Floats:
    """Frequencies by multi-freq-ldpy, randomised and aggregated."""
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI

    return np.asarray(UE_Aggregator_MI(multi_freq_reports(hot, alpha), alpha, optimal=True))


def python_dp_laplace(values: Floats, alpha: float) -> Floats:
    """Laplace noise by PyDP (Google's library), one call for each."""
    from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

    mechanism = LaplaceMechanism(epsilon=alpha, sensitivity=2.0)
    return np.array([mechanism.add_noise(value) for value in values.tolist()])


def _opendp():
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics")
    return dp
