"""References: the objects that names in expressions refer to.

A traversal such as `module.net["eu"].ids[0]` is split into the address of its subject and the
remaining steps into the subject's value. Whether the subject is declared and allowed depends on the
context of the expression and is decided elsewhere; the diagnostics for both are here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from nigari.addrs import (
    CALLER,
    DATA,
    EPHEMERAL,
    MANAGED,
    SELF,
    Address,
    Check,
    CountAttr,
    EachAttr,
    InputVariable,
    LocalValue,
    ModuleCall,
    NamedValue,
    OutputValue,
    PathAttr,
    ProviderFunction,
    Resource,
    ResourceMode,
    SymbolFunction,
    SymbolsAttr,
    TerraformAttr,
    TofuAttr,
    key_from_value,
)
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.body import Body
from nigari.hcl.calls import TYPE_ARGUMENTS, FunctionCall
from nigari.hcl.expressions import Expression
from nigari.hcl.quoting import quoted, with_article
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean, listed
from nigari.hcl.traversal import Traversal, TraverseAttr, TraverseIndex, TraverseRoot

TYPE_CHECKING = False
# Loading specifications costs start-up time, and reading a configuration needs none.
if TYPE_CHECKING:
    from nigari.hcl.decode import Spec

_SINGLE: dict[str, type[NamedValue]] = {
    kind.root: kind
    for kind in (
        InputVariable,
        LocalValue,
        CountAttr,
        EachAttr,
        PathAttr,
        SymbolsAttr,
        TerraformAttr,
        TofuAttr,
    )
}
_ATTRIBUTES = {
    "count": ("index",),
    "each": ("key", "value"),
    "path": ("module", "root", "cwd"),
    "terraform": ("workspace", "applying"),
    "tofu": ("workspace", "applying"),
}
_MODES: dict[str, ResourceMode] = {mode.value: mode for mode in ResourceMode}
_PROVIDER = "provider::"
_SYMBOLS = "symbols::"
_RESERVED = frozenset(("template", "lazy", "arg"))
_MISTAKEN_ROOTS = {
    "vars": "var",
    "variable": "var",
    "variables": "var",
    "input": "var",
    "inputs": "var",
    "locals": "local",
    "modules": "module",
    "datasource": "data",
    "data_source": "data",
    "resources": "resource",
    "opentofu": "tofu",
    "paths": "path",
}


class Reference:
    """A reference in an expression: its subject and its position."""

    __slots__ = ("end", "remaining", "source", "start", "subject")

    subject: Address
    source: Source
    start: int
    end: int
    """End of the subject; the remaining steps follow."""
    remaining: Traversal
    """The steps into the subject's value, as a relative traversal."""

    def __init__(
        self, subject: Address, source: Source, start: int, end: int, remaining: Traversal
    ) -> None:
        self.subject = subject
        self.source = source
        self.start = start
        self.end = end
        self.remaining = remaining

    @property
    def range(self) -> Range:
        """Range of the subject."""
        return self.source.range(self.start, self.end)

    def __str__(self) -> str:
        return f"{self.subject}{self.remaining}"

    def __repr__(self) -> str:
        return f"<Reference {self}>"


def parse_reference(
    traversal: Traversal, diags: Diagnostics, in_tests: bool = False
) -> Reference | None:
    """Resolve the subject of an absolute traversal; `in_tests` also accepts `output` and `check`."""
    root = traversal.root_name
    single = _SINGLE.get(root)
    if single is None and in_tests:
        single = {"output": OutputValue, "check": Check}.get(root)
    if single is not None:
        return _single_attribute(traversal, single, diags)
    if root in _MODES:
        return _resource(traversal, _MODES[root], 1, diags)
    if root == "module":
        return _module_call(traversal, diags)
    if root == "self":
        return _reference(SELF, traversal, 1)
    if root == "caller":
        return _reference(CALLER, traversal, 1)
    if root in _RESERVED:
        _report_reserved(traversal, diags)
        return None
    if root.startswith(_PROVIDER):
        return _provider_function(traversal, diags)
    if root.startswith(_SYMBOLS):
        return _symbol_function(traversal, diags)
    return _resource(traversal, MANAGED, 0, diags)


def _reference(subject: Address, traversal: Traversal, used: int) -> Reference:
    steps = traversal.steps
    remaining = Traversal(traversal.source, steps[used:])
    return Reference(subject, traversal.source, steps[0].start, steps[used - 1].end, remaining)


def _single_attribute(
    traversal: Traversal, kind: type[NamedValue], diags: Diagnostics
) -> Reference | None:
    root = kind.root
    if len(traversal) < 2:
        _report_bare_root(traversal, diags)
        return None
    step = traversal[1]
    if not isinstance(step, TraverseAttr):
        _report_index_on_root(traversal, diags)
        return None
    allowed = _ATTRIBUTES.get(root)
    if allowed is not None and step.name not in allowed:
        _report_attribute(traversal, step, allowed, diags)
        return None
    return _reference(kind(step.name), traversal, 2)


def _resource(
    traversal: Traversal, mode: ResourceMode, at: int, diags: Diagnostics
) -> Reference | None:
    """Parse a reference to a resource whose type is the step at `at`."""
    if len(traversal) < at + 2:
        _report_incomplete_resource(traversal, mode, at, diags)
        return None
    type_step, name_step = traversal[at], traversal[at + 1]
    if not isinstance(type_step, TraverseRoot | TraverseAttr) or not isinstance(
        name_step, TraverseAttr
    ):
        wrong = type_step if isinstance(type_step, TraverseIndex) else name_step
        _report_resource_shape(traversal, mode, traversal.step_range(wrong), diags)
        return None
    resource = Resource(mode, type_step.name, name_step.name)
    used = at + 2
    if len(traversal) == used:
        return _reference(resource, traversal, used)
    step = traversal[used]
    if not isinstance(step, TraverseIndex):
        return _reference(resource.instance(), traversal, used)
    key = key_from_value(step.key)
    if key is None:
        _report_key("a resource instance", traversal.step_range(step), diags)
        return None
    return _reference(resource.instance(key), traversal, used + 1)


def _module_call(traversal: Traversal, diags: Diagnostics) -> Reference | None:
    if len(traversal) < 2:
        _report_bare_root(traversal, diags)
        return None
    name_step = traversal[1]
    if not isinstance(name_step, TraverseAttr):
        _report_index_on_root(traversal, diags)
        return None
    call = ModuleCall(name_step.name)
    if len(traversal) == 2:
        return _reference(call, traversal, 2)
    used = 2
    instance = call.instance(None)
    step = traversal[2]
    if isinstance(step, TraverseIndex):
        key = key_from_value(step.key)
        if key is None:
            _report_key("a module instance", traversal.step_range(step), diags)
            return None
        instance = call.instance(key)
        used = 3
        if len(traversal) == used:
            return _reference(instance, traversal, used)
        step = traversal[3]
    if not isinstance(step, TraverseAttr):
        _report_no_output(instance, traversal.step_range(step), diags)
        return None
    return _reference(instance.output(step.name), traversal, used + 1)


def parse_provider_function(name: str) -> ProviderFunction | None:
    """Parse a function name in the namespace `provider`; None for others."""
    parts = name.split("::")
    if parts[0] != "provider" or len(parts) not in (3, 4) or "" in parts:
        return None
    return ProviderFunction(parts[1], parts[2] if len(parts) == 4 else "", parts[-1])


def _provider_function(traversal: Traversal, diags: Diagnostics) -> Reference | None:
    function = parse_provider_function(traversal.root_name)
    if function is None:
        _report_provider_function(traversal.root_name, traversal.range, diags)
        return None
    return _reference(function, traversal, 1)


def _symbol_function(traversal: Traversal, diags: Diagnostics) -> Reference | None:
    parts = traversal.root_name.split("::")
    if len(parts) != 3 or "" in parts:
        _report_symbol_function(traversal.root_name, traversal.range, diags)
        return None
    return _reference(SymbolFunction(parts[1], parts[2]), traversal, 1)


def references(traversals: Iterable[Traversal], diags: Diagnostics) -> list[Reference]:
    """Parse each traversal; invalid ones are reported and dropped."""
    found = []
    for traversal in traversals:
        reference = parse_reference(traversal, diags)
        if reference is not None:
            found.append(reference)
    return found


def references_in_expression(expression: Expression, diags: Diagnostics) -> list[Reference]:
    """List the references of an expression: values in source order, then functions of providers and
    symbol libraries.
    """
    found = references(expression.variables(), diags)
    found.extend(references(namespace_calls(expression), diags))
    return found


def references_in_body(
    body: Body, spec: Spec, diags: Diagnostics, content: bool = True
) -> list[Reference]:
    """List the references of decoding a body with its dynamic blocks expanded: values, then
    functions.

    Without `content`, only those of the expansion itself.
    """
    from nigari.hcl.dynamic_blocks import expand_expressions

    traversals: list[Traversal] = []
    calls: list[Traversal] = []
    for expression, iterators in expand_expressions(body, spec, content):
        expression.add_variables(traversals, iterators)
        calls.extend(namespace_calls(expression))
    return references(traversals, diags) + references(calls, diags)


def namespace_calls(expression: Expression) -> Iterator[Traversal]:
    """Yield the names of called functions of providers and symbol libraries, as traversals of one
    step. A type of a symbol library counts as a reference to the library.
    """
    types: Expression | None = None
    for call in function_calls(expression):
        index = TYPE_ARGUMENTS.get(call.name, len(call.arguments))
        if index < len(call.arguments):
            types = call.arguments[index]
        if not call.name.startswith((_PROVIDER, _SYMBOLS)):
            continue
        root = TraverseRoot(call.name, call.start, call.name_end)
        if types is None or not types.start <= call.start < types.end:
            yield Traversal(call.source, [root])
        elif call.name.count("::") == 2:
            library = TraverseAttr(call.name.split("::")[1], call.start, call.name_end)
            root = TraverseRoot(SymbolsAttr.root, call.start, call.name_end)
            yield Traversal(call.source, [root, library])


def function_calls(expression: Expression) -> Iterator[FunctionCall]:
    """Yield every function call inside an expression, in source order."""
    pending = [expression]
    while pending:
        current = pending.pop()
        if isinstance(current, FunctionCall):
            yield current
        pending.extend(reversed(current.children()))


def intended_root(name: str) -> str | None:
    """Return the root name that was probably meant by `vars.x` or `locals.x`."""
    return _MISTAKEN_ROOTS.get(name)


def undeclared_resource_hint(resource: Resource, declared: Iterable[Resource]) -> str:
    """Suggest a correction for a reference to an undeclared resource; empty if there is none.

    It begins with a space, to be appended to a detail.
    """
    root = intended_root(resource.type) if resource.mode is MANAGED else None
    if root is not None:
        return f' Did you mean "{root}.{resource.name}"?'
    if resource.mode is MANAGED and resource.type == "output":
        return (
            " An output value cannot be referred to in its own module. Refer to the values it is "
            "made from, or put them into a local value."
        )
    others = list(declared)
    for mode in (MANAGED, DATA, EPHEMERAL):
        twin = Resource(mode, resource.type, resource.name)
        if mode is not resource.mode and twin in others:
            return f' Did you mean "{twin}"?'
    return did_you_mean(str(resource), [str(other) for other in others])


def report_outside(reference: Reference, diags: Diagnostics) -> None:
    """Report `each`, `count` or `self` in a block that does not have it."""
    subject = reference.subject
    _OUTSIDE[type(subject)](reference, diags)


def _report_each_outside(reference: Reference, diags: Diagnostics) -> None:
    diags.error(
        "Reference to each outside of for_each",
        f"{reference.subject} can be used only in a block that has the for_each argument. Add "
        "that argument to this block, or use another value here.",
        reference.range,
    )


def _report_count_outside(reference: Reference, diags: Diagnostics) -> None:
    diags.error(
        "Reference to count outside of count",
        f"{reference.subject} can be used only in a block that has the count argument. Add that "
        "argument to this block, or use another value here.",
        reference.range,
    )


def _report_self_outside(reference: Reference, diags: Diagnostics) -> None:
    diags.error(
        "Reference to self outside of a resource",
        "self is the resource instance itself, and can be used only in its provisioner, "
        "connection and postcondition blocks. Elsewhere, refer to the resource by its address.",
        reference.range,
    )


def _report_caller_outside(reference: Reference, diags: Diagnostics) -> None:
    diags.error(
        "Reference to caller without a trigger",
        "caller is the resource instance that triggers an action. It can be used only in the config "
        "block of an action that a resource triggers. Elsewhere, refer to the resource by its "
        "address.",
        reference.range,
    )


def report_action(reference: Reference, diags: Diagnostics) -> None:
    """Report an action in an expression."""
    diags.error(
        "Reference to an action",
        f"{reference.subject} has no value. An action can be named only in the list of actions of an "
        "action_trigger block.",
        reference.range,
    )


_OUTSIDE: dict[type[Address], Callable[[Reference, Diagnostics], None]] = {
    EachAttr: _report_each_outside,
    CountAttr: _report_count_outside,
    type(SELF): _report_self_outside,
    type(CALLER): _report_caller_outside,
}


def _report_bare_root(traversal: Traversal, diags: Diagnostics) -> None:
    root = traversal.root_name
    names = _ATTRIBUTES.get(root)
    example = " or ".join(f"{root}.{name}" for name in names) if names else f"{root}.NAME"
    diags.error(
        "Incomplete reference",
        f"{root} is not a value by itself. Select something in it: {example}.",
        traversal.range,
    )


def _report_index_on_root(traversal: Traversal, diags: Diagnostics) -> None:
    root = traversal.root_name
    step = traversal[1]
    key = key_from_value(step.key) if isinstance(step, TraverseIndex) else None
    hint = f": {root}.{key}" if isinstance(key, str) and key.isidentifier() else ""
    diags.error(
        "Invalid reference",
        f"{root} must be followed by a dot and a name{hint}. Names cannot be computed: to look "
        "up values by key, keep them in a map.",
        traversal.step_range(step),
        traversal.range,
    )


def _report_attribute(
    traversal: Traversal, step: TraverseAttr, allowed: tuple[str, ...], diags: Diagnostics
) -> None:
    root = traversal.root_name
    if step.name == "env" and root in ("terraform", "tofu"):
        hint = f" {root}.env is now called {root}.workspace."
    else:
        hint = did_you_mean(step.name, allowed)
    diags.error(
        "Invalid reference",
        f"{root} has no attribute {quoted(step.name)}. It has {listed(allowed)}.{hint}",
        traversal.source.range(traversal[0].start, step.end),
    )


def _report_reserved(traversal: Traversal, diags: Diagnostics) -> None:
    root = traversal.root_name
    diags.error(
        "Reserved name",
        f"The name {root} is reserved for a later version of the language. If a provider has a "
        f"resource type with that name, write resource.{root} in front of the resource's name.",
        traversal.step_range(traversal[0]),
    )


def _report_incomplete_resource(
    traversal: Traversal, mode: ResourceMode, at: int, diags: Diagnostics
) -> None:
    first = traversal.root_name
    if at == 0:
        root = intended_root(first)
        hint = f' Did you mean "{root}"?' if root else ""
        # The name may be a secret without its quotes, so it is not repeated.
        detail = (
            "A name alone does not refer to anything. Refer to a variable as var.NAME, to a local "
            "value as local.NAME, and to a resource by its type, a dot and its name. Write text "
            f"in double quotes.{hint}"
        )
    else:
        detail = (
            f"{first} must be followed by the type of {with_article(mode.noun)} and its name: "
            f"{first}.TYPE.NAME."
        )
    diags.error("Incomplete reference", detail, traversal.range)


def _report_resource_shape(
    traversal: Traversal, mode: ResourceMode, subject: Range, diags: Diagnostics
) -> None:
    diags.error(
        "Invalid reference",
        "A reference to a resource consists of its type, a dot and its name; an instance key can "
        f"only come after that: {mode.prefix}TYPE.NAME[KEY].",
        subject,
        traversal.range,
    )


def _report_key(what: str, subject: Range, diags: Diagnostics) -> None:
    diags.error(
        "Invalid instance key",
        f"The key of {what} must be a whole number, if it uses count, or a string, if it uses "
        "for_each.",
        subject,
    )


def _report_no_output(instance: Address, subject: Range, diags: Diagnostics) -> None:
    diags.error(
        "Invalid reference",
        f"Only the output values of a module instance can be used. Select one of them: {instance}"
        ".OUTPUT.",
        subject,
    )


def _report_provider_function(name: str, subject: Range, diags: Diagnostics) -> None:
    diags.error(
        "Invalid provider function",
        f"{quoted(name)} is not a valid name of a provider function. Write "
        "provider::PROVIDER::FUNCTION, or provider::PROVIDER::ALIAS::FUNCTION for a "
        "configuration with an alias.",
        subject,
    )


def _report_symbol_function(name: str, subject: Range, diags: Diagnostics) -> None:
    diags.error(
        "Invalid function of a symbol library",
        f"{quoted(name)} is not a valid name of a function or type of a symbol library. Write "
        "symbols::LIBRARY::NAME, where LIBRARY is the name of a symbols block.",
        subject,
    )
