"""The console through a pipe."""

from pathlib import Path

import pytest

from tests.cli.process import Done, inside, nigari

CONFIGURATION = """
variable "name" {
  type    = string
  default = "none"
}
variable "count_of" {
  type = number
}
variable "secret" {
  default   = "s3cret"
  sensitive = true
}
locals {
  greeting = "Hello, ${var.name}!"
  next     = var.count_of + 1
  broken   = 1 + "x"
}
resource "terraform_data" "later" {}
"""


def ask(text: str, *args: str) -> Done:
    return inside("console", "-no-color", *args, stdin=text)


@pytest.fixture(autouse=True)
def _in_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("text", "out"),
    [
        ("1 + 1\n", "2\n"),
        ("1 + 1", "2\n"),
        ("\n1\n\n", "\n1\n\n"),
        ("", ""),
        ("1\nexit\n2\n", "1\n"),
        ("[1,\n  2]\n", "[\n  1,\n  2,\n]\n"),
        ("1 +\\\n2\n", "3\n"),
        ("<<EOT\n  a\nEOT\n", "<<EOT\n  a\n\nEOT\n"),
        ('"${\n1\n}"\n', "1\n"),
        ("/* a\n*/ 1\n", "1\n"),
        ('"é\\t\\u0001"\n', '"é\\t\\x01"\n'),
        ("{}\r\n", "{}\n"),
        ("null\ntostring(null)\n", "null\ntostring(null)\n"),
        ("1/3\n", f"0.{'3' * 154}5\n"),
        ("sensitive(1)\n[sensitive(1)]\n", "(sensitive value)\n[\n  (sensitive value),\n]\n"),
        ("type([1])\n", "tuple([\n    number,\n])\n"),
        ("toset([2, 1])\n", "toset([\n  1,\n  2,\n])\n"),
    ],
)
def test_answers(text: str, out: str) -> None:
    assert ask(text) == Done(0, out, "")


def test_answers_of_a_process(tmp_path: Path) -> None:
    text = '"é"\n<<EOT\nurl ${urldecode("%e9")}\nEOT\n1 +\n'
    done = nigari("console", cwd=tmp_path, stdin=text.encode())
    assert done.code == 1
    assert done.out == '"é"\n<<EOT\nurl \udce9\n\nEOT\n'
    assert "Error: " in done.err


def test_help() -> None:
    done = ask("help\n")
    assert done.code == 0
    assert "exit" in done.out


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1\n1 +\n2\n", "line 1"),
        ("1\nnothing(1)\n2\n", "nothing"),
        ("1\nvar.nothing\n2\n", "nothing"),
        ("1\n[type(1)]\n2\n", "type"),
        ("1\n[1,\n", "line"),
        ('1\n"abc\n2\n', "line 1"),
    ],
)
def test_the_first_mistake_ends_it(text: str, words: str) -> None:
    done = ask(text)
    assert (done.code, done.out) == (1, "1\n")
    assert "Error: " in done.err
    assert words in done.err


def test_it_knows_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(CONFIGURATION.replace('  broken   = 1 + "x"\n', ""))
    (tmp_path / "terraform.tfvars").write_text('name = "file"')
    questions = "local.greeting\nlocal.next\nvar.secret\nterraform_data.later\npath.module\n"
    later = "(sensitive value)\n(known after apply)\n"
    assert ask(questions) == Done(0, f'"Hello, file!"\n(known after apply)\n{later}"."\n', "")
    args = ["-var", "name=flag", "-var=count_of=2"]
    assert ask(questions, *args) == Done(0, f'"Hello, flag!"\n3\n{later}"."\n', "")


def test_it_goes_on_with_what_is_right(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(CONFIGURATION)
    done = ask("local.greeting\nlocal.broken\n")
    assert done.code == 0
    assert done.out.endswith('"Hello, none!"\n(known after apply)\n')
    assert "Warning: " in done.out
    assert "main.tf line 16" in done.err


@pytest.mark.parametrize(
    ("configuration", "args"),
    [
        ("locals {\n", []),
        ("", ["-var", "nothing=1"]),
        ("", ["-var", "nothing"]),
        ("", ["-var-file=nothing.tfvars"]),
    ],
)
def test_it_does_not_start(configuration: str, args: list[str], tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text(configuration)
    done = ask("1\n", *args)
    assert (done.code, done.out) == (1, "")
    assert "Error: " in done.err


def test_it_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text("")
    nigari("console", cwd=tmp_path, stdin="1\n")
    assert [path.name for path in tmp_path.iterdir()] == ["main.tf"]


def test_it_knows_instances_and_variables_that_are_not_const(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "main.tf").write_text('variable "v" {}\noutput "o" { value = var.v }\n')
    (tmp_path / "main.tf").write_text(
        'variable "late" {\n  default = "now"\n  const = false\n}\n'
        'module "m" {\n  source = "./m"\n  for_each = { a = 1 }\n  v = each.value\n}\n'
        'module "off" {\n  source = "./m"\n  v = 1\n  lifecycle {\n    enabled = false\n  }\n}\n'
        'resource "terraform_data" "none" {\n  count = 0\n}\n'
    )
    questions = 'module.m["a"].o\nvar.late\nmodule.off\nterraform_data.none[0].id\n'
    done = ask(questions)
    assert done.out == '1\n"now"\nnull\n(known after apply)\n'


_SCOPED = """
module "m" {
  source   = "./m"
  for_each = toset(["a", "b"])
  x        = each.key
}
"""


@pytest.mark.parametrize(
    ("scope", "code", "out", "error"),
    [
        ('module.m["a"]', 0, '"A"\n"m"\n', ""),
        ('module.m["b"].module.n', 0, '"b-n"\n"m/n"\n', ""),
        ('module.m["c"]', 1, "", 'The instances are ["a"] and ["b"].'),
        ("module.m", 1, "", 'The instances are ["a"] and ["b"].'),
        ("module.n", 1, "", 'nothing named "module.n"'),
        ("x[", 1, "", 'In the address "x["'),
    ],
)
def test_scope_is_a_module_instance(
    scope: str, code: int, out: str, error: str, tmp_path: Path
) -> None:
    (tmp_path / "main.tf").write_text(_SCOPED)
    (tmp_path / "m" / "n").mkdir(parents=True)
    call = 'module "n" {\n  source = "./n"\n  x = var.x\n}\n'
    local = 'variable "x" {{}}\nlocals {{ y = {} }}\n'
    (tmp_path / "m" / "main.tf").write_text(call + local.format("upper(var.x)"))
    (tmp_path / "m" / "n" / "main.tf").write_text(local.format('"${var.x}-n"'))
    done = ask("local.y\npath.module\n", f"-scope={scope}")
    assert (done.code, done.out) == (code, out)
    assert error in " ".join(done.err.split())
