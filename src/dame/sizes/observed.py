"""Sizes that were observed or listed: counts of users, weights, probabilities, files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from dame.errors import InvalidInput
from dame.sizes.distributions import LARGEST, SizeDistribution, histogram
from dame.sizes.sums import TABLE_LIMIT, Floats

_WHOLE = f"whole numbers from 1 to {LARGEST:g}"


def from_counts(counts: ArrayLike) -> SizeDistribution:
    """The empirical law of an array with one number of records for each user."""
    sizes, users = np.unique(_sizes("counts", counts), return_counts=True)
    return _histogram("counts", sizes, users.astype(np.float64))


def from_weights(sizes: Mapping[int, float] | ArrayLike, weights: ArrayLike | None) -> SizeDistribution:
    """The law with probabilities proportional to weights: a mapping {size: weight}, or two arrays."""
    if isinstance(sizes, Mapping):
        if weights is not None:
            raise InvalidInput("weights", weights, "absent when sizes are a mapping")
        listed = list(sizes.items())
        sizes, weights = [size for size, _ in listed], [weight for _, weight in listed]
    if weights is None:
        raise InvalidInput("weights", weights, "an array, or sizes a mapping from size to weight")
    return _merged("weights", _sizes("sizes", sizes), _weights("weights", weights))


def from_probabilities(sizes: ArrayLike, probabilities: ArrayLike) -> SizeDistribution:
    """The law with the given probabilities, which must sum to one within 1e-9."""
    shares = _weights("probabilities", probabilities)
    if not abs(math.fsum(shares.tolist()) - 1) <= 1e-9:
        raise InvalidInput("probabilities", math.fsum(shares.tolist()), "numbers with sum 1")
    return _merged("probabilities", _sizes("sizes", sizes), shares)


def from_file(path: Path) -> SizeDistribution:
    """The empirical law of a file with one column of counts: text, with or without a header, or .npy."""
    try:
        # A device or a pipe might never end.
        if not path.is_file():
            raise InvalidInput("file", str(path), "a file that exists")
        return from_counts(np.load(path, allow_pickle=False) if path.suffix == ".npy" else _column(path))
    except InvalidInput:
        raise
    except (OSError, ValueError, EOFError) as error:
        # The text of an operating system's error repeats the path; its reason is enough.
        reason = error.strerror if isinstance(error, OSError) else error
        raise InvalidInput("file", str(path), f"a readable file with one column of counts ({reason})") from None


def _column(path: Path) -> Floats:
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    words = [word for word in (line.strip().strip('"') for line in lines) if word]
    if words and not _is_number(words[0]):
        del words[0]
    wrong = next((word for word in words if not _is_number(word)), None)
    if wrong is not None:
        raise InvalidInput("counts", wrong, _WHOLE)
    return np.array(words, dtype=np.float64)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _array(field: str, values: ArrayLike) -> Floats:
    """`values` as a flat array of floats; a column of a matrix is a row of numbers too."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(field, values, "an array of numbers") from None
    if array.size == 0 or array.size != max(array.shape, default=0):
        raise InvalidInput(field, values, "one row of at least one number")
    return array.reshape(-1)


def _sizes(field: str, values: ArrayLike) -> Floats:
    array = _array(field, values)
    right = (array >= 1) & (array <= LARGEST) & (array == np.floor(array))
    if not right.all():
        raise InvalidInput(field, float(array[~right][0]), _WHOLE)
    return array


def _weights(field: str, values: ArrayLike) -> Floats:
    array = _array(field, values)
    right = (array >= 0) & (array <= 1e300)
    if not right.all():
        raise InvalidInput(field, float(array[~right][0]), "numbers from 0 to 1e300")
    return array


def _merged(field: str, sizes: Floats, weights: Floats) -> SizeDistribution:
    """The law of the listed atoms, equal ones added up and those of weight zero left out."""
    if len(sizes) != len(weights):
        raise InvalidInput(field, len(weights), f"as many as the sizes, {len(sizes)}")
    atoms, where = np.unique(sizes, return_inverse=True)
    totals = np.zeros(len(atoms))
    np.add.at(totals, where.reshape(-1), weights)
    if not 0 < totals.sum() < math.inf:
        raise InvalidInput(field, float(totals.sum()), "numbers with a positive and finite sum")
    return _histogram(field, atoms[totals > 0], totals[totals > 0])


def _histogram(field: str, sizes: Floats, weights: Floats) -> SizeDistribution:
    if not len(sizes) <= TABLE_LIMIT:
        raise InvalidInput(field, len(sizes), f"at most {TABLE_LIMIT} different sizes")
    return histogram(sizes, weights)
