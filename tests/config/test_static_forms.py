"""What is kept unevaluated: everything, also where OpenTofu wants a value that is written out."""

from __future__ import annotations

import pytest

from nigari.addrs.provider import LocalProviderConfig, Provider
from nigari.addrs.resource import DATA, MANAGED
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.blocks.resource import Resource
from nigari.config.module import Module
from nigari.cty.types import ListType
from nigari.cty.values import string
from nigari.diagnostics import Diagnostics
from nigari.hcl.expressions import Expression
from nigari.hcl.scope import Scope
from tests.config.loading import load_valid


def _text(expr: Expression | None) -> str | None:
    return None if expr is None else expr.source.slice(expr.start, expr.end)


def _resource(body: str) -> Resource:
    module = load_valid(f'resource "a" "b" {{\n{body}\n}}\n')
    return module.resources[ResourceAddr(MANAGED, "a", "b")]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("local.ignored", "local.ignored"),
        ('var.all ? "all" : []', 'var.all ? "all" : []'),
        ('"all"', '"all"'),
    ],
)
def test_ignore_changes_by_expression(written: str, kept: str) -> None:
    lifecycle = _resource(f"lifecycle {{\n ignore_changes = {written}\n}}").lifecycle
    assert isinstance(lifecycle.ignore_changes, Expression)
    assert _text(lifecycle.ignore_changes) == kept
    assert not lifecycle.ignore_all_changes


def test_ignore_changes_as_ever() -> None:
    lifecycle = _resource('lifecycle {\n ignore_changes = [tags["x"], ami]\n}').lifecycle
    assert isinstance(lifecycle.ignore_changes, tuple)
    assert [str(path) for path in lifecycle.ignore_changes] == ['.tags["x"]', ".ami"]
    assert _resource("lifecycle {\n ignore_changes = all\n}").lifecycle.ignore_all_changes


def test_lifecycle_by_expression() -> None:
    resource = _resource(
        "lifecycle {\n create_before_destroy = var.a\n prevent_destroy = local.b\n"
        " destroy = var.c\n enabled = var.d\n replace_triggered_by = [a.c[each.key].id]\n}"
    )
    lifecycle = resource.lifecycle
    assert _text(lifecycle.create_before_destroy) == "var.a"
    assert _text(lifecycle.prevent_destroy) == "local.b"
    assert _text(lifecycle.destroy) == "var.c"
    assert _text(resource.repetition.enabled) == "var.d"
    assert [_text(each) for each in lifecycle.replace_triggered_by] == ["a.c[each.key].id"]


_TRIGGERS = {
    "a.c": True,
    "a.c.id": True,
    "a.c[each.key].id": True,
    "a.c[count.index]": True,
    "ephemeral.a.c": True,
    "data.a.c.id": False,
    "a.c[each.value]": False,
    "a.c[a.d.e]": False,
    "a.c[var.k].id": False,
    "a.c.id == 1": False,
    "each.key": False,
    "var.x": False,
    "[a.c, a.d]": False,
    '"${local.x}"': False,
    "3": False,
}
"""Elements, and whether they are addresses, as in OpenTofu, or values."""


def test_triggers_are_addresses_or_values() -> None:
    written = ", ".join(_TRIGGERS)
    lifecycle = _resource(f"lifecycle {{\n replace_triggered_by = [{written}]\n}}").lifecycle
    addresses = [each for each, is_address in _TRIGGERS.items() if is_address]
    assert [_text(each) for each in lifecycle.replace_triggered_by] == addresses
    values = [each for each, is_address in _TRIGGERS.items() if not is_address]
    assert [_text(each) for each in lifecycle.replacing_values] == values


def test_dependencies_are_addresses_or_values() -> None:
    resource = _resource(
        'depends_on = [a.c, local.x.y, var.e ? a.d["k"].id : module.m.o, a.e, each.value == 1 ? a.f : null]'
    )
    assert [str(each) for each in resource.named_dependencies] == ["a.c", "a.e"]
    assert [[str(at) for at in each.addresses] for each in resource.dependency_values] == [
        ["local.x"],
        ["var.e", 'a.d["k"]', "module.m.o"],
        ["a.f"],
    ]
    assert len(resource.depends_on) == 7


def test_provisioners_by_expression() -> None:
    resource = _resource(
        'provisioner "local-exec" {\n when = var.when\n on_failure = local.x ? "fail" : "continue"\n'
        ' command = "x"\n connection {\n  host = self.ip\n }\n}'
    )
    (provisioner,) = resource.provisioners
    assert provisioner.type == "local-exec"
    assert _text(provisioner.when) == "var.when"
    assert _text(provisioner.on_failure) == 'local.x ? "fail" : "continue"'
    assert not provisioner.is_written_destroy
    assert provisioner.connection is not None
    assert list(provisioner.body.just_attributes(Diagnostics())) == ["command"]


def test_variables() -> None:
    module = load_valid(
        'variable "a" {\n default = "${var.b}-${upper(local.c)}"\n const = true\n}\n'
        'variable "b" {\n type = list(number)\n nullable = false\n ephemeral = true\n'
        ' description = "B"\n deprecated = "Use a."\n sensitive = true\n}\n'
    )
    a, b = module.variables["a"], module.variables["b"]
    assert _text(a.default) == '"${var.b}-${upper(local.c)}"'
    assert a.const is True
    assert a.literal_mode
    assert b.default is None
    assert isinstance(b.type, ListType)
    assert (b.description, b.deprecated) == ("B", "Use a.")
    assert (b.sensitive, b.ephemeral, b.nullable, b.const) == (True, True, False, None)
    assert not b.literal_mode


def test_a_default_in_json_is_data() -> None:
    module = load_valid({"a.tf.json": '{"variable": {"a": {"default": "${var.b}"}}}'})
    default = module.variables["a"].default
    assert default is not None
    assert default.value(Scope({"var": string("x")}), Diagnostics()) == string("${var.b}")


def test_required_providers() -> None:
    module = load_valid(
        "terraform {\n required_providers {\n"
        '  a = { source = "x/a", version = var.v, configuration_aliases = [a.west, a] }\n'
        '  b = { source = "${local.namespace}/b" }\n'
        '  c = "~> 1.0"\n  d = local.version\n }\n}\n'
    )
    required = module.required_providers
    assert required["a"].provider == Provider("registry.opentofu.org", "x", "a")
    assert _text(required["a"].version) == "var.v"
    assert required["a"].configuration_aliases == (
        LocalProviderConfig("a", "west"),
        LocalProviderConfig("a"),
    )
    assert required["b"].provider is None
    assert _text(required["b"].source) == '"${local.namespace}/b"'
    assert _text(required["c"].version) == '"~> 1.0"'
    assert _text(required["d"].version) == "local.version"
    assert str(module.provider("c")) == "registry.opentofu.org/hashicorp/c"
    assert str(module.provider("terraform")) == "terraform.io/builtin/terraform"


def test_provider_instances() -> None:
    module = load_valid(
        'provider "a" {\n alias = "each"\n for_each = local.regions\n region = each.key\n}\n'
        'provider "a" {\n alias = "some"\n count = 2\n _ {\n  count = 3\n }\n}\n'
        'provider "a" {}\n'
    )
    configs = module.provider_configs
    each = configs[LocalProviderConfig("a", "each")]
    some = configs[LocalProviderConfig("a", "some")]
    assert each.is_expanded
    assert _text(each.for_each) == "local.regions"
    assert list(each.body.just_attributes(Diagnostics())) == ["region"]
    assert _text(some.count) == "2"
    assert list(some.body.just_attributes(Diagnostics())) == ["count"]
    assert configs[LocalProviderConfig("a")].is_empty


@pytest.mark.parametrize(
    ("written", "name", "alias", "key"),
    [
        ("aws", "aws", "", None),
        ("aws.west", "aws", "west", None),
        ('aws.all["eu"]', "aws", "all", '"eu"'),
        ("aws.all[each.key]", "aws", "all", "each.key"),
        ("local.x", "local", "x", None),
    ],
)
def test_provider_references(written: str, name: str, alias: str, key: str | None) -> None:
    reference = _resource(f"provider = {written}").provider
    assert reference is not None
    assert (reference.name, reference.alias, _text(reference.key)) == (name, alias, key)


def test_provider_references_in_json() -> None:
    module = load_valid(
        {
            "a.tf.json": '{"module": {"m": {"source": "./m", '
            '"providers": {"aws.all": "aws.by[each.key]"}}}}'
        }
    )
    (passed,) = module.calls["m"].providers
    assert str(passed.in_child) == "aws.all"
    assert str(passed.in_parent) == "aws.by[...]"


def test_module_calls() -> None:
    module = load_valid(
        'module "m" {\n source = local.sources[each.key]\n version = var.v\n for_each = var.e\n'
        " depends_on = [a.b]\n x = 1\n _ {\n  version = 2\n }\n}\n"
    )
    call = module.calls["m"]
    assert _text(call.source) == "local.sources[each.key]"
    assert _text(call.version) == "var.v"
    assert _text(call.repetition.for_each) == "var.e"
    assert call.depends_on is not None
    assert [str(each) for each in call.depends_on] == ["a.b"]
    assert list(call.body.just_attributes(Diagnostics())) == ["x", "version"]


_ADDRESSES = """
moved {
  from = a.b[local.key]
  to   = module.m[var.k].a.b["x"]
}
removed {
  from = a.c[local.key]
  lifecycle {
    destroy = false
  }
}
import {
  for_each = var.all
  to       = a.d[each.key]
  identity = { id = each.value }
}
"""


def test_addresses_with_keys_to_be_evaluated() -> None:
    module = load_valid(_ADDRESSES)
    (moved,), (removed,), (imported,) = module.moved, module.removed, module.imports
    assert [_text(key) for key in moved.source.keys] == ["local.key"]
    assert str(moved.source.with_keys([string("q")])) == 'a.b["q"]'
    assert str(moved.target.with_keys([string("q")])) == 'module.m["q"].a.b["x"]'
    assert str(removed.source.with_keys([string("q")])) == 'a.c["q"]'
    assert _text(removed.destroy) == "false"
    assert [_text(key) for key in imported.target.keys] == ["each.key"]


def _json_everything() -> Module:
    return load_valid(
        {
            "a.tf.json": """{
  "terraform": {"backend": {"local": {"path": "x"}}, "required_version": "< 1"},
  "variable": {"a": {"type": "list(string)", "validation": {
    "condition": "${length(var.a) > 1}", "error_message": "x"}}},
  "locals": {"b": "${var.a}"},
  "output": {"c": {"value": 1, "depends_on": ["a.b"]}},
  "resource": {"a": {"b": [{"lifecycle": {"ignore_changes": ["tags"],
    "replace_triggered_by": ["a.d[each.key]"]}, "depends_on": ["data.x.y"]}]}},
  "data": {"x": {"y": {"provider": "x.z"}}},
  "moved": {"from": "a.c[local.k]", "to": "a.b"},
  "import": {"to": "a.b[0]", "id": "1"},
  "check": {"k": {"data": {"x": {"w": {}}},
    "assert": {"condition": "${data.x.w.ok}", "error_message": "x"}}}
}"""
        }
    )


def test_everything_in_json() -> None:
    module = _json_everything()
    assert module.backend is not None
    assert module.backend.type == "local"
    assert isinstance(module.variables["a"].type, ListType)
    assert list(module.locals) == ["b"]
    lifecycle = module.resources[ResourceAddr(MANAGED, "a", "b")].lifecycle
    assert isinstance(lifecycle.ignore_changes, tuple)
    assert [str(path) for path in lifecycle.ignore_changes] == [".tags"]
    assert len(lifecycle.replace_triggered_by) == 1
    data = module.resources[ResourceAddr(DATA, "x", "w")]
    assert data.in_check == "k"
    assert module.checks["k"].data is data
    assert str(module.moved[0].source.with_keys([string("q")])) == 'a.c["q"]'
    assert str(module.imports[0].shape) == "a.b[0]"


def test_encryption() -> None:
    module = load_valid(
        'terraform {\n encryption {\n  key_provider "pbkdf2" "k" {\n   passphrase = var.p\n'
        '   encrypted_metadata_alias = "m"\n  }\n  method "aes_gcm" "a" {\n'
        "   keys = key_provider.pbkdf2.k\n  }\n  state {\n   method = method.aes_gcm.a\n"
        "   enforced = true\n   fallback {\n    method = method.unencrypted.u\n   }\n  }\n"
        '  remote_state_data_sources {\n   default {}\n   remote_state_data_source "x" {\n'
        "    method = method.aes_gcm.a\n   }\n  }\n }\n}\n"
    )
    encryption = module.encryption
    assert encryption is not None
    (key_provider,) = encryption.key_providers
    assert _text(key_provider.encrypted_metadata_alias) == '"m"'
    assert list(key_provider.body.just_attributes(Diagnostics())) == ["passphrase"]
    assert encryption.state is not None
    assert _text(encryption.state.enforced) == "true"
    assert encryption.state.fallback is not None
    assert _text(encryption.state.fallback.method) == "method.unencrypted.u"
    assert encryption.plan is None
    assert encryption.remote_default is not None
    assert [target.name for target in encryption.remote] == ["x"]
