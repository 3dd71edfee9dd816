"""Reports of an edge site as a Parquet file: a random report id and the bytes of a report, in the order of the ids.

Neither the rows nor their order say who sent what: ids are drawn afresh for every file. Where people have public
groups, a third column names each one's. The file names its question in its metadata, and every report does so again in
its first bytes, so files may be put together or taken apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dame.device.questions import Question, question_id
from dame.device.reports import report_bytes
from dame.engines.answers import Addressed
from dame.engines.people import People
from dame.errors import InvalidInput, MissingExtra
from dame.planning.files import drafted
from dame.vectorised.keyed import Keys, Lanes
from dame.vectorised.unary import Bytes
from dame.vectorised.words import SecureWords, WordArray

if TYPE_CHECKING:
    import pyarrow as pa

ID_BYTES = 16
ROWS_IN_GROUP = 2**20
BYTES_IN_GROUP = 2**27
QUESTION_KEY = b"dame.question"
COINS_KEY = b"dame.coins"
GROUP = "group"
"""The column with the names of groups."""


def write_reports(path: Path, addressed: Addressed, people: Iterable[People]) -> int:
    """The number of reports written: one of each person who is asked.

    A file that exists is left alone: answering the same question twice with fresh coins would spend α twice.
    """
    if path.exists():
        raise InvalidInput("out", str(path), "a file that does not exist yet: a second answer would spend α again")
    arrow()  # complain before the work, not after it
    rows = _all_reports(addressed, people)
    with drafted(path) as draft:
        _write(draft, addressed, rows)
    return len(rows.reports)


def write_encoded(path: Path, question: Question, reports: Bytes, groups: NDArray[np.str_] | None = None) -> None:
    """Writes reports that people sent, a row each, under fresh ids and in their order; `groups` names each one's."""
    arrow()
    ids = SecureWords().take(2 * len(reports)).reshape(-1, 2)
    order = np.argsort(ids[:, 0])
    with drafted(path) as draft:
        _write(
            draft,
            Addressed(question=question),
            _Rows(ids[order], reports[order], None if groups is None else groups[order]),
        )


class _Rows(NamedTuple):
    """Rows of a file: ids as pairs of words, reports, and the names of groups, where people have any."""

    ids: WordArray
    reports: Bytes
    groups: NDArray[np.str_] | None


def _all_reports(addressed: Addressed, parts: Iterable[People]) -> _Rows:
    """The rows, in the order of the ids."""
    made = [
        _Rows(_ids(addressed, people), reports, _groups(people))
        for part in parts
        for people, reports in addressed.reports(part)
    ]
    ids = np.concatenate([np.empty((0, 2), np.uint64), *(rows.ids for rows in made)])
    reports = np.concatenate([np.empty((0, report_bytes(addressed.question)), np.uint8), *(r.reports for r in made)])
    named = [rows.groups for rows in made if rows.groups is not None]
    order = np.argsort(ids[:, 0])
    return _Rows(ids[order], reports[order], np.concatenate(named)[order] if named else None)


def _groups(people: People) -> NDArray[np.str_] | None:
    return None if people.codes is None else np.array(people.groups, np.str_)[people.codes]


def _ids(addressed: Addressed, people: People) -> WordArray:
    if addressed.seed is None:
        return SecureWords().take(2 * len(people)).reshape(-1, 2)
    question = addressed.question
    keys = Keys.of("ids", addressed.seed, question.study, question.target, question.round)
    return Lanes(keys, people.hashes).words(0, 2)


def _write(path: Path, addressed: Addressed, rows: _Rows) -> None:
    pa, parquet = arrow()
    ids, reports, groups = rows
    schema = report_schema(addressed.question, seeded=addressed.seed is not None, grouped=groups is not None)
    # Random bytes neither repeat nor shrink.
    settings = {"compression": "NONE", "use_dictionary": False, "write_page_checksum": True, "write_statistics": False}
    step = min(ROWS_IN_GROUP, max(BYTES_IN_GROUP // reports.shape[1], 1))
    with parquet.ParquetWriter(path, schema, **settings) as writer:
        for start in range(0, len(reports), step):
            some = slice(start, start + step)
            columns = [_binary(ids[some].astype(">u8").view(np.uint8)), _binary(reports[some])]
            if groups is not None:
                columns.append(pa.array(groups[some].tolist(), pa.string()))
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def report_schema(question: Question, *, seeded: bool, grouped: bool = False) -> pa.Schema:
    """The columns of a file of reports, and what its metadata say."""
    pa, _ = arrow()
    fields = [
        pa.field("report_id", pa.binary(ID_BYTES), nullable=False),
        pa.field("report", pa.binary(report_bytes(question)), nullable=False),
        *([pa.field(GROUP, pa.string(), nullable=False)] if grouped else []),
    ]
    coins = b"seeded: for tests, these reports protect nobody" if seeded else b"secure"
    return pa.schema(fields, metadata={QUESTION_KEY: question_id(question).encode(), COINS_KEY: coins})


def _binary(rows: Bytes) -> pa.Array:
    pa, _ = arrow()
    rows = np.ascontiguousarray(rows)
    return pa.Array.from_buffers(pa.binary(rows.shape[1]), len(rows), [None, pa.py_buffer(rows)])


def arrow() -> tuple[Any, Any]:
    """The modules pyarrow and pyarrow.parquet."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("files of reports", "engine") from None
    return pa, parquet
