"""Reports of many people at once, at an edge site that holds their records: exact, secure, and fast.

The reports are the same bytes that `dame.device` would send, one row for each person; or only their sums, where the
reports themselves are not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dame.device.channels import Channel
from dame.device.lenses import Lens
from dame.device.questions import TAG_BYTES, Question, question_tag
from dame.device.reports import report_bytes
from dame.errors import RejectedReport
from dame.vectorised.channels import CHANNEL_FORMS
from dame.vectorised.coins import Bytes, ManyCoins, StreamCoins
from dame.vectorised.lenses import Floats, Ints, Places, read
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
    return _by_window(channel, form.codes(channel, readings, coins), np.asarray(windows), lens.window_count)


def report_totals(question: Question, reports: Bytes) -> Totals:
    """What encoded reports, one a row, add up to by window; a row that no device could have sent is refused."""
    codes, windows = _parted(question, checked_payloads(question, reports))
    return _by_window(question.channel, codes, windows, question.lens.window_count)


def checked_payloads(question: Question, reports: Bytes) -> Bytes:
    """What encoded reports, one a row, hold besides the name of their question, if devices could have sent them all."""
    if reports.ndim != 2 or reports.dtype != np.uint8 or reports.shape[1] != report_bytes(question):
        raise RejectedReport("length", f"reports of this question have {report_bytes(question)} bytes")
    tags = np.ascontiguousarray(reports[:, :TAG_BYTES]).view(np.uint64)  # as one number each: compared twice as fast
    if (tags != np.frombuffer(question_tag(question), np.uint64)).any():
        raise RejectedReport("question", "a report answers another question")
    rows = np.ascontiguousarray(reports[:, TAG_BYTES:])
    spare = question.report_bits % 8  # bits beyond the last one, in the last byte, must be 0
    codes, _ = _parted(question, rows)
    if (spare and (rows[:, -1] >> spare).any()) or not CHANNEL_FORMS.of(question.channel).valid(
        question.channel, codes
    ):
        raise RejectedReport("range", "a report has a value outside the range of this question")
    return rows


def _total(reports: int, sums: Ints | Sequence[int]) -> tuple[int, Sequence[int]]:
    return reports, tuple(int(total) for total in sums)


def _by_window(channel: Channel, codes: Bytes, windows: Places, count: int) -> Totals:
    form = CHANNEL_FORMS.of(channel)
    if count == 1:
        return [_total(len(codes), form.count(channel, codes))]
    chosen = (codes[windows == window] for window in range(count))
    return [_total(len(those), form.count(channel, those)) for those in chosen]


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
    # Windows have at most six bits: shifted by up to seven, they reach into one more byte.
    for place, part in enumerate(_bytes_of(windows << shift)):
        if whole + place < rows.shape[1]:
            rows[:, whole + place] |= part
    return rows


def _bytes_of(numbers: Places) -> Iterator[Bytes]:
    yield (numbers & 255).astype(np.uint8)
    yield (numbers >> 8).astype(np.uint8)


def _parted(question: Question, rows: Bytes) -> tuple[Bytes, Places]:
    """The codes and the windows of payloads."""
    bits = question.channel.value_bits
    whole, shift = divmod(bits, 8)
    codes = rows[:, : (bits + 7) // 8]
    if question.lens.window_count == 1:
        return codes, np.broadcast_to(np.intp(0), len(rows))
    above = [rows[:, place].astype(np.intp) << 8 * (place - whole) for place in range(whole, rows.shape[1])]
    codes = codes.copy()
    if shift:
        codes[:, -1] &= (1 << shift) - 1
    return codes, np.asarray(sum(above) >> shift, dtype=np.intp)
