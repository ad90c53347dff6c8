"""What came of a command in a suite of tests, in the form in which OpenTofu's answers are kept.

The suites and the answers are in the shared conformance data, which tells in words how each was
recorded. Values that differ from run to run are written in one way on both sides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TypeAlias

Data: TypeAlias = Any  # JSON as programs print it
Observed: TypeAlias = dict[str, Data]

_UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_FILE: Final = re.compile(r"^(\S+\.(?:tftest|tofutest)\.(?:hcl|json))\.\.\. (\w+)$")
_RUN: Final = re.compile(r'^  run "(.*)"\.\.\. (\w+)$')
_END: Final = re.compile(r"^(?:Success|Failure)! (\d+) passed, (\d+) failed(?:, (\d+) skipped)?\.$")
_PLAN: Final = re.compile(r"^Plan: (\d+) to add, (\d+) to change, (\d+) to destroy")
_NOT_OBJECTS: Final = ("configure", "open", "close")
_PLACE: Final = ("severity", "file", "line", "column", "testfile", "testrun")


def observed(args: list[str], code: int, out: str, work: Path) -> Observed:
    """What a command has done and said."""
    found: Observed = {"exit": code}
    if args[0] in ("init", "get"):
        _look_at_init(out if "-json" in args else "", work, found)
    elif args[0] == "validate":
        told = json.loads(out)["diagnostics"]
        found["diagnostics"] = [_diagnostic({"diagnostic": each}) for each in told]
    elif args[0] == "test":
        _look_at_provider(work, found)
        into = [each.partition("=")[2] for each in args if each.startswith("-json-into=")]
        if into:
            _look_at_events((work / into[0]).read_text(), found)
        if "-json" in args:
            _look_at_events(out, found)
        else:
            _look_at_text(out, found)
    return found


def alike(data: Data) -> Data:
    """The same with one text for everything that differs from run to run."""
    return json.loads(_TIME.sub("<time>", _UUID.sub("<uuid>", json.dumps(data))))


def places(diagnostics: Iterable[Data]) -> list[str]:
    """Where something is wrong, in a comparable form."""
    kept = [{key: each[key] for key in _PLACE if key in each} for each in diagnostics]
    return sorted(json.dumps(each, sort_keys=True) for each in kept)


def in_any_order(data: Iterable[Data]) -> list[str]:
    """The parts of something whose order is free."""
    return sorted(json.dumps(each, sort_keys=True) for each in data)


def _look_at_init(out: str, work: Path, found: Observed) -> None:
    events = [json.loads(line) for line in out.splitlines()]
    found["diagnostics"] = [
        _diagnostic(each)
        for each in events
        if each.get("type") == "diagnostic"
        # The mirror has packages for this platform only, and OpenTofu says so in another event.
        and "one platform" not in each["diagnostic"]["summary"]
    ]
    manifest = work / ".terraform" / "modules" / "modules.json"
    modules = json.loads(manifest.read_text())["Modules"] if manifest.exists() else []
    found["modules"] = {each["Key"]: each["Dir"] for each in modules if each["Key"]}


def _look_at_provider(work: Path, found: Observed) -> None:
    store = work / ".test-provider"
    journal = store / "journal.jsonl"
    lines = journal.read_text().splitlines() if journal.exists() else []
    entries = [json.loads(line) for line in lines]
    calls = {
        json.dumps(each, sort_keys=True): each for each in entries if each["op"] in _NOT_OBJECTS
    }
    found["calls"] = list(calls.values())
    found["journal"] = [each for each in entries if each["op"] not in _NOT_OBJECTS]
    objects = store / "objects.json"
    found["objects"] = sorted(json.loads(objects.read_text())) if objects.exists() else []
    rescued = work / "errored_test.tfstate"
    if rescued.is_file():
        resources = json.loads(rescued.read_text())["resources"]
        found["errored"] = sorted(_address(each) for each in resources)


def _address(resource: Data) -> str:
    mode = "data." if resource["mode"] == "data" else ""
    module = f"{resource['module']}." if resource.get("module") else ""
    return f"{module}{mode}{resource['type']}.{resource['name']}"


def _look_at_text(out: str, found: Observed) -> None:
    files: list[Data] = []
    counts: list[int] | None = None
    changes: list[list[int]] = []
    for line in _COLOUR.sub("", out).splitlines():
        if match := _FILE.match(line):
            files.append({"path": match[1], "runs": [], "status": match[2]})
        elif match := _RUN.match(line):
            files[-1]["runs"].append([match[1], match[2]])
        elif match := _END.match(line):
            counts = [int(each or 0) for each in match.groups()]
        elif match := _PLAN.match(line):
            changes.append([int(each) for each in match.groups()])
    found["text"] = {"changes": changes, "counts": counts, "files": files}


def _look_at_events(out: str, found: Observed) -> None:
    names: list[str] = []
    files: list[Data] = []
    lists: dict[str, list[Data]] = {"diagnostics": [], "states": [], "plans": [], "cleanup": []}
    for event in map(json.loads, out.splitlines()):
        kind = event["type"]
        at = "/".join(filter(None, (event.get("@testfile"), event.get("@testrun"))))
        names.append(f"{kind} {at}".strip())
        told = event.get(kind, {})
        if kind == "test_abstract":
            found["abstract"] = told
        elif kind == "test_summary":
            found["summary"] = told
        elif kind == "test_file":
            files.append({"path": told["path"], "runs": [], "status": told["status"]})
        elif kind == "test_run":
            files[-1]["runs"].append([told["run"], told["status"]])
        elif kind == "diagnostic":
            lists["diagnostics"].append(_diagnostic(event))
        elif kind == "test_cleanup":
            left = [[each["instance"], "deposed_key" in each] for each in told["failed_resources"]]
            lists["cleanup"].append({"at": at, "left": left})
        elif kind == "test_state":
            lists["states"].append(_state(at, told))
        elif kind == "test_plan":
            lists["plans"].append(_plan(at, told))
    found.update(files=files, events=names, diagnostics=lists.pop("diagnostics"))
    found.update({name: each for name, each in lists.items() if each})


def _diagnostic(event: Data) -> Data:
    told = event["diagnostic"]
    found: dict[str, Data] = {"severity": told["severity"]}
    where = told.get("range")
    if where:
        start = where["start"]
        found |= {"file": where["filename"], "line": start["line"], "column": start["column"]}
    for name in ("testfile", "testrun"):
        if f"@{name}" in event:
            found[name] = event[f"@{name}"]
    return found


def _state(at: str, told: Data) -> Data:
    values = told.get("values", {})
    resources: dict[str, Data] = {}
    pending = [values.get("root_module", {})]
    for module in pending:
        for each in module.get("resources", []):
            one = resources[each["address"]] = {"values": each.get("values")}
            secret = _true_paths(each.get("sensitive_values"))
            if secret:
                one["sensitive"] = secret
        pending.extend(module.get("child_modules", []))
    checks = _checks(told)
    return {
        "at": at,
        "outputs": values.get("outputs", {}),
        "resources": resources,
        "checks": checks,
    }


def _plan(at: str, told: Data) -> Data:
    if told.get("errored"):
        return {"at": at, "errored": True}
    return {
        "at": at,
        "changes": _changes(told.get("resource_changes", [])),
        "drift": _changes(told.get("resource_drift", [])),
        "outputs": {name: _change(each) for name, each in told.get("output_changes", {}).items()},
        "variables": {name: each.get("value") for name, each in told.get("variables", {}).items()},
        "checks": _checks(told),
    }


def _changes(changes: list[Data]) -> Data:
    return {each["address"]: _change(each["change"]) for each in changes}


def _change(change: Data) -> Data:
    found: dict[str, Data] = {"actions": change["actions"], "after": change.get("after")}
    for name, member in (("unknown", "after_unknown"), ("sensitive", "after_sensitive")):
        paths = _true_paths(change.get(member))
        if paths:
            found[name] = paths
    return found


def _checks(told: Data) -> Data:
    return {each["address"]["to_display"]: each["status"] for each in told.get("checks", [])}


def _true_paths(part: Data, path: str = "") -> list[str]:
    """Where something is true in a tree that is true or not in parts."""
    if part is True:
        return [path]
    if isinstance(part, dict):
        return [p for key in sorted(part) for p in _true_paths(part[key], f"{path}/{key}")]
    if isinstance(part, list):
        return [p for at, each in enumerate(part) for p in _true_paths(each, f"{path}/{at}")]
    return []
