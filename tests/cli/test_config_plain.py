"""`config -plain`: what is written for a configuration, and what is refused.

A case has the files of a configuration, and the words in `flags`. It expects the files that are not
as they were, or the errors; nothing is written then.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import nigari
from nigari.workspace.session.failure import SessionError
from tests.cases import Case, check_case
from tests.cli.instance_cases import CASES as INSTANCES
from tests.cli.instance_steps import Story, story_of
from tests.cli.plain_cases import CASES, write_case
from tests.cli.plain_fleet import applied_fleet, plain_units
from tests.cli.process import ROOT, inside
from tests.real.plain_world import changes_in, written_plain


@pytest.mark.parametrize("case", CASES, ids=str)
def test_plain_configurations(case: Case, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    directory, out = tmp_path / "work", tmp_path / "plain"
    directory.mkdir()
    flags = write_case(case, directory)
    own = [flag for flag in flags if flag.startswith("-env")]
    rest = [flag for flag in flags if flag not in own]
    done = inside(
        f"-chdir={directory}", *own, "config", "-plain", f"-out={out}", "-no-color", *rest
    )
    actual = done.err if done.code else "\n".join([done.err, *_changes(directory, out)])
    assert out.exists() is (done.code == 0)
    check_case(case, actual, bool(request.config.getoption("--update")))
    assert sorted(tmp_path.iterdir()) == [out, directory][not out.exists() :]


def _changes(before: Path, after: Path) -> Iterator[str]:
    old, new = _files(before), _files(after)
    for name in sorted({*old, *new}):
        if name not in new:
            yield f">>> {name} is not there"
        elif old.get(name) != new[name]:
            yield f">>> {name}\n{new[name]}"


def _files(directory: Path) -> dict[str, str]:
    found = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_text() for path in found}


@pytest.mark.parametrize("case", INSTANCES, ids=str)
def test_the_plain_configuration_has_nothing_left_to_do(case: Case, tmp_path: Path) -> None:
    work, out = tmp_path / "work", tmp_path / "plain"
    work.mkdir()
    first, *_ = story_of(case)
    Story(work, [first], is_twin=False).write(first.files)
    settings = [flag for flag in first.flags if flag.startswith("-var")]
    inside(f"-chdir={work}", "init")
    inside(f"-chdir={work}", "apply", "-auto-approve", *first.flags)
    if inside(f"-chdir={work}", "plan", "-detailed-exitcode", *settings).code:
        pytest.skip("the first step does not come to rest")
    assert not written_plain(work, out, settings)
    for command in (["init"], ["plan", "-out=p", *settings]):
        done = inside(f"-chdir={out}", *command)
        assert done.code == 0, done.err
    assert changes_in(json.loads(inside(f"-chdir={out}", "show", "-json", "p").out)) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-plain",), "-out=plain"),
        ((), "one of the options -json and -plain"),
        (("-json", "-plain", "-out=x"), "one of the options -json and -plain"),
        (("-json", "-out=x"), "need the option -plain"),
        (("-plain", "-out=x", "-for=pulumi"), 'cannot be "pulumi"'),
        (("-plain", "-out=x", "-for=opentofu-1.5"), 'cannot be "opentofu-1.5"'),
        (("-plain", "-out=x", "-for=terraform-1.x"), 'cannot be "terraform-1.x"'),
        (("-plain", "-out=full"), "Directory is not empty"),
        (("-plain", "-out=file/x"), "Cannot write the configuration"),
    ],
)
def test_wrong_options(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('variable "x" {\n  default = 1\n}\n')
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a").write_text("")
    (tmp_path / "file").write_text("")
    before = sorted(tmp_path.rglob("*"))
    done = inside(f"-chdir={tmp_path}", "config", *words)
    assert done.code == 1
    assert said in " ".join(done.err.split())
    assert sorted(tmp_path.rglob("*")) == before


def test_what_cannot_be_expressed_stays_with_partial(tmp_path: Path) -> None:
    work, out = tmp_path / "work", tmp_path / "plain"
    work.mkdir()
    text = 'resource "terraform_data" "x" {\n  lifecycle {\n    destroy = false\n  }\n}\n'
    (work / "main.tf").write_text(text)
    options = ["config", "-plain", "-for=terraform", f"-out={out}"]
    assert inside(f"-chdir={work}", *options).code == 1
    assert not out.exists()
    done = inside(f"-chdir={work}", *options, "-partial")
    assert done.code == 0
    assert "Warning: Object that is never destroyed" in done.err
    assert (out / "main.tf").exists()


def test_a_fleet_is_written_unit_by_unit(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "plain"
    for name in ("network", "app"):
        (root / name).mkdir(parents=True)
        (root / name / "main.tf").write_text('variable "x" {\n  default = 1\n}\n')
    (root / "fleet.hcl").write_text(
        'unit "network" {\n  for_each  = { dev = 1, prod = 2 }\n  directory = "network"\n'
        '  variables = { x = each.value }\n  env       = { NAME = "value" }\n}\n'
    )
    done = inside(f"-chdir={root}", "fleet", "config", "-plain", f"-out={out}")
    assert done.code == 0, done.err
    assert sorted(path.name for path in out.iterdir()) == ["app", "network-dev", "network-prod"]
    assert (out / "network-prod" / "fleet.auto.tfvars").read_text() == "x = 2\n"
    assert "in the workspace prod" in done.out
    assert "Set them when you run it: NAME." in " ".join(done.err.split())


def test_outputs_that_a_fleet_passes_are_read(tmp_path: Path) -> None:
    root = tmp_path / "fleet"
    applied_fleet(root)
    units = plain_units(root, tmp_path / "plain")
    call = (tmp_path / "plain" / "app-dev" / "fleet_inputs.tf").read_text()
    assert "network = data.terraform_remote_state.fleet_network_dev.outputs.id\n" in call
    assert 'workspace_dir = "../network-prod/terraform.tfstate.d"' in call
    moved = (tmp_path / "plain" / "app-dev" / "fleet_inputs" / "main.tf").read_text()
    assert moved.startswith('# What a network is called.\nvariable "network" {')
    assert '"Too short: ${var.network}"' in moved
    assert (tmp_path / "plain" / "app-dev" / "fleet.auto.tfvars").read_text() == "size = 3\n"
    for directory in units:
        assert inside(f"-chdir={directory}", "init").code == 0
        done = inside(f"-chdir={directory}", "plan", "-detailed-exitcode")
        assert done.code == 0, done.out + done.err


_DECLARED = 'variable "x" {\n  default = 1\n}\noutput "x" {\n  value = var.x\n}\n'
_UNITS = 'unit "app" {\n  directory = "app"\n  variables = %s\n}\n'
_ENCRYPTED = """terraform {
  encryption {
    key_provider "pbkdf2" "p" {
      passphrase = "correct horse battery"
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.p
    }
    state {
      method = method.aes_gcm.m
    }
  }
}
"""
REFUSED_FLEETS = {
    "names from outputs": (
        {"fleet.hcl": _UNITS % "unit.network.outputs"},
        "The names of the variables of app depend on outputs of other units.",
    ),
    "an encrypted state": (
        {"network/other.tf": _ENCRYPTED},
        "network, and its state is encrypted.",
    ),
    "a cloud": (
        {"network/c.tf": 'terraform {\n  cloud {\n    organization = "o"\n  }\n}\n'},
        "no data source reads states of the backend cloud.",
    ),
    "a validation with another variable": (
        {
            "app/main.tf": 'variable "y" {\n  default = 1\n  validation {\n'
            '    condition     = var.y <= var.x\n    error_message = "No."\n  }\n}\n' + _DECLARED
        },
        "The variable y is validated with x,",
    ),
    "a file in the JSON syntax": (
        {"app/main.tf": "", "app/main.tf.json": '{"variable": {"x": {}}}'},
        "The variable x gets a value of another unit, so its block has to move,",
    ),
}


@pytest.mark.parametrize("what", REFUSED_FLEETS)
def test_outputs_that_cannot_be_read_are_refused(what: str, tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "plain"
    changed, reason = REFUSED_FLEETS[what]
    files = {f"{name}/main.tf": _DECLARED for name in ("network", "app")}
    files["fleet.hcl"] = _UNITS % "{ x = unit.network.outputs.x }"
    for name, text in {**files, **changed}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    command = [f"-chdir={root}", "fleet", "config", "-plain", f"-out={out}"]
    done = inside(*command)
    assert done.code == 1
    assert reason in " ".join(done.err.split())
    assert [path.name for path in tmp_path.iterdir()] == ["fleet"]
    assert inside(*command, "-partial").code == 0


def test_secrets_of_backends_are_not_written_into_data_sources(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "plain"
    backend = 'terraform {\n  backend "pg" {\n    conn_str = "postgres://u:hunter2@h/d"\n'
    files = {f"{name}/main.tf": _DECLARED for name in ("network", "app")}
    files["network/main.tf"] += f'{backend}    schema_name = "s"\n  }}\n}}\n'
    files["fleet.hcl"] = _UNITS % "{ x = unit.network.outputs.x }"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    done = inside(f"-chdir={root}", "fleet", "config", "-plain", f"-out={out}")
    assert done.code == 0, done.err
    text = (out / "app" / "fleet_inputs.tf").read_text()
    assert "hunter2" not in text
    assert 'schema_name = "s"' in text
    assert "The backend argument conn_str of network may be a secret" in " ".join(done.err.split())


def test_python_programs_write_plain_configurations(tmp_path: Path) -> None:
    work, out = tmp_path / "work", tmp_path / "plain"
    work.mkdir()
    (work / "main.tf").write_text('variable "x" {\n  default = upper("a")\n}\n')
    with nigari.open(work) as session:
        assert session.write_plain(out, target="terraform-1.9") == ()
        with pytest.raises(ValueError, match="pulumi"):
            session.write_plain(out, target="pulumi")
        with pytest.raises(SessionError, match="Directory is not empty"):
            session.write_plain(out)
    assert (out / "main.tf").read_text() == 'variable "x" {\n  default = "A"\n}\n'


def test_installed_modules_that_change_are_copied(tmp_path: Path) -> None:
    work, out, repository = (tmp_path / name for name in ("work", "plain", "repository"))
    (repository / "sub").mkdir(parents=True)
    work.mkdir()
    source = f"git::file://{repository}"
    (repository / "main.tf").write_text(
        'variable "first" {}\nresource "terraform_data" "x" {\n  input = path.module\n'
        "  lifecycle {\n    create_before_destroy = var.first\n  }\n}\n"
        'module "sub" {\n  source = "./sub"\n}\n'
    )
    (repository / "sub" / "main.tf").write_text('output "x" {\n  value = 1\n}\n')
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        identity = ["-c", "user.email=a@example.com", "-c", "user.name=a"]
        subprocess.run(["git", *identity, *words], cwd=repository, check=True)
    (work / "main.tf").write_text(
        f'module "m" {{\n  for_each = {{ a = true, b = false }}\n  source   = "{source}"\n'
        f'  first    = each.value\n}}\nmodule "same" {{\n  source = "{source}//sub"\n}}\n'
    )
    assert inside(f"-chdir={work}", "init").code == 0
    # Nothing is known of the instances before the module has been read.
    assert inside(f"-chdir={work}", "validate").code == 0
    assert not written_plain(work, out)
    main = (out / "main.tf").read_text()
    sources = re.findall(r'source = "(.*)"', main)
    assert sources[2:] == [f"{source}//sub"]
    texts = [(out / each / "main.tf").read_text() for each in sources[:2]]
    assert ["= true" in text for text in texts] == [True, False]
    assert (out / "modules" / "m_b" / "sub" / "main.tf").exists()


def test_the_page_tells_what_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    compared = 0
    page = (ROOT / "docs/guides/plain-configurations.md").read_text()
    for kind, text in re.findall(r"```(hcl|console)\n(.*?)```", page, re.DOTALL):
        name, _, content = text.partition("\n")
        if kind == "console":
            done = inside(*name.removeprefix("$ nigari ").split())
            assert done.out == content
        elif (path := Path(name.removeprefix("# "))).exists():
            assert path.read_text() == content
            compared += 1
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
    assert compared == 1
