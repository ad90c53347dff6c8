"""Disks that are full, in one place or another, while a fleet is applied: small file systems of their
own, which grow before the apply goes on.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.process import command, environment
from tests.fleet.trees import reading, write_tree

_SCRIPT = """
for place in $PLACES; do
  cp -a "$place" ../kept && mount -t tmpfs -o size=$SIZE tmpfs "$place" || exit 99
  cp -a ../kept/. "$place" && rm -rf ../kept
  if [ "$FILLED" = yes ]; then dd if=/dev/zero of="$place/filler" bs=1k 2>/dev/null; fi
done
"$@" > first 2>&1; echo $? > status
for place in $PLACES; do rm -f "$place/filler"; mount -o remount,size=50m "$place"; done
"$@" > second 2>&1; echo $? >> status
for place in $PLACES; do find $place -name "errored*" >> left; done
"""


def _unit(name: str, state: str, needs: str = "") -> str:
    """A unit with a large state, that leaves a line in a file when it is made."""
    read = reading("up", needs) if needs else ""
    return f"""
terraform {{
  backend "local" {{ path = "{state}" }}
}}
{read}
resource "terraform_data" "made" {{
  input = join("", [for each in range(1000) : "{name}-0123456789"])
  provisioner "local-exec" {{ command = "echo {name} >> ../made" }}
}}
output "{name}" {{ value = terraform_data.made.id }}
"""


def _fleet(root: Path) -> None:
    write_tree(
        root,
        {
            "a/main.tf": _unit("a", "terraform.tfstate"),
            "b/main.tf": _unit("b", "../states/b.tfstate", "../a/terraform.tfstate"),
            "c/main.tf": _unit("c", "terraform.tfstate", "../states/b.tfstate"),
            "x/main.tf": _unit("x", "terraform.tfstate"),
            "states/.keep": "",
        },
    )
    done = subprocess.run(
        command("fleet", "init"), cwd=root, env=environment(), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def _run(root: Path, places: str, size: str, is_filled: bool) -> tuple[list[str], str, str]:
    """The exit status of an apply and of the next one, and what both said."""
    for place in places.split():
        (root / place).mkdir(parents=True, exist_ok=True)
    temporary = root.parent / "temporary"
    temporary.mkdir(exist_ok=True)
    settings = environment(
        PLACES=places, SIZE=size, FILLED="yes" if is_filled else "no", TMPDIR=str(temporary)
    )
    apply = command("fleet", "apply", "-auto-approve", "-no-color", "-jobs=1")
    done = subprocess.run(
        ("unshare", "-rm", "sh", "-c", _SCRIPT, "sh", *apply),
        cwd=root,
        env=settings,
        capture_output=True,
        check=False,
        timeout=300,
    )
    if not (root / "status").exists():
        pytest.skip(f"file systems cannot be mounted here: {done.stderr.decode().strip()}")
    return (
        (root / "status").read_text().split(),
        (root / "first").read_text(),
        (root / "second").read_text(),
    )


def _made(root: Path) -> Counter[str]:
    return Counter((root / "made").read_text().split())


ONCE = Counter({"a": 1, "b": 1, "c": 1, "x": 1})


def test_no_room_for_a_state(tmp_path: Path) -> None:
    _fleet(tmp_path)
    statuses, first, second = _run(tmp_path, "states", "8k", False)
    assert statuses == ["1", "0"], first + second
    assert "No space left on device" in first
    assert "c: not begun, because b failed" in first
    # What was made is known from the file that the state was written to, and not made again.
    assert "b: no changes" in second
    assert _made(tmp_path) == ONCE
    assert not list((tmp_path / "b").glob("errored*"))


@pytest.mark.parametrize(
    ("places", "kept"),
    [
        ("a", "/.nigari/fleet/rescued/errored.a-"),
        # The journal can be written, and nothing more beside it.
        ("a .nigari/fleet/rescued", "/temporary/errored.a-"),
    ],
)
def test_no_room_in_the_directory_of_a_unit(tmp_path: Path, places: str, kept: str) -> None:
    root = tmp_path / "fleet"
    root.mkdir()
    _fleet(root)
    statuses, first, second = _run(root, places, "24k", False)
    assert statuses == ["1", "0"], first + second
    assert "No space left on device" in first
    assert kept in "".join(first.split())
    assert "nigari fleet apply" in " ".join(first.split())
    # What was made is known from where the state was kept, and not made again.
    assert _made(root) == ONCE
    assert not (root / "left").read_text()
    assert not list((tmp_path / "temporary").iterdir())


def test_no_room_for_logs(tmp_path: Path) -> None:
    _fleet(tmp_path)
    statuses, first, second = _run(tmp_path, ".nigari/fleet/logs", "8k", True)
    assert statuses == ["0", "0"], first + second
    assert "No changes in 4 units" in second
    assert _made(tmp_path) == ONCE


@pytest.mark.parametrize(("size", "is_filled"), [("16k", True), ("16k", False), ("40k", False)])
def test_no_room_for_plans_and_the_journal(tmp_path: Path, size: str, is_filled: bool) -> None:
    _fleet(tmp_path)
    statuses, first, second = _run(tmp_path, ".nigari", size, is_filled)
    assert statuses == ["1", "0"], first + second
    assert "No space left on device" in first
    assert "bug" not in first
    assert _made(tmp_path) == ONCE


# A name that was taken when the state was written has a number in it.
@pytest.mark.parametrize("name", ["errored.x-2d711642.tfstate", "errored.x-2d711642.1.tfstate"])
def test_a_state_that_was_not_stored_keeps_a_unit_from_being_planned(
    tmp_path: Path, name: str
) -> None:
    _fleet(tmp_path)
    write_tree(tmp_path, {f"x/{name}": "{}"})
    done = subprocess.run(
        command("fleet", "plan", "-no-color"),
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "State of an earlier apply not stored" in done.stderr
    assert f"nigari state push {name}" in done.stderr.replace("\n", " ")
