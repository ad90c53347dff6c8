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


def test_a_fleet_that_passes_outputs_is_refused(tmp_path: Path) -> None:
    root, out = tmp_path / "fleet", tmp_path / "plain"
    for name in ("network", "app"):
        (root / name).mkdir(parents=True)
        (root / name / "main.tf").write_text(
            'variable "x" {\n  default = 1\n}\noutput "x" {\n  value = var.x\n}\n'
        )
    (root / "fleet.hcl").write_text(
        'unit "app" {\n  directory = "app"\n  variables = { x = unit.network.outputs.x }\n}\n'
    )
    command = [f"-chdir={root}", "fleet", "config", "-plain", f"-out={out}"]
    done = inside(*command)
    assert done.code == 1
    assert "Value from another unit" in done.err
    assert "fleet.hcl line 3" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["fleet"]
    assert inside(*command, "-partial").code == 0


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
