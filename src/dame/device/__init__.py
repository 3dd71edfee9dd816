"""The device: the only code that touches private data. It imports the standard library and nothing else.

question = dame.device.question_from_json(document)
report = dame.device.answer(question, records)          # or Ledger(path).answer(question, records)
payload = report.encode(question)
"""

from dame.device.answering import answer
from dame.device.assignment import participant_hash, slot_of
from dame.device.channels import CHANNELS, Bits, Channel, Choice, Comparing, Laplace
from dame.device.ledger import Ledger
from dame.device.lenses import LENSES, Bins, Lens, Reading, SizeClasses, Window, Windows
from dame.device.questions import Question, Slot, question_from_json, question_id
from dame.device.reports import Report, report_bytes
from dame.device.statistics import STATISTICS, Drawn, Indicator, Present, Square, Statistic, Value
from dame.device.stripes import Level, Stripes

__all__ = [
    "CHANNELS",
    "LENSES",
    "STATISTICS",
    "Bins",
    "Bits",
    "Channel",
    "Choice",
    "Comparing",
    "Drawn",
    "Indicator",
    "Laplace",
    "Ledger",
    "Lens",
    "Level",
    "Present",
    "Question",
    "Reading",
    "Report",
    "SizeClasses",
    "Slot",
    "Square",
    "Statistic",
    "Stripes",
    "Value",
    "Window",
    "Windows",
    "answer",
    "participant_hash",
    "question_from_json",
    "question_id",
    "report_bytes",
    "slot_of",
]
