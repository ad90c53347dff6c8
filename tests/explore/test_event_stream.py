"""The feed of an apply: what `-json-into` writes, reduced, while it is written and afterwards."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from nigari.explore.event_stream import Event, Feed, follow, read_events, reduced

_TIME = "2026-01-02T03:04:05.500000Z"
_AT = 1767323045.5


def line(kind: str, message: str = "", **members: object) -> str:
    told = {"@level": "info", "@message": message, "@timestamp": _TIME, "type": kind, **members}
    return json.dumps(told)


def hook(**members: object) -> dict[str, object]:
    return {"resource": {"addr": "terraform_data.a"}, **members}


def keep(text: str) -> str:
    return text.replace("secret", "••••••")


_END = line("change_summary", "Apply complete!", changes={"add": 1, "operation": "apply"})


@pytest.mark.parametrize(
    ("given", "event"),
    [
        (
            line("apply_start", hook=hook(action="create", id_value="x")),
            {"type": "apply_start", "address": "terraform_data.a", "action": "create"},
        ),
        (
            line("provision_progress", hook=hook(provisioner="local-exec", output="a secret")),
            {
                "type": "provision_progress",
                "address": "terraform_data.a",
                "provisioner": "local-exec",
                "text": "a ••••••",
            },
        ),
        (
            line(
                "diagnostic",
                diagnostic={"severity": "error", "summary": "A secret", "snippet": {"code": "x"}},
            ),
            {
                "type": "diagnostic",
                "severity": "error",
                "text": "A ••••••",
                "detail": "",
                "address": "",
            },
        ),
        (_END, {"type": "end", "text": "Apply complete!"}),
        (
            line("test_run", test_run={"path": "a", "run": "r", "status": "pass"}),
            {"type": "test_run", "file": "a", "run": "r", "status": "pass"},
        ),
        (
            line("test_summary", "Success!", test_summary={"status": "pass", "passed": 1}),
            {"type": "end", "text": "Success!", "summary": {"status": "pass", "passed": 1}},
        ),
        (
            line("test_abstract", test_abstract={"a": ["r"], "b": None}),
            {"type": "test_abstract", "files": {"a": ["r"], "b": []}},
        ),
        (line("change_summary", changes={"add": 1, "operation": "plan"}), None),
        (line("outputs", outputs={"o": {"value": "secret"}}), None),
        ("no JSON", None),
        ('{"type": "apply_start"}', None),
        ("[]", None),
        ("", None),
    ],
)
def test_a_line_is_reduced(given: str, event: Event | None) -> None:
    assert reduced(given, keep) == (None if event is None else {**event, "at": _AT})


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(f"{line('version')}\n{line('apply_start', hook=hook())}\n{_END}\n")
    assert [each["type"] for each in read_events(path, keep)] == ["apply_start", "end"]


def test_a_file_is_followed_from_before_it_exists(tmp_path: Path) -> None:
    path, feed, closing = tmp_path / "run.jsonl", Feed(), threading.Event()
    thread = threading.Thread(target=follow, args=(path, keep, feed, closing))
    thread.start()
    first = line("apply_start", hook=hook())
    with path.open("w") as stream:
        stream.write(first[:20])
        stream.flush()
        stream.write(f"{first[20:]}\n")
        stream.flush()
        assert [each["type"] for each in feed.after(0, 5)[0]] == ["apply_start"]
        stream.write(f"{_END}\n")
    thread.join(5)
    assert not thread.is_alive()
    events, is_over = feed.after(1, 5)
    assert ([each["type"] for each in events], is_over) == (["end"], True)


def test_following_ends_with_the_command(tmp_path: Path) -> None:
    closing = threading.Event()
    work = (tmp_path / "never.jsonl", keep, Feed(), closing)
    thread = threading.Thread(target=follow, args=work)
    thread.start()
    closing.set()
    thread.join(5)
    assert not thread.is_alive()
