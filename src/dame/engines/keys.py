"""The text of a user's key, from which her public hash is taken: the same on a phone, in DuckDB, Spark and numpy.

One column: integers in decimal, texts as they are, UUIDs in their canonical lower-case form. Several columns: each
text after its length in UTF-8 bytes and a colon, as in `2:DE4:1234`, which no other columns can give.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

import numpy as np

from dame.device.assignment import participant_hash
from dame.engines.people import Hashes
from dame.errors import InvalidInput

Key = int | str | uuid.UUID


def key_text(columns: Sequence[Key]) -> str:
    """The text of a key."""
    texts = [_column_text(column) for column in columns]
    return texts[0] if len(texts) == 1 else "".join(f"{len(text.encode())}:{text}" for text in texts)


def key_hashes(study: str, keys: Iterable[Sequence[Key]]) -> Hashes:
    """The public hash of each key in a study."""
    return np.array([participant_hash(study, key_text(key)) for key in keys], dtype=np.uint64)


def group_text(group: object) -> str:
    """The name of a public group: a boolean is `true` or `false`, anything else the text of a key."""
    return str(group).lower() if isinstance(group, bool) else _column_text(group)  # type: ignore[arg-type]


def _column_text(column: Key) -> str:
    if isinstance(column, bool) or not isinstance(column, (int, str, uuid.UUID)):
        raise InvalidInput("key", type(column).__name__, "an integer, a text or a UUID")
    return str(column)
