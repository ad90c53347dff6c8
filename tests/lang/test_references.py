"""What expressions refer to, and what is said about references that are wrong."""

from __future__ import annotations

import pytest

from nigari.addrs import DATA, MANAGED, Resource
from nigari.cty.types import DYNAMIC
from nigari.diagnostics import Diagnostics
from nigari.hcl.decode import Attr, Object
from nigari.hcl.decode_blocks import BlockList
from nigari.hcl.expressions import Expression
from nigari.hcl.parser import parse_body, parse_expression
from nigari.hcl.source import Source
from nigari.lang.references import (
    Reference,
    intended_root,
    parse_provider_function,
    parse_reference,
    references_in_body,
    references_in_expression,
    report_outside,
    undeclared_resource_hint,
)


def expression(text: str) -> Expression:
    diags = Diagnostics()
    parsed = parse_expression(Source("test.tf", text), diags)
    assert not diags.has_errors, list(diags)
    return parsed


def found(text: str) -> list[Reference]:
    diags = Diagnostics()
    references = references_in_expression(expression(text), diags)
    assert not diags.has_errors, list(diags)
    return references


@pytest.mark.parametrize(
    ("text", "kind", "subject", "remaining"),
    [
        ("var.a", "InputVariable", "var.a", ""),
        ("var.a.b[0]", "InputVariable", "var.a", ".b[0]"),
        ("local.a", "LocalValue", "local.a", ""),
        ("each.key", "EachAttr", "each.key", ""),
        ("each.value.a", "EachAttr", "each.value", ".a"),
        ("count.index", "CountAttr", "count.index", ""),
        ("path.module", "PathAttr", "path.module", ""),
        ("terraform.workspace", "TerraformAttr", "terraform.workspace", ""),
        ("tofu.workspace", "TofuAttr", "tofu.workspace", ""),
        ("terraform.applying", "TerraformAttr", "terraform.applying", ""),
        ("self", "Self", "self", ""),
        ("self.a", "Self", "self", ".a"),
        ("aws_vpc.a", "Resource", "aws_vpc.a", ""),
        ("aws_vpc.a.id", "ResourceInstance", "aws_vpc.a", ".id"),
        ("aws_vpc.a[0]", "ResourceInstance", "aws_vpc.a[0]", ""),
        ('aws_vpc.a["k"].id', "ResourceInstance", 'aws_vpc.a["k"]', ".id"),
        ("resource.aws_vpc.a.id", "ResourceInstance", "aws_vpc.a", ".id"),
        ("resource.lazy.a.id", "ResourceInstance", "lazy.a", ".id"),
        ("data.aws_ami.a", "Resource", "data.aws_ami.a", ""),
        ("data.aws_ami.a.id", "ResourceInstance", "data.aws_ami.a", ".id"),
        ("ephemeral.x.a[1].b", "ResourceInstance", "ephemeral.x.a[1]", ".b"),
        ("module.a", "ModuleCall", "module.a", ""),
        ("module.a[0]", "ModuleCallInstance", "module.a[0]", ""),
        ("module.a.b", "ModuleCallOutput", "module.a.b", ""),
        ('module.a["k"].b.c[1]', "ModuleCallOutput", 'module.a["k"].b', ".c[1]"),
        ("provider::x::f()", "ProviderFunction", "provider::x::f", ""),
        ("provider::x::y::f()", "ProviderFunction", "provider::x::y::f", ""),
        ("aws_vpc.a[*].id", "Resource", "aws_vpc.a", ""),
        ("aws_vpc.a[var.k]", "Resource", "aws_vpc.a", ""),
        ("output.a", "Resource", "output.a", ""),
    ],
)
def test_subject_and_rest(text: str, kind: str, subject: str, remaining: str) -> None:
    reference = found(text)[0]
    assert type(reference.subject).__name__ == kind
    assert str(reference.subject) == subject
    assert str(reference.remaining) == remaining


@pytest.mark.parametrize(
    ("text", "kind", "subject", "remaining"),
    [
        ("output.a.b", "OutputValue", "output.a", ".b"),
        ("check.a", "Check", "check.a", ""),
        ("var.a", "InputVariable", "var.a", ""),
    ],
)
def test_in_test_files(text: str, kind: str, subject: str, remaining: str) -> None:
    (traversal,) = expression(text).variables()
    reference = parse_reference(traversal, Diagnostics(), in_tests=True)
    assert reference is not None
    assert type(reference.subject).__name__ == kind
    assert (str(reference.subject), str(reference.remaining)) == (subject, remaining)


@pytest.mark.parametrize(
    ("text", "subjects"),
    [
        ("1 + 2", []),
        ('"${var.a}-${local.b}"', ["var.a", "local.b"]),
        ("[for x in var.a : x.b + var.c]", ["var.a", "var.c"]),
        ("{ (var.a) = local.b, c = each.key }", ["var.a", "local.b", "each.key"]),
        ("var.a ? x.y.z : module.m.o", ["var.a", "x.y", "module.m.o"]),
        ("f(var.a, provider::p::g(var.b))", ["var.a", "var.b", "provider::p::g"]),
        ("aws_vpc.a[var.k].id", ["aws_vpc.a", "var.k"]),
    ],
)
def test_all_references_of_an_expression(text: str, subjects: list[str]) -> None:
    assert [str(reference.subject) for reference in found(text)] == subjects


def test_references_of_a_body() -> None:
    text = "a = var.x\nb { c = provider::p::f(local.y) }\nunread = var.z\n"
    diags = Diagnostics()
    body = parse_body(Source("test.tf", text), diags)
    nested = Object({"c": Attr("c", DYNAMIC)})
    spec = Object({"a": Attr("a", DYNAMIC), "b": BlockList("b", nested)})
    references = references_in_body(body, spec, diags)
    assert not diags.has_errors
    assert [str(r) for r in references] == ["var.x", "local.y", "provider::p::f"]


def test_range_covers_the_subject() -> None:
    (reference,) = found('module.a["k"].b.c')
    assert (reference.range.start.byte, reference.range.end.byte) == (0, 15)
    assert str(reference) == 'module.a["k"].b.c'
    call = found("1 + provider::x::f(1)")[0]
    assert (call.range.start.byte, call.range.end.byte) == (4, 18)


@pytest.mark.parametrize(
    ("text", "wrong", "word"),
    [
        ("var", "var", "var.NAME"),
        ("var[0]", "[0]", "dot"),
        ('var["a"]', '["a"]', "var.a"),
        ("local", "local", "local.NAME"),
        ("module", "module", "module.NAME"),
        ("module[0]", "[0]", "dot"),
        ("module.a[0][1]", "[1]", "output values"),
        ("module.a[true].b", "[true]", "whole number"),
        ("data", "data", "data.TYPE.NAME"),
        ("data.a", "data.a", "data.TYPE.NAME"),
        ("data.a[0]", "[0]", "data.TYPE.NAME"),
        ("resource.a", "resource.a", "resource.TYPE.NAME"),
        ("ephemeral.a", "ephemeral.a", "an ephemeral resource and its name: ephemeral.TYPE.NAME"),
        ("aws_vpc", "aws_vpc", "a dot and its name"),
        ("vars", "vars", '"var"'),
        ("aws_vpc[0]", "[0]", "TYPE.NAME"),
        ("aws_vpc.a[1.5]", "[1.5]", "whole number"),
        ("count", "count", "count.index"),
        ("count.idx", "count.idx", "index"),
        ("each.kay", "each.kay", '"key"'),
        ("path.here", "path.here", "module"),
        ("terraform.env", "terraform.env", "terraform.workspace"),
        ("template.a", "template", "resource.template"),
        ("lazy.a", "lazy", "later version"),
        ("arg.a", "arg", "later version"),
        ("provider::f()", "provider::f", "provider::PROVIDER::FUNCTION"),
        ("provider::a::b::c::d()", "provider::a::b::c::d", "ALIAS"),
    ],
)
def test_mistakes_are_reported(text: str, wrong: str, word: str) -> None:
    diags = Diagnostics()
    assert references_in_expression(expression(text), diags) == []
    (diagnostic,) = diags
    assert diagnostic.subject is not None
    assert text[diagnostic.subject.start.byte : diagnostic.subject.end.byte] == wrong
    assert word in diagnostic.detail


@pytest.mark.parametrize(
    ("name", "root"),
    [("vars", "var"), ("variable", "var"), ("locals", "local"), ("modules", "module"),
     ("aws_vpc", None)],
)  # fmt: skip
def test_intended_root(name: str, root: str | None) -> None:
    assert intended_root(name) == root


@pytest.mark.parametrize(
    ("resource", "hint"),
    [
        (Resource(MANAGED, "vars", "x"), ' Did you mean "var.x"?'),
        (Resource(MANAGED, "aws_ami", "x"), ' Did you mean "data.aws_ami.x"?'),
        (Resource(MANAGED, "aws_vpc", "mian"), ' Did you mean "aws_vpc.main"?'),
        (Resource(MANAGED, "nothing", "near"), ""),
    ],
)
def test_hint_for_undeclared_resources(resource: Resource, hint: str) -> None:
    declared = [Resource(DATA, "aws_ami", "x"), Resource(MANAGED, "aws_vpc", "main")]
    assert undeclared_resource_hint(resource, declared) == hint


def test_an_output_is_not_for_its_own_module() -> None:
    assert "own module" in undeclared_resource_hint(Resource(MANAGED, "output", "x"), [])


@pytest.mark.parametrize(("text", "word"), [("each.key", "for_each"), ("count.index", "count"),
                                            ("self.id", "postcondition")])  # fmt: skip
def test_outside(text: str, word: str) -> None:
    diags = Diagnostics()
    report_outside(found(text)[0], diags)
    assert word in diags[0].detail


def test_provider_function_names() -> None:
    assert parse_provider_function("provider::a::f") is not None
    assert parse_provider_function("core::max") is None
    assert parse_provider_function("provider::::f") is None
