"""Rules of packages that are installed, which entry points name."""

from __future__ import annotations

from pathlib import Path

import pytest

from nigari.diagnostics import Diagnostics
from nigari.lint.python_rules import python_rules

_RULES = (
    "from nigari.lint import configuration_rule\n"
    '@configuration_rule("acme:installed", "Installed")\n'
    "def rule(configuration):\n    return ()\n"
)


@pytest.mark.parametrize(
    ("module", "rules", "problems"),
    [
        (_RULES, ["acme:installed"], []),
        ("raise ValueError('secret')\n", [], ["Rules cannot be loaded"]),
        (None, [], ["Rules cannot be loaded"]),
    ],
    ids=["found", "broken", "missing"],
)
def test_entry_points(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    module: str | None,
    rules: list[str],
    problems: list[str],
) -> None:
    name = f"acme_lint_{request.node.callspec.id}"
    package = tmp_path / f"{name}-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (package / "entry_points.txt").write_text(f"[nigari.lint]\nacme = {name}\n")
    if module is not None:
        (tmp_path / f"{name}.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    diags = Diagnostics()
    assert [each.id for each in python_rules([], diags).rules] == rules
    assert [each.summary for each in diags] == problems
    assert "secret" not in "".join(each.detail for each in diags)
