"""Rules over the whole tree: what modules may have and what calls may pass to them."""

from __future__ import annotations

import pytest

from nigari.addrs.module import ROOT_MODULE
from nigari.config.load import ModuleLoader
from nigari.diagnostics import Diagnostics
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.tree.placement_rules import check_places
from nigari.eval.tree.provider_iteration import check_provider_iteration
from nigari.eval.tree.provider_rules import check_aliases, check_providers
from nigari.hcl.templates import StringLiteral
from nigari.lang.files import MemoryFiles
from tests.config.loading import Reported, told

_X = 'terraform {\n required_providers {\n  a = { source = "x/a" }\n }\n}\n'
_ALIASED = (
    'terraform {\n required_providers {\n  a = { source = "x/a", configuration_aliases = [a.all] }'
    "\n }\n}\n"
)
_EACH = 'provider "a" {\n alias = "each"\n for_each = local.e\n x = 1\n}\n'


def _load_tree(files: dict[str, str]) -> ModuleInstance:
    """The tree that modules make which call each other by plain directory names."""
    diags = Diagnostics()
    loader = ModuleLoader(MemoryFiles({**files}))

    def compiled(directory: str) -> CompiledModule:
        module = loader.load(directory, diags)
        assert module is not None
        return CompiledModule(module)

    root = ModuleInstance(ROOT_MODULE, compiled("."))
    pending = [root]
    while pending:
        node = pending.pop()
        for name, call in node.module.calls.items():
            assert isinstance(call.source, StringLiteral)
            module = compiled(call.source.text)
            child = ModuleInstance(node.addr.child(name, None), module, node, call)
            node.children[name] = {None: child}
            pending.append(child)
    assert told(diags) == []
    return root


def _checked(root: str, child: str = "", grandchild: str = "") -> list[Reported]:
    files = {"main.tf": root, "m/main.tf": child, "n/main.tf": grandchild}
    diags = Diagnostics()
    tree = _load_tree(files)
    check_places(tree, diags)
    check_providers(tree, diags)
    check_provider_iteration(tree, diags)
    check_aliases(tree, diags)
    return told(diags)


def _call(*lines: str) -> str:
    return 'module "m" {\n source = "m"\n' + "".join([f" {line}\n" for line in lines]) + "}\n"


_RIGHT = [
    (_X + 'resource "a_b" "c" {}\n', ""),
    (_X + 'provider "a" {\n x = 1\n}\n' + _call("providers = { a = a }"), _X),
    (_X + _EACH + 'resource "a_b" "c" {\n provider = a.each["k"]\n}\n', ""),
    (_X + _EACH + _call('providers = { a = a.each["k"] }'), _X),
    (
        _X + _EACH + _call("providers = { a.all = a.each }"),
        _ALIASED + 'resource "a_b" "c" {\n provider = a.all[each.key]\n}\n',
    ),
    (_call(), 'provider "terraform" {\n x = 1\n}\n'),
    *[
        (_call(argument), 'provider "a" {\n x = 1\n}\n')
        for argument in ("count = 1", "for_each = {}", "depends_on = [a.b]")
    ],
]


@pytest.mark.parametrize(("root", "child"), _RIGHT)
def test_right(root: str, child: str) -> None:
    assert _checked(root, child) == []


_WRONG = [
    # -- names --
    (
        _X.replace("a = {", 'b = { source = "x/a" }\n  a = {'),
        "",
        ("warning", "main.tf", 4, "Provider required twice"),
    ),
    (
        (
            'terraform {\n required_providers {\n  b = { source = "hashicorp/a" }\n }\n}\n'
            'provider "a" {}\n'
        ),
        "",
        ("warning", "main.tf", 3, "Provider with two names"),
    ),
    (
        (
            'terraform {\n required_providers {\n  b = { source = "hashicorp/a" }\n }\n}\n'
            'resource "a_b" "c" {}\n'
        ),
        "",
        ("warning", "main.tf", 6, "Provider with two names"),
    ),
    ('resource "_" "c" {}\n', "", ("error", "main.tf", 1, "Invalid provider local name")),
    # -- references --
    (
        _X + _EACH + 'resource "a_b" "c" {\n provider = a.each\n}\n',
        "",
        ("error", "main.tf", 12, "Provider instance without a key"),
    ),
    (
        _X + _EACH + _call("providers = { a = a.each }"),
        _X,
        ("error", "main.tf", 13, "Provider instance without a key"),
    ),
    (
        (
            'provider "a" {\n alias = "one"\n x = 1\n}\n'
            'resource "a_b" "c" {\n provider = a.one["k"]\n}\n'
        ),
        "",
        ("error", "main.tf", 6, "Key for a provider without instances"),
    ),
    (
        'resource "a_b" "c" {\n provider = a.none["k"]\n}\n',
        "",
        ("error", "main.tf", 2, "Undeclared provider instances"),
    ),
    (
        'resource "a_b" "c" {\n provider = a.none\n}\n',
        "",
        ("error", "main.tf", 2, "Undeclared provider configuration"),
    ),
    (
        'locals {\n which = "x"\n}\nresource "a_b" "c" {\n provider = local.which[0]\n}\n',
        "",
        ("error", "main.tf", 5, "Invalid provider reference"),
    ),
    (
        _X
        + _EACH
        + 'resource "a_b" "c" {\n for_each = (local.e)\n provider = a.each[each.key]\n}\n',
        "",
        ("warning", "main.tf", 12, "Provider with the same for_each as its resources"),
    ),
    # -- calls --
    (
        _call("providers = { a = a }"),
        _X.replace("x/a", "hashicorp/a"),
        ("warning", "main.tf", 3, "Undeclared provider"),
    ),
    (_call(), _ALIASED, ("error", "main.tf", 1, "Missing provider configuration")),
    (
        _X + _call("providers = { a = a }"),
        _X.replace("x/a", "y/a"),
        ("error", "main.tf", 8, "Configuration of the wrong provider"),
    ),
    (
        _X + 'provider "a" {\n x = 1\n}\n' + _call("providers = { a = a }"),
        _X + 'provider "a" {\n x = 1\n}\n',
        ("error", "main.tf", 11, "Provider already configured"),
    ),
    (
        _call(),
        'provider "a" {}\n',
        ("warning", "m/main.tf", 1, "Empty provider block"),
    ),
    # -- places --
    (
        _call(),
        'terraform {\n backend "local" {}\n}\n',
        ("warning", "m/main.tf", 2, "Backend in a called module"),
    ),
]


@pytest.mark.parametrize(("root", "child", "expected"), _WRONG)
def test_wrong(root: str, child: str, expected: Reported) -> None:
    assert _checked(root, child) == [expected]


def test_all_instances_are_passed_on_through_modules() -> None:
    found = _checked(
        _X + _EACH + _call("providers = { a.all = a.each }"),
        _ALIASED + 'module "n" {\n source = "n"\n providers = { a.all = a.all }\n}\n',
        _ALIASED + 'resource "a_b" "c" {\n provider = a.all\n}\n',
    )
    assert found == [("error", "main.tf", 13, "Wrong kind of provider configuration passed")]
