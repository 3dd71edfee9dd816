"""The files to run it with: as far as they can be checked without Docker, they are what they say.

Images are not built here. Paths, names of settings, locks, health checks and the unit are checked; the commands of the
Dockerfile were run by hand outside a container (docs/deploy.md).
"""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from dame.cli.serve import serve as serve_command
from dame.service.settings import Settings
from tests.service.studies import Live

ROOT = Path(__file__).parents[2]
LOCKED = re.compile(
    r"^([a-z0-9.-]+)==(\S+?)(?: ; [^\\]+)? \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)


def settings_by_environment() -> set[str]:
    """The environment variables that `dame serve` reads."""
    hints = inspect.get_annotations(serve_command, eval_str=True).values()
    options = [given for hint in hints for given in getattr(hint, "__metadata__", ()) if given.envvar]
    return {name for one in options for name in ([one.envvar] if isinstance(one.envvar, str) else one.envvar)}


# --- the image


def instructions() -> list[tuple[str, str]]:
    lines = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ").splitlines()
    found = [line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#")]
    return [(word, rest) for word, rest in found]


def test_the_image_is_built_from_this_checkout() -> None:
    copied = [rest.split() for word, rest in instructions() if word == "COPY" and "--from" not in rest]
    assert copied
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    for *sources, _ in copied:
        for source in sources:
            assert (ROOT / source).exists(), source
            assert f"!{source}" in ignored, f"{source} does not reach the builder"
    assert "*" in ignored, "nothing else reaches it"


def test_the_image_runs_as_nobody_with_a_health_check() -> None:
    words = [word for word, _ in instructions()]
    stages = [place for place, word in enumerate(words) if word == "FROM"]
    last = dict(instructions()[stages[-1] :])
    user, _, group = last["USER"].partition(":")
    assert int(user) > 0
    assert int(group) > 0
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert json.loads(last["ENTRYPOINT"]) + json.loads(last["CMD"]) == ["dame", "serve"]
    assert "--require-hashes" in " ".join(rest for word, rest in instructions() if word == "RUN")
    given = dict(pair.split("=", 1) for pair in shlex.split(last["ENV"]))
    assert {name for name in given if name.startswith("DAME_")} <= settings_by_environment()


def test_the_health_check_of_the_image_tells_ready_from_not(live: Live) -> None:
    (check,) = [rest for word, rest in instructions() if word == "HEALTHCHECK"]
    command = json.loads(check.partition("CMD ")[2])
    assert command[0] == "python"
    for port, code in ((live.base.rpartition(":")[2], 0), ("1", 1)):
        done = subprocess.run(
            [sys.executable, *command[1:]], check=False, env={**os.environ, "DAME_PORT": port}, timeout=30
        )
        assert done.returncode == code


# --- locks


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def floors(*extras: str) -> dict[str, str]:
    """What some extras need: the lowest version of each."""
    listed = [
        *project()["dependencies"],
        *(line for extra in extras for line in project()["optional-dependencies"][extra]),
    ]
    pairs = [re.match(r"([A-Za-z0-9_-]+)(?:\[.*?\])?>=([\d.]+)", line) for line in listed]
    return {found[1].lower(): found[2] for found in pairs if found}


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


@pytest.mark.parametrize("name", ["requirements.lock", "build.lock"])
def test_every_line_of_a_lock_has_its_hashes(name: str) -> None:
    text = (ROOT / "deploy" / name).read_text("utf-8")
    assert LOCKED.sub("", text).strip() == "", "a line without a hash, or one that nobody asked for"
    assert LOCKED.findall(text)


def test_the_lock_has_what_the_service_needs() -> None:
    locked = {
        name: version for name, version, _ in LOCKED.findall((ROOT / "deploy/requirements.lock").read_text("utf-8"))
    }
    needed = floors("cli", "service", "otlp")
    assert needed.keys() <= locked.keys()
    for name, lowest in needed.items():
        assert version(locked[name]) >= version(lowest), name


def test_floors_keep_known_faults_out() -> None:
    """Versions below these had faults that matter here; see the comments in pyproject.toml."""
    needed = floors("service")
    for name, lowest in {"fastapi": "0.132", "starlette": "0.49.1", "cryptography": "44.0.1"}.items():
        assert version(needed[name]) >= version(lowest), name


# --- compose


def compose() -> dict:
    return yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))


def test_only_the_proxy_can_be_reached() -> None:
    services = compose()["services"]
    assert [name for name, one in services.items() if "ports" in one] == ["proxy"]
    assert compose()["networks"]["inside"]["internal"] is True
    assert services["service"]["networks"] == services["database"]["networks"] == ["inside"]
    for name in ("proxy", "service"):
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in services[name]["security_opt"]
    assert services["service"]["build"] == "."
    for volume in services["proxy"]["volumes"]:
        source = volume.partition(":")[0]
        assert (ROOT / source).exists() if source.startswith(".") else source in compose()["volumes"]


def test_the_settings_in_compose_start_a_server() -> None:
    given = compose()["services"]["service"]["environment"]
    names = {name for name in given if name.startswith("DAME_")}
    assert names <= settings_by_environment()
    example = dict(
        line.split("=", 1)
        for line in (ROOT / "deploy/env.example").read_text("utf-8").splitlines()
        if line[:1].isupper()
    )
    asked = set(re.findall(r"\$\{(\w+):\?", (ROOT / "compose.yaml").read_text("utf-8")))
    assert asked == example.keys()
    filled = {name: value or "s" * 64 for name, value in example.items()}
    chosen = {name: re.sub(r"\$\{(\w+)[^}]*\}", lambda found: filled[found[1]], given[name]) for name in names}
    fields = {name.removeprefix("DAME_").lower(): value for name, value in chosen.items()}
    settings = Settings(**fields, host="0.0.0.0")
    assert settings.trusted_proxy == compose()["services"]["proxy"]["networks"]["inside"]["ipv4_address"]
    assert settings.public_url == "https://study.example.org"


def test_the_proxy_hides_metrics_and_keeps_no_access_log() -> None:
    text = (ROOT / "deploy/Caddyfile").read_text("utf-8")
    rules = [line.split("#")[0].strip() for line in text.splitlines()]
    assert "reverse_proxy service:8000" in rules
    assert "@inside path /metrics" in rules
    assert "respond @inside 404" in rules
    assert not [rule for rule in rules if rule.startswith("log")]
    assert text.count("{") == text.count("}")


# --- systemd


def unit() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in (ROOT / "deploy/dame.service").read_text("utf-8").splitlines():
        if "=" in line and not line.startswith("#"):
            found.setdefault(line.partition("=")[0], []).append(line.partition("=")[2])
    return found


def test_the_unit_is_hardened() -> None:
    wanted = {
        "UMask": "0077",
        "NoNewPrivileges": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "PrivateTmp": "yes",
        "CapabilityBoundingSet": "",
        "DynamicUser": "yes",
        "StateDirectoryMode": "0700",
    }
    assert {name: unit()[name] for name in wanted} == {name: [value] for name, value in wanted.items()}
    given = {pair.partition("=")[0] for pair in unit()["Environment"]}
    assert given <= settings_by_environment()
    assert unit()["ExecStart"] == ["/opt/dame/bin/dame serve"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed here")
def test_systemd_takes_the_unit_and_finds_it_closed(tmp_path: Path) -> None:
    text = (ROOT / "deploy/dame.service").read_text("utf-8").replace("/opt/dame/bin/dame", sys.executable)
    (tmp_path / "dame.service").write_text(text, "utf-8")
    verified = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "dame.service")],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (verified.returncode, verified.stderr) == (0, "")
    words = ["security", "--offline=true", "--no-pager", "--threshold=20", str(tmp_path / "dame.service")]
    judged = subprocess.run(["systemd-analyze", *words], check=False, capture_output=True, text=True, timeout=60)
    assert judged.returncode == 0, judged.stdout[-300:]


# --- security


def test_there_is_a_way_to_report_faults() -> None:
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    for word in ("report", "supported", "deploy/requirements.lock", "cyclonedx-py"):
        assert word in text.lower(), word
