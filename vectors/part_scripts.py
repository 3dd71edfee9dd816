"""Scripts for whoever writes a device: bits on one of a few parts of the range."""

from __future__ import annotations

from itertools import pairwise

from dame.device.questions import PartMeasure, Question
from dame.device.randomiser_codec import noise_json
from dame.device.randomisers import OneBit
from dame.device.records import summarise
from vectors.device_scripts import LARGEST, alike
from vectors.outcomes import Document, answer_operation, outcome, question_outcome


def part_questions() -> dict[str, Question]:
    """Two, four and eight parts: all of the range or some of it, of the same width or not, narrow, in odd units."""
    return {
        "halves": PartMeasure(
            study="vectors", round=0, alpha=1.0, borders=(-1.0, 0.0, 1.0), noise=OneBit.spending(1.0),
        ),
        "two": PartMeasure(
            study='Études "α" \\ 😀', round=3, alpha=22 / 35, low=0.0, high=10.0, borders=(-0.5, 0.125, 0.25),
            noise=OneBit.spending(22 / 35),
        ),
        "quarters": PartMeasure(
            study="vectors", round=0, alpha=0.6, low=-60.0, high=120.0, borders=(-1.0, -0.5, 0.0, 0.5, 1.0),
            noise=OneBit.spending(0.6),
        ),
        "four": PartMeasure(
            study="vectors", round=1, alpha=8.0, low=1e-7, high=1e-5, borders=(-0.9, -1 / 3, 0.1, 0.7, 1.0),
            noise=OneBit.spending(8.0),
        ),
        "eight": PartMeasure(
            study="vectors", round=63, alpha=1e-6, borders=tuple(0.1 * border**3 / 64 - 0.3 for border in range(9)),
            noise=OneBit.spending(1e-6),
        ),
        "narrow": PartMeasure(
            study="vectors", round=2, alpha=32.0, low=-1e16, high=1e22, borders=(-1e-5, 0.0, 1e-12, 1e-5, 0.9),
            noise=OneBit.spending(32.0),
        ),
        "frugal": PartMeasure(
            study="vectors", round=2, alpha=2.0, borders=(-1.0, -0.75, 1.0), noise=OneBit(low=2**61, high=2**62),
        ),
    }  # fmt: skip


def part_measure_documents() -> list[Document]:
    """Bits on parts and their identities, then documents that must be refused."""
    good = {name: question.to_json() for name, question in part_questions().items()}
    two = good["two"]
    documents = [
        *good.values(),
        two | {"borders": [-1, 0, 1]},
        two | {"borders": [-0.5, -0.0, 0.5], "alpha": 1, "round": 0},
        *({**two, "borders": borders} for borders in _bad_borders()),
        *(two | change for change in _bad_changes()),
        *({key: two[key] for key in two if key != missing} for missing in ("borders", "noise", "alpha")),
    ]
    return [
        {"op": "question", "document": document, "expect": outcome(lambda d=document: question_outcome(d))}
        for document in documents
    ]


def _bad_borders() -> list[object]:
    wrong_counts = [[border / 16 for border in range(count)] for count in (0, 1, 2, 4, 6, 7, 8, 10, 17)]
    return [
        *wrong_counts, None, 3, "0.5", {"0": -0.5, "1": 0.125, "2": 0.25},
        [-0.5, 0.25, 0.125], [0.25, 0.125, -0.5], [-0.5, 0.125, 0.125], [-0.0, 0.0, 0.25], [0.0, 9e-13, 0.25],
        [-1.5, 0.125, 0.25], [-0.5, 0.125, 1.0000000000000002], [-0.5, "0.125", 0.25], [-0.5, None, 0.25],
        [-0.5, True, 0.25], [-0.5, [0.125], 0.25],
    ]  # fmt: skip


def _bad_changes() -> list[Document]:
    """Noise that spends more than α, or that is no bit; and what such a question does not say."""
    honest = OneBit.spending(22 / 35)
    noises: list[object] = [
        noise_json(OneBit(low=honest.low - 1, high=honest.high + 1)), noise_json(OneBit(low=1, high=2)),
        noise_json(OneBit(low=2**64 - 2, high=2**64 - 1)), {"kind": "laplace", "steps": 10, "scale": 1000},
        {"kind": "one-bit", "low": "9000000000000000", "high": "8000000000000000"},
        {"kind": "one-bit", "low": "8000000000000000"}, {"low": 1, "high": 2}, "one-bit", None,
    ]  # fmt: skip
    changes: list[Document] = [
        {"alpha": 0.62}, {"alpha": 33.0}, {"version": 2}, {"kind": "measure"}, {"kind": "place-vote"},
        {"kind": "parts"}, {"arms": 2}, {"cap": 1.0}, {"dither": 0.5}, {"centre": 0.0}, {"places": [-0.5, 0.125, 0.25]},
        {"low": 10.0}, {"round": 64}, {"study": ""},
    ]  # fmt: skip
    return [*({"noise": noise} for noise in noises), *changes]


def part_answers() -> list[Document]:
    """Means at, between and beyond the borders; in every part the first and the last word that draw it, and coins on
    both sides of the threshold.
    """
    script = []
    for name, question in part_questions().items():
        assert isinstance(question, PartMeasure)
        part = (LARGEST + 1) // question.arms
        for seed, (mean, size) in enumerate(_people(question)):
            records = alike(question, mean, size)
            script.append(answer_operation(name, question, records, seed))
            arm = seed % question.arms
            threshold = question.noise.threshold(
                question.position(summarise(records, question.low, question.high), arm)
            )
            for first, word in ((arm * part, threshold - 1), ((arm + 1) * part - 1, threshold)):
                script.append(answer_operation(name, question, records, 0, [first, word]))
    return script


def _people(question: PartMeasure) -> list[tuple[float, int]]:
    """Means and sizes; the middle and a third of every part among the means."""
    between = [left + (right - left) * part for left, right in pairwise(question.borders) for part in (1 / 2, 1 / 3)]
    means = [-1.0, 1.0, *question.borders, *between]
    return [(mean, 1 + 4 * (index % 3)) for index, mean in enumerate(means)]
