"""Names in a file: where something is declared, and where it is referred to.

Works file by file, on what the parser could read. A name in another module is recorded with the
calls that lead there; which directory those call is decided in `nigari.language.project`. Values are
unknown here, so a module object that is passed around under other names is not followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nigari.config.core.declared import MODULE_WORDS
from nigari.hcl.body import Attribute, Block
from nigari.hcl.calls import FunctionCall
from nigari.hcl.collections import For, KeyName, ObjectConstructor
from nigari.hcl.expressions import Expression, Index, Parentheses, Reference, RelativeTraversal
from nigari.hcl.native_body import NativeBody
from nigari.hcl.splats import Splat, SplatItem
from nigari.hcl.templates import StringLiteral
from nigari.hcl.traversal import Step, TraverseAttr, TraverseIndex, TraverseRoot
from nigari.language.document import Document, Kind
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

VARIABLE: Final = "variable"
LOCAL: Final = "local"
OUTPUT: Final = "output"
MODULE: Final = "module"
RESOURCE: Final = "resource"
"""Of any mode; the name begins with `data.`, `ephemeral.`, `action.` or `list.` where it is no
managed resource.
"""
PROVIDER: Final = "provider"
"""A provider configuration, by its local name and alias: `aws.west`."""
CHECK: Final = "check"
RUN: Final = "run"
"""A run of a test file."""

DECLARED: Final = "declared"
READ: Final = "read"
GIVEN: Final = "given"
"""A place that gives a variable a value: an argument of a call, or a variables file."""
ADDRESS: Final = "address"
"""A place that names an address: in `import` or `depends_on`."""
HISTORY: Final = "history"
"""A place that names a past or present address: in `moved` and `removed`."""
PROVIDES: Final = "provides"
"""A place that selects or passes a provider configuration."""

_NO_REFERENCES = frozenset(("each", "count", "path", "terraform", "tofu", "self", "caller"))
_UNBOUND: Final[Mapping[str, str]] = {}
_SPLAT: Final = "*"
"""The bound name of the element of a splat."""
_RESOURCE_BLOCKS = frozenset(("resource", "data", "ephemeral", "action", "list"))


@record
class Occurrence:
    """A name in a file."""

    kind: str
    name: str
    calls: tuple[str, ...]
    """The calls that lead from the file's module to the one that declares the name."""
    role: str
    start: int
    end: int


@record
class FileNames:
    """All names in a file."""

    path: str
    directory: str
    occurrences: tuple[Occurrence, ...]
    sources: Mapping[str, str]
    """The sources of the modules that the file calls, by the name of the call, as far as they are
    literal.
    """


def names_in(document: Document) -> FileNames:
    """The names in a document."""
    walk = _Walk()
    if document.body is not None:
        if document.kind is Kind.VALUES:
            walk.values(document.body)
        elif document.kind is Kind.TESTS:
            walk.tests(document.body)
        elif document.kind is Kind.ENVIRONMENTS:
            walk.environments(document.body)
        elif document.kind is Kind.FLEET:
            walk.fleet(document.body)
        elif document.kind in (Kind.CONFIGURATION, Kind.QUERIES):
            walk.configuration(document.body)
    found = tuple(sorted(walk.found, key=_start))
    return FileNames(document.path, document.directory, found, walk.sources)


def _start(occurrence: Occurrence) -> int:
    return occurrence.start


def resource_name(block: Block) -> str:
    """The name of the resource that a block declares; nothing while its labels are incomplete."""
    if len(block.labels) < 2:
        return ""
    name = ".".join(block.labels[:2])
    return name if block.type == "resource" else f"{block.type}.{name}"


def iterator_of(block: Block) -> str:
    """The name that a `dynamic` block gives to the element in its content."""
    attribute = block.attributes.get("iterator")
    traversal = None if attribute is None else attribute.expr.static_traversal()
    if traversal is not None:
        return traversal.root_name
    return block.labels[0] if block.labels else ""


def written_text(expr: Expression) -> str | None:
    """The text that an expression is, if it is a string without sequences."""
    return expr.text if isinstance(expr, StringLiteral) else None


class _Walk:
    """Collects the names of one file."""

    def __init__(self) -> None:
        self.found: list[Occurrence] = []
        self.sources: dict[str, str] = {}

    def put(
        self,
        kind: str,
        name: str,
        role: str,
        span: tuple[int, int],
        calls: tuple[str, ...] = (),
    ) -> None:
        if name:
            self.found.append(Occurrence(kind, name, calls, role, *span))

    # -- files ------------------------------------------------------------------------------------

    def values(self, body: NativeBody) -> None:
        for attribute in body.attributes.values():
            self.put(VARIABLE, attribute.name, GIVEN, _name_span(attribute))

    def environments(self, body: NativeBody) -> None:
        for block in body.blocks:
            self._variables(block, ())

    def fleet(self, body: NativeBody) -> None:
        """The variables that units get, and the outputs of units: names in the modules of the units. What
        else is in the file, such as its local values, is its own.
        """
        for block in body.blocks:
            if block.type != "unit" or not block.labels:
                continue
            call = _unit_call(block.labels[0])
            directory = _unit_directory(block)
            if directory is not None:
                self.sources[call] = f"./{directory}"
                self._variables(block, (call,))
            for attribute in block.attributes.values():
                self._unit_outputs(attribute.expr)

    def _variables(self, block: Block, calls: tuple[str, ...]) -> None:
        """The keys of an object of variables."""
        given = block.attributes.get("variables")
        if given is not None and isinstance(given.expr, ObjectConstructor):
            for key, _ in given.expr.items:
                if isinstance(key, KeyName):
                    self.put(VARIABLE, key.name, GIVEN, (key.start, key.end), calls)

    def _unit_outputs(self, expr: Expression) -> None:
        found: dict[tuple[int, int], tuple[str, str]] = {}
        pending = [expr]
        while pending:
            current = pending.pop()
            pending.extend(current.children())
            parts = [each for each in _address_parts(current) if not isinstance(each, Expression)]
            steps = [each for each in parts if not isinstance(each, TraverseIndex)]
            names = _attribute_names(steps)
            if len(names) > 3 and (names[0], names[2]) == ("unit", "outputs"):
                found[_span(steps[3])] = _unit_call(names[1]), names[3]
        for span, (call, name) in found.items():
            self.put(OUTPUT, name, READ, span, (call,))

    def tests(self, body: NativeBody) -> None:
        for block in body.blocks:
            if block.type == "variables":
                self._given(block, ())
            elif block.type == "run":
                self._label(RUN, block, 0)
                self._run(block)
            else:
                self._body(block, _UNBOUND)

    def _run(self, block: Block) -> None:
        is_own = not any(each.type == "module" for each in block.blocks)
        for attribute in block.attributes.values():
            self.expression(attribute.expr, _UNBOUND)
        for inner in block.blocks:
            if inner.type == "variables" and is_own:
                self._given(inner, ())
            else:
                self._body(inner, _UNBOUND)

    def configuration(self, body: NativeBody) -> None:
        for block in body.blocks:
            declare = _BLOCKS.get(block.type)
            if declare is None:
                self._body(block, _UNBOUND)
            else:
                declare(self, block)

    # -- blocks -----------------------------------------------------------------------------------

    def variable(self, block: Block) -> None:
        self._label(VARIABLE, block, 0)
        self._body(block, _UNBOUND, skip=("type",))

    def locals(self, block: Block) -> None:
        for attribute in block.attributes.values():
            self.put(LOCAL, attribute.name, DECLARED, _name_span(attribute))
            self.expression(attribute.expr, _UNBOUND)

    def output(self, block: Block) -> None:
        self._label(OUTPUT, block, 0)
        self._body(block, _UNBOUND)

    def check(self, block: Block) -> None:
        self._label(CHECK, block, 0)
        self._body(block, _UNBOUND)
        for inner in block.blocks:
            if inner.type == "data":
                self.resource(inner, is_walked=True)

    def module(self, block: Block) -> None:
        name = block.labels[0] if block.labels else ""
        self._label(MODULE, block, 0)
        source = block.attributes.get("source")
        text = None if source is None else written_text(source.expr)
        if text is not None:
            self.sources[name] = text
        if name:
            self._given(block, (name,))
        self._body(block, _UNBOUND)

    def resource(self, block: Block, is_walked: bool = False) -> None:
        name = resource_name(block)
        if name:
            self.put(RESOURCE, name, DECLARED, _inside_quotes(block, 1))
        if not is_walked:
            self._body(block, _UNBOUND)

    def provider(self, block: Block) -> None:
        name = block.labels[0] if block.labels else ""
        alias = block.attributes.get("alias")
        text = None if alias is None else written_text(alias.expr)
        if alias is not None and text:
            span = alias.expr.start + 1, alias.expr.end - 1
            self.put(PROVIDER, f"{name}.{text}", DECLARED, span)
        elif name:
            self._label(PROVIDER, block, 0)
        self._body(block, _UNBOUND)

    def addresses(self, block: Block) -> None:
        role = ADDRESS if block.type == "import" else HISTORY
        for attribute in block.attributes.values():
            if attribute.name in ("from", "to"):
                self._address(attribute.expr, role)
            elif attribute.name == "provider":
                self._provider(attribute.expr)
            else:
                self.expression(attribute.expr, _UNBOUND)
        for inner in block.blocks:
            self._body(inner, _UNBOUND)

    def _given(self, block: Block, calls: tuple[str, ...]) -> None:
        """The arguments of a block that give values to variables."""
        for attribute in block.attributes.values():
            if not calls or attribute.name not in MODULE_WORDS:
                self.put(VARIABLE, attribute.name, GIVEN, _name_span(attribute), calls)
            if not calls:
                self.expression(attribute.expr, _UNBOUND)

    def _body(self, block: Block, bound: Mapping[str, str], skip: tuple[str, ...] = ()) -> None:
        """The expressions in a block and in those inside of it."""
        pending = [(block, bound)]
        while pending:
            current, names = pending.pop()
            if current.type == "dynamic":
                names = {**names, iterator_of(current): ""}
            for attribute in current.attributes.values():
                name = attribute.name
                if name in ("provider", "providers"):
                    self._provider(attribute.expr)
                elif name == "depends_on":
                    self._dependencies(attribute.expr)
                elif name not in skip and not (
                    current.type in ("lifecycle", "dynamic")
                    and name in ("ignore_changes", "iterator")
                ):
                    self.expression(attribute.expr, names)
            pending.extend((inner, names) for inner in current.blocks)

    def _label(self, kind: str, block: Block, index: int) -> None:
        if len(block.labels) > index:
            self.put(kind, block.labels[index], DECLARED, _inside_quotes(block, index))

    # -- expressions ------------------------------------------------------------------------------

    def expression(self, expr: Expression, bound: Mapping[str, str]) -> None:
        """The names in an expression. `bound` has the names that mean something inside of it only,
        each with the call whose instances it stands for, if it does.
        """
        pending = [(expr, bound)]
        while pending:
            current, names = pending.pop()
            if isinstance(current, Reference):
                self._reference(current.steps, names)
            elif isinstance(current, For):
                call = _call_of(current.collection, names)
                inner = {**names, current.value_name: call}
                if current.key_name:
                    inner[current.key_name] = ""
                pending.append((current.collection, names))
                rest = (current.key, current.result, current.condition)
                pending.extend((each, inner) for each in rest if each is not None)
            elif isinstance(current, Splat):
                call = _call_of(current.operand, names)
                pending.append((current.operand, names))
                pending.append((current.each, {**names, _SPLAT: call}))
            else:
                if isinstance(current, RelativeTraversal):
                    self._output(_call_of(current.base, names), current.steps)
                pending.extend((each, names) for each in current.children())

    def _reference(self, steps: list[Step], bound: Mapping[str, str]) -> None:
        root = steps[0]
        assert isinstance(root, TraverseRoot)
        if root.name in bound:
            self._output(bound[root.name], steps[1:])
            return
        names = _attribute_names(steps)
        if root.name in _NAMED:
            if len(names) > 1:
                self.put(_NAMED[root.name], names[1], READ, _span(steps[1]))
                if root.name == "module":
                    self._output(names[1], steps[2:])
            return
        if root.name not in _NO_REFERENCES:
            self._resource(steps, 0, (), READ)

    def _output(self, call: str, steps: list[Step]) -> None:
        """An output that steps lead to from a module object, behind an index where it has one."""
        first = steps[1:] if steps and isinstance(steps[0], TraverseIndex) else steps
        if call and first and isinstance(first[0], TraverseAttr):
            self.put(OUTPUT, first[0].name, READ, _span(first[0]), (call,))

    def _resource(self, steps: list[Step], at: int, calls: tuple[str, ...], role: str) -> None:
        names = _attribute_names(steps[at:])
        prefix = ""
        if names and names[0] in _RESOURCE_BLOCKS:
            prefix = "" if names[0] == "resource" else f"{names[0]}."
            names, at = names[1:], at + 1
        if len(names) > 1:
            name = f"{prefix}{names[0]}.{names[1]}"
            self.put(RESOURCE, name, role, _span(steps[at + 1]), calls)

    def _dependencies(self, expr: Expression) -> None:
        for element in expr.static_list() or ():
            self._address(element)

    def _address(self, expr: Expression, role: str = ADDRESS) -> None:
        """An address, whose keys may be expressions."""
        steps: list[Step] = []
        for part in _address_parts(expr):
            if isinstance(part, Expression):
                self.expression(part, _UNBOUND)
            else:
                steps.append(part)
        named = [each for each in steps if not isinstance(each, TraverseIndex)]
        calls: tuple[str, ...] = ()
        at = 0
        while at + 1 < len(named) and _step_name(named[at]) == "module":
            name = _step_name(named[at + 1])
            self.put(MODULE, name, role, _span(named[at + 1]), calls)
            calls = (*calls, name)
            at += 2
        if at + 1 >= len(named):
            return
        root = _step_name(named[at])
        if root in ("var", "local"):
            self.put(_NAMED[root], _step_name(named[at + 1]), READ, _span(named[at + 1]), calls)
        else:
            self._resource(named, at, calls, role)

    def _provider(self, expr: Expression) -> None:
        """A provider configuration, or an object of them by the names of another module."""
        if isinstance(expr, ObjectConstructor):
            for _, value in expr.items:
                self._provider(value)
            return
        if isinstance(expr, Index):
            self.expression(expr.key, _UNBOUND)
            expr = expr.collection
        traversal = expr.static_traversal()
        names = [] if traversal is None else _attribute_names(traversal.steps)
        if traversal is not None and names:
            step = traversal.steps[min(len(names), 2) - 1]
            self.put(PROVIDER, ".".join(names[:2]), PROVIDES, _span(step))


def _unit_call(name: str) -> str:
    """The name under which a unit of a fleet calls its module; no module call has one like it."""
    return f"unit.{name}"


def _unit_directory(block: Block) -> str | None:
    """The directory of a unit's module, if that is written in the file and not a remote one."""
    source = block.attributes.get("source")
    attribute = source or block.attributes.get("directory")
    text = None if attribute is None else written_text(attribute.expr)
    if text is None or (source is not None and not text.startswith(".")):
        return None
    return text.replace("//", "/")


def _call_of(expr: Expression, bound: Mapping[str, str]) -> str:
    """The module call whose instance, or collection of instances, an expression is."""
    while True:
        if isinstance(expr, Index):
            expr = expr.collection
        elif isinstance(expr, Parentheses):
            expr = expr.inner
        elif isinstance(expr, FunctionCall) and expr.name == "values" and expr.arguments:
            expr = expr.arguments[0]
        elif isinstance(expr, SplatItem):
            return bound.get(_SPLAT, "")
        else:
            break
    if not isinstance(expr, Reference):
        return ""
    names = _attribute_names(expr.steps)
    if len(expr.steps) == 1 and names[0] in bound:
        return bound[names[0]]
    is_call = len(names) == 2 and names[0] == "module" and names[0] not in bound
    return names[1] if is_call and len(expr.steps) <= 3 else ""


def _address_parts(expr: Expression) -> Iterator[Step | Expression]:
    """The steps of an address, with the expressions of its keys."""
    chain: list[Expression] = []
    while isinstance(expr, Index | RelativeTraversal):
        chain.append(expr)
        expr = expr.collection if isinstance(expr, Index) else expr.base
    traversal = expr.static_traversal()
    yield from () if traversal is None else traversal.steps
    for part in reversed(chain):
        if isinstance(part, Index):
            yield part.key
        elif isinstance(part, RelativeTraversal):
            yield from part.steps


def _attribute_names(steps: list[Step]) -> list[str]:
    """The names that steps begin with."""
    names: list[str] = []
    for step in steps:
        if not isinstance(step, TraverseRoot | TraverseAttr):
            break
        names.append(step.name)
    return names


def _step_name(step: Step) -> str:
    return step.name if isinstance(step, TraverseRoot | TraverseAttr) else ""


def _span(step: Step) -> tuple[int, int]:
    """The range of a step's name, without its dot."""
    return step.end - len(_step_name(step)), step.end


def _name_span(attribute: Attribute) -> tuple[int, int]:
    return attribute.name_start, attribute.name_end


def _inside_quotes(block: Block, index: int) -> tuple[int, int]:
    """The range of a label's text."""
    start, end = block.label_spans[index]
    is_quoted = block.source.text.startswith('"', start) and end - start > 1
    return (start + 1, end - 1) if is_quoted else (start, end)


_NAMED: Final = {
    "var": VARIABLE,
    "local": LOCAL,
    "module": MODULE,
    "run": RUN,
    "output": OUTPUT,
    "check": CHECK,
}
_BLOCKS: Final = {
    "variable": _Walk.variable,
    "locals": _Walk.locals,
    "output": _Walk.output,
    "check": _Walk.check,
    "module": _Walk.module,
    "resource": _Walk.resource,
    "data": _Walk.resource,
    "ephemeral": _Walk.resource,
    "action": _Walk.resource,
    "list": _Walk.resource,
    "provider": _Walk.provider,
    "moved": _Walk.addresses,
    "removed": _Walk.addresses,
    "import": _Walk.addresses,
}
