"""Scopes: the values that the references of an expression stand for.

Resolving is done in rounds: it either says which nodes must be done first, or gives the scope to
evaluate in. Only what an expression names is put into its scope, and of a local value written as
an object only the attributes that are named, so that nothing waits for what it does not use.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence

from nigari.addrs.address import Address
from nigari.addrs.module import ModuleCall, ModuleCallInstance, ModuleCallOutput
from nigari.addrs.resource import ACTION, MANAGED, Resource, ResourceInstance
from nigari.addrs.values import (
    Caller,
    CountAttr,
    EachAttr,
    InputVariable,
    LocalValue,
    PathAttr,
    ProviderFunction,
    Self,
    SymbolFunction,
    SymbolsAttr,
    TerraformAttr,
    TofuAttr,
)
from nigari.cty.function import Function
from nigari.cty.types import DYNAMIC
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, null, object_value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.compile import Compiled, CompiledBody
from nigari.eval.core.deprecation import used
from nigari.eval.core.fixed_functions import FixedFunctions
from nigari.eval.core.instances import (
    FAILED,
    Absent,
    CallNode,
    Frame,
    Origin,
    ResourceNode,
    ValueNode,
)
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.shared_values import Names, shared_values
from nigari.eval.core.unresolved import (
    report_in_check,
    report_missing_key,
    report_needless_key,
    report_undeclared,
    report_undeclared_resource,
)
from nigari.eval.core.worklist import DONE, Need
from nigari.hcl.body import Body
from nigari.hcl.decode import decode
from nigari.hcl.dynamic_blocks import expand
from nigari.hcl.evaluation import Fault
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.traversal import TraverseAttr, TraverseIndex
from nigari.lang.references import (
    Reference,
    references_in_body,
    report_action,
    report_outside,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.eval.core.symbol_library import SymbolLibrary


class Binding:
    """The work of resolving one expression's references: what is missing, and what is found."""

    __slots__ = (
        "check",
        "data",
        "diags",
        "faults",
        "frame",
        "functions",
        "names",
        "needs",
        "owner",
        "self_value",
        "symbols",
    )

    def __init__(
        self,
        frame: Frame,
        data: InstanceData = NO_INSTANCE_DATA,
        self_value: Value | None = None,
        owner: ResourceNode | None = None,
        check: str = "",
        diags: Diagnostics | None = None,
    ) -> None:
        self.frame: Frame = frame
        self.diags: Diagnostics = frame.run.diags if diags is None else diags
        """The collector for problems of the references."""
        self.data: InstanceData = data
        self.self_value: Value | None = self_value
        self.owner: ResourceNode | None = owner
        """The resource that the expression belongs to, where it may name itself."""
        self.check: str = check
        """The `check` block that the expression is in, or nothing."""
        self.needs: list[Need] = []
        self.names: Names = {}
        self.faults: dict[tuple[Source, int], Fault] = {}
        """The faults of references that lead nowhere, which matter only if they are evaluated."""
        self.functions: dict[str, Function] = {}
        """Functions of providers that the expression calls."""
        self.symbols: dict[str, Function] = {}
        """Functions of symbol libraries, and those of the language that know their types."""

    def bind(self, references: Sequence[Reference]) -> None:
        """Find a value for each reference."""
        for reference in references:
            _BINDERS[reference.subject.__class__](self, reference)

    def scope(self, site: Hashable = None) -> Scope:
        """The scope in which all these references have values; `site` is where they are."""
        names = {name: _as_value(found) for name, found in self.names.items()}
        functions = self.frame.run.functions
        # The class itself, since asking whether it is a mapping of some kind takes long.
        if type(functions) is FixedFunctions:
            data = self.data
            keys = data.each_key, data.count_index
            functions = functions.at((self.frame.instance.addr, site, keys))
        scope = Scope(names, functions, faults=self.faults or None)
        if self.symbols:
            scope = Scope({}, self.symbols, scope)
        return Scope({}, self.functions, scope) if self.functions else scope

    def scope_among(self, compiled: Compiled | CompiledBody, site: Hashable) -> Scope:
        """The same scope, in which instances of a repeated block share what does not depend on
        the instance.
        """
        scope = self.scope(site)
        # An invalid reference explains the failure, and may do so for each instance again.
        if self.data is not NO_INSTANCE_DATA and not self.faults:
            scope.shared = shared_values(self.frame.shared, compiled, self.names)
        return scope

    def collector(self, diags: Diagnostics) -> Diagnostics:
        """Return the collector for the expression's mistakes.

        Provider functions may lack a result on the first attempt. The expression is then evaluated
        again, and the first attempt's diagnostics are dropped.
        """
        return Diagnostics() if self.functions else diags

    def put(self, path: Sequence[str], value: Value) -> None:
        """Give the name at the end of the path a value, unless a name on the way has one."""
        names = self.names
        for name in path[:-1]:
            inner = names.get(name)
            if isinstance(inner, Value):
                return
            if inner is None:
                inner = names[name] = {}
            names = inner
        names[path[-1]] = value

    def put_absent(self, reference: Reference, absent: Absent) -> None:
        """Let a reference fail when it is evaluated, and others that lead as far not."""
        self.faults[reference.source, reference.start] = absent.fault
        if absent.is_null:
            self.put(absent.exists, null(DYNAMIC))
            return
        names = self.names
        for name in absent.exists:
            inner = names.setdefault(name, {})
            if isinstance(inner, Value):
                return
            names = inner

    def put_node(self, path: Sequence[str], node: ValueNode) -> None:
        """Give a name the value of a node, once that is done."""
        if node.state == DONE:
            self.put(path, node.value)
        else:
            self.needs.append(node)


def _as_value(names: Value | Names) -> Value:
    if isinstance(names, Value):
        return names
    return object_value({name: _as_value(found) for name, found in names.items()})


def evaluate(
    frame: Frame,
    compiled: Compiled,
    data: InstanceData = NO_INSTANCE_DATA,
    self_value: Value | None = None,
    owner: ResourceNode | None = None,
    check: str = "",
    diags: Diagnostics | None = None,
) -> Value | list[Need]:
    """The value of an expression in a module instance, or what must be done first.

    What is wrong with it goes to the run, unless there are other `diags` for it.
    """
    diags = frame.run.diags if diags is None else diags
    errors = diags.error_count
    binding = Binding(frame, data, self_value, owner, check, diags)
    binding.bind(compiled.references)
    if binding.needs:
        return binding.needs
    if compiled.problems:
        diags.extend(compiled.problems)
        return FAILED
    reported = binding.collector(diags)
    value = compiled.expr.value(binding.scope_among(compiled, compiled.expr), reported)
    if binding.needs:
        return binding.needs
    if reported is not diags:
        diags.extend(reported)
    if diags.error_count > errors:
        # What depends on this value has nothing to add to what has just been reported.
        return FAILED
    return used(value, compiled, diags) if value.contains_marked else value


def scope_of(
    frame: Frame,
    compiled: Compiled,
    data: InstanceData = NO_INSTANCE_DATA,
    self_value: Value | None = None,
) -> Scope:
    """The names that an expression was evaluated with, for who has to say what was wrong.

    Only to be asked where evaluating it has given a value.
    """
    binding = Binding(frame, data, self_value)
    binding.bind(compiled.references)
    return binding.scope()


def evaluate_origin(origin: Origin, diags: Diagnostics | None = None) -> Value | list[Need]:
    """The value of an expression where it belongs, or what must be done first."""
    return evaluate(origin.frame, origin.compiled, origin.data, diags=diags)


def evaluate_body(
    frame: Frame,
    compiled: CompiledBody,
    data: InstanceData = NO_INSTANCE_DATA,
    self_value: Value | None = None,
    owner: ResourceNode | None = None,
    diags: Diagnostics | None = None,
) -> Value | list[Need]:
    """The value of a body in a module instance, or what must be done first.

    What is wrong with it goes to the run, unless there are other `diags` for it.
    """
    run = frame.run
    reported = Diagnostics()
    binding = Binding(frame, data, self_value, owner, diags=reported)
    binding.bind(compiled.references)
    if binding.needs:
        return binding.needs
    diags = run.diags if diags is None else diags
    scope, problems = binding.scope_among(compiled, compiled.body), compiled.problems
    body = expand(compiled.body, scope)
    if compiled.is_dynamic and (problems or reported):
        # What is wrong may be in the content of blocks that are not made.
        first = Binding(frame, data, self_value, owner, diags=Diagnostics())
        first.bind(compiled.expansion)
        body, found = expand(compiled.body, first.scope(compiled.body)), Diagnostics()
        references = (*compiled.expansion, *references_in_body(body, compiled.spec, found))
        reported = Diagnostics()
        binding = Binding(frame, data, self_value, owner, diags=reported)
        binding.bind(references)
        scope, problems = binding.scope(compiled.body), tuple(found)
    run.diags.extend(reported)
    if problems or reported.has_errors:
        diags.extend(problems)
        return FAILED
    collected = binding.collector(diags)
    value = decode(body, compiled.spec, scope, collected)
    if binding.needs:
        return binding.needs
    if collected is not diags:
        diags.extend(collected)
    return used(value, compiled, diags) if value.contains_marked else value


def expanded_body(frame: Frame, compiled: CompiledBody, data: InstanceData) -> Body | list[Need]:
    """A body with the blocks that its `dynamic` blocks make, or what must be done first."""
    if not compiled.is_dynamic:
        return compiled.body
    binding = Binding(frame, data, diags=Diagnostics())
    binding.bind(compiled.expansion)
    return binding.needs or expand(compiled.body, binding.scope())


def nodes_of(frame: Frame, reference: Reference) -> list[ValueNode]:
    """The nodes whose values a reference stands for, once all of them are done."""
    subject = reference.subject
    if isinstance(subject, InputVariable):
        return [frame.variables[subject.name]] if subject.name in frame.variables else []
    if isinstance(subject, LocalValue):
        local = frame.locals.get(subject.name)
        return [] if local is None else [local.part(attribute_names(reference))[0]]
    if isinstance(subject, ResourceInstance):
        subject = subject.resource
    if isinstance(subject, Resource):
        return [frame.resources[subject]] if subject in frame.resources else []
    if isinstance(subject, ModuleCallOutput):
        call = frame.calls.get(subject.call.name)
        frames = {} if call is None else call.expanded.frames
        key = subject.instance.key
        children = [frames[key]] if key in frames else list(frames.values())
        return [child.outputs[subject.name] for child in children if subject.name in child.outputs]
    if isinstance(subject, ModuleCallInstance):
        subject = subject.call
    if isinstance(subject, ModuleCall):
        call = frame.calls.get(subject.name)
        instances = () if call is None else call.expanded.frames.values()
        return [node for child in instances for node in child.outputs.values()]
    return []


# -- what each kind of subject stands for -------------------------------------------------------


def _bind_variable(binding: Binding, reference: Reference) -> None:
    subject = reference.subject
    assert isinstance(subject, InputVariable)
    node = binding.frame.variables.get(subject.name)
    if node is None:
        report_undeclared(
            binding.frame, reference, "variable", binding.frame.variables, binding.diags
        )
        binding.put(("var", subject.name), FAILED)
    else:
        binding.put_node(("var", subject.name), node)


def _bind_local(binding: Binding, reference: Reference) -> None:
    subject = reference.subject
    assert isinstance(subject, LocalValue)
    node = binding.frame.locals.get(subject.name)
    if node is None:
        report_undeclared(
            binding.frame, reference, "local value", binding.frame.locals, binding.diags
        )
        binding.put(("local", subject.name), FAILED)
        return
    names = attribute_names(reference)
    part, used = node.part(names)
    binding.put_node(("local", subject.name, *names[:used]), part)


def attribute_names(reference: Reference) -> list[str]:
    """The steps after the subject, as far as they are names of attributes."""
    names: list[str] = []
    for step in reference.remaining.steps:
        if isinstance(step, TraverseAttr):
            names.append(step.name)
        elif isinstance(step, TraverseIndex) and isinstance(step.key.data, str):
            names.append(step.key.data)
        else:
            break
    return names


def _bind_call(binding: Binding, reference: Reference) -> None:
    subject = reference.subject
    if isinstance(subject, ModuleCallInstance):
        subject = subject.call
    assert isinstance(subject, ModuleCall)
    node = _call_node(binding, reference, subject.name)
    if node is None:
        return
    if node.contents is not None and node.contents.state != DONE:
        binding.needs.append(node.contents)
    _put_call(binding, ("module", subject.name), node.whole())


def _bind_call_output(binding: Binding, reference: Reference) -> None:
    subject = reference.subject
    assert isinstance(subject, ModuleCallOutput)
    node = _call_node(binding, reference, subject.call.name)
    if node is None:
        return
    key = subject.instance.key
    if key is None and node.call.repetition.for_each is not None and node.has_key(subject.name):
        # The name is a key then: instances with string keys can be asked for like attributes.
        _put_call(binding, ("module", subject.call.name), node.whole())
        return
    path = ["module", subject.call.name]
    if key is not None:
        path.append(str(key))
    found = node.output(key, subject.name)
    if isinstance(found, Absent):
        binding.put_absent(reference, found)
    else:
        _put_call(binding, (*path, subject.name), found)


def _call_node(binding: Binding, reference: Reference, name: str) -> CallNode | None:
    """The call of that name once its instances are known; None where that is not yet, or never."""
    frame = binding.frame
    node = frame.calls.get(name)
    if node is None:
        report_undeclared(frame, reference, "module call", frame.calls, binding.diags)
        binding.put(("module", name), FAILED)
        return None
    if node.state != DONE:
        binding.needs.append(node)
        return None
    return node


def _put_call(binding: Binding, path: tuple[str, ...], found: Value | list[Need]) -> None:
    if isinstance(found, Value):
        binding.put(path, found)
    else:
        binding.needs.extend(found)


def _bind_resource(binding: Binding, reference: Reference) -> None:
    subject = reference.subject
    if isinstance(subject, ResourceInstance):
        subject = subject.resource
    assert isinstance(subject, Resource)
    frame = binding.frame
    path = [subject.type, subject.name]
    if subject.mode is not MANAGED or reference.source.text.startswith(
        "resource.", reference.start
    ):
        path.insert(0, subject.mode.value)
    node = frame.resources.get(subject)
    if node is None:
        report_undeclared_resource(frame, reference, subject, binding.diags)
        binding.put(path, FAILED)
    elif subject.mode is ACTION:
        report_action(reference, binding.diags)
        binding.put(path, FAILED)
    elif frame.run.checks_instances and node.resource.in_check not in ("", binding.check):
        report_in_check(reference, node, binding.diags)
        binding.put(path, FAILED)
    elif node is binding.owner:
        is_right = check_instance(reference, node, binding.diags)
        whole = node.element if node.resource.repetition.has_one_value else DYNAMIC_UNKNOWN
        binding.put(path, whole if is_right else FAILED)
    else:
        if frame.run.checks_instances and not check_instance(reference, node, binding.diags):
            binding.put(path, FAILED)
            return
        binding.put_node(path, node)


def check_instance(reference: Reference, node: ResourceNode, diags: Diagnostics) -> bool:
    """Return whether a reference has an instance key exactly where one is required, and names an
    existing attribute. Before planning, nothing is known about the instances of a repeated
    resource, so `try` would hide mistakes.
    """
    subject = reference.subject
    repetition = node.resource.repetition
    is_repeated = not repetition.has_one_value
    key = subject.key if isinstance(subject, ResourceInstance) else None
    if not isinstance(subject, ResourceInstance):
        return True
    if not is_repeated and key is not None:
        report_needless_key(reference, node, diags)
        return False
    if is_repeated and key is None:
        if reference.remaining.steps and isinstance(reference.remaining[0], TraverseAttr):
            report_missing_key(reference, node, diags)
            return False
        return True
    errors = diags.error_count
    reference.remaining.apply_rel(node.element, diags)
    return diags.error_count == errors


def _bind_each(binding: Binding, reference: Reference) -> None:
    subject = reference.subject
    assert isinstance(subject, EachAttr)
    value = binding.data.each_key if subject.name == "key" else binding.data.each_value
    _bind_data(binding, reference, ("each", subject.name), value)


def _bind_count(binding: Binding, reference: Reference) -> None:
    subject = reference.subject
    assert isinstance(subject, CountAttr)
    _bind_data(binding, reference, ("count", subject.name), binding.data.count_index)


def _bind_self(binding: Binding, reference: Reference) -> None:
    _bind_data(binding, reference, ("self",), binding.self_value)


def _bind_caller(binding: Binding, reference: Reference) -> None:
    _bind_data(binding, reference, ("caller",), binding.data.caller)


def _bind_data(
    binding: Binding, reference: Reference, path: tuple[str, ...], value: Value | None
) -> None:
    if value is None:
        report_outside(reference, binding.diags)
        value = FAILED
    binding.put(path, value)


def _bind_path(binding: Binding, reference: Reference) -> None:
    subject = reference.subject
    assert isinstance(subject, PathAttr)
    binding.put(("path", subject.name), binding.frame.path(subject.name))


def _bind_terraform(binding: Binding, reference: Reference) -> None:
    subject = reference.subject
    assert isinstance(subject, TerraformAttr)
    binding.put((subject.root, subject.name), binding.frame.run.terraform(subject.name))


def _bind_function(binding: Binding, reference: Reference) -> None:
    subject = reference.subject
    assert isinstance(subject, ProviderFunction)
    run = binding.frame.run
    function = run.provider_function(
        binding.frame, subject, reference, binding.needs, binding.diags
    )
    if function is not None:
        binding.functions[subject.text] = function


def _bind_symbols(binding: Binding, reference: Reference) -> None:
    subject = reference.subject
    assert isinstance(subject, SymbolsAttr)
    library = _library(binding, reference, subject.name)
    value = FAILED if library is None else library.values
    binding.put(("symbols", subject.name), value)


def _bind_symbol_function(binding: Binding, reference: Reference) -> None:
    from nigari.eval.core.symbol_library import (
        FAILED_FUNCTION,
        report_no_symbol,
        report_type_as_function,
    )

    subject = reference.subject
    assert isinstance(subject, SymbolFunction)
    library = _library(binding, reference, subject.library)
    if library is None:
        binding.symbols[subject.text] = FAILED_FUNCTION
        return
    function = library.functions.get(subject.function)
    if function is None:
        if subject.function in library.types:
            report_type_as_function(subject.text, reference.range, binding.diags)
        else:
            report_no_symbol(
                "function",
                subject.function,
                subject.library,
                library.functions,
                reference.range,
                binding.diags,
            )
        function = FAILED_FUNCTION
    binding.symbols[subject.text] = function


def _library(binding: Binding, reference: Reference, name: str) -> SymbolLibrary | None:
    """The library of that name once it is known; None where that is not yet, or never."""
    frame = binding.frame
    node = frame.symbols.get(name)
    if node is not None and node.state != DONE:
        binding.needs.append(node)
        return None
    library = _known_library(binding, reference, name) if node is None else node.library
    if library is not None and library.types:
        from nigari.eval.core.symbol_library import LibraryTypes
        from nigari.lang.functions.conversion import convert_function
        from nigari.lang.functions.table import CORE

        # The type argument of `convert` is not evaluated, so it finds the types by itself.
        ready = {each: found.library for each, found in frame.symbols.items()}
        convert = convert_function(LibraryTypes(ready or frame.instance.compiled.libraries))
        binding.symbols["convert"] = binding.symbols[f"{CORE}convert"] = convert
    return library


def _known_library(binding: Binding, reference: Reference, name: str) -> SymbolLibrary | None:
    frame = binding.frame
    known = frame.instance.compiled.libraries
    if name not in known:
        if not frame.module.experiments:
            from nigari.config.blocks.symbols import report_no_experiment

            report_no_experiment(reference.range, binding.diags)
        else:
            from nigari.eval.core.symbol_library import report_no_library

            report_no_library(name, frame.module.symbols, reference.range, binding.diags)
        return None
    return known[name]


_BINDERS: Final[Mapping[type[Address], Callable[[Binding, Reference], None]]] = {
    InputVariable: _bind_variable,
    LocalValue: _bind_local,
    ModuleCall: _bind_call,
    ModuleCallInstance: _bind_call,
    ModuleCallOutput: _bind_call_output,
    Resource: _bind_resource,
    ResourceInstance: _bind_resource,
    EachAttr: _bind_each,
    CountAttr: _bind_count,
    Self: _bind_self,
    Caller: _bind_caller,
    PathAttr: _bind_path,
    TerraformAttr: _bind_terraform,
    TofuAttr: _bind_terraform,
    ProviderFunction: _bind_function,
    SymbolsAttr: _bind_symbols,
    SymbolFunction: _bind_symbol_function,
}
