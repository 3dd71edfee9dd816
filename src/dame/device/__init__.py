"""The device: the only code that touches private data. It imports the standard library and nothing else.

question = dame.device.question_from_json(document)
report = dame.device.answer(question, samples)          # or Ledger(path).answer(question, samples)
payload = report.encode(question)
"""

from dame.device.answer import answer
from dame.device.assignment import participant_hash, round_of
from dame.device.ledger import Ledger
from dame.device.questions import (
    Measure,
    PartMeasure,
    PlaceVote,
    Question,
    SizeVote,
    Vote,
    question_from_json,
    question_id,
)
from dame.device.randomisers import DiscreteLaplace, OneBit, OneOfMany, UnaryCode
from dame.device.reports import Report, report_bytes

__all__ = [
    "DiscreteLaplace",
    "Ledger",
    "Measure",
    "OneBit",
    "OneOfMany",
    "PartMeasure",
    "PlaceVote",
    "Question",
    "Report",
    "SizeVote",
    "UnaryCode",
    "Vote",
    "answer",
    "participant_hash",
    "question_from_json",
    "question_id",
    "report_bytes",
    "round_of",
]
