"""Candidates for the next part of a reference: declared names, attributes, instance keys,
functions.

Values and schemas say which attributes and keys there are. Where in a file a reference is being typed
is found by `nigari.language.completion`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from nigari.addrs.keys import DEFERRED
from nigari.addrs.values import SymbolsAttr
from nigari.config.module import Module
from nigari.cty import ListType, MapType, ObjectType, SetType, Type
from nigari.cty.values import Value
from nigari.hcl.body import Block
from nigari.hcl.expressions import Expression
from nigari.hcl.scanner import is_identifier
from nigari.hcl.signatures import called_function
from nigari.lang.functions.descriptions import DESCRIPTIONS
from nigari.lang.functions.table import CORE
from nigari.lang.render import value_glimpse
from nigari.language.cursor import Cursor
from nigari.language.described import resource_block
from nigari.language.signatures import functions, signature_text
from nigari.language.values import values_of
from nigari.language.workbench import Workbench
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

ARGUMENT: Final = "argument"
BLOCK: Final = "block"
FUNCTION: Final = "function"
VALUE: Final = "value"
NAME: Final = "name"
MODULE: Final = "module"
TYPE: Final = "type"
PATH: Final = "path"
KEYWORD: Final = "keyword"
SNIPPET: Final = "snippet"

_WORDS: Final = {
    "each": ("key", "value"),
    "count": ("index",),
    "path": ("module", "root", "cwd"),
    "terraform": ("workspace", "applying"),
    "tofu": ("workspace", "applying"),
}
_GLIMPSE: Final = 60
_MODES: Final = ("data", "ephemeral", "action", "resource")


@record
class Candidate:
    """Something that can be written at a place."""

    label: str
    kind: str
    detail: str = ""
    documentation: str = ""
    insert: str = ""
    """The text to insert; the label unless this differs."""
    is_snippet: bool = False
    """True if `insert` has placeholders, such as `${1:name}`."""
    is_deprecated: bool = False
    rank: int = 5
    """Candidates with a lower one come first."""

    @property
    def text(self) -> str:
        """The written text."""
        return self.insert or self.label


def constants() -> Iterator[Candidate]:
    """The literals that are words."""
    yield from (Candidate(each, VALUE, rank=6) for each in ("true", "false", "null"))


def roots(module: Module | None, cursor: Cursor) -> Iterator[Candidate]:
    """The words that references begin with."""
    for word, detail in (
        ("var", "input variables"),
        ("local", "local values"),
        ("module", "outputs of called modules"),
        ("data", "data sources"),
        ("path", "directories"),
        ("terraform", "the workspace"),
    ):
        yield Candidate(word, KEYWORD, detail, rank=2)
    for block in cursor.blocks:
        if block.type == "dynamic":
            yield Candidate(_iterator(block), NAME, "the element of this block", rank=1)
        elif "for_each" in block.attributes:
            yield Candidate("each", KEYWORD, "the element of this instance", rank=1)
        if "count" in block.attributes:
            yield Candidate("count", KEYWORD, "the number of this instance", rank=1)
        if block.type in ("provisioner", "connection", "postcondition", "action_trigger"):
            yield Candidate("self", KEYWORD, "the object itself", rank=1)
        if block.type == "action_trigger":
            yield Candidate("action", KEYWORD, "actions", rank=1)
        elif block.type == "action":
            yield Candidate("caller", KEYWORD, "the object that triggers the action", rank=1)
    if module is not None and module.symbols:
        yield Candidate(SymbolsAttr.root, KEYWORD, "symbol libraries", rank=2)
    types = {} if module is None else {each.type: each.mode.value for each in module.resources}
    for name, mode in types.items():
        if mode == "resource":
            yield Candidate(name, TYPE, "resources", rank=3)


def function_calls() -> Iterator[Candidate]:
    """The functions that are built in."""
    for name in functions():
        if not name.startswith(CORE):
            text = signature_text(name) or name
            yield Candidate(
                name, FUNCTION, text, DESCRIPTIONS.get(name, ""), f"{name}($0)", True, rank=7
            )


def following(
    workbench: Workbench, module: Module | None, cursor: Cursor, base: str
) -> Iterator[Candidate]:
    """The candidates after the dot after `base`."""
    if module is None:
        return
    parts = base.split(".")
    if base in {_iterator(each) for each in cursor.blocks if each.type == "dynamic"}:
        yield from (Candidate(each, NAME) for each in _WORDS["each"])
    elif base in _WORDS:
        yield from (Candidate(each, NAME) for each in _WORDS[base])
    elif base == "var":
        for name, variable in module.variables.items():
            type_ = variable.type.friendly_name()
            yield Candidate(
                name, NAME, type_, variable.description, is_deprecated=bool(variable.deprecated)
            )
    elif base == "local":
        yield from (
            Candidate(name, NAME, _written(each.attribute.expr))
            for name, each in module.locals.items()
        )
    elif base == "module":
        yield from (
            Candidate(name, MODULE, _written(each.source)) for name, each in module.calls.items()
        )
    elif base == SymbolsAttr.root:
        yield from (
            Candidate(name, MODULE, _written(each.source)) for name, each in module.symbols.items()
        )
    elif base in _MODES:
        found = dict.fromkeys(each.type for each in module.resources if each.mode.value == base)
        yield from (Candidate(each, TYPE) for each in found)
    elif names := _resource_names(module, parts):
        yield from (Candidate(each, NAME, base) for each in names)
    elif parts[0] == "module" and len(parts) == 2:
        yield from _outputs(workbench, cursor, parts[1].partition("[")[0])
    else:
        yield from _attributes(workbench, module, cursor, base)


def _iterator(block: Block) -> str:
    """The name that a `dynamic` block gives its element."""
    written = block.attributes.get("iterator")
    named = None if written is None else written.expr.static_traversal()
    if named is not None:
        return named.root_name
    return block.labels[0] if block.labels else ""


def symbol_functions(workbench: Workbench, directory: str) -> Iterator[Candidate]:
    """The functions of the symbol libraries that a module uses."""
    found: dict[str, Candidate] = {}
    for _, frame in workbench.frames(directory):
        for library, each in frame.instance.compiled.libraries.items():
            for name, function in ({} if each is None else each.functions).items():
                text = f"symbols::{library}::{name}"
                detail = str(called_function(text, function))
                found[text] = Candidate(
                    text, FUNCTION, detail, function.description, f"{text}($0)", True, rank=4
                )
    yield from found.values()


def keys(
    workbench: Workbench, module: Module | None, cursor: Cursor, base: str
) -> Iterator[Candidate]:
    """The keys that can follow `base` in brackets, as they are written."""
    directory = cursor.document.directory
    found: dict[str, str] = {}
    name = base.removeprefix("module.")
    if module is not None and name in module.calls and base != name:
        for evaluation, frame in workbench.frames(directory):
            queries = evaluation.queries
            if queries is not None:
                with queries.lock:
                    known = queries.module_instances(frame.calls[name])
                found.update((_key(each), "instance") for each in known if each is not DEFERRED)
    else:
        for each in values_of(
            workbench, directory, base, cursor.blocks[0] if cursor.blocks else None
        ):
            if isinstance(each.value.data, dict) and not each.value.marks:
                for key, value in each.value.data.items():
                    found.setdefault(_key(key), value_glimpse(value, _GLIMPSE))
    if not found and module is not None:
        found = _resource_keys(workbench, module, directory, base)
    yield from (Candidate(key, VALUE, detail) for key, detail in found.items() if key)


def of_type(type_: Type) -> Iterator[Candidate]:
    """The attributes of an object type."""
    if isinstance(type_, ObjectType):
        for name, inner in type_.attributes.items():
            if is_identifier(name):
                yield Candidate(name, NAME, inner.friendly_name())


def _written(expr: Expression) -> str:
    return expr.source.glimpse(expr.start, expr.end)


def _resource_names(module: Module, parts: list[str]) -> list[str]:
    """The names of the resources of a type, which the parts of a reference lead to."""
    mode = parts[0] if parts[0] in _MODES else "resource"
    rest = parts[1:] if parts[0] == mode else parts
    if len(rest) != 1:
        return []
    return [
        each.name for each in module.resources if each.mode.value == mode and each.type == rest[0]
    ]


def _outputs(workbench: Workbench, cursor: Cursor, call: str) -> Iterator[Candidate]:
    for place in workbench.project.called(cursor.document.directory, (call,)):
        called = workbench.module(place)
        for name, output in ({} if called is None else called.outputs).items():
            yield Candidate(
                name,
                NAME,
                _written(output.expr),
                output.description,
                is_deprecated=bool(output.deprecated),
            )


def _attributes(
    workbench: Workbench, module: Module, cursor: Cursor, base: str
) -> Iterator[Candidate]:
    """The attributes of a value: of a resource by its schema, else as they really are."""
    directory = cursor.document.directory
    resource = _resource_type(workbench, module, directory, cursor, base)
    if resource is not None:
        yield from resource
        return
    found: dict[str, Candidate] = {}
    for each in values_of(workbench, directory, base, cursor.blocks[0] if cursor.blocks else None):
        for candidate in _of_value(each.value):
            found.setdefault(candidate.label, candidate)
    yield from found.values()


def _of_value(value: Value) -> Iterator[Candidate]:
    if isinstance(value.data, dict) and value.is_known:
        for name, inner in value.data.items():
            if is_identifier(name):
                detail = "" if value.marks else value_glimpse(inner, _GLIMPSE)
                yield Candidate(name, NAME, detail)
    else:
        yield from of_type(value.type)


def _resource_type(
    workbench: Workbench, module: Module, directory: str, cursor: Cursor, base: str
) -> Iterable[Candidate] | None:
    """The attributes that steps lead to from a resource; None where they do not begin with one."""
    names = [each.partition("[")[0] for each in base.split(".")]
    block: Block | None = None
    if names[0] == "self" and cursor.blocks:
        block, mode, rest = cursor.blocks[0], cursor.blocks[0].type, names[1:]
        type_ = block.labels[0] if block.labels else ""
        local = type_.partition("_")[0]
    else:
        mode = names[0] if names[0] in _MODES else "resource"
        rest = names[1:] if names[0] == mode else names
        if len(rest) < 2:
            return None
        type_, name, *rest = rest
        declared = [
            e
            for a, e in module.resources.items()
            if (a.mode.value, a.type, a.name) == (mode, type_, name)
        ]
        if not declared:
            return None
        local = declared[0].provider_name
    found = resource_block(workbench, directory, mode, type_, local)
    if found is None:
        return None if block is None else ()
    schema = found[0]
    if not rest:
        described = {
            n: (a.implied_type, a.description, a.deprecated) for n, a in schema.attributes.items()
        }
        described.update(
            (n, (b.spec_type, b.block.description, b.block.deprecated))
            for n, b in schema.blocks.items()
        )
        return [
            Candidate(n, NAME, type_.friendly_name(), text, is_deprecated=old)
            for n, (type_, text, old) in described.items()
        ]
    return of_type(_inner(schema.implied_type, rest))


def _inner(type_: Type, names: list[str]) -> Type:
    """The type that attributes lead to; elements of collections are passed through."""
    for name in names:
        while isinstance(type_, ListType | SetType | MapType):
            type_ = type_.element
        if not isinstance(type_, ObjectType) or name not in type_.attributes:
            break
        type_ = type_.attributes[name]
    while isinstance(type_, ListType | SetType | MapType):
        type_ = type_.element
    return type_


def _resource_keys(
    workbench: Workbench, module: Module, directory: str, base: str
) -> dict[str, str]:
    """The keys of the instances of a resource."""
    declared: Mapping[str, object] = {str(addr): each for addr, each in module.resources.items()}
    found: dict[str, str] = {}
    if base in declared:
        for evaluation, frame in workbench.frames(directory):
            resource = next((e for a, e in frame.module.resources.items() if str(a) == base), None)
            queries = evaluation.queries
            if resource is not None and queries is not None:
                expansion = queries.resource_instances(frame, resource)
                found.update(
                    (_key(key), "instance") for key in expansion.instances if key is not DEFERRED
                )
    return found


def _key(key: object) -> str:
    if key is None:
        return ""
    return f'"{key}"' if isinstance(key, str) else str(key)
