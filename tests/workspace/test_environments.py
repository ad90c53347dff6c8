"""What `environments.hcl` declares, and what can be wrong with it."""

from pathlib import Path

import pytest

import nigari
from nigari.diagnostics import Diagnostics
from nigari.workspace.context.environments import FILE_NAME, Environments, read_environments
from nigari.workspace.context.working_directory import WorkingDirectory


def _read(directory: Path, text: str | None, diags: Diagnostics) -> Environments:
    if text is not None:
        (directory / FILE_NAME).write_text(text)
    return read_environments(WorkingDirectory({}, root=str(directory)), diags)


def test_everything_that_an_environment_has(tmp_path: Path) -> None:
    text = """
    locals { key = "prod" }
    environment "prod" {
      workspace = local.key
      var_files = ["common.tfvars", "${local.key}.tfvars"]
      variables = { region = "us", sizes = [1, 2] }
      backend   = { key = "${local.key}/terraform.tfstate" }
    }
    environment "dev" {}
    """
    diags = Diagnostics()
    found = _read(tmp_path, text, diags)
    assert list(diags) == []
    assert list(found.by_name) == ["prod", "dev"]
    prod, dev = found.by_name.values()
    assert prod.workspace == "prod"
    assert prod.var_files == ("common.tfvars", "prod.tfvars")
    assert {name: each.value.to_python() for name, each in prod.variables.items()} == {
        "region": "us",
        "sizes": [1, 2],
    }
    assert prod.backend["key"].value.to_python() == "prod/terraform.tfstate"
    assert prod.backend["key"].range.start.line == 7
    assert (dev.workspace, dev.var_files, dev.variables, dev.backend) == ("", (), {}, {})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, []),
        ("", []),
        ('environment "a" { for_each = toset(["x", "y"]) }', ["a-x", "a-y"]),
        ('environment "a" {\n for_each = { x = 1 }\n name = each.key\n}', ["x"]),
        ('environment "a" { for_each = {} }', []),
        ('environment "1.a_B-c" {}', ["1.a_B-c"]),
    ],
)
def test_names(tmp_path: Path, text: str | None, names: list[str]) -> None:
    diags = Diagnostics()
    assert list(_read(tmp_path, text, diags).by_name) == names
    assert list(diags) == []


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("environment {}", 13, "label"),
        ('environment "a" { workspce = "b" }', 19, 'Did you mean "workspace"'),
        ('environment "a" { workspace = "a b" }', 31, "workspace name"),
        ('environment "a" { workspace = sensitive("b") }', 31, "sensitive"),
        ('environment "a" { var_files = "x" }', 31, "list of string"),
        ('environment "a" { var_files = [null] }', 31, "null"),
        ('environment "a" { variables = ["x"] }', 31, "object"),
        ('environment "a" { backend = sensitive({}) }', 29, "sensitive"),
        ('environment "a" { name = "b" }', 19, "for_each"),
        ('environment "a/b" {}', 13, '"a/b"'),
        ('environment ".." {}', 13, '".."'),
        ('environment "" {}', 13, '""'),
    ],
)
def test_mistakes_are_reported(tmp_path: Path, text: str, column: int, words: str) -> None:
    diags = Diagnostics()
    assert list(_read(tmp_path, text, diags).by_name) == []
    (found,) = diags
    assert found.subject is not None
    assert found.subject.start.column == column
    assert words in found.detail


def test_the_same_name_twice(tmp_path: Path) -> None:
    diags = Diagnostics()
    text = 'environment "a-b" {}\nenvironment "a" { for_each = toset(["b"]) }'
    assert list(_read(tmp_path, text, diags).by_name) == ["a-b"]
    (found,) = diags
    assert found.subject is not None
    assert found.subject.start.line == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, f"no {FILE_NAME}"),
        ("", "It declares none."),
        ('environment "prod" {}', 'It declares prod. Did you mean "prod"?'),
    ],
)
def test_a_name_that_is_not_declared(tmp_path: Path, text: str | None, words: str) -> None:
    diags = Diagnostics()
    assert _read(tmp_path, text, diags).find("pord", diags) is None
    assert words in next(iter(diags)).detail


# -- sessions ---------------------------------------------------------------------------------

DECLARED = 'environment "dev" { variables = { a = 1 } }\nenvironment "prod" { workspace = "p" }\n'


def _session(directory: Path, **options: str) -> nigari.Session:
    (directory / "main.tf").write_text('variable "a" {}\noutput "a" {\n  value = var.a\n}\n')
    (directory / FILE_NAME).write_text(DECLARED)
    environ = {"NIGARI_ENV": options.pop("chosen")} if "chosen" in options else {}
    return nigari.open(directory, environ=environ, **options)  # type: ignore[arg-type] # texts


def test_a_session_in_an_environment(tmp_path: Path) -> None:
    session = _session(tmp_path, environment="dev")
    session.init()
    assert session.apply().outputs["a"].to_python() == 1
    assert session.environment == "dev"
    dev, prod = session.environments.values()
    assert dev.last_apply is not None
    assert (dev.last_apply.mode, dev.last_apply.is_complete) == ("normal", True)
    assert prod.last_apply is None
    assert prod.workspace == "p"
    assert _session(tmp_path, chosen="prod").workspace == "p"
    assert _session(tmp_path, chosen="prod", environment="dev").workspace == "default"
    assert _session(tmp_path).environment is None


def test_sessions_say_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(nigari.SessionError, match='Did you mean "prod"'):
        _session(tmp_path, environment="pord").plan()
    with pytest.raises(nigari.SessionError, match='selects "other"'):
        _session(tmp_path, environment="prod", workspace="other").plan()
    session = _session(tmp_path)
    (tmp_path / FILE_NAME).write_text("environment {}")
    with pytest.raises(nigari.SessionError, match=r"environments\.hcl line 1"):
        assert session.environments


def test_loaded_configurations(tmp_path: Path) -> None:
    _session(tmp_path)
    loaded = nigari.load(tmp_path, environment="dev", environ={})
    assert loaded.root.variables["a"].to_python() == 1
    assert nigari.load(tmp_path, environ={"NIGARI_ENV": "prod"}).workspace == "p"
    assert nigari.load(tmp_path, environ={"NIGARI_ENV": "prod"}, usual=False).workspace == "default"
    with pytest.raises(nigari.SessionError, match="No such environment"):
        nigari.load(tmp_path, environment="pord", environ={})
    with pytest.raises(ValueError, match="usual=True"):
        nigari.load(tmp_path, environment="dev", usual=False)
