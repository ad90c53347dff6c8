"""`workspace/executeCommand` and the lenses and actions that offer commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from tests.lsp.client import PULLED, Client, ErrorAnswer
from tests.lsp.configuration import FILES, client, evaluated, merged

_OPTIONAL: Final = ("workspace/diagnostic/refresh", "window/logMessage", "$/progress")
_PROGRESS: Final = {"window": {"workDoneProgress": True}}
_TEST: Final = """\
run "first" {
  command = plan
  assert {
    condition     = output.all != null
    error_message = "none"
  }
}
"""


def _client(root: Path, files: dict[str, str], *capabilities: Any) -> Client:  # noqa: ANN401 - JSON
    capable = merged({"workspace": {"diagnostics": {"refreshSupport": True}}}, *capabilities)
    return Client(root, files, merged(capable, PULLED), optional=_OPTIONAL)


def _lenses(client: Client, name: str) -> list[tuple[str, Any]]:
    found = client.request("textDocument/codeLens", {"textDocument": client.document(name)})
    resolved = [client.request("codeLens/resolve", each) for each in found]
    return [(covered["command"]["title"], covered) for covered in resolved]


def test_lenses(tmp_path: Path) -> None:
    with client(tmp_path) as editor:
        evaluated(editor)
        editor.open("net/main.tf")
        editor.request("nigari/settled")
        root = {
            title: lens["command"] for title, lens in _lenses(editor, "main.tf") if lens["command"]
        }
        assert root["Plan this target"]["arguments"] == [editor.uri(""), "module.net"]
        assert root["Explain"]["arguments"] == [editor.uri(""), "output.all"]
        net = [lens["command"]["arguments"] for title, lens in _lenses(editor, "net/main.tf")[1:2]]
        assert net == [[editor.uri(""), 'module.net["a"].var.name']]


def test_lenses_that_are_wanted(tmp_path: Path) -> None:
    with client(tmp_path, settings={"lenses": ["references"]}) as editor:
        evaluated(editor)
        assert {title.split()[-1] for title, _ in _lenses(editor, "main.tf")} <= {
            "reference",
            "references",
        }


def test_run_tests(tmp_path: Path) -> None:
    files = {**FILES, "tests/a.tftest.hcl": _TEST}
    with _client(tmp_path, files, _PROGRESS) as editor:
        editor.open("tests/a.tftest.hcl")
        title, lens = _lenses(editor, "tests/a.tftest.hcl")[0]
        assert title == "Run these tests"
        id_ = editor.begin("workspace/executeCommand", lens["command"])
        token = editor.asked("window/workDoneProgress/create")["token"]
        begun = editor.notification("$/progress")
        assert begun == {
            "token": token,
            "value": {"kind": "begin", "title": "Test", "cancellable": True},
        }
        answer = editor.finish(id_)
        assert answer["status"] == 0
        assert "1 passed" in answer["output"]


def test_explain(tmp_path: Path) -> None:
    with _client(tmp_path, FILES) as editor:
        command = {"command": "nigari.explain", "arguments": [editor.uri(""), "local.where"]}
        answer = editor.request("workspace/executeCommand", command)
        assert answer["status"] == 0
        assert '"EU"' in answer["output"]


def test_plan_of_a_target(tmp_path: Path) -> None:
    with _client(tmp_path, FILES) as editor:
        target = [editor.uri(""), "terraform_data.first"]
        init = {"command": "nigari.init", "arguments": target[:1]}
        assert editor.request("workspace/executeCommand", init)["status"] == 0
        command = {"command": "nigari.plan", "arguments": target}
        answer = editor.request("workspace/executeCommand", command)
        assert answer["status"] == 0
        assert "1 to add" in answer["output"]
        assert not (tmp_path / "terraform.tfstate").exists()


def test_init_is_offered_where_a_module_is_missing(tmp_path: Path) -> None:
    """A failure is shown, with what the command said in the log."""
    text = 'module "far" {\n  source = "git::file:///nowhere/at/all"\n}\n'
    with _client(tmp_path, {"main.tf": text}) as editor:
        evaluated(editor)
        place = {"start": {"line": 1, "character": 14}, "end": {"line": 1, "character": 14}}
        params = {"textDocument": editor.document("main.tf"), "range": place, "context": {}}
        found = [
            each
            for each in editor.request("textDocument/codeAction", params)
            if each.get("command", {}).get("command") == "nigari.init"
        ]
        assert len(found) == 1
        assert found[0]["diagnostics"][0]["code"] == "Module not installed"
        answer = editor.request("workspace/executeCommand", found[0]["command"])
        assert answer["status"] == 1
        assert "failed" in editor.notification("window/showMessage")["message"]


def test_cancelled(tmp_path: Path) -> None:
    """The process of a command that is cancelled ends, and its request is answered."""
    slow = {"main.tf": 'data "external" "x" {\n  program = ["sleep", "60"]\n}\n'}
    slow["a.tftest.hcl"] = 'run "a" {}\n'
    with _client(tmp_path, slow) as editor:
        command = {"command": "nigari.test", "arguments": [editor.uri("")]}
        id_ = editor.begin("workspace/executeCommand", {**command, "workDoneToken": "mine"})
        assert editor.notification("$/progress")["token"] == "mine"
        editor.notify("window/workDoneProgress/cancel", {"token": "mine"})
        assert editor.finish(id_)["status"] == -1
        editor.notification("window/showMessage")


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("nigari.unheardOf", []),
        ("nigari.init", []),
        ("nigari.init", ["file:///no/such/directory"]),
        ("nigari.init", ["https://example.com"]),
    ],
)
def test_wrong_commands(tmp_path: Path, command: str, arguments: list[str]) -> None:
    params = {"command": command, "arguments": arguments}
    with Client(tmp_path) as editor, pytest.raises(ErrorAnswer) as failed:
        editor.request("workspace/executeCommand", params)
    assert failed.value.code == -32602
