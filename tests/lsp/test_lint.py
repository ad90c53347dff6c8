"""What lint finds, as diagnostics after everything else, and its fixes as code actions."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tests.lsp.client import PULLED, Client, covered

_LINTED: Final = {"lint": True}
_TEXT: Final = 'variable "a" {\n  type = string\n}\nlocals {\n  gone = 1\n}\noutput "o" {\n  value = "${var.a}"\n}\n'


def _fixed(client: Client, title: str, at: str) -> str:
    range_ = {"start": client.find("main.tf", at), "end": client.find("main.tf", at, len(at))}
    params = {
        "textDocument": client.document("main.tf"),
        "range": range_,
        "context": {"diagnostics": [], "only": ["quickfix"]},
    }
    found: list[dict[str, Any]] = client.request("textDocument/codeAction", params)
    (action,) = [each for each in found if each["title"] == title]
    (edits,) = action["edit"]["changes"].values()
    (edit,) = edits
    text = client.texts["main.tf"].splitlines(keepends=True)
    start, end = edit["range"]["start"], edit["range"]["end"]
    before = "".join(text[: start["line"]]) + text[start["line"]][: start["character"]]
    after = text[end["line"]][end["character"] :] + "".join(text[end["line"] + 1 :])
    return f"{before}{edit['newText']}{after}"


def test_findings_follow_the_evaluation(tmp_path: Path) -> None:
    with Client(tmp_path, settings=_LINTED) as client:
        client.open("main.tf", _TEXT)
        assert client.settled("main.tf") == []
        found = {each["code"]: each for each in client.diagnostics("main.tf")}
        assert sorted(found) == ["core:unused-local", "nigari:wrapped-expression"]
        unused = found["core:unused-local"]
        assert unused["severity"] == 2
        assert unused["tags"] == [1]
        assert covered(_TEXT, unused["range"]) == "gone = 1"
        client.change("main.tf", _TEXT.replace('"${var.a}"', "var.a").replace("  gone = 1\n", ""))
        assert client.settled("main.tf") == []


def test_fixes_are_code_actions(tmp_path: Path) -> None:
    with Client(tmp_path, settings=_LINTED) as client:
        client.open("main.tf", _TEXT)
        client.settled("main.tf")
        client.diagnostics("main.tf")
        fixed = _fixed(client, "Remove the template", "${var")
        assert fixed == _TEXT.replace('"${var.a}"', "var.a")
        fixed = _fixed(client, "Remove local.gone", "gone")
        assert fixed == _TEXT.replace("  gone = 1\n", "")
        ignored = _fixed(client, "Ignore core:unused-local here", "gone")
        comment = "  # nigari-ignore: core:unused-local: reason\n"
        assert ignored == _TEXT.replace("  gone", f"{comment}  gone")


def test_settings_of_the_directory_count(tmp_path: Path) -> None:
    settings = 'rule "core:unused-local" {\n  severity = "error"\n}\nlint {\n  preset = "none"\n}\n'
    with Client(tmp_path, {"lint.hcl": settings}, settings=_LINTED) as client:
        client.open("main.tf", _TEXT)
        client.settled("main.tf")
        (found,) = client.diagnostics("main.tf")
        assert (found["code"], found["severity"]) == ("core:unused-local", 1)


def test_rules_in_python_do_not_run(tmp_path: Path) -> None:
    files = {
        "lint.hcl": 'lint {\n  rules = ["policies"]\n}\n',
        "policies/a.py": f"open({str(tmp_path / 'ran')!r}, 'w').close()\n",
    }
    with Client(tmp_path, files, settings=_LINTED) as client:
        client.open("main.tf", _TEXT)
        client.settled("main.tf")
        assert len(client.diagnostics("main.tf")) == 2
    assert not (tmp_path / "ran").exists()


def test_they_can_be_asked_for(tmp_path: Path) -> None:
    with Client(tmp_path, capabilities=PULLED, settings=_LINTED) as client:
        client.open("main.tf", _TEXT)
        client.request("nigari/settled")
        params = {"textDocument": client.document("main.tf")}
        report = client.request("textDocument/diagnostic", params)
        codes = {each["code"] for each in report["items"]}
        assert codes == {"core:unused-local", "nigari:wrapped-expression"}
