"""Saved plans and journals of fleets that are damaged, and names that are not UTF-8."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzz.fleet_files import search
from nigari.explore.page import page_title
from nigari.fleet.runs.journal import Journal
from nigari.fleet.units.unit import fleet_directory
from tests.cli.process import nigari
from tests.fleet.trees import NETWORK, write_tree


def test_random_damage_is_a_diagnostic(tmp_path: Path) -> None:
    assert search(tmp_path / "fleet", 200, 11, tmp_path / "kept") == []


def _saved(root: Path) -> Path:
    write_tree(root, {"a/main.tf": NETWORK, "b/main.tf": NETWORK})
    done = nigari("fleet", "plan", "-out=p", cwd=root)
    assert done.code == 0, done.err
    return root / "p"


def _packed_again(
    path: Path, change: Callable[[dict[str, object]], object], method: int = 0
) -> None:
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    summary = json.loads(files["fleet.json"])
    change(summary)
    files["fleet.json"] = json.dumps(summary).encode()
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def _flip(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        member = next(each for each in archive.infolist() if each.filename.startswith("units/a"))
    data = bytearray(path.read_bytes())
    data[member.header_offset + 30 + len(member.filename) + 20] ^= 1
    path.write_bytes(data)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-30])


def _elsewhere(path: Path) -> None:
    _packed_again(path, lambda data: data.update(id="../../../elsewhere"))


def _compressed(path: Path) -> None:
    _packed_again(path, lambda data: data.update(padding="x" * 10**6), zipfile.ZIP_DEFLATED)


def _no_units(path: Path) -> None:
    _packed_again(path, lambda data: data.update(units=[]))


def _half_a_character(path: Path) -> None:
    _packed_again(path, lambda data: data.update(units={"\ud800": {}}))


@pytest.mark.parametrize(
    "damage", [_flip, _cut, _elsewhere, _compressed, _no_units, _half_a_character]
)
def test_a_damaged_plan_is_refused(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    path = _saved(tmp_path / "fleet")
    damage(path)
    commands = [["apply", "p"], ["show", "-only=a", "p"]]
    for command in commands:
        done = nigari("fleet", *command, cwd=path.parent)
        assert done.code == 1, done.out
        assert "Unusable plan file" in done.err
        assert "nigari fleet plan -out=FILE" in " ".join(done.err.split())
    assert not list(tmp_path.rglob("terraform.tfstate"))
    assert not list(tmp_path.glob("elsewhere*"))


def _interrupted(root: Path) -> Path:
    """A fleet in which the apply of one unit has failed."""
    broken = (
        'resource "terraform_data" "x" {\n  provisioner "local-exec" { command = "exit 3" }\n}\n'
    )
    write_tree(root, {"a/main.tf": NETWORK, "b/main.tf": broken})
    assert nigari("fleet", "apply", "-auto-approve", cwd=root).code == 1
    (journal,) = Path(fleet_directory(str(root))).glob("*/journal.jsonl")
    write_tree(root, {"b/main.tf": NETWORK})
    return journal


def test_a_journal_with_a_byte_that_is_no_text_is_gone_on_with(tmp_path: Path) -> None:
    journal = _interrupted(tmp_path)
    lines = journal.read_bytes().splitlines()
    position = next(i for i, line in enumerate(lines) if b'"done"' in line)
    lines[position] = lines[position].replace(b'"done"', b'"do\xffe"')
    journal.write_bytes(b"\n".join(lines) + b"\n")
    done = nigari("fleet", "apply", "-auto-approve", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "Warning: Damaged journal" in done.err
    said = " ".join(done.err.split())
    assert f"A line of {journal}" in said.replace("\n", "")
    assert "-restart" in said
    assert "Continuing the apply" in done.out
    assert Journal(str(journal.parent)).has_ended


def test_an_apply_whose_plan_is_damaged_gives_way_to_a_new_one(tmp_path: Path) -> None:
    journal = _interrupted(tmp_path)
    summary = journal.parent / "fleet.plan"
    summary.write_bytes(summary.read_bytes()[:-30])
    done = nigari("fleet", "apply", "-auto-approve", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "Warning: Interrupted apply cannot be continued" in done.err
    assert not journal.exists()
    done = nigari("fleet", "apply", "-auto-approve", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")


def test_a_journal_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    journal = _interrupted(tmp_path)
    journal.unlink()
    journal.mkdir()
    done = nigari("fleet", "apply", "-auto-approve", cwd=tmp_path)
    assert done.code == 1
    assert "Journal cannot be read" in done.err
    assert "remove the directory of that apply" in " ".join(done.err.split())


def test_a_directory_whose_name_is_not_utf_8_is_left_out_and_mentioned(tmp_path: Path) -> None:
    write_tree(tmp_path, {"b/main.tf": NETWORK})
    other = os.fsencode(tmp_path) + b"/a\xff"
    os.mkdir(other)
    with open(other + b"/main.tf", "w") as file:
        file.write(NETWORK)
    for command in (["list"], ["plan", "-out=p"], ["apply", "p"], ["apply", "-auto-approve"]):
        done = nigari("fleet", *command, cwd=tmp_path)
        assert done.code == 0, done.err
    assert "Directory left out" in nigari("fleet", "plan", cwd=tmp_path).err
    assert not os.path.exists(other + b"/terraform.tfstate")


def test_a_fleet_below_a_directory_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    root = Path(os.fsdecode(os.fsencode(tmp_path) + b"/r\xff"))
    write_tree(root, {"a/main.tf": NETWORK})
    for command in (["plan", "-out=p"], ["show", "p"], ["apply", "p"], ["apply", "-auto-approve"]):
        done = nigari("fleet", *command, cwd=root)
        assert done.code == 0, done.err
    assert page_title(root.name) == "r?"
