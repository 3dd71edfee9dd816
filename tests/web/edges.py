"""Questions and coins at the edges of what a device accepts and draws, with the outcomes of the Python device."""

from __future__ import annotations

from typing import Any

from dame.device.channels import Bits, Choice, Laplace
from dame.device.exact import WORD
from dame.device.lenses import Bins, Lens, SizeClasses, Windows
from dame.device.questions import Question
from dame.device.statistics import Value
from tests.web.replaying import asked
from vectors import outcomes

HALF = Bits.single(0.5)


def question(lens: Lens, channel: Any, alpha: float = 0.5, **header: Any) -> Question:
    return Question(**{"study": "edges", "round": 0, "alpha": alpha, "lens": lens, "channel": channel, **header})


BIT = question(Windows.whole_range(), HALF)
VOTE = question(Bins(bins=8, width=0.25, neighbours=1, min_size=7), Bits.symmetric(0.5, bins=8, marks=3))
CHOICE = question(SizeClasses(classes=3), Choice.spending(0.5, 3))
NOISE = question(Windows.whole_range(), Laplace.spending(0.5, steps=1000))


def changed(asked_: Question, part: str | None = None, /, **fields: object) -> dict:
    """The document of a question with other fields, in its header or in one of its parts."""
    document = asked_.to_json()
    return {**document, **fields} if part is None else {**document, part: {**document[part], **fields}}


def thresholds(channel: Any) -> dict[str, object]:
    return {name: channel.to_json()[name] for name in ("yes", "no")}


def windows(*given: tuple[float, ...]) -> dict:
    return changed(BIT, "lens", windows=[list(window) for window in given])


WHOLE = (0.0, -1.0, 1.0)
DOCUMENTS = [
    *(changed(BIT, alpha=alpha) for alpha in (0.49, 40.0, 1)),
    *(changed(BIT, round=round_) for round_ in (63, 64, 1.0)),
    *(changed(BIT, target="t" * length) for length in (64, 65, 0)),
    *(changed(BIT, "statistic", low=low) for low in (-0.0, -1e18, -1e-5, 1.0, -1e101)),
    changed(BIT, study="naïve 🎈"),
    changed(BIT, "channel", yes="8" + "0" * 15, no="8" + "0" * 15),
    changed(BIT, "channel", yes=f"{HALF.yes:016X}", no=f"{HALF.no:016X}"),
    changed(BIT, "channel", **thresholds(Bits.single(0.51))),
    changed(BIT, "channel", bins=2),
    *(windows(*[WHOLE] * count) for count in (0, 3, 64, 128)),
    *(windows((centre, -1.0, 1.0)) for centre in (-3.0, 3.0, 3.5)),
    *(windows((0.0, 0.0, width)) for width in (1e-12, 5e-13, 0.0)),
    windows((0.0, -1.0)),
    windows((0.0, -1.0, 1.0, 2.0)),
    changed(VOTE, "channel", **thresholds(Bits.symmetric(0.5, bins=8, marks=2))),
    changed(VOTE, "lens", bins=9),
    changed(question(Bins(bins=1, width=2.0, min_size=2), HALF), "channel", **thresholds(Bits.single(1.0))),
    changed(question(Bins(bins=1, width=2.0), HALF), "channel", **thresholds(Bits.single(1.0))),
    changed(CHOICE, "channel", **thresholds(Choice.spending(1.0, 3))),
    changed(CHOICE, "channel", **{**thresholds(CHOICE.channel), "yes": f"{CHOICE.channel.yes - 1:016x}"}),
    *(
        changed(CHOICE, lens=Bins(bins=3, width=0.5, neighbours=neighbours, min_size=size).to_json())
        for neighbours, size in ((0, 1), (1, 1), (0, 2))
    ),
    changed(NOISE, "channel", scale=1999),
    changed(NOISE, "channel", scale=2000.0),
    *({**BIT.to_json(), part: {"kind": kind}} for part in ("statistic", "lens", "channel") for kind in ("bits", None)),
]

WEIGHED = question(Windows(windows=((0.25, -2.0, 3.0), (-0.25, -3.0, 2.0)), cap=100.0, least_weight=2.0), HALF)
CAPPED = question(Windows(windows=((0.25, -2.0, 3.0),), cap=2.0, between_sd=0.5), HALF)
LITTLE = question(Windows.whole_range(), Laplace(steps=1, scale=1), alpha=1.0, statistic=Value(low=0.0, high=60.0))
SILENT = question(Bins(bins=1, width=2.0, min_size=2), Laplace.spending(0.5, steps=1000))
ANSWERED = {
    "bit": BIT,
    "vote": VOTE,
    "choice": CHOICE,
    "weighed": WEIGHED,
    "capped": CAPPED,
    "little": LITTLE,
    "silent": SILENT,
}


def _borders(name: str, records: list[float]) -> list[dict]:
    """Answers with words right below and at every end at which an outcome changes."""
    asked_ = ANSWERED[name]
    ends = asked_.channel.ends(asked_.lens.reading(asked_.statistic.summarise(records), 0))
    first = [0] * (asked_.lens.window_count > 1)
    words = [[end[0] - below for end in ends] for below in (0, 1)]
    return [outcomes.answer_operation(name, asked_, records, 0, [*first, *some]) for some in words]


def _operations() -> list[dict]:
    operations = [asked(document) for document in DOCUMENTS]
    for name in ("bit", "vote", "choice", "weighed", "capped"):
        for records in ([0.3], [1 / 3] * 3, [-0.7] * 7, [-1.0] * 8):
            operations += _borders(name, records)
    operations += [outcomes.answer_operation("little", LITTLE, [41.0], seed) for seed in range(12)]
    operations += [outcomes.answer_operation("silent", SILENT, [0.5] * size, size) for size in (1, 2)]
    operations += [
        {"op": "summarise", "statistic": LITTLE.statistic.to_json(), "records": records, "expect": _summary(records)}
        for records in ([1, 2.5, 99], ["5"], [None], [10**400], [])
    ]
    for name, value in (("choice", 3), ("little", 92), ("little", 127), ("bit", WORD % 255)):
        tag = outcomes.question_outcome(ANSWERED[name].to_json())["tag"]
        encoded = bytes.fromhex(tag) + bytes([value])
        expect = outcomes.outcome(lambda n=name, e=encoded: outcomes.decode_outcome(ANSWERED[n], e))
        operations.append({"op": "decode", "question": name, "report": encoded.hex(), "expect": expect})
    return operations


def _summary(records: list) -> dict:
    return outcomes.outcome(lambda: outcomes.summary_outcome(LITTLE.statistic.to_json(), records))


EDGES = {"questions": {name: one.to_json() for name, one in ANSWERED.items()}, "operations": _operations()}
