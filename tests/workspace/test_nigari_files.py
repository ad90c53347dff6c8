"""Files of our own beside a configuration: locals, functions, repeated blocks, mistakes."""

from pathlib import Path

import pytest

from nigari.cty.types import NUMBER, STRING, ListType
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import AttributeSchema, BlockSchema, BodySchema
from nigari.workspace.context.nigari_files import OwnFile, read_own_file
from nigari.workspace.context.working_directory import WorkingDirectory

NAME = "things.hcl"
BLOCKS = (BlockSchema("thing", ("name",)),)
ARGUMENTS = BodySchema((AttributeSchema("text"), AttributeSchema("texts"), AttributeSchema("size")))
TYPES = {"text": STRING, "texts": ListType(STRING), "size": NUMBER}


def _read(directory: Path, text: str, diags: Diagnostics) -> OwnFile:
    (directory / NAME).write_text(text)
    found = read_own_file(WorkingDirectory({}, root=str(directory)), NAME, BLOCKS, diags)
    assert found is not None
    return found


def _things(file: OwnFile, diags: Diagnostics) -> dict[str, object]:
    """The arguments of each instance, by the name of the block and its key."""
    found: dict[str, object] = {}
    for block in file.blocks_of("thing"):
        for instance in file.instances(block, diags):
            content = instance.body.content(ARGUMENTS, diags)
            values = {
                name: instance.value(attribute, TYPES[name], diags)
                for name, attribute in content.attributes.items()
            }
            key = "" if instance.key is None else f"[{instance.key}]"
            found[block.labels[0] + key] = {
                name: None if value is None else value.to_python() for name, value in values.items()
            }
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("locals {}", {}),
        ('thing "a" {}', {"a": {}}),
        ('thing "a" { size = 1 + 2 }', {"a": {"size": 3}}),
        ('thing "a" { size = "3" }', {"a": {"size": 3}}),
        ('thing "a" { text = upper(format("%s-%d", "x", 1)) }', {"a": {"text": "X-1"}}),
        ('thing "a" { text = file("beside.txt") }', {"a": {"text": "beside"}}),
        ('thing "a" { text = "${path.module}/${path.root}" }', {"a": {"text": "./."}}),
        ('locals { a = 1 }\nthing "a" { size = local.a }', {"a": {"size": 1}}),
        # Locals may be anywhere, in several blocks, and depend on each other in any order.
        (
            'thing "a" { size = local.a }\nlocals { a = local.b * 2 }\nlocals { b = 4 }',
            {"a": {"size": 8}},
        ),
        (
            'thing "a" {\n for_each = toset(["x", "y"])\n text = each.key\n}',
            {"a[x]": {"text": "x"}, "a[y]": {"text": "y"}},
        ),
        (
            'thing "a" {\n for_each = { x = [1], y = [2, 3] }\n texts = each.value\n}',
            {"a[x]": {"texts": ["1"]}, "a[y]": {"texts": ["2", "3"]}},
        ),
        ('thing "a" {\n for_each = {}\n text = nothing\n}', {}),
    ],
)
def test_values(tmp_path: Path, text: str, expected: object) -> None:
    (tmp_path / "beside.txt").write_text("beside")
    diags = Diagnostics()
    file = _read(tmp_path, text, diags)
    assert _things(file, diags) == expected
    assert list(diags) == []


@pytest.mark.parametrize(
    ("text", "line", "column", "words"),
    [
        ('thing "a" { size = }', 1, 20, "expression"),
        ("other {}", 1, 1, "other"),
        ("a = 1", 1, 1, '"a"'),
        ('thing "a" { sise = 1 }', 1, 13, 'Did you mean "size"'),
        ('thing "a" { size = "x" }', 1, 20, "number"),
        ('thing "a" { texts = ["x", {}] }', 1, 27, "string"),
        ('thing "a" { text = null }', 1, 20, "null"),
        ('thing "a" { text = local.b }', 1, 25, '"b"'),
        ('thing "a" { text = var.b }', 1, 20, "no variable with this name"),
        ('thing "a" { text = each.key }', 1, 20, '"each"'),
        ('thing "a" { text = uuid() }', 1, 20, "uuid()"),
        ('locals { a = timestamp() }\nthing "a" { text = local.a }', 2, 20, "timestamp()"),
        ("locals {\n a = local.b\n b = local.a\n}", 2, 2, "depend on each other"),
        ("locals { a = 1 }\nlocals { a = 2 }", 2, 10, "already defined"),
        ('thing "a" {\n for_each = ["x"]\n}', 2, 13, "toset()"),
        ('thing "a" {\n for_each = null\n}', 2, 13, "null"),
        ('thing "a" {\n for_each = { (uuid()) = 1 }\n}', 2, 13, "uuid()"),
    ],
)
def test_mistakes_are_reported(
    tmp_path: Path, text: str, line: int, column: int, words: str
) -> None:
    diags = Diagnostics()
    _things(_read(tmp_path, text, diags), diags)
    (found,) = diags
    assert found.subject is not None
    start = found.subject.start
    assert (found.subject.filename, start.line, start.column) == (NAME, line, column)
    assert words in found.detail


def test_what_follows_from_a_mistake_is_silent(tmp_path: Path) -> None:
    diags = Diagnostics()
    text = 'locals { a = nothing }\nthing "a" { text = local.a }\nthing "b" { for_each = local.a }'
    assert _things(_read(tmp_path, text, diags), diags) == {"a": {"text": None}}
    assert len(list(diags)) == 1


def test_no_file(tmp_path: Path) -> None:
    diags = Diagnostics()
    assert read_own_file(WorkingDirectory({}, root=str(tmp_path)), NAME, BLOCKS, diags) is None
    assert list(diags) == []


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    diags = Diagnostics()
    assert read_own_file(WorkingDirectory({}, root=str(tmp_path)), NAME, BLOCKS, diags) is None
    assert NAME in next(iter(diags)).detail
