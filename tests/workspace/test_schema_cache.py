"""A kept schema counts for the very package and the same surroundings, and only whole."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari.addrs.provider import Provider
from nigari.workspace.plugins import schema_cache
from nigari.workspace.plugins.schema_cache import Form, SchemaCache

DEMO = Provider("example.com", "a", "demo")
USUAL = {"HOME": "/home/a", "TOKEN": "secret", "PWD": "/here"}


def cache(directory: Path, environ: Mapping[str, str] = USUAL) -> SchemaCache:
    return SchemaCache(str(directory / "new"), environ)


def test_what_is_kept_is_found_by_a_later_run(tmp_path: Path) -> None:
    assert not cache(tmp_path).has(DEMO, Form.JSON)
    cache(tmp_path).keep(DEMO, "h1:a", Form.JSON, b"{}")
    cache(tmp_path).keep(DEMO, "h1:a", Form.MESSAGES, b"told")
    assert cache(tmp_path).has(DEMO, Form.JSON)
    assert cache(tmp_path).find(DEMO, "h1:a", Form.JSON) == b"{}"
    assert cache(tmp_path).find(DEMO, "h1:a", Form.MESSAGES) == b"told"
    assert cache(tmp_path).find(Provider("example.com", "b", "demo"), "h1:a", Form.JSON) is None


def test_each_package_has_its_own(tmp_path: Path) -> None:
    cache(tmp_path).keep(DEMO, "h1:a", Form.JSON, b"old")
    assert cache(tmp_path).find(DEMO, "h1:b", Form.JSON) is None
    cache(tmp_path).keep(DEMO, "h1:b", Form.JSON, b"new")
    assert cache(tmp_path).find(DEMO, "h1:b", Form.JSON) == b"new"
    assert cache(tmp_path).find(DEMO, "h1:a", Form.JSON) == b"old"


def test_those_that_were_used_last_are_kept(tmp_path: Path) -> None:
    for number in range(30):
        cache(tmp_path).keep(DEMO, f"h1:{number}", Form.JSON, b"{}")
        for file in (tmp_path / "new").iterdir():
            passed = file.stat().st_mtime - 2 * 24 * 60 * 60
            os.utime(file, (passed, passed))
        # It is needed again and again.
        assert cache(tmp_path).find(DEMO, "h1:0", Form.JSON) == b"{}"
    assert len(list((tmp_path / "new").iterdir())) == 24
    assert cache(tmp_path).find(DEMO, "h1:1", Form.JSON) is None
    assert cache(tmp_path).find(DEMO, "h1:29", Form.JSON) == b"{}"


def test_what_another_user_wrote_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache(tmp_path).keep(DEMO, "h1:a", Form.JSON, b"{}")
    monkeypatch.setattr(schema_cache, "is_own", lambda status: False)
    assert cache(tmp_path).find(DEMO, "h1:a", Form.JSON) is None


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        ({"DEMO_BETA": "true"}, True),
        ({"DEMO_BETA": "0"}, True),
        ({"OTHER": "anything"}, False),
        ({"TOKEN": "another secret"}, False),
        ({"PWD": "/there"}, False),
        ({"TF_VAR_x": "1", "TF_LOG": "trace", "TF_CLI_ARGS": "-json"}, False),
    ],
)
def test_switches_of_the_environment_count(
    tmp_path: Path, changed: dict[str, str], counts: bool
) -> None:
    cache(tmp_path).keep(DEMO, "h1:a", Form.JSON, b"{}")
    found = cache(tmp_path, USUAL | changed).find(DEMO, "h1:a", Form.JSON)
    assert (found is None) == counts


@pytest.mark.parametrize("damage", [slice(0), slice(20), slice(-1), slice(1, None)])
def test_what_is_not_whole_is_nothing(tmp_path: Path, damage: slice) -> None:
    cache(tmp_path).keep(DEMO, "h1:a", Form.JSON, b"{}")
    (file,) = (tmp_path / "new").iterdir()
    file.write_bytes(file.read_bytes()[damage])
    assert cache(tmp_path).find(DEMO, "h1:a", Form.JSON) is None


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "new").write_text("in the way")
    cache(tmp_path).keep(DEMO, "h1:a", Form.JSON, b"{}")
    assert cache(tmp_path).find(DEMO, "h1:a", Form.JSON) is None


def test_no_secret_is_in_the_file(tmp_path: Path) -> None:
    other = {**USUAL, "TOKEN": "another"}
    cache(tmp_path).keep(DEMO, "h1:a", Form.JSON, b"{}")
    (file,) = (tmp_path / "new").iterdir()
    before = file.read_bytes()
    cache(tmp_path, other).keep(DEMO, "h1:a", Form.JSON, b"{}")
    assert file.read_bytes() == before


def test_a_process_that_works_with_many_directories_asks_once(tmp_path: Path) -> None:
    told = b"told by this test"
    cache(tmp_path / "one").keep(DEMO, "h1:many", Form.MESSAGES, told)
    other = cache(tmp_path / "two")
    assert other.find(DEMO, "h1:many", Form.MESSAGES) == told
    assert other.find(DEMO, "h1:another", Form.MESSAGES) is None
    assert other.find(DEMO, "h1:many", Form.JSON) is None
    changed = cache(tmp_path / "two", USUAL | {"DEMO_BETA": "true"})
    assert changed.find(DEMO, "h1:many", Form.MESSAGES) is None
    # Only some are remembered, and nothing is written for directories that did not ask.
    for number in range(20):
        cache(tmp_path / "one").keep(DEMO, f"h1:{number}", Form.MESSAGES, told)
    assert other.find(DEMO, "h1:many", Form.MESSAGES) is None
    assert not (tmp_path / "two").exists()
