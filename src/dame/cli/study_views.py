"""What `dame study` prints of a study: rows of names and values, made of the service's documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = tuple[str, str]
Document = Mapping[str, Any]


def status_rows(status: Document) -> list[Row]:
    """How far a study is."""
    refused = ", ".join(f"{count:,} {reason}" for reason, count in status["rejected"].items())
    return [
        ("state", f"{status['state']}; {status['invited']:,} people invited"),
        *(row for target in status["targets"] for row in _target_rows(target, status["rounds"])),
        *((f"{status['group']} {one['group']}", _group_words(one)) for one in status["groups"]),
        ("refused", refused or "none"),
        *(() if status["result"] is None else result_rows(status["result"])),
    ]


def _target_rows(target: Document, rounds: Sequence[Document]) -> list[Row]:
    shift = target["shift_by_1_percent"]
    words = "is being worked out" if shift is None else f"up to {shift:.3g}"
    alone = len(target["machines"]) == 1
    return [
        (f"target {target['name']}", target["words"]),
        *(
            (f"  round {slot + 1}", _round_words("" if alone else f"{machine['name']}, ", rounds[slot]))
            for machine in target["machines"]
            for slot in machine["rounds"]
        ),
        ("  shift by 1 % of malicious users", words),
        *(() if target["estimate"] is None else [("  estimate", _estimate_words(target["estimate"]))]),
    ]


def _round_words(machine: str, one: Document) -> str:
    return f"{machine}{one['name']}, {one['state']}: {one['reports']:,} reports of {one['invited']:,} invited"


def _group_words(one: Document) -> str:
    return f"{one['invited']:,} invited, {one['counted']:,} reports in closed rounds"


def result_rows(result: Document) -> list[Row]:
    """What a study tells."""
    groups, differences = result.get("groups", ()), result.get("differences", ())
    return [
        *((one["name"], _estimate_words(one)) for one in result["targets"]),
        *((f"{one['name']}, {group['group']}", _estimate_words(one)) for group in groups for one in group["targets"]),
        *((_difference_name(one, len(groups)), _estimate_words(one)) for one in differences),
        *_privacy_rows(result.get("privacy")),
        *(("note", f"{one['name']}: {note}") for one in result["targets"] for note in one["notes"]),
    ]


def _privacy_rows(privacy: Document | None) -> list[Row]:
    if privacy is None:
        return []
    words = (
        f"alpha {privacy['alpha']:g} for whoever sees a report; for a reader of this result who sees no single upload, "
        f"epsilon {privacy['central_epsilon']:.3g} at delta {privacy['central_delta']:g}"
    )
    return [("privacy of a person", words)]


def _difference_name(one: Document, groups: int) -> str:
    # Two groups are the arms of an experiment, or as good as that.
    return f"{one['name']}, {'effect' if groups == 2 else 'difference'}: {one['group']} less {one['than']}"


def _estimate_words(one: Document) -> str:
    low, high = one["interval"]
    error = f"standard error {one['standard_error']:.3g}"
    return f"{one['estimate']:.6g}, {one['level']:.0%} interval {low:.6g} to {high:.6g}, {error}"
