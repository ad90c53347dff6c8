"""Stories with the output of every command: exit status, events, documents, states, texts.

A case has files, `--- commands`, and what came of each command; in `provider_requests`, the
requests to the provider, too. `use N` copies the files of the folder
`N` over those that are there. Members that are null, false or empty are left out of the record.
`tests/real` compares the same provider, events and documents with OpenTofu's.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from nigari.addrs.parse import parse_resource_instance
from nigari.addrs.resource import DATA
from nigari.diagnostics import Diagnostics
from tests.cases import Case, check_case, read_cases
from tests.cli.plan_texts import comparable
from tests.cli.process import inside
from tests.cli.scribe import Scribe
from tests.providers_found import find_provider

_HERE: Final = Path(__file__).parent
_WIDTH: Final = 200
_LEFT_OUT: Final = (
    "@timestamp",
    "@module",
    "@level",
    "configuration",
    "elapsed_seconds",
    "format_version",
    "snippet",
    "terraform_version",
    "timestamp",
)
_PROVIDER: Final = {"provider_name": "registry.opentofu.org/hashicorp/rich"}
_CHANCE: Final = (
    (re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "<uuid>"),
    (re.compile(r"\b(?=\d*[a-f])[0-9a-f]{8}\b"), "<key>"),
    (re.compile(r"(complete|errored) after \d+s"), r"\1"),
    (re.compile(r".*: Still .* elapsed\]\n"), ""),
)


@pytest.mark.parametrize("case", read_cases(_HERE / "recorded_stories"), ids=str)
def test_stories(
    case: Case, rich: dict[str, str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    _write(case, tmp_path)
    record = "\n".join(_record(case.files["commands"].splitlines(), rich))
    check_case(case, record, bool(request.config.getoption("--update")))


@pytest.mark.parametrize("case", read_cases(_HERE / "provider_requests"), ids=str)
def test_provider_requests(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.chdir(tmp_path)
    asked: list[str] = []
    find_provider(monkeypatch, lambda: Scribe(asked))
    _write(case, tmp_path)
    record: list[str] = []
    for line in _record(case.files["commands"].splitlines(), {}):
        record += [line, *asked] if line.startswith("$") else ()
        asked.clear()
    check_case(case, "\n".join(record), bool(request.config.getoption("--update")))


def _write(case: Case, path: Path) -> None:
    for name, text in case.files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text)


def _record(commands: list[str], environ: dict[str, str]) -> Iterator[str]:
    for line in commands:
        words = shlex.split(line)
        if words[0] == "use":
            shutil.copytree(words[1], ".", dirs_exist_ok=True)
        elif words[0] == "delete":
            Path(words[1]).unlink()
        elif words[0] == "state-file":
            yield f"$ {line}"
            yield from _lines(_brief(json.loads(Path(words[1]).read_text())), "")
        else:
            done = inside(*words, settings={**environ, "TF_CLI_ARGS": "-no-color"})
            yield f"$ {line}  ({done.code})"
            yield from _output(done.out)
            yield from (line for line in comparable(done.err).splitlines() if line)


def _output(text: str) -> Iterator[str]:
    """Events, a document or lines."""
    lines = text.splitlines()
    if not text.startswith("{"):
        yield from (line for line in comparable(_plain(text)).splitlines() if line)
    elif '"@level"' in lines[0]:
        for line in lines[1:]:
            event = _brief(json.loads(line))
            assert isinstance(event, dict)
            if event.get("type") == "apply_progress":
                continue  # Only a busy machine takes so long.
            yield _plain(
                f"{event.pop('type', 'text')}: {event.pop('@message')} {json.dumps(event)}"
            )
    else:
        yield from _lines(_brief(json.loads(text)), "")


def _lines(data: object, name: str) -> Iterator[str]:
    """JSON, with what fits into a line in one line."""
    text = _plain(json.dumps(data, ensure_ascii=False))
    begin = f"{name}: " if name else ""
    if len(text) <= _WIDTH or not isinstance(data, dict | list):
        yield begin + text
        return
    yield f"{begin}{text[0]}"
    parts = data.items() if isinstance(data, dict) else (("", each) for each in data)
    for key, part in parts:
        yield from (f" {line}" for line in _lines(part, key))


def _brief(data: object) -> object:
    """Data without what says nothing, and without what its address says already."""
    if isinstance(data, list):
        return [_brief(each) for each in data]
    if not isinstance(data, dict):
        return data
    found = {key: _brief(part) for key, part in data.items() if key not in _LEFT_OUT}
    if "snippet" in data:
        found["values"] = data["snippet"]["values"]
    if "range" in found:
        found["range"] = "{filename}:{start[line]}".format_map(data["range"])
    for member in ("addr", "address"):
        if isinstance(found.get(member), str):
            found = _addressed(found, member)
    if found.keys() == {"type", "value"} and "get_attr" in found.values():
        return found["value"]
    if found.keys() == {"addr"}:
        return found["addr"]
    return {
        key: part
        for key, part in found.items()
        if part is not None and part is not False and part not in ([], {})
    }


def _addressed(data: dict[str, object], member: str) -> dict[str, object]:
    """Check that an object is described as its address says, and leave the description out."""
    address = parse_resource_instance(str(data[member]), Diagnostics())
    if address is None or not {"resource_type", "type"} & data.keys():
        return data
    item, resource = address.item, address.item.resource
    mode = "data" if resource.mode is DATA else "managed"
    if member == "addr":
        expected = {"module": str(address.module), "resource": str(item), "resource_key": item.key}
        expected |= {"resource_type": resource.type, "resource_name": resource.name}
        expected |= {"implied_provider": resource.type.partition("_")[0]}
    else:
        expected = {"mode": mode, "type": resource.type, "name": resource.name, **_PROVIDER}
        expected |= {} if item.key is None else {"index": item.key}
        is_nested = "change" in data and not address.module.is_root
        expected |= {"module_address": str(address.module)} if is_nested else {}
    assert {key: data[key] for key in expected} == expected
    assert ("index" in data, "module_address" in data) == (
        "index" in expected,
        "module_address" in expected,
    )
    return {key: part for key, part in data.items() if key not in expected}


def _plain(text: str) -> str:
    for pattern, name in _CHANCE:
        text = pattern.sub(name, text)
    return text
