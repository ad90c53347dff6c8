"""The rollout that `docs/guides/module-versions.md` shows, run as it is written there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.process import ROOT, inside

_BLOCK = re.compile(r"```(hcl|console)\n(.*?)```", re.DOTALL)


def test_the_rollout_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/guides/module-versions.md").read_text()
    commands = 0
    for kind, text in _BLOCK.findall(page):
        if kind == "hcl":
            name, _, content = text.partition("\n")
            path = Path(name.removeprefix("# "))
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
            continue
        assert inside("init").code == 0
        for command in text.split("$ nigari ")[1:]:
            words, *expected = command.splitlines()
            done = inside(*words.split())
            assert done.code == 0, done.err
            said = " ".join(done.out.split())
            assert not [line for line in expected if line not in said], done.out
            commands += 1
    assert commands == 4
