"""Scripts for whoever writes a device: questions, records, answers, reports, rounds."""

from __future__ import annotations

from collections.abc import Sequence

from dame.audit.probe import far_noise
from dame.device.questions import Measure, PlaceVote, Question, SizeVote, Vote
from dame.device.randomisers import DiscreteLaplace, OneBit, UnaryCode
from dame.device.reports import report_bytes, value_range
from vectors.outcomes import (
    Document,
    answer_operation,
    decode_outcome,
    outcome,
    question_outcome,
    round_outcome,
    summary_outcome,
    tally_outcome,
)

LARGEST = 2**64 - 1


def vote_questions() -> dict[str, Question]:
    """Votes with and without neighbours, with one bin, with borders that no double hits, in odd units."""
    return {
        "paper": Vote(
            study="vectors", round=0, alpha=1.0, bins=8, width=0.25, neighbours=1, min_size=3,
            code=UnaryCode.symmetric(1.0, marks=3),
        ),
        "one-hot": Vote(
            study='Études "α" \\ 😀', round=3, alpha=22 / 35, low=0.0, high=10.0, bins=10, width=0.2, min_size=2,
            code=UnaryCode.optimised(22 / 35),
        ),
        "single-bin": Vote(
            study="vectors", round=0, alpha=1e-6, bins=1, width=2.5, code=UnaryCode.optimised(1e-6),
        ),
        "wide": Vote(
            study="vectors", round=63, alpha=32.0, low=-1e16, high=1e22, bins=19, width=1 / 9, origin=-0.75,
            neighbours=2, min_size=1, code=UnaryCode.symmetric(32.0, marks=5),
        ),
    }  # fmt: skip


def size_questions() -> dict[str, Question]:
    """Votes for classes of sizes: several classes in odd units, and a single one."""
    return {
        "classes": SizeVote(
            study="vectors", round=0, alpha=1.0, low=0.0, high=10.0, bins=5, code=UnaryCode.optimised(1.0),
        ),
        "one-class": SizeVote(study="vectors", round=0, alpha=22 / 35, bins=1, code=UnaryCode.optimised(22 / 35)),
    }  # fmt: skip


def bit_questions() -> dict[str, Question]:
    """Single bits: over the whole range, in a window with every kind of weight, with a dither."""
    return {
        "whole-range": Measure(
            study="vectors", round=0, alpha=0.5, low=-40.0, high=85.0, centre=0.0, left=-1.0, right=1.0, cap=1.0,
            noise=OneBit.spending(0.5),
        ),
        "window": Measure(
            study="vectors", round=1, alpha=3.0, centre=0.21, left=-2.0, right=2.0, least_weight=0.8,
            noise=OneBit.spending(3.0),
        ),
        "between": Measure(
            study="vectors", round=1, alpha=8.0, low=1e-7, high=1e-5, centre=-0.4, left=-1.5, right=3.25, cap=6.5,
            between_sd=0.3, noise=OneBit.spending(8.0),
        ),
        "dithered": Measure(
            study="vectors", round=2, alpha=1.0, centre=0.125, left=-1.25, right=1.25, dither=0.1,
            noise=OneBit.spending(1.0),
        ),
    }  # fmt: skip


def laplace_questions() -> dict[str, Question]:
    """Noisy grid points: a fine grid, a coarse one, and the widest noise."""
    return {
        "fine": Measure(
            study="vectors", round=1, alpha=1.0, centre=0.3, left=-4.0, right=2.8, cap=16.0,
            noise=DiscreteLaplace.spending(1.0),
        ),
        "coarse": Measure(
            study="vectors", round=0, alpha=3.0, centre=0.0, left=-1.0, right=1.0, cap=1.0,
            noise=DiscreteLaplace.spending(3.0, steps=10),
        ),
        "widest": Measure(
            study="vectors", round=0, alpha=1e-6, centre=0.0, left=-1.0, right=1.0, cap=1.0,
            noise=DiscreteLaplace.spending(1e-6, steps=2**24),
        ),
    }  # fmt: skip


def all_questions() -> dict[str, Question]:
    """Every question of these scripts by a name of its own."""
    groups = {"vote": vote_questions(), "bit": bit_questions(), "laplace": laplace_questions()}
    return {f"{group}-{name}": question for group, named in groups.items() for name, question in named.items()}


# --- questions


def question_script() -> list[Document]:
    """Questions and their identities, then documents that must be refused."""
    good = [question.to_json() for question in all_questions().values()]
    good.append(good[4] | {"alpha": 1, "centre": -0.0, "noise": good[7]["noise"]})
    return [
        {"op": "question", "document": document, "expect": outcome(lambda d=document: question_outcome(d))}
        for document in [*good, *_bad_questions(good[0], good[4], good[8])]
    ]


def _bad_questions(vote: Document, bit: Document, laplace: Document) -> list[object]:
    generous = {"yes": "9000000000000000", "no": "7000000000000000"}
    thresholds = [
        {"yes": "8AC7230489E80000", "no": "7000000000000000"}, {"yes": "800", "no": "7ff"}, generous,
        {"yes": "7000000000000000", "no": "8000000000000000"}, {"yes": "8000000000000000", "no": "0000000000000000"},
        {"yes": 1, "no": 2}, {"yes": "8000000000000000"}, None,
    ]  # fmt: skip
    noises = [
        {"kind": "gauss", "low": "1", "high": "2"}, {"kind": "one-bit", "low": "1000000000000000"},
        {"kind": "one-bit", "low": "0000000000000001", "high": "ffffffffffffffff"}, {"kind": "laplace", "steps": 10},
        {"kind": "laplace", "steps": 10, "scale": 9}, {"kind": "laplace", "steps": 0, "scale": 9},
        {"kind": "laplace", "steps": 2**24 + 1, "scale": 2**44}, "one-bit",
    ]  # fmt: skip
    return [
        *(vote | change for change in _bad_votes()),
        *(vote | {"code": code} for code in thresholds),
        *(bit | change for change in _bad_measures()),
        *(bit | {"noise": noise} for noise in noises),
        laplace | {"dither": 0.5},
        *(bit | {"dither": 0.5, "arms": arms} for arms in (2, 4)),
        bit | {"borders": [-1.0, 0.0, 1.0]},
        vote | {"arms": 4},
        {key: value for key, value in vote.items() if key != "min_size"},
        {key: value for key, value in bit.items() if key != "cap"},
        {},
        [],
        "vote",
    ]


def _bad_votes() -> list[Document]:
    return [
        {"kind": "poll"}, {"kind": None}, {"version": 2}, {"version": "1"}, {"version": True}, {"comment": "hello"},
        {"study": ""}, {"study": "x" * 129}, {"study": "line\nfeed"}, {"study": 7}, {"round": -1}, {"round": 64},
        {"round": "0"}, {"alpha": 0}, {"alpha": 9e-7}, {"alpha": 32.5}, {"alpha": "1"}, {"alpha": True},
        {"alpha": None}, {"alpha": 0.9}, {"low": 1.0}, {"low": 2.0}, {"high": 1e101}, {"low": None}, {"bins": 0},
        {"bins": 2**20 + 1}, {"bins": 2.5}, {"width": 0}, {"width": 1e13}, {"origin": 1.5}, {"neighbours": 17},
        {"neighbours": -1}, {"neighbours": 2}, {"min_size": 0}, {"min_size": 2**63}, {"bins": [8]},
    ]  # fmt: skip


def _bad_measures() -> list[Document]:
    return [
        {"centre": 1.5}, {"left": 1.0, "right": 1.0}, {"left": 2.0}, {"left": -1e13}, {"cap": 0}, {"cap": "none"},
        {"between_sd": -0.1}, {"between_sd": 1.5}, {"least_weight": -1}, {"dither": 3.0}, {"dither": -0.5},
        {"alpha": 0.25}, {"bins": 8},
    ]  # fmt: skip


# --- records


def record_script() -> list[Document]:
    """Records and their means: clipping, rounding, order, large and tiny bounds; and lists that must be refused."""
    thirds = [index / 3 for index in range(-5, 6)]
    lists: list[tuple[float, float, Sequence[object]]] = [
        (-1.0, 1.0, [0.0]), (-1.0, 1.0, [-1.0, 1.0]), (-1.0, 1.0, [0.1, 0.2, 0.3]), (-1.0, 1.0, [0.3, 0.2, 0.1]),
        (-1.0, 1.0, [-7.5, 1e308, -1e308]), (0.0, 10.0, [0, 10, 5, 3]), (0.0, 10.0, [1e-9, 2.5e-9, 9.999999999]),
        (0.0, 1.0, [2.0**-31, 3 * 2.0**-32, 2.0**-32, 5e-324]), (-273.15, 5e6, [36.6, 37.2, 41.0, 12.0]),
        (1e-7, 1e-5, [3.3e-6, 1.1e-6]), (-1e100, 1e100, [1e99, -3e98, 12.0]), (-1.0, 1.0, thirds),
        (0.1, 0.7, thirds), (5.0, 6.0, [5.5] * 100 + [5.25]),
    ]  # fmt: skip
    bad: list[Sequence[object]] = [[], [None], [0.5, "0.5"], ["nan"], [[0.5]], [{}]]
    return [
        {
            "op": "summarise",
            "low": low,
            "high": high,
            "records": list(records),
            "expect": outcome(lambda given=(low, high, records): summary_outcome(*given)),
        }
        for low, high, records in [*lists, *((-1.0, 1.0, records) for records in bad)]
    ]


# --- answers


def vote_answers() -> list[Document]:
    """Votes: coins at the thresholds, means on borders and at the ends, people who may not vote."""
    script = []
    for name, question in vote_questions().items():
        assert isinstance(question, Vote)
        enough, code = question.min_size, question.code
        means = [-1.0, 1.0, question.origin + question.width, question.origin + 2 * question.width, 0.3]
        for seed, mean in enumerate(means):
            script.append(answer_operation(name, question, alike(question, mean, enough), seed))
        for word in (0, code.no - 1, code.no, code.yes - 1, code.yes, LARGEST):
            script.append(answer_operation(name, question, alike(question, 0.1, enough), 0, [word] * question.bins))
        if enough > 1:
            script.append(answer_operation(name, question, alike(question, 1.0, enough - 1), 5))
    return script


def size_answers() -> list[Document]:
    """Votes for sizes: both ends of the classes, more records than the last one asks for, coins at the thresholds."""
    script = []
    for name, question in size_questions().items():
        assert isinstance(question, SizeVote)
        for seed, size in enumerate((1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 100)):
            script.append(answer_operation(name, question, alike(question, 0.1, size), seed))
        for word in (0, question.code.no - 1, question.code.no, question.code.yes - 1, question.code.yes, LARGEST):
            script.append(answer_operation(name, question, alike(question, 0.1, 6), 0, [word] * question.bins))
    return script


def size_vote_refusals() -> list[Document]:
    """Votes for sizes that must be refused."""
    good = size_questions()["classes"].to_json()
    changes: list[Document] = [
        {"bins": 0}, {"bins": 2**20 + 1}, {"width": 0.25}, {"min_size": 1}, {"neighbours": 0}, {"alpha": 0.9},
        {"kind": "vote"}, {"version": 2}, {"code": None}, {"low": 10.0},
    ]  # fmt: skip
    documents = [*(good | change for change in changes), {key: good[key] for key in good if key != "bins"}]
    return [
        {"op": "question", "document": document, "expect": outcome(lambda d=document: question_outcome(d))}
        for document in [*(question.to_json() for question in size_questions().values()), *documents]
    ]


def bit_answers() -> list[Document]:
    """Single bits: both ends, the middle, many records, and coins right at the threshold."""
    script = []
    for name, question in bit_questions().items():
        assert isinstance(question, Measure)
        people = [(-1.0, 1), (1.0, 1), (0.0, 1), (0.2, 3), (-0.37, 30), (question.centre, 9), (0.9, 200)]
        for seed, (mean, size) in enumerate(people):
            drawn = answer_operation(name, question, alike(question, mean, size), seed)
            threshold = int(str(drawn["expect"]["threshold"]), 16)  # type: ignore[index]
            arm = [seed % 2 * LARGEST] if question.dither else []
            script += [drawn, answer_operation(name, question, alike(question, mean, size), 0, [*arm, threshold - 1])]
            script.append(answer_operation(name, question, alike(question, mean, size), 0, [*arm, threshold]))
    return script


def laplace_answers() -> list[Document]:
    """Noisy grid points: common noise, zero drawn with a minus sign, and tails that are clamped."""
    script = []
    minus_zero = [0, 0, 0, 1 << 63, LARGEST]
    for name, question in laplace_questions().items():
        assert isinstance(question, Measure)
        for seed, (mean, size) in enumerate([(-1.0, 1), (1.0, 1), (0.1, 4), (0.33, 100), (-0.5, 17)]):
            script.append(answer_operation(name, question, alike(question, mean, size), seed))
        for negative in (False, True):
            script.append(answer_operation(name, question, alike(question, 0.5, 2), 0, far_noise(60, negative)))
        script.append(answer_operation(name, question, alike(question, 0.5, 2), 7, minus_zero))
    return script


def alike(question: Question, mean: float, size: int) -> list[object]:
    """Records with about this mean on the inner scale, in the units of the question, slightly different."""
    middle = question.low + (mean + 1) * (question.high - question.low) / 2
    step = (question.high - question.low) * 2.0**-12
    return [middle + step * (index - (size - 1) / 2) for index in range(size)]


# --- reports


def report_script(questions: dict[str, Question]) -> list[Document]:
    """Encoded reports: the ends of the range, and bytes that must be refused."""
    script: list[Document] = []
    for name, question in questions.items():
        for encoded in _encodings(question):
            expect = outcome(lambda q=question, e=encoded: decode_outcome(q, e))
            script.append({"op": "decode", "question": name, "report": encoded.hex(), "expect": expect})
        reports = [*_encodings(question), *_encodings(question)[:2]]
        script.append(
            {
                "op": "tally",
                "question": name,
                "reports": [encoded.hex() for encoded in reports],
                "expect": tally_outcome(question, reports),
            }
        )
    return script


def _encodings(question: Question) -> list[bytes]:
    low, high = value_range(question)
    size = report_bytes(question) - 8
    tag = bytes.fromhex(str(question_outcome(question.to_json())["tag"]))
    order, signed = ("big", True) if low < 0 else ("little", False)
    valid, wrong = [low, high, (low + high) // 3], [low - 1, high + 1]
    if isinstance(question, PlaceVote):
        # Exactly one place is marked: not none, not all, not two.
        valid, wrong = [1 << place for place in range(question.bins)], [0, high, 3, high + 1]
    good = [value.to_bytes(size, order, signed=signed) for value in valid]
    past = [value for value in wrong if _fits(value, size, signed)]
    outside = [value.to_bytes(size, order, signed=signed) for value in past]
    return [
        *(tag + payload for payload in (*good, *outside)),
        *(other + good[0] for other in (bytes(8), tag[:-1] + bytes([tag[-1] ^ 1]))),
        *(b"", tag, tag + good[0] + b"\0", tag + good[0][1:]),
    ]


def _fits(value: int, size: int, signed: bool) -> bool:
    return -(1 << 8 * size - 1) <= value < 1 << 8 * size - 1 if signed else 0 <= value < 1 << 8 * size


# --- rounds


def round_script() -> list[Document]:
    """Who answers in which round."""
    cases = [
        ("vectors", shares, participant)
        for shares in ([1.0], [0.5, 0.5], [0.1, 0.2, 0.7], [0.03, 0.094, 0.876], [1e-6, 1.0], [1 / 3, 1 / 3, 1 / 3])
        for participant in ("ada", "grace", "person-17", "Grüße 😀", "", "two\nlines")
    ]
    cases += [("ab", [0.5, 0.5], "c"), ("a", [0.5, 0.5], "bc")]
    return [
        {
            "op": "round",
            "study": study,
            "shares": shares,
            "participant": participant,
            "expect": round_outcome(study, shares, participant),
        }
        for study, shares, participant in cases
    ]


def bad_answers(name: str) -> list[Document]:
    """Records that a device must refuse, whatever its coins."""
    return [
        {
            "op": "answer",
            "question": name,
            "records": records,
            "coins": "00" * 64,
            "expect": {"error": {"kind": "BadRecords"}},
        }
        for records in ([], [None], ["1"], [0.5, [0.5]])
    ]
