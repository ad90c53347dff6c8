"""What `nigari.load` reads, and how its objects behave."""

from __future__ import annotations

import copy
import json
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import nigari
from nigari.cty.values import Value
from nigari.workspace.context.remembered_variables import save_remembered

VARIABLES = 'variable "a" {}\nvariable "b" {\n  default = "b of the default"\n}\n'


def written(directory: Path, **files: str) -> Path:
    for name, text in files.items():
        path = directory / name.replace("__", "/").replace("_tf", ".tf")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory


def _inputs(configuration: nigari.Configuration) -> list[str]:
    return [
        repr(instance.arguments)
        for module in configuration.modules()
        for resource in module.resources.values()
        for instance in resource.instances.values()
    ]


def values(configuration: nigari.Configuration) -> dict[str, tuple[object, str]]:
    return {
        name: (each.to_python() if each.is_known else None, each.giver)
        for name, each in configuration.root.variables.items()
    }


class TestSources:
    def test_what_the_program_reads_counts(self, tmp_path: Path) -> None:
        written(tmp_path, main_tf=VARIABLES)
        (tmp_path / "terraform.tfvars").write_text('a = "a of the file"\n')
        environ = {"TF_VAR_b": "b of the environment", "TF_VAR_a": "weaker"}
        assert values(nigari.load(tmp_path, environ=environ)) == {
            "a": ("a of the file", "terraform.tfvars"),
            "b": ("b of the environment", "the environment variable TF_VAR_b"),
        }

    def test_later_ones_win(self, tmp_path: Path) -> None:
        written(tmp_path, main_tf=VARIABLES)
        (tmp_path / "terraform.tfvars").write_text('a = "usual"\n')
        (tmp_path / "x.auto.tfvars").write_text('a = "automatic"\n')
        named = tmp_path / "named.tfvars"
        named.write_text('a = "named"\n')
        load = nigari.load
        assert values(load(tmp_path, environ={}))["a"] == ("automatic", "x.auto.tfvars")
        assert values(load(tmp_path, None, [named], environ={}))["a"] == ("named", str(named))
        assert values(load(tmp_path, {"a": "given"}, [named], environ={}))["a"] == (
            "given",
            "the caller",
        )

    def test_nothing_else_counts_where_that_is_said(self, tmp_path: Path) -> None:
        written(tmp_path, main_tf=VARIABLES + "locals {\n  w = terraform.workspace\n}\n")
        (tmp_path / "terraform.tfvars").write_text('a = "usual"\n')
        environ = {"TF_VAR_b": "b", "TF_WORKSPACE": "other"}
        alone = nigari.load(tmp_path, environ=environ, usual=False)
        assert values(alone) == {"a": (None, "none"), "b": ("b of the default", "default")}
        assert (alone.workspace, alone.root.locals["w"].to_python()) == ("default", "default")
        named = tmp_path / "terraform.tfvars"
        given = nigari.load(tmp_path, {"b": "x"}, [named], environ=environ, usual=False)
        assert [value for value, _ in values(given).values()] == ["usual", "x"]

    def test_remembered_values(self, tmp_path: Path) -> None:
        written(tmp_path, main_tf=VARIABLES)
        (tmp_path / ".terraform").mkdir()
        save_remembered(tmp_path / ".terraform", "default", {"a": Value.of("a of init")}, "")
        assert values(nigari.load(tmp_path, environ={}))["a"][0] == "a of init"
        assert values(nigari.load(tmp_path, environ={}, usual=False))["a"][0] is None

    @pytest.mark.parametrize(
        ("selected", "environ", "given", "expected"),
        [
            ("", {}, None, "default"),
            ("dev", {}, None, "dev"),
            ("dev", {"TF_WORKSPACE": "stage"}, None, "stage"),
            ("dev", {"TF_WORKSPACE": "stage"}, "prod", "prod"),
        ],
    )
    def test_workspace(
        self, tmp_path: Path, selected: str, environ: dict[str, str], given: str, expected: str
    ) -> None:
        written(tmp_path, main_tf="locals {\n  w = terraform.workspace\n}\n")
        if selected:
            nigari.open(tmp_path, environ={}).new_workspace(selected)
        configuration = nigari.load(tmp_path, environ=environ, workspace=given)
        assert configuration.workspace == expected
        assert configuration.root.locals["w"].to_python() == expected

    def test_paths_are_seen_from_the_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        text = 'locals {\n  t = file("t.txt")\n  p = path.module\n}\n'
        written(tmp_path, infra__main_tf=text)
        (tmp_path / "infra" / "t.txt").write_text("text")
        monkeypatch.chdir(tmp_path)
        found = nigari.load("infra").root.locals
        assert [found["t"].to_python(), found["p"].to_python()] == ["text", "."]
        assert found["t"].range is not None
        assert found["t"].range.filename == "main.tf"

    def test_a_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        written(tmp_path, main_tf=VARIABLES)
        configuration = nigari.load(tmp_path, None, [tmp_path / "no.tfvars"])
        with pytest.raises(nigari.SessionError, match="Cannot read a variables file"):
            configuration.raise_for_errors()
        assert configuration.root.variables["b"].giver == "default"

    def test_the_lines_of_files_of_variables_are_shown(self, tmp_path: Path) -> None:
        written(tmp_path, main_tf='variable "a" {\n  type = number\n}\n')
        (tmp_path / "terraform.tfvars").write_text('a = "usual"\n')
        configuration = nigari.load(tmp_path, environ={})
        assert not configuration.root.variables["a"].is_known
        assert 'a = "usual"' in configuration.describe()


CONFIGURATION = """\
variable "env" {
  default = "dev"
}
locals {
  name = "x-${var.env}"
}
module "m" {
  source   = "./m"
  for_each = { a = 1, b = 2 }
  n        = each.value
}
resource "terraform_data" "r" {
  count = 2
  input = local.name
}
terraform {
  backend "local" {
    path = "${var.env}.tfstate"
  }
}
"""
PROVIDERS = """\
provider "aws" {
  alias    = "by_region"
  for_each = toset(["eu", "us"])
  region   = each.key
}
module "passed" {
  source    = "./m"
  n         = 3
  providers = { aws = aws.by_region["eu"] }
}
module "later" {
  source = "./m"
  count  = length(terraform_data.r[0].id)
  n      = 4
}
"""
INNER = 'resource "aws_x" "y" {\n  n = var.n\n}\n'
MODULE = 'variable "n" {}\noutput "o" {\n  value = var.n + 1\n}\n'


@pytest.fixture
def configuration(tmp_path: Path) -> nigari.Configuration:
    return nigari.load(written(tmp_path, main_tf=CONFIGURATION, m__main_tf=MODULE), environ={})


class TestObjects:
    def test_equal_things_are_equal(self, configuration: nigari.Configuration) -> None:
        def everything() -> list[object]:
            root = configuration.root
            found: list[object] = [root, configuration.backend, *configuration.modules()]
            for module in configuration.modules():
                found += [*module.variables.values(), *module.outputs.values()]
                found += [*module.calls.values(), *module.resources.values()]
            found += root.resources["terraform_data.r"].instances.values()
            return [*found, *root.calls["m"].instances.values()]

        first, second = everything(), everything()
        assert first == second
        assert [hash(each) for each in first] == [hash(each) for each in second]
        instances = configuration.root.resources["terraform_data.r"].instances
        assert instances[0] != instances[1]
        assert configuration != nigari.load(configuration.path)

    def test_values_can_be_pickled(self, configuration: nigari.Configuration) -> None:
        root = configuration.root
        argument = root.resources["terraform_data.r"].arguments["input"]
        for known in [*root.variables.values(), *root.locals.values(), argument]:
            again = pickle.loads(pickle.dumps(known))
            assert again == known
            assert (again.expr, again.references) == (known.expr, known.references)
            assert (again.origins, again.reasons) == (known.origins, known.reasons)
            assert str(again.explain()) == str(known.explain())
            assert copy.deepcopy(known) is known

    def test_the_whole_and_its_parts_can_be_pickled(self, tmp_path: Path) -> None:
        written(tmp_path, main_tf=CONFIGURATION + PROVIDERS, m__main_tf=MODULE + INNER)
        configuration = nigari.load(tmp_path, environ={})
        parts: list[object] = [configuration, configuration.backend]
        for module in configuration.modules():
            parts.append(module)
            for found in (module.calls, module.resources, module.providers):
                for block in found.values():
                    parts += [block, *block.instances.values()]
        assert len(parts) == 30
        for part in parts:
            assert copy.copy(part) is part
            assert copy.deepcopy([part]) == [part]
            again = pickle.loads(pickle.dumps(part))
            assert (type(again), repr(again)) == (type(part), repr(part))
            assert repr(getattr(again, "arguments", "")) == repr(getattr(part, "arguments", ""))
        whole, backend, root, *_ = pickle.loads(pickle.dumps(parts))
        assert (backend, root) == (whole.backend, whole.root)

    def test_a_pickle_has_what_was_read(self, tmp_path: Path) -> None:
        text = 'variable "a" {}\nlocals {\n  f = file("f.txt")\n  g = fileexists("g.txt")\n}\n'
        written(tmp_path, main_tf=text + "output", terraform_tfvars='a = "x"\nb = 1\n')
        (tmp_path / "f.txt").write_text("old")
        configuration = nigari.load(tmp_path, environ={}, workspace="w")
        locals_ = {name: each.to_python() for name, each in configuration.root.locals.items()}
        kept = pickle.dumps(configuration)
        for name in ("main.tf", "terraform.tfvars", "f.txt"):
            (tmp_path / name).unlink()
        (tmp_path / "g.txt").write_text("")
        again: nigari.Configuration = pickle.loads(kept)
        assert {name: each.to_python() for name, each in again.root.locals.items()} == locals_
        assert (again.path, again.workspace) == (configuration.path, "w")
        assert values(again) == values(configuration)
        assert again.describe() == configuration.describe() != ""

    def test_a_pickle_of_what_cannot_be_read(self, tmp_path: Path) -> None:
        (tmp_path / "main.tf").write_bytes(b"variable \xff {}")
        configuration = nigari.load(tmp_path, environ={})
        again: nigari.Configuration = pickle.loads(pickle.dumps(configuration))
        assert again.describe() == configuration.describe() != ""

    def test_several_processes(self, configuration: nigari.Configuration) -> None:
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            found = pool.map(_inputs, [configuration, configuration])
            assert list(found) == [_inputs(configuration)] * 2

    def test_several_threads(self, tmp_path: Path) -> None:
        count = 60
        chain = "".join(f"  v{i} = {i} + local.v{i - 1}\n" for i in range(1, count))
        module = f"variable n {{}}\nlocals {{\n  v0 = var.n\n{chain}}}\n"
        calls = 'module "m" {\n  source = "./m"\n  count = 20\n  n = count.index\n}\n'
        configuration = nigari.load(written(tmp_path, main_tf=calls, m__main_tf=module), environ={})

        def read(_: int) -> str:
            found = {
                each.address: {name: known.to_python() for name, known in each.locals.items()}
                for each in configuration.modules()
            }
            return json.dumps([found, len(configuration.diagnostics)])

        with ThreadPoolExecutor(8) as pool:
            assert len(set(pool.map(read, range(24)))) == 1
