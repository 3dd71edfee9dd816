"""Scripts for whoever writes a device: votes for one of a few places."""

from __future__ import annotations

from itertools import pairwise

from dame.device.questions import PlaceVote, Question
from dame.device.randomiser_codec import code_json
from dame.device.randomisers import OneOfMany
from dame.device.records import summarise
from vectors.device_scripts import LARGEST, alike
from vectors.outcomes import Document, answer_operation, outcome, question_outcome


def place_questions() -> dict[str, Question]:
    """Two to eight places: at the bounds, far apart, close together, where no double hits them, in odd units."""
    return {
        "two": PlaceVote(study="vectors", round=0, alpha=1.0, places=(-1.0, 1.0), code=OneOfMany.spending(1.0, 2)),
        "three": PlaceVote(
            study='Études "α" \\ 😀', round=3, alpha=22 / 35, low=0.0, high=10.0, places=(-0.5, 0.125, 0.25),
            code=OneOfMany.spending(22 / 35, 3),
        ),
        "four": PlaceVote(
            study="vectors", round=1, alpha=3.0, low=-40.0, high=85.0, places=(-1.0, -1 / 3, 0.1, 0.7),
            code=OneOfMany.spending(3.0, 4),
        ),
        "five": PlaceVote(
            study="vectors", round=1, alpha=8.0, low=1e-7, high=1e-5, places=(-0.75, -0.25, 0.0, 0.25, 1.0),
            code=OneOfMany.spending(8.0, 5),
        ),
        "eight": PlaceVote(
            study="vectors", round=63, alpha=1e-6, places=tuple(0.5 + 0.03 * place for place in range(8)),
            code=OneOfMany.spending(1e-6, 8),
        ),
        "sure": PlaceVote(
            study="vectors", round=2, alpha=32.0, low=-1e16, high=1e22, places=(-0.9, -0.9 + 1e-5, 0.9),
            code=OneOfMany.spending(32.0, 3),
        ),
        "frugal": PlaceVote(
            study="vectors", round=2, alpha=2.0, places=(-1e-5, 0.0, 1e-12, 1e-5), code=OneOfMany.spending(1.5, 4),
        ),
    }  # fmt: skip


def place_vote_documents() -> list[Document]:
    """Votes for places and their identities, then documents that must be refused."""
    good = {name: question.to_json() for name, question in place_questions().items()}
    three = good["three"]
    documents = [
        *good.values(),
        three | {"places": [-1, 0, 1]},
        three | {"places": [-0.5, -0.0, 0.5], "alpha": 1, "round": 0},
        *(three | change for change in _bad_places()),
        *(three | change for change in _bad_codes()),
        *({key: three[key] for key in three if key != missing} for missing in ("places", "code", "alpha")),
    ]
    return [
        {"op": "question", "document": document, "expect": outcome(lambda d=document: question_outcome(d))}
        for document in documents
    ]


def _bad_places() -> list[Document]:
    lists: list[object] = [
        [], [0.0], None, 3, "0.5", {"0": -0.5, "1": 0.125, "2": 0.25},
        [-0.5, 0.25, 0.125], [0.25, 0.125, -0.5], [-0.5, 0.125, 0.125], [-0.0, 0.0, 0.25], [0.0, 9e-13, 0.25],
        [-1.5, 0.125, 0.25], [-0.5, 0.125, 1.0000000000000002], [-0.5, "0.125", 0.25], [-0.5, None, 0.25],
        [-0.5, True, 0.25], [-0.5, [0.125], 0.25], [-0.5, 0.25], [-0.5, 0.125, 0.25, 0.5],
    ]  # fmt: skip
    # One place too many, whose chances would be right.
    nine = {"places": [0.1 * place for place in range(9)], "code": code_json(OneOfMany.spending(22 / 35, 9))}
    return [*({"places": places} for places in lists), nine]


def _bad_codes() -> list[Document]:
    """Chances that do not sum to 1, that spend more than α, or that are none."""
    honest = OneOfMany.spending(22 / 35, 3)
    greedy = {"yes": honest.yes + 2, "no": honest.no - 1}
    pairs = [
        greedy, {"yes": honest.yes + 1, "no": honest.no}, {"yes": honest.yes, "no": honest.no - 1},
        {"yes": honest.yes - 1, "no": honest.no}, {"yes": 2**64 - 2, "no": 1}, {"yes": 2**63, "no": 2**62 + 1},
        {"yes": 2**62, "no": 3 * 2**61}, {"yes": 0, "no": 2**63}, {"yes": 2**64 - 1, "no": 0},
    ]  # fmt: skip
    codes: list[object] = [{name: f"{value:016x}" for name, value in pair.items()} for pair in pairs]
    codes += [{"yes": "8000000000000000"}, {"yes": 1, "no": 2}, "yes", None]
    changes: list[Document] = [
        {"alpha": 0.62}, {"alpha": 33.0}, {"version": 2}, {"kind": "vote"}, {"kind": "size-vote"}, {"kind": "places"},
        {"bins": 3}, {"min_size": 1}, {"width": 2.0}, {"low": 10.0}, {"round": 64}, {"study": ""},
    ]  # fmt: skip
    return [*({"code": code} for code in codes), *changes]


def place_answers() -> list[Document]:
    """Means at, between and beyond the places; and for each of them coins on both sides of every end."""
    script = []
    for name, question in place_questions().items():
        assert isinstance(question, PlaceVote)
        for seed, (mean, size) in enumerate(_people(question)):
            records = alike(question, mean, size)
            script.append(answer_operation(name, question, records, seed))
            if seed % 5 == 0:
                words = [word for end in _ends(question, records) for word in (end - 1, end)]
                script += [answer_operation(name, question, records, 0, [word]) for word in (0, *words, LARGEST)]
    return script


def _people(question: PlaceVote) -> list[tuple[float, int]]:
    """Means and sizes; the middle, a third and a hair beside some place among the means."""
    between = [left + (right - left) * part for left, right in pairwise(question.places) for part in (1 / 2, 1 / 3)]
    beside = [question.places[1] - 2.0**-30, question.places[1] + 2.0**-30]
    means = [-1.0, 1.0, *question.places, *between, *beside]
    return [(mean, 1 + 4 * (index % 2)) for index, mean in enumerate(means)]


def _ends(question: PlaceVote, records: list[object]) -> list[int]:
    person = summarise(records, question.low, question.high)
    return question.code.ends(question.own_bin(person), question.part(person), question.bins)[:-1]
