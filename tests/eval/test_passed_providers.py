"""Providers that are passed in a way that the called module cannot use, and shared iterations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from nigari.cli.main import main

Show = Callable[..., str]
_REQUIRED = """
terraform {
  required_providers {
    test = {
      source                = "example.com/x/test"
      configuration_aliases = [test.main]
    }
  }
}
"""
_ROOT = """
terraform {
  required_providers {
    test = {
      source = "example.com/x/test"
    }
  }
}
provider "test" {
  alias = "one"
}
provider "test" {
  alias    = "many"
  for_each = toset(["a", "b"])
}
"""
_ONE = 'resource "test_it" "x" {\n  provider = test.main\n}\n'
_KEYED = 'resource "test_it" "x" {\n  provider = test.main["a"]\n}\n'


def _call(source: str, passed: str) -> str:
    return f'module "child" {{\n  source = "{source}"\n  providers = {{\n    test.main = {passed}\n  }}\n}}\n'


@pytest.fixture
def shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Show:
    monkeypatch.chdir(tmp_path)

    def show(files: Mapping[str, str], *command: str) -> str:
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
            (tmp_path / name).write_text(text)
        main([*command])
        told = capsys.readouterr()
        return " ".join((told.out + told.err).split())

    return show


@pytest.mark.parametrize(
    ("passed", "used", "said"),
    [
        ("test.many", _ONE, "gets all instances of the provider block test.many, but the module"),
        ("test.one", _KEYED, "gets a single configuration, but the module selects an instance"),
    ],
)
@pytest.mark.parametrize("deep", [False, True])
def test_the_call_is_named(passed: str, used: str, said: str, deep: bool, shown: Show) -> None:
    files = {"main.tf": _ROOT + _call("./child", passed), "child/main.tf": _REQUIRED + used}
    if deep:
        files["child/main.tf"] = _REQUIRED + _call("./inner", "test.main")
        files["child/inner/main.tf"] = _REQUIRED + used
    found = shown(files, "validate")
    assert "Wrong kind of provider configuration passed on main.tf line" in found
    assert "In the providers argument of module.child in the root module, test.main" in found
    assert said in found
    place = "module.child.module.child" if deep else "module.child"
    assert f"{place}.test_it.x uses test.main" in found
    assert ("module.child.module.child is passed test.main" in found) is deep
    assert "Leave out the key" not in found
    assert found.count("Error:") == 1


def test_what_is_passed_rightly(shown: Show) -> None:
    for passed, used in (("test.one", _ONE), ('test.many["a"]', _ONE), ("test.many", _KEYED)):
        files = {"main.tf": _ROOT + _call("./child", passed), "child/main.tf": _REQUIRED + used}
        assert "Wrong kind" not in shown(files, "validate")


def test_an_alias_that_the_module_does_not_have(shown: Show) -> None:
    files = {"main.tf": _ROOT + _call("./child", "test.one"), "child/main.tf": _REQUIRED}
    files["main.tf"] = files["main.tf"].replace("test.main =", "test.mian =")
    found = shown(files, "validate")
    assert "add test.mian to the configuration_aliases of test in its required_providers" in found
    assert 'Did you mean "test.main"?' in found


def test_one_warning_for_each_provider_block(shown: Show) -> None:
    """And by `validate` alone, since nothing is wrong."""
    shared = 'locals {\n  regions = toset(["a", "b"])\n}\n'
    block = """
provider "terraform" {
  alias    = "%s"
  for_each = local.regions
}
"""
    used = """
resource "terraform_data" "%s" {
  for_each = local.regions
  provider = terraform.%s[each.key]
}
"""
    required = (
        "terraform {\n  required_providers {\n    terraform = {\n      source = "
        '"terraform.io/builtin/terraform"\n    }\n  }\n}\n'
    )
    text = required + shared + block % "first" + block % "second"
    for provider in ("first", "second"):
        for name in ("a", "b", "c"):
            text += used % (f"{name}_{provider}", provider)
    found = shown({"main.tf": text}, "validate")
    assert found.count("Provider with the same for_each as its resources") == 2
    assert "terraform_data.a_first and 2 more would lose the provider instance" in found
    for command in (("explain", "local.regions"), ("eval", "local.regions"), ("plan",)):
        assert "same for_each" not in shown({}, *command)
