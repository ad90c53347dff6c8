"""Files on a disk that is shared with others."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from nigari.backends.disk import write_unused


@pytest.mark.parametrize(
    ("taken", "written"),
    [
        ([], "s.tfstate"),
        (["s.tfstate"], "s.1.tfstate"),
        (["s.tfstate", "s.1.tfstate"], "s.2.tfstate"),
        (["s.1.tfstate"], "s.tfstate"),
    ],
)
def test_what_is_there_stays(tmp_path: Path, taken: list[str], written: str) -> None:
    for name in taken:
        (tmp_path / name).write_text("of somebody else")
    path = write_unused(tmp_path / "s.tfstate", b"ours", 0o600)
    assert path == str(tmp_path / written)
    assert stat.S_IMODE((tmp_path / written).stat().st_mode) == 0o600
    texts = {each.name: each.read_text() for each in tmp_path.iterdir()}
    assert texts == {**dict.fromkeys(taken, "of somebody else"), written: "ours"}


def test_a_directory_or_a_link_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "s.tfstate").mkdir()
    (tmp_path / "s.1.tfstate").symlink_to(tmp_path / "nowhere")
    assert write_unused(tmp_path / "s.tfstate", b"ours").endswith("s.2.tfstate")
    assert not (tmp_path / "nowhere").exists()
