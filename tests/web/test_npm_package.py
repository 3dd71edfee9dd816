"""The npm package of the device: packed, installed, and used by a small program in TypeScript."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest

import dame
from dame.device.questions import question_from_json, question_id
from dame.device.reports import Report
from tests.device.examples import HAVE, SHARE, SPREAD, VOTE
from tests.web.needs import DEVICE, ROOT, node, program

QUESTIONS = [VOTE, SHARE, SPREAD, HAVE]
CONSUMER = """
import { answer, decode, parse, participantName, questionOf, respond, slotOf } from "dame-ldp-device";
import type { DrawnReport, PersonalRecord, Question } from "dame-ldp-device";

const named: PersonalRecord[] = [{ hours: 7.5, delay: 20 }, { delay: 4.5, hours: null }];

function drawn(text: string): { id: string; hex: string; same: boolean } {
  const question: Question = questionOf(parse(text));
  const records: PersonalRecord[] = question.statistic.column ? named : [7.5, 8];
  const report: DrawnReport = answer(question, records);
  const again: DrawnReport = respond(question, question.statistic.summarise(records));
  const same: boolean = decode(question, report.bytes).value === report.value && again.bytes.length > 8;
  const hex: string = Array.from(report.bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id: question.id, hex, same };
}

const slot: number = slotOf("sleep", [0.25, 0.75], participantName("0".repeat(32)));
export const told: string = JSON.stringify({ slot, reports: QUESTIONS.map((text) => drawn(text)) });
"""
CONFIGURATION = {
    "compilerOptions": {
        "strict": True,
        "module": "node16",
        "moduleResolution": "node16",
        "target": "es2022",
        "outDir": "out",
        "noEmitOnError": True,
        "types": [],
    },
    "files": ["consumer.ts"],
}


@pytest.fixture(scope="module")
def packed(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    subprocess.run([ROOT / "scripts" / "npm_package", folder], check=True, capture_output=True, timeout=120)
    (found,) = folder.glob("*.tgz")
    return found


@pytest.fixture(scope="module")
def project(packed: Path, tmp_path_factory) -> Path:
    """A project of somebody else, in which the package is installed, without any network."""
    folder = tmp_path_factory.mktemp("consumer")
    (folder / "package.json").write_text(json.dumps({"name": "consumer", "private": True, "type": "module"}))
    (folder / "tsconfig.json").write_text(json.dumps(CONFIGURATION))
    words = [program("npm"), "install", "--offline", "--no-audit", "--no-fund", str(packed)]
    subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=120)
    return folder


def compiled(project: Path, source: str) -> subprocess.CompletedProcess[str]:
    (project / "consumer.ts").write_text(source)
    return subprocess.run([program("tsc")], cwd=project, capture_output=True, text=True, check=False, timeout=120)


def with_questions(source: str) -> str:
    texts = json.dumps([json.dumps(question.to_json()) for question in QUESTIONS])
    return f"const QUESTIONS: string[] = {texts};\n{source}"


def test_what_is_in_the_package(packed: Path) -> None:
    with tarfile.open(packed) as archive:
        names = {name.removeprefix("package/") for name in archive.getnames()}
    vectors = {f"vectors/{path.name}" for path in (ROOT / "vectors" / "v1").glob("*.json")}
    scripts = {path.name for path in DEVICE.glob("*.js")}
    assert len(vectors) > 10
    assert names == vectors | scripts | {"index.d.ts", "README.md", "package.json", "LICENSE"}


def test_it_needs_nothing_and_has_the_version_of_the_project() -> None:
    described: dict[str, Any] = json.loads((DEVICE / "package.json").read_text())
    assert described["version"] == dame.__version__
    assert described["type"] == "module"
    assert not {"dependencies", "peerDependencies", "optionalDependencies", "scripts"} & described.keys()


def test_a_program_in_typescript_takes_part(project: Path) -> None:
    made = compiled(project, with_questions(CONSUMER))
    assert made.returncode == 0, made.stdout
    run = "import('./out/consumer.js').then(({ told }) => console.log(told))"
    done = subprocess.run(
        [program("node", "nodejs"), "--input-type=module", "-e", run],
        cwd=project, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    told = json.loads(done.stdout)
    assert told["slot"] in (0, 1)
    for question, found in zip(QUESTIONS, told["reports"], strict=True):
        assert found["same"]
        assert found["id"] == question_id(question_from_json(question.to_json()))
        Report.decode(question, bytes.fromhex(found["hex"]))


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("answer(question, records)", "answer(text, records)"),
        ("answer(question, records)", "answer(question, 7)"),
        ("questionOf(parse(text))", "questionOf(undefined)"),
        ("const hex: string", "const hex: number"),
        ("slotOf(", "slotOff("),
    ],
)
def test_a_mistake_does_not_compile(project: Path, good: str, bad: str) -> None:
    assert good in CONSUMER
    assert compiled(project, with_questions(CONSUMER.replace(good, bad, 1))).returncode != 0


def test_every_export_has_a_type_and_the_other_way_round() -> None:
    exported = re.findall(r"export \{ ([^}]+) \}", (DEVICE / "index.js").read_text())
    names = {name.strip() for some in exported for name in some.split(",")}
    assert names == set(re.findall(r"export function (\w+)", (DEVICE / "index.d.ts").read_text()))


def test_the_vectors_in_the_package_are_those_that_its_device_plays(project: Path) -> None:
    folder = project / "node_modules" / "dame-ldp-device"
    files = {path.name: json.loads(path.read_text()) for path in sorted((folder / "vectors").glob("answers-*.json"))}
    from_package = node("replay.mjs", folder, stdin={"files": files})
    from_source = node("replay.mjs", DEVICE, stdin={"files": files})
    assert from_package == from_source
    assert sum(len(outcomes) for outcomes in from_package.values()) > 100


def test_no_constant_of_sha256_is_left_to_the_machine() -> None:
    text = (DEVICE / "sha256.js").read_text().partition("/** The 32 bytes")[0]
    code = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    assert "Math." not in code
    assert len(re.findall(r"0x[0-9a-f]{8}", code)) == 72
