"""`textDocument/publishDiagnostics`, `textDocument/diagnostic` and `workspace/diagnostic`."""

from __future__ import annotations

from pathlib import Path

from tests.lsp.client import PULLED, Client, covered

_CALLED = {
    "m/main.tf": 'variable "size" {\n  type = number\n}\noutput "id" {\n  value = var.size\n}\n'
}


def test_syntax_errors_come_first_and_alone(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        client.open("main.tf", "locals {\n  a = var.\n  b = local.nothing\n}\n")
        (found,) = client.diagnostics("main.tf")
        assert found["severity"] == 1
        assert found["source"] == "nigari"
        assert found["range"]["start"] == {"line": 1, "character": 10}
        client.change("main.tf", "locals {\n  a = 1\n}\n")
        assert client.diagnostics("main.tf") == []
        assert client.diagnostics("main.tf") == []  # evaluated


def test_validation_follows(tmp_path: Path) -> None:
    with Client(tmp_path, _CALLED) as client:
        client.open("main.tf", 'module "m" {\n  source = "./m"\n  sise = 1\n}\n')
        assert client.diagnostics("main.tf") == []
        found = client.diagnostics("main.tf")
        assert {each["code"] for each in found} == {"Unexpected argument", "Missing argument"}
        (unexpected,) = [each for each in found if each["code"] == "Unexpected argument"]
        assert covered(client.texts["main.tf"], unexpected["range"]) == "sise"
        client.change("main.tf", 'module "m" {\n  source = "./m"\n  size = 1\n}\n')
        assert client.diagnostics("main.tf") == []
        assert client.diagnostics("main.tf") == []


def test_an_edit_of_a_module_concerns_its_caller(tmp_path: Path) -> None:
    root = {"main.tf": 'module "m" {\n  source = "./m"\n  size   = 1\n}\n'}
    with Client(tmp_path, {**_CALLED, **root}) as client:
        client.open("main.tf")
        assert client.settled("main.tf") == []
        client.open("m/main.tf")
        assert client.settled("m/main.tf") == []
        assert client.diagnostics("main.tf") == []
        client.change("m/main.tf", 'variable "width" {\n  type = number\n}\n')
        assert client.diagnostics("m/main.tf") == []
        assert {each["code"] for each in client.diagnostics("main.tf")} == {
            "Unexpected argument",
            "Missing argument",
        }
        assert client.diagnostics("m/main.tf") == []


def test_chains_are_related_locations(tmp_path: Path) -> None:
    text = (
        'resource "terraform_data" "a" {}\n'
        "locals {\n  where = terraform_data.a.id\n}\n"
        'module "m" {\n  source = "./${local.where}"\n}\n'
    )
    capable = {"textDocument": {"publishDiagnostics": {"relatedInformation": True}}}
    with Client(tmp_path, capabilities=capable) as client:
        client.open("main.tf", text)
        (found,) = client.settled("main.tf")
        related = found["relatedInformation"]
        lines = [each["location"]["range"]["start"]["line"] for each in related]
        assert len(related) >= 2
        assert 2 in lines
        assert all(each["location"]["uri"] == client.uri("main.tf") for each in related)
    with Client(tmp_path) as client:
        client.open("main.tf", text)
        (found,) = client.settled("main.tf")
        assert "relatedInformation" not in found


def test_missing_modules_and_providers_are_no_errors(tmp_path: Path) -> None:
    """Before init nothing false is reported, and everything else is checked."""
    text = (
        'module "far" {\n  source = "example.com/a/b/c"\n}\n'
        'resource "cloud_thing" "a" {\n  anything = true\n}\n'
        "locals {\n  wrong = local.missing\n}\n"
    )
    with Client(tmp_path) as client:
        client.open("main.tf", text)
        found = client.settled("main.tf")
        assert [(each["severity"], each["range"]["start"]["line"]) for each in found] == [
            (2, 1),
            (1, 7),
        ]


def test_positions_in_other_scripts(tmp_path: Path) -> None:
    for encoding, column in (("utf-8", 15), ("utf-16", 12), ("utf-32", 11)):
        capable = {"general": {"positionEncodings": [encoding]}}
        with Client(tmp_path, capabilities=capable) as client:
            client.open(
                "main.tf", 'locals { a = "é😀" + local.b }\nlocals {\n  b = 1\n  c = "ß😀" + [}\n'
            )
            client.diagnostics("main.tf")
            client.change("main.tf", 'locals {\n  a = "é😀${local.b}"\n}\n')
            assert client.diagnostics("main.tf") == []
            (found,) = client.diagnostics("main.tf")
            start = found["range"]["start"]
            assert start["line"] == 1
            assert start["character"] == column, encoding


def test_incremental_edits(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        client.open("main.tf", 'locals {\n  a = "😀x"\n}\n')
        assert client.settled("main.tf") == []

        def edit(line: int, start: int, end: int, text: str) -> dict[str, object]:
            positions = ({"line": line, "character": each} for each in (start, end))
            return {"range": dict(zip(("start", "end"), positions, strict=True)), "text": text}

        # Each range is one in the text that the change before has left.
        client.changes(
            "main.tf", [edit(1, 7, 9, ""), edit(1, 7, 8, "${local.b"), edit(1, 16, 16, "}")]
        )
        assert client.diagnostics("main.tf") == []
        (found,) = client.diagnostics("main.tf")
        assert "b" in found["message"]
        assert found["range"]["start"] == {"line": 1, "character": 9}


def test_a_closed_document_has_none(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        client.open("main.tf", "locals {\n")
        assert len(client.diagnostics("main.tf")) == 1
        client.close("main.tf")
        assert client.diagnostics("main.tf") == []


def test_values_files_count_before_they_are_saved(tmp_path: Path) -> None:
    root = {
        "main.tf": 'variable "n" {\n  type = number\n}\nmodule "m" {\n  source = "./${var.n}"\n}\n'
    }
    with Client(tmp_path, {**root, "1/main.tf": ""}) as client:
        client.open("main.tf")
        assert len(client.settled("main.tf")) == 1
        client.open("terraform.tfvars", "n = 1\n")
        assert client.diagnostics("terraform.tfvars") == []
        assert client.diagnostics("main.tf") == []
        assert client.diagnostics("terraform.tfvars") == []


def test_pulled(tmp_path: Path) -> None:
    refresh = {**PULLED, "workspace": {"diagnostics": {"refreshSupport": True}}}
    with Client(tmp_path, capabilities=refresh) as client:
        client.open("main.tf", "locals {\n  a = local.b\n}\n")
        document = {"textDocument": client.document("main.tf")}
        client.asked("workspace/diagnostic/refresh")
        full = client.request("textDocument/diagnostic", document)
        assert full["kind"] == "full"
        assert len(full["items"]) == 1
        again = client.request(
            "textDocument/diagnostic", {**document, "previousResultId": full["resultId"]}
        )
        assert again == {"kind": "unchanged", "resultId": full["resultId"]}
        whole = client.request("workspace/diagnostic", {"previousResultIds": []})
        assert [(each["uri"], len(each["items"])) for each in whole["items"]] == [
            (client.uri("main.tf"), 1)
        ]


def test_pulled_answers_at_once(tmp_path: Path) -> None:
    with Client(tmp_path, capabilities=PULLED) as client:
        client.open("main.tf", "locals {\n  a = [\n}\n")
        report = client.request(
            "textDocument/diagnostic", {"textDocument": client.document("main.tf")}
        )
        assert len(report["items"]) == 1
