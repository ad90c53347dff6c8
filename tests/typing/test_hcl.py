"""All of `nigari.hcl` and `nigari.diagnostics`, as a user's program has it: type checkers read this file,
and it runs as well.
"""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, assert_type

import nigari
from nigari import cty, diagnostics, hcl
from nigari.diagnostics import Diagnostic, Diagnostics


@dataclass
class Limits:
    most: int = 1


@dataclass
class Service:
    name: Annotated[str, hcl.Label()]
    port: Annotated[int, hcl.Named("listen")]
    rest: Annotated[hcl.Body, hcl.Remain()]
    limits: Annotated[Limits | None, hcl.Argument()] = None


@dataclass
class Settings:
    service: list[Service] = field(default_factory=list[Service])


SERVICE = 'service "web" {\n  listen = 80\n  other  = 1\n}\n'


@hcl.function
def twice(text: str) -> str:
    return text * 2


def test_plain_data_needs_no_casts(tmp_path: Path) -> None:
    first: int = hcl.loads("a = [1]")["a"][0]
    functions: dict[str, hcl.Function | hcl.PythonCallable] = {"twice": twice}
    value: str = hcl.evaluate("twice(b)", {"b": "x"}, functions)
    data: hcl.PlainData = hcl.load(io.StringIO("a = 1"))
    assert (first, value, data["a"]) == (1, "xx", 1)
    hcl.dump({"a": 1}, tmp_path / "a.hcl")
    assert hcl.load(tmp_path / "a.hcl") == {"a": 1}


def test_what_is_decoded_has_its_type(tmp_path: Path) -> None:
    locations = hcl.Locations()
    settings = hcl.loads_as(Settings, SERVICE, locations=locations)
    assert_type(settings, Settings)
    where = locations.of(settings.service[0], "port")
    assert_type(where, diagnostics.Range | None)
    (tmp_path / "a.hcl").write_text(SERVICE, encoding="utf-8")
    assert_type(hcl.load_as(Settings, tmp_path / "a.hcl"), Settings)


def test_trees_have_their_types() -> None:
    file = hcl.parse('a = b.c[0]\nblock "label" {}\n')
    assert_type(file, hcl.File[hcl.NativeBody])
    assert_type(hcl.parse_any("").body, hcl.Body)
    attribute: hcl.Attribute = file.body.attributes["a"]
    block: hcl.Block = file.body.blocks[0]
    source: hcl.Source = file.source
    reference: hcl.Traversal = attribute.expr.variables()[0]
    steps: list[hcl.Step] = reference.steps
    schema = hcl.BodySchema(
        (hcl.AttributeSchema("a", required=True),), (hcl.BlockSchema("block", ("name",)),)
    )
    content: hcl.Content = file.body.content(schema, Diagnostics())
    assert content.attributes["a"] is attribute
    assert (block.labels, source.filename, len(steps)) == (["label"], "<input>", 3)


def test_expressions_are_evaluated() -> None:
    greeting = hcl.Function(
        (hcl.Parameter("name", cty.STRING),),
        None,
        cty.STRING,
        lambda arguments, _type: cty.string(f"hello {arguments[0].as_string()}"),
    )
    scope = hcl.Scope({"name": "ada"}, {"greeting": greeting})
    expression: hcl.Expression = hcl.expression("greeting(name)")
    assert_type(expression.value(scope, Diagnostics()), cty.Value)
    fault: hcl.Fault | None = scope.fault(expression.source, 0)
    assert fault is None
    try:
        greeting.call([cty.DYNAMIC_NULL])
    except hcl.FunctionError as error:
        assert_type(error.argument, int | None)


def test_files_are_written_and_edited() -> None:
    block: hcl.BlockData = hcl.block("label", {"a": hcl.raw("var.x")})
    body: hcl.BodyData = {"b": hcl.template("${var.x}"), "block": block}
    long: hcl.Raw = hcl.heredoc("one\ntwo\n")
    note: hcl.Commented = hcl.commented(1, "why")
    assert "# why" in hcl.dumps({**body, "c": note, "d": long})
    document: hcl.Document = hcl.edit("a=1\n")
    assert document.formatted() == hcl.format("a=1\n")


def test_a_file_is_a_tree_of_items() -> None:
    root: hcl.BodyText = hcl.edit('# why\na = 1\n\nb "x" {\n}\n').body
    argument: hcl.AttributeText = root.attributes["a"]
    block: hcl.BlockText = root.blocks[0]
    entries: list[hcl.Entry] = [argument, block]
    assert entries[0].comments == "# why"
    items: list[hcl.Item] = list(root.everything())
    assert not any(isinstance(each, hcl.Gap) for each in items)


def block_at(_range: diagnostics.Range) -> str:
    return 'resource "a" "b"'


def shown_difference(_difference: diagnostics.Difference, _colour: bool) -> str:
    return ""


def test_mistakes_are_values() -> None:
    try:
        hcl.loads("a = \n")
    except hcl.HclError as error:
        assert_type(error.diagnostics, list[Diagnostic])
        found = error.diagnostics[0]
    else:
        raise AssertionError
    sources: diagnostics.Sources = {"<input>": b"a = \n"}
    layout = diagnostics.Layout(width=60, colour=False)
    context_of: diagnostics.ContextOf = block_at
    differ: diagnostics.DifferenceText = shown_difference
    text: str = diagnostics.to_text([found], sources, layout, context_of, differ)
    data: Mapping[str, diagnostics.JsonValue] = diagnostics.to_json(found, sources)
    subject: diagnostics.Range | None = found.subject
    assert subject is not None
    start: diagnostics.Pos = subject.start
    assert (found.severity, start.line) == (diagnostics.Severity.ERROR, 1)
    assert found.summary in text
    assert data["summary"] == found.summary


def test_mistakes_can_be_reported() -> None:
    collected = Diagnostics()
    collected.error("No", values=(diagnostics.ScopeValue("var.a", "is 5"),))
    collected.append(
        Diagnostic(
            diagnostics.Severity.WARNING,
            "Old",
            causes=(diagnostics.Cause("because"),),
            deprecation=diagnostics.Deprecation("var.a", is_remote=False),
            call=diagnostics.CalledFunction("f", ("a",), "f(a)"),
            difference=diagnostics.Difference("1", "2", "", "", ""),
        )
    )
    assert (collected.error_count, collected.warning_count) == (1, 1)


def test_files_by_their_paths(tmp_path: Path) -> None:
    path = tmp_path / "a.tf"
    path.write_text("a = upper(b)\n", encoding="utf-8")
    assert_type(hcl.parse_file(path).body.attributes["a"], hcl.Attribute)
    document = hcl.edit(path.read_text(encoding="utf-8"), path)
    assert_type(document.save(), None)
    document.save(tmp_path / "b.tf")
    assert hcl.evaluate(path.read_text(encoding="utf-8"), {"b": "x"}, nigari.functions()) == {
        "a": "X"
    }
    same: bool = cty.string("x") == "x"
    data: object = cty.unknown(cty.STRING).to_python(unknown="?", marked=None)
    assert (same, data) == (True, "?")
