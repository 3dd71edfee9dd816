from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import stats

from dame.errors import InvalidInput
from dame.vectorised import words
from dame.vectorised.bernoulli import packed_bits
from dame.vectorised.words import FastWords, SecureWords
from tests.vectorised.sources import FALSE_ALARM, ReplayWords, chi_square_p

CIPHERS = "cryptography.hazmat.primitives.ciphers"


@pytest.fixture(params=["cipher", "operating system"])
def secure(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> SecureWords:
    if request.param == "operating system":
        monkeypatch.setitem(sys.modules, CIPHERS, None)
    else:
        pytest.importorskip(CIPHERS)
    return SecureWords()


def uniform_bits_p(taken: np.ndarray) -> float:
    """The smallest p-value of the 64 bit positions, corrected for their number."""
    ones = np.unpackbits(taken.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0, dtype=np.int64)
    smallest = min(stats.binomtest(int(k), taken.size, 0.5).pvalue for k in ones)
    return 64 * float(smallest)


@pytest.mark.parametrize("count", [0, 1, 1000, 2**17, 2**17 + 1, 2**18 + 5])
def test_as_many_words_as_asked(secure: SecureWords, count: int) -> None:
    taken = secure.take(count)
    assert taken.dtype == np.uint64
    assert taken.shape == (count,)


def test_secure_words_do_not_repeat(secure: SecureWords) -> None:
    # Among 2^18 true random words a coincidence has chance 2^-29.
    taken = np.concatenate([secure.take(1), secure.take(2**17 + 3), SecureWords().take(2**17)])
    assert np.unique(taken).size == taken.size


def test_secure_bits_are_uniform(secure: SecureWords) -> None:
    taken = secure.take(2**17 + 64)
    assert uniform_bits_p(taken) > FALSE_ALARM
    octets = np.bincount(taken.view(np.uint8), minlength=256)
    assert chi_square_p(octets, np.full(256, taken.size / 32)) > FALSE_ALARM


def test_biased_bits_are_noticed() -> None:
    mutant = SecureWords().take(2**17) | (SecureWords().take(2**17) & np.uint64(2**40))
    assert uniform_bits_p(mutant) < FALSE_ALARM


def test_two_sources_differ() -> None:
    assert not np.array_equal(SecureWords().take(4), SecureWords().take(4))


def test_keys_are_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = []
    monkeypatch.setattr(words, "KEY_LIFETIME", 2**20)
    monkeypatch.setattr(words, "_key_stream", lambda: keys.append(1) or bytes)
    source = SecureWords()
    source.take(2**17)
    assert len(keys) == 1
    source.take(1)
    assert len(keys) == 2
    source.take(2**18)
    assert len(keys) == 4


def test_fallback_asks_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, CIPHERS, None)
    monkeypatch.setattr(words.os, "urandom", lambda size: b"\x01" * size)
    assert SecureWords().take(2).tolist() == [0x0101010101010101] * 2


FORKED = """
import os
from dame.vectorised.words import SecureWords
source = SecureWords()
source.take(1)
read, write = os.pipe()
if os.fork() == 0:
    os.write(write, source.take(2).tobytes())
    os._exit(0)
os.wait()
assert os.read(read, 16) != source.take(2).tobytes()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no fork there")
def test_a_forked_process_draws_its_own_words() -> None:
    subprocess.run([sys.executable, "-c", FORKED], check=True, timeout=60)


@pytest.mark.parametrize("generator", [np.random.PCG64, np.random.SFC64, np.random.MT19937, np.random.Philox])
def test_fast_words_fill_all_bits(generator: type) -> None:
    source = FastWords(np.random.Generator(generator(5)))
    assert uniform_bits_p(source.take(2**15)) > FALSE_ALARM


def test_fast_words_follow_their_seed() -> None:
    first, second = (packed_bits(FastWords(np.random.default_rng(8)), 2**60, 10_000) for _ in range(2))
    assert np.array_equal(first, second)


def test_replayed_words_come_in_order_and_end() -> None:
    source = ReplayWords([1, 2**64 - 1, 3])
    assert source.take(2).tolist() == [1, 2**64 - 1]
    assert source.left == 1
    with pytest.raises(InvalidInput, match="at most the 1 words that are left"):
        source.take(2)


@pytest.mark.parametrize("count", [-1, 1.5, None, 2**41])
def test_impossible_counts_are_refused(count: object) -> None:
    with pytest.raises(InvalidInput, match="count"):
        SecureWords().take(count)
