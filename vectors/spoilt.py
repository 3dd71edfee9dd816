"""Documents of good questions, spoilt in one place."""

from __future__ import annotations

from dame.device.questions import Question
from vectors.outcomes import Document


def changed_lens(question: Question, change: Document) -> Document:
    """The document of a question, with other fields in its lens."""
    return question.to_json() | {"lens": question.lens.to_json() | change}


def lacking_lens(question: Question) -> list[Document]:
    """Documents of a question, in each of which the lens lacks a field."""
    lens = question.lens.to_json()
    return [question.to_json() | {"lens": one} for one in lacking(lens)]


def changed_channel(question: Question, change: Document) -> Document:
    """The document of a question, with other fields in its channel."""
    return question.to_json() | {"channel": question.channel.to_json() | change}


def lacking_channel(question: Question) -> list[Document]:
    """Documents of a question, in each of which the channel lacks a field."""
    return [question.to_json() | {"channel": one} for one in lacking(question.channel.to_json())]


def lacking(document: Document) -> list[Document]:
    """Copies of a document, in each of which one key is missing."""
    return [{name: value for name, value in document.items() if name != key} for key in document]
