"""The browser's memory, in a real browser and without a service: one report a study, whatever the question."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.device.examples import HAVE, SHARE, SPREAD, VOTE
from tests.web.needs import WEB

SCRIPT = """async ([asked, atOnce]) => {
  const { openMemory } = await import("/join/memory.js");
  const { answer, parse, questionOf } = await import("/device/index.js");
  const memory = await openMemory();
  const study = asked[0].study;
  await memory.enrol({ study, alpha: asked[0].alpha });
  const keep = async (document) => {
    const question = questionOf(parse(JSON.stringify(document)));
    const hex = Array.from(answer(question, []).bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    const { report } = await memory.keepReport(study, { id: question.id, hex });
    return { drawn: hex, ...report };
  };
  const kept = [];
  if (atOnce) kept.push(...(await Promise.all(asked.map(keep))));
  else for (const document of asked) kept.push(await keep(document));
  const sent = await memory.markSent(study, "first");
  const again = await keep(asked.at(-1));
  return { kept, again, sent, all: await memory.all(), later: await memory.markSent(study, "second") };
}"""
QUESTIONS = [question.to_json() for question in (VOTE, SHARE, SPREAD, HAVE)]
"""Four questions of one study, each about another target."""


class Quiet(SimpleHTTPRequestHandler):
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".js": "text/javascript"}

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def pages() -> Iterator[str]:
    """The address of a server that serves the files of the pages, and nothing else."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(WEB))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("at_once", [False, True], ids=["in turn", "at once"])
def test_questions_about_other_targets_get_the_report_that_is_kept(browser, pages, at_once):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{pages}/icon.svg")
    found = page.evaluate(SCRIPT, [QUESTIONS, at_once])
    context.close()
    assert {question["target"] for question in QUESTIONS} == {"mean", "late", "sd", "have"}
    assert {question["study"] for question in QUESTIONS} == {"sleep"}
    drawn = [one["drawn"] for one in found["kept"]]
    assert len(set(drawn)) == len(QUESTIONS), "each question would have another report"
    (report,) = {(one["id"], one["hex"]) for one in (*found["kept"], found["again"])}
    assert report[1] in drawn
    assert at_once or report[1] == drawn[0]
    (stored,) = found["all"]
    assert (stored["report"]["id"], stored["report"]["hex"]) == report
    assert found["sent"]["sent"] == found["later"]["sent"] == "first"
