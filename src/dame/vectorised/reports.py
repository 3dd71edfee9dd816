"""Reports of many people at once, at an edge site that holds their records: exact, secure, and fast.

The reports are the same bytes that `dame.device` would send, one row for each person; or only their sums, where the
reports themselves are not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dame.device.channels import Channel
from dame.device.lenses import Lens
from dame.device.questions import TAG_BYTES, Question, question_tag
from dame.device.reports import report_bytes
from dame.errors import RejectedReport
from dame.vectorised.channels import CHANNEL_FORMS, code_values
from dame.vectorised.coins import ManyCoins, StreamCoins
from dame.vectorised.lenses import Floats, Ints, Places, read
from dame.vectorised.unary import Bytes
from dame.vectorised.words import Words

Totals = list[tuple[int, Sequence[int]]]
"""What reports add up to, window by window: how many there are, and the sum of each entry."""


def answer_many(question: Question, sizes: Ints, means: Floats, words: Words | None = None) -> Bytes:
    """One encoded report a row, drawn with secure coins unless others are given (for tests)."""
    return encoded(question, payloads(question, sizes, means, StreamCoins(len(sizes), words)))


def payloads(question: Question, sizes: Ints, means: Floats, coins: ManyCoins) -> Bytes:
    """What reports hold besides the name of their question: windows and codes, a row of bytes each."""
    lens, channel = question.lens, question.channel
    windows = _drawn_windows(lens, coins)
    codes = CHANNEL_FORMS.of(channel).codes(channel, read(lens, sizes, means, windows), coins)
    return codes if lens.window_count == 1 else _with_windows(question, codes, np.asarray(windows))


def encoded(question: Question, rows: Bytes) -> Bytes:
    """The reports with these payloads: each names its question first."""
    reports = np.empty((len(rows), report_bytes(question)), dtype=np.uint8)
    reports[:, :TAG_BYTES] = np.frombuffer(question_tag(question), dtype=np.uint8)
    reports[:, TAG_BYTES:] = rows
    return reports


def drawn_totals(question: Question, sizes: Ints, means: Floats, coins: ManyCoins) -> Totals:
    """What the reports of these people add up to, by window: drawn as those of `payloads`, and never made."""
    lens, channel = question.lens, question.channel
    form, windows = CHANNEL_FORMS.of(channel), _drawn_windows(lens, coins)
    readings = read(lens, sizes, means, windows)
    if lens.window_count == 1:
        return [_total(len(sizes), form.drawn_sums(channel, readings, coins))]
    return _totals(question, _with_windows(question, form.codes(channel, readings, coins), np.asarray(windows)))


def report_totals(question: Question, reports: Bytes) -> Totals:
    """What encoded reports, one a row, add up to by window; a row that no device could have sent is refused."""
    return _totals(question, checked_payloads(question, reports))


def checked_payloads(question: Question, reports: Bytes) -> Bytes:
    """What encoded reports, one a row, hold besides the name of their question, if devices could have sent them all."""
    if reports.ndim != 2 or reports.dtype != np.uint8 or reports.shape[1] != report_bytes(question):
        raise RejectedReport("length", f"reports of this question have {report_bytes(question)} bytes")
    tags = np.ascontiguousarray(reports[:, :TAG_BYTES]).view(np.uint64)  # as one number each: compared twice as fast
    if (tags != np.frombuffer(question_tag(question), np.uint64)).any():
        raise RejectedReport("question", "a report answers another question")
    rows = np.ascontiguousarray(reports[:, TAG_BYTES:])
    if not _within_range(question, rows):
        raise RejectedReport("range", "a report has a value outside the range of this question")
    return rows


def _within_range(question: Question, rows: Bytes) -> bool:
    spare, channel = question.report_bits % 8, question.channel  # bits beyond the last one, in the last byte, must be 0
    if spare and (rows[:, -1] >> spare).any():
        return False
    low, high = channel.values
    if (high - low + 1).bit_count() == 1 or not len(rows):  # then every code is that of a value
        return True
    return bool(code_values(channel, _parted(question, rows)[0]).max() <= high)


def _totals(question: Question, rows: Bytes) -> Totals:
    """What payloads add up to, by window."""
    channel, count = question.channel, question.lens.window_count
    if rows.shape[1] == 1:
        return _byte_totals(channel, rows[:, 0], count)
    form, (codes, windows) = CHANNEL_FORMS.of(channel), _parted(question, rows)
    chosen = (codes[windows == window] for window in range(count)) if count > 1 else [codes]
    return [_total(len(those), form.count(channel, those)) for those in chosen]


def _byte_totals(channel: Channel, rows: Bytes, count: int) -> Totals:
    """The same where a byte holds window and code: it is enough to know how often each byte occurs."""
    often = np.bincount(rows, minlength=256)[: count << channel.value_bits].reshape(count, -1)
    sums = often @ _entries_of_codes(channel)
    return [_total(reports, each) for reports, each in zip(often.sum(axis=1).tolist(), sums.tolist(), strict=True)]


@lru_cache(maxsize=256)
def _entries_of_codes(channel: Channel) -> Ints:
    """What each code adds to a tally, a row each; nothing where it is the code of no value."""
    low, high = channel.values
    entries = np.zeros((1 << channel.value_bits, len(channel.entry_limits)), np.int64)
    entries[: high - low + 1] = [channel.entries(value) for value in range(low, high + 1)]
    return entries


def _total(reports: int, sums: Ints | Sequence[int]) -> tuple[int, Sequence[int]]:
    return reports, tuple(int(total) for total in sums)


def _drawn_windows(lens: Lens, coins: ManyCoins) -> Places | int:
    """The window that each person's coins draw: the first bits of a word, which is not taken where there is one."""
    if lens.window_count == 1:
        return 0
    return np.asarray(coins.each() >> np.uint64(64 - lens.window_bits), dtype=np.intp)


def _with_windows(question: Question, codes: Bytes, windows: Places) -> Bytes:
    """The codes with the windows in the bits above them."""
    whole, shift = divmod(question.channel.value_bits, 8)
    rows = np.zeros((len(codes), report_bytes(question) - TAG_BYTES), np.uint8)
    rows[:, : codes.shape[1]] = codes
    above = (windows.astype("<u4") << np.uint32(shift)).view(np.uint8).reshape(-1, 4)
    rows[:, whole:] |= above[:, : rows.shape[1] - whole]
    return rows


def _parted(question: Question, rows: Bytes) -> tuple[Bytes, Places]:
    """The codes and the windows of payloads."""
    bits = question.channel.value_bits
    whole, shift = divmod(bits, 8)
    codes = rows[:, : (bits + 7) // 8]
    if question.lens.window_count == 1:
        return codes, np.broadcast_to(np.intp(0), len(rows))
    above = np.zeros((len(rows), 4), np.uint8)
    above[:, : rows.shape[1] - whole] = rows[:, whole:]
    if shift:
        codes = codes.copy()
        codes[:, -1] &= (1 << shift) - 1
    return codes, np.asarray(above.view("<u4").reshape(-1) >> np.uint32(shift), dtype=np.intp)
