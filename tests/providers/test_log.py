import json
from pathlib import Path

import pytest

from nigari.providers.log import LogSettings, PluginLog

LINES = (
    b'{"@level":"error","@message":"bad thing","@module":"m","@timestamp":"t","code":5}\n'
    b"[WARN] careful\n"
    b"2026/01/01 10:00:00 [DEBUG] chatty\n"
    b"plain text\n"
)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, LogSettings("OFF")),
        ({"TF_LOG": "debug"}, LogSettings("DEBUG")),
        ({"TF_LOG": "ERROR", "TF_LOG_PROVIDER": "INFO"}, LogSettings("INFO")),
        ({"TF_LOG": "json"}, LogSettings("TRACE", True)),
        ({"TF_LOG": "nonsense"}, LogSettings("TRACE")),
        ({"TF_LOG_PATH": "/x"}, LogSettings("OFF", False, "/x")),
    ],
)
def test_settings(environment: dict[str, str], expected: LogSettings) -> None:
    assert LogSettings.from_environment(environment) == expected


def test_plugins_are_told_not_to_write_what_nobody_reads() -> None:
    quiet = LogSettings.from_environment({}).plugin_environment()
    assert set(quiet.values()) == {"ERROR"}
    loud = LogSettings.from_environment({"TF_LOG": "TRACE"}).plugin_environment()
    assert set(loud.values()) == {"TRACE"}


@pytest.mark.parametrize(
    ("level", "count"), [("TRACE", 4), ("DEBUG", 4), ("WARN", 2), ("ERROR", 1), ("OFF", 0)]
)
def test_level_decides_what_is_written(tmp_path: Path, level: str, count: int) -> None:
    target = tmp_path / "log"
    log = PluginLog("p", LogSettings(level, path=str(target)))
    log.feed("stderr", LINES)
    log.close()
    written = target.read_text().splitlines() if target.exists() else []
    assert len(written) == count


def test_text_and_json_form(tmp_path: Path) -> None:
    for as_json in (False, True):
        target = tmp_path / f"log-{as_json}"
        log = PluginLog("p", LogSettings("ERROR", as_json, str(target)))
        log.feed("stderr", LINES)
        log.close()
        (line,) = target.read_text().splitlines()
        if as_json:
            record = json.loads(line)
            assert (record["@message"], record["code"]) == ("bad thing", 5)
        else:
            assert "[ERROR] provider.p: bad thing:" in line
            assert "code=5" in line


def test_nothing_reaches_the_screen_without_a_level(capfd: pytest.CaptureFixture[str]) -> None:
    log = PluginLog("p", LogSettings())
    log.feed("stderr", LINES)
    log.close()
    assert capfd.readouterr() == ("", "")


def test_lines_may_come_in_pieces_from_several_outputs() -> None:
    log = PluginLog("p", LogSettings())
    log.feed("stderr", b"one ")
    log.feed("stdout", b"two ")
    log.feed("stderr", b"line\n")
    log.feed("stdout", b"lines\nrest")
    log.flush()
    assert log.ending() == "one line\ntwo lines\nrest"


def test_ending_is_a_crash_report_from_its_first_line_or_the_last_lines() -> None:
    log = PluginLog("p", LogSettings())
    log.feed("stderr", b"before\n" + b"line\n" * 50)
    assert log.ending().count("\n") == 19
    log.feed("stderr", b"panic: oh no\n" + b"frame\n" * 50)
    assert log.ending().startswith("panic: oh no\nframe")


def test_a_line_without_end_is_bounded() -> None:
    log = PluginLog("p", LogSettings())
    log.feed("stderr", b"x" * 200_000)
    assert len(log.ending()) == 300
    assert not log._unfinished


def test_hostile_json_is_text() -> None:
    log = PluginLog("p", LogSettings())
    log.feed("stderr", b'{"a":' * 20_000 + b"\n")
    assert log.ending().startswith('{"a":')
