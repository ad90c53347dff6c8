"""What someone reads who calls the library with the wrong kind of thing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pytest

import nigari
from nigari import cty, hcl
from nigari.diagnostics import Diagnostics
from nigari.hcl.decode_dataclass import decode_dataclass
from nigari.hcl.encode_dataclass import encode_dataclass

ANY: Any = object()
"""Something that no parameter takes; type checkers would refuse most of these calls."""


COMPILED = r"object expected; got \w+"
"""What compiled code says, which checks annotations by itself."""


@dataclass
class Service:
    port: int


def body() -> hcl.BodyText:
    return hcl.edit("a = 1\nb {\n  c = 1\n}\n").body


def session() -> nigari.Session:
    return nigari.open()


def wrong(given: object) -> Any:  # noqa: ANN401 - what a caller without a type checker passes
    return given


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hcl.loads(wrong(3)), "the text of a file is required, not int"),
        (lambda: hcl.loads(wrong(Path("a.hcl"))), "not a path"),
        (lambda: hcl.load(wrong(None)), "a path or an open file is required, not NoneType"),
        (lambda: hcl.dump({}, wrong(None)), "a path or an open file is required, not NoneType"),
        (lambda: hcl.loads("", wrong(None)), "the name of a file is a str or a path, not None"),
        (lambda: hcl.dumps({"a": [1]}, width=wrong("80")), "width is an int, not str"),
        (lambda: hcl.evaluate("a", wrong(["a"])), "variables are given by name, in a dict"),
        (lambda: hcl.evaluate("a", {wrong(1): 2}), "a name among variables is a str, not int"),
        (lambda: hcl.evaluate("a()", functions=wrong([len])), "functions are given by name"),
        (lambda: hcl.evaluate("a()", functions={"a": wrong(3)}), "the function a: a callable is"),
        (lambda: hcl.Scope(wrong(["a"])), "variables are given by name, in a dict, not in a list"),
        (lambda: hcl.Scope({}, wrong([len])), "functions are given by name"),
        (
            lambda: hcl.expression("a").value(wrong({"a": 1}), Diagnostics()),
            "a Scope is required, not dict",
        ),
        (
            lambda: decode_dataclass(Service, wrong("port = 1"), hcl.Scope({}), Diagnostics()),
            "what is decoded must be of type Body, not str",
        ),
        (
            lambda: decode_dataclass(Service, hcl.parse("port = 1").body, wrong({}), Diagnostics()),
            "a Scope is required, not dict",
        ),
        (
            lambda: hcl.evaluate("a", {"a": 1, "b": [ANY]}),
            r"the variable b: \[0\]: a Python object",
        ),
        (lambda: hcl.loads_as(wrong(Service(1)), "port = 1"), "the class to decode into"),
        (lambda: hcl.loads_as(wrong("port = 1"), wrong(Service)), "the class to decode into"),
        (lambda: hcl.dumps(wrong([1])), "a dict or a dataclass, not list"),
        (lambda: hcl.dumps({wrong(1): 2}), "the name of an argument or block is a str, not int"),
        (lambda: hcl.dumps({"a": {"b": [ANY]}}), "the argument a: a Python object"),
        (lambda: hcl.dumps({"a": {1: 2}}), "the argument a: an attribute name is a str, not int"),
        (lambda: hcl.raw(wrong(3)), "the text of an expression is a str, not int"),
        (lambda: hcl.template(wrong(None)), "the text of a template is a str, not NoneType"),
        (lambda: hcl.heredoc(wrong(None)), "the text of a heredoc is a str, not NoneType"),
        (lambda: hcl.commented(1, wrong(3)), "a comment is a str, not int"),
        (lambda: hcl.block("a", wrong([1])), "the body of a block is a dict, not list"),
        (lambda: hcl.block(wrong(1), {}), "a label of a block is a str, not int"),
        (lambda: hcl.block({}, "a"), "the body of a block comes last"),
        (lambda: body().append_block("x", "web"), r"labels is a list .*: use \['web'\]"),
        (lambda: body().append_block("x", [], wrong([1])), "the content of a body is a dict"),
        (lambda: body().blocks[0].set_labels("web"), r"labels is a list .*: use \['web'\]"),
        (lambda: body().blocks[0].set_labels(wrong([1])), "each item of labels is a str, not int"),
        (lambda: body().attributes["a"].set_comments(wrong(3)), "a comment is a str, not int"),
        (lambda: body().rename(wrong(1), "a"), "a reference is a str, not int"),
        (
            lambda: cty.list_value(cty.STRING, wrong(["a"])),
            "an element is a Value, not a Python str",
        ),
        (
            lambda: cty.set_value(cty.STRING, wrong(["a"])),
            "an element is a Value, not a Python str",
        ),
        (lambda: cty.map_value(cty.STRING, wrong({"a": "b"})), "an element is a Value"),
        (lambda: cty.tuple_value(wrong([1])), "an element is a Value, not a Python int"),
        (lambda: cty.object_value(wrong({"a": 1})), "an element is a Value, not a Python int"),
        (lambda: cty.object_value(wrong({1: cty.TRUE})), "the names of attributes are of type str"),
        (lambda: cty.ListType(wrong(str)), "a type such as cty.STRING is required, not <class"),
        (lambda: cty.TupleType(wrong([str])), "a type such as cty.STRING is required"),
        (lambda: cty.ObjectType(wrong({"a": int})), "a type such as cty.STRING is required"),
        (
            lambda: cty.null(wrong(str)),
            "a type such as cty.STRING is required",
        ),
        (lambda: cty.unknown(wrong("string")), "a type such as cty.STRING"),
        (lambda: cty.map_value(cty.STRING, wrong({1: cty.TRUE})), "a name among the elements of a"),
        (lambda: cty.object_value(wrong([1])), "the attributes of an object are given by name"),
        (lambda: cty.value_to_json(wrong(3)), "a Value is required"),
        (lambda: cty.value_from_json(wrong(3), cty.STRING), "a str or bytes, not int"),
        (lambda: cty.value_from_json("1", wrong("x")), "a type such as"),
        (lambda: cty.type_from_json(wrong(3)), "a str or bytes, not int"),
        (lambda: cty.type_to_json(wrong(3)), "a type such as cty.STRING"),
        (lambda: cty.msgpack.marshal(wrong(3), cty.STRING), "a Value is required"),
        (lambda: cty.msgpack.unmarshal(wrong(3), cty.STRING), "msgpack is bytes"),
        (lambda: cty.unify([wrong(3)]), "a type such as cty.STRING"),
        (lambda: cty.convert(wrong("1"), cty.NUMBER), "a Value is required, not a Python str"),
        (lambda: cty.convert(cty.string("1"), wrong(int)), "a type such as cty.STRING is required"),
        (
            lambda: nigari.load(".", variables=wrong(["a"])),
            "variables are given by name, in a dict",
        ),
        (lambda: nigari.load(".", variables={"a": ANY}), "the variable a: a Python object"),
        (
            lambda: nigari.load(".", var_files="a.tfvars"),
            "var_files is a list of paths, not one path",
        ),
        (lambda: nigari.load(wrong(None)), "the directory is a path, not NoneType"),
        (lambda: nigari.load(".", {wrong(1): 2}), "a name among variables is a str, not int"),
        (lambda: nigari.load(".", workspace=wrong(3)), "the name of a workspace is a str"),
        (lambda: nigari.load(".", environ=wrong(["a"])), "environment variables are given by name"),
        (lambda: nigari.load().explain(wrong(None)), "an address is a str, not NoneType"),
        (lambda: nigari.load().evaluate(wrong(1)), "an expression is a str, not int"),
        (lambda: session().plan(targets="a.b"), r"targets is a list of str.*: use \['a.b'\]"),
        (lambda: session().plan(replace="a.b"), "replace is a list of str, not one str"),
        (lambda: session().plan(parallelism=wrong("2")), "parallelism is an int, not str"),
        (lambda: session().apply(wrong("plan")), "a plan is applied, not a str"),
        (lambda: session().init(backend_config="a=b"), "backend_config is a list of str"),
        (lambda: session().init(backend_config=wrong({})), "backend_config is a list, not dict"),
        (lambda: session().init(plugin_dirs="a"), "plugin_dirs is a list of paths, not one path"),
        (lambda: session().taint(wrong(None)), "an address is a str, not NoneType"),
        (lambda: session().import_("a.b", wrong(1)), "the id of an object is a str, not int"),
        (lambda: session().state_push(wrong("x")), "must be of type bytes, not str"),
        (lambda: session().new_workspace(wrong(None)), "the name of a workspace is a str"),
        (lambda: session().force_unlock(wrong(None)), "the id of a lock is a str"),
        (lambda: session().read_plan(wrong(None)), "a saved plan is a path, not NoneType"),
    ],
)
def test_wrong_types(
    call: Callable[[], object], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match=f"{words}|{COMPILED}"):
        call()


@dataclass
class Link:
    next: "Link | None" = None
    items: Annotated[list[object], hcl.Argument()] = field(default_factory=list)


def loop(kind: str) -> Any:  # noqa: ANN401 - data of any kind that contains itself
    items: list[object] = []
    items.append(items)
    named: dict[str, object] = {}
    named["a"] = named
    link = Link()
    link.next = link
    content: dict[str, object] = {}
    content["b"] = hcl.block("x", content)
    deep: object = "end"
    for _ in range(3_000):
        deep = [deep]
    made = {"list": items, "dict": named, "block": content, "depth": deep}
    return {**made, "dataclass": link, "field": Link(items=items)}[kind]


@pytest.mark.parametrize("kind", ["list", "dict", "depth", "dataclass", "field"])
@pytest.mark.parametrize(
    "use",
    [
        cty.Value.of,
        lambda data: hcl.dumps({"a": data}),
        lambda data: hcl.evaluate("a", {"a": data}),
        lambda data: hcl.evaluate("f()", functions={"f": lambda: data}),
        lambda data: body().set("c", data),
        lambda data: body().fill({"c": hcl.block({"d": data})}),
        lambda data: nigari.load(".", variables={"a": data}),
    ],
)
def test_data_that_contains_itself(use: Callable[[object], object], kind: str) -> None:
    with pytest.raises(ValueError, match=r"contains\sitself, or is nested more than 2100"):
        use(loop(kind))


@pytest.mark.parametrize(
    "use",
    [
        lambda: hcl.dumps(loop("block")),
        lambda: hcl.dumps(loop("dataclass")),
        lambda: encode_dataclass(loop("dataclass")),
        lambda: body().fill(loop("block")),
    ],
)
def test_blocks_that_contain_themselves(use: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="contains itself, or is nested more than 2100 levels"):
        use()


def test_depth_that_can_be_written_and_read() -> None:
    deep: object = "end"
    for _ in range(400):
        deep = [deep]
    assert hcl.loads(hcl.dumps({"a": deep})) == {"a": deep}
    assert cty.Value.of(deep).to_python() == deep


@pytest.mark.parametrize("text", ["1 +", "", "a b", "f(x)", '"text"'])
def test_renaming_to_what_is_no_reference(text: str) -> None:
    with pytest.raises(ValueError, match="is not a reference such as"):
        body().rename("var.a", text)
    with pytest.raises(ValueError, match="is not a reference such as"):
        body().rename(text, "var.a")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_cannot_be_written(number: float) -> None:
    with pytest.raises(ValueError, match="HCL has no such number"):
        hcl.dumps({"a": [number]})


def test_wrong_variables_are_errors_of_a_configuration(tmp_path: Path) -> None:
    (tmp_path / "main.tf").write_text('variable "n" {\n  type = number\n}\n')
    with pytest.raises(nigari.SessionError, match="does not match its type"):
        nigari.load(tmp_path, variables={"n": "x"}).raise_for_errors()
    nigari.load(tmp_path, variables={"n": "1"}).raise_for_errors()
    nigari.load(tmp_path).raise_for_errors()
