"""The values for all positions where the target allows only literals, one module instance at a time.

Runs as part of the static phase, so that instances of calls are opened one by one where such a value
depends on them. Instances with the same facts can share their files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from nigari.addrs.keys import DEFERRED, InstanceKey
from nigari.addrs.module_source import RegistrySource, parse_module_source
from nigari.addrs.provider import LocalProviderConfig
from nigari.backends.harmless import marked
from nigari.config.blocks.module_call import ModuleCall
from nigari.config.blocks.provisioner import Provisioner
from nigari.config.blocks.removed import Removed
from nigari.config.blocks.resource import Resource
from nigari.config.core.declared import Repetition
from nigari.config.core.literals import is_written_out
from nigari.config.core.provider_ref import ProviderRef
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.expansion import Asked, expand_count, expand_for_each
from nigari.eval.core.instances import Frame, Origin
from nigari.eval.core.module_tree import (
    NO_INSTANCE_DATA,
    InstanceData,
    ModuleInstance,
    deferred_data,
)
from nigari.eval.core.scope import evaluate_origin, scope_of
from nigari.eval.core.static_position import StaticPosition
from nigari.eval.core.worklist import Node
from nigari.eval.nodes.lifecycle import ProvisionerMoments
from nigari.eval.static.run import StaticRun, slot_value
from nigari.hcl.body import Block
from nigari.hcl.expressions import Expression
from nigari.hcl.render import render_value
from nigari.hcl.static import expr_as_keyword
from nigari.lang.marks import SENSITIVE
from nigari.plain.accepted import StaticReferences
from nigari.plain.passed_inputs import NO_INPUTS, PassedInputs
from nigari.plain.provider_aliases import Aliases, aliases_of
from nigari.plain.spots import Spot, spot_at, spot_of
from nigari.plain.target import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


NO_ARGUMENTS: Final[Mapping[str, Value]] = {}


class StaticValues:
    """The static phase's values of one configuration, for one target."""

    def __init__(
        self,
        target: Target,
        backend: Mapping[str, Value] = NO_ARGUMENTS,
        inputs: PassedInputs = NO_INPUTS,
    ) -> None:
        """`backend` has the arguments that count in place of those in the backend block; `inputs`
        are variables of the root module whose values come from states.
        """
        self.target: Target = target
        self.backend: Mapping[str, Value] = backend
        self.inputs: PassedInputs = inputs
        self.refusals: Diagnostics = Diagnostics()
        """Diagnostics about constructs that cannot be expressed."""

    def collect(self, run: StaticRun) -> None:
        """Evaluate every position of a run; called again for each further run."""
        self.run = run
        self.refusals = Diagnostics()
        self._static = StaticReferences(run.inputs)
        self.literals: dict[Frame, dict[Spot, str]] = {}
        """The text for each position that has to be a literal."""
        self.facts: dict[ModuleInstance, list[object]] = {}
        self.aliases: dict[tuple[Frame, LocalProviderConfig], Aliases] = {}
        self.chosen: dict[tuple[ModuleInstance, Spot], InstanceKey] = {}
        """The key that a provider reference of a module, or of the call of a module, selects."""
        self.sources: dict[ModuleInstance, str] = {}
        """The source of each call instance."""
        self.versions: dict[ModuleInstance, str] = {}
        """The text of its version, if that has to be a literal."""
        self.alone: set[ModuleInstance] = set()
        """The instances that need a call without repetition."""
        self.frames: dict[ModuleInstance, Frame] = {}
        for frame in [*run.frames()]:
            self.frames[frame.instance] = frame
            self.literals[frame] = {}
            self._frame(frame)
            self._fact(frame.instance, tuple(self.literals[frame].items()))

    def _fact(self, instance: ModuleInstance, fact: object) -> None:
        self.facts.setdefault(instance, []).append(fact)

    def accepts(self, frame: Frame, expr: Expression) -> bool:
        """Check whether the target can evaluate an expression in a static position."""
        if self.target.has("static sources"):
            return self._static.are_all(frame, expr)
        return is_written_out(expr)

    def refuse(
        self, summary: str, detail: str, subject: Expression | Block | ModuleCall | Range
    ) -> None:
        """Report something that the target cannot express."""
        where = subject if isinstance(subject, Range) else subject.range
        where = subject.def_range if isinstance(subject, Block) else where
        if self.refusals.is_new((summary, where)):
            self.refusals.error(summary, detail, where)

    # -- modules ------------------------------------------------------------------------------

    def _frame(self, frame: Frame) -> None:
        module = frame.module
        self._providers(frame)
        for call in module.calls.values():
            self._call(frame, call)
        for resource in module.resources.values():
            self._resource(frame, resource)
        for removed in module.removed:
            self._removed(frame, removed)
        written = [address for each in module.moved for address in (each.source, each.target)]
        for address in (*written, *(each.source for each in module.removed)):
            node = self.run.addresses.get((frame, address))
            if node is not None and node.traversal is not None:
                spot = spot_at(address.source, address.start, address.end)
                self.literals[frame][spot] = str(node.traversal)
        for name, variable in module.variables.items():
            if variable.default is not None:
                self._written(frame, variable.default, f"default of var.{name}")
        for version in module.required_versions:
            self._written(frame, version.expr, "version of the program")
        for name, required in module.required_providers.items():
            for what, expr in (("source", required.source), ("version", required.version)):
                if expr is not None:
                    self._written(frame, expr, f"{what} of the provider {name}")
        if frame.parent is None:
            self._root(frame)

    def _root(self, frame: Frame) -> None:
        backend, encryption = frame.module.backend, frame.module.encryption
        if backend is not None:
            for name, attribute in backend.body.just_attributes(Diagnostics()).items():
                if name not in self.backend:
                    self._argument(frame, attribute.expr, f"backend.{name}", backend.type)
        if encryption is not None:
            bodies = [each.body for each in encryption.key_providers]
            bodies += [each.body for each in encryption.methods]
            for body in bodies:
                for name, attribute in body.just_attributes(Diagnostics()).items():
                    root = attribute.expr.static_traversal()
                    if root is None or root.root_name not in ("key_provider", "method"):
                        what = f"{name} of the encryption block"
                        self._argument(frame, attribute.expr, what, is_secret=True)

    def value(
        self, frame: Frame, expr: Expression, what: str, data: InstanceData = NO_INSTANCE_DATA
    ) -> Value | None:
        """The value of a static position; None if it is not known, which has been reported."""
        what = f"{what} in {frame.place}"
        slot = StaticPosition(what, frame, expr, self.run.request, data)
        return slot_value(self.run, slot)

    def quietly(
        self, frame: Frame, expr: Expression, data: InstanceData = NO_INSTANCE_DATA
    ) -> Value | None:
        """The value of an expression as far as it is known; None if it is wrong."""
        origin = Origin(frame, frame.instance.compiled.expression(expr), data)
        while True:
            found = Diagnostics()
            value = evaluate_origin(origin, found)
            if isinstance(value, Value):
                return None if found.has_errors else value
            self.run.evaluate([need for need in value if isinstance(need, Node)])

    def instances(
        self, frame: Frame, repetition: Repetition
    ) -> Mapping[InstanceKey, InstanceData] | None:
        """The instances of a block; None if they are not known."""
        expr = repetition.count or repetition.for_each
        value = None if expr is None else self.quietly(frame, expr)
        if expr is None or value is None:
            return None
        expand = expand_count if repetition.count is not None else expand_for_each
        scope = partial(scope_of, frame, frame.instance.compiled.expression(expr), NO_INSTANCE_DATA)
        expansion = expand(value, Asked(expr, scope, Diagnostics()))
        is_known = expansion.deferred_by is None and not expansion.is_wrong
        return expansion.instances if is_known else None

    def _written(
        self, frame: Frame, expr: Expression, what: str, data: InstanceData = NO_INSTANCE_DATA
    ) -> None:
        """A position that must be a literal in every program."""
        if not frame.instance.compiled.is_written_out(expr):
            value = self.value(frame, expr, what, data)
            if value is not None:
                self.literals[frame][spot_of(expr)] = render_value(value)

    def _argument(
        self, frame: Frame, expr: Expression, what: str, backend: str = "", is_secret: bool = False
    ) -> None:
        """A position that may use variables if the target evaluates them there. What an argument of
        a backend may hold counts as a secret, even if its value is not marked.
        """
        if self.accepts(frame, expr):
            return
        slot = StaticPosition(what, frame, expr, self.run.request, takes_secrets=True)
        written = self.quietly(frame, expr)
        if written is not None and backend:
            written = marked(backend, what.removeprefix("backend."), written)
        if is_secret or (written is not None and SENSITIVE in written.unmark_deep()[1]):
            self.refuse(
                "Secret in a position for literals",
                f"The {what} may be a secret, and {self.target.title} allows only a literal here, "
                "which would put it into a file. Pass it in an option or an environment variable "
                "instead.",
                expr,
            )
            return
        value = slot_value(self.run, slot)
        if value is not None:
            self.literals[frame][spot_of(expr)] = render_value(value)

    # -- calls --------------------------------------------------------------------------------

    def _call(self, frame: Frame, call: ModuleCall) -> None:
        children = frame.instance.children.get(call.name, {})
        for child in children.values():
            value = self.value(frame, call.source, f"source of module.{call.name}", child.data)
            if value is not None:
                self.sources[child] = value.as_string()
                self._check_tagged(call, value.as_string())
            if call.version is not None and not self.accepts(frame, call.version):
                name = f"version of module.{call.name}"
                value = self.value(frame, call.version, name, child.data)
                if value is not None:
                    self.versions[child] = render_value(value)
                    self._fact(child, self.versions[child])
            for each in call.providers:
                self._reference(frame, each.in_parent, child.data, child)
        if not self.target.has("lifecycle.enabled"):
            self._enabled(frame, call.repetition, f"module.{call.name}")

    def _check_tagged(self, call: ModuleCall, source: str) -> None:
        """A version that selects a tag: others have it in the source."""
        if call.version is None or isinstance(
            parse_module_source(source, Diagnostics()), RegistrySource
        ):
            return
        self.refuse(
            "Version of a repository",
            f"{self.target.title} accepts versions only for modules of registries. Put the tag into "
            f"the source of module.{call.name}, such as ?ref=v1.2.3.",
            call.version,
        )

    def _enabled(self, frame: Frame, repetition: Repetition, name: str) -> None:
        """A block that must be there, since the target has no `enabled`."""
        if repetition.enabled is None:
            return
        value = self.value(frame, repetition.enabled, f"enabled of {name}")
        if value is not None and _truth(value) is not True:
            self.refuse(
                "Block that may be disabled",
                f"{name} is disabled, which {self.target.title} cannot express. Use count instead.",
                repetition.enabled,
            )

    # -- resources ----------------------------------------------------------------------------

    def _resource(self, frame: Frame, resource: Resource) -> None:
        data = deferred_data(resource.repetition)
        lifecycle, name = resource.lifecycle, str(resource.addr)
        if resource.provider is not None:
            self._reference(frame, resource.provider, data)
        if not self.target.has("lifecycle.enabled"):
            self._enabled(frame, resource.repetition, name)
        before = lifecycle.create_before_destroy
        self._flag(frame, before, f"create_before_destroy of {name}", False, data)
        self._flag(frame, lifecycle.destroy, f"destroy of {name}", True, data)
        if not self.target.has("dynamic prevent_destroy"):
            prevented = lifecycle.prevent_destroy
            self._flag(frame, prevented, f"prevent_destroy of {name}", False, data)
        if lifecycle.destroy is not None and not self.target.has("lifecycle.destroy"):
            value = self.value(frame, lifecycle.destroy, f"destroy of {name}", data)
            if value is not None and _truth(value) is False:
                self.refuse(
                    "Object that is never destroyed",
                    f"{self.target.title} has no destroy argument in the lifecycle block of a "
                    "resource. Use a removed block when the resource goes.",
                    lifecycle.destroy,
                )
        for expr in lifecycle.replacing_values:
            self.refuse(
                "Replacement when a value changes",
                f"{self.target.title} accepts only resources in replace_triggered_by. Put the value "
                "into triggers_replace of a terraform_data resource, and name that.",
                expr,
            )
        ignored = lifecycle.ignore_changes
        settings = self.run.resource_settings.get((frame, resource.addr))
        if isinstance(ignored, Expression) and settings is not None:
            paths = [str(each).removeprefix(".") for each in settings.ignored]
            text = "all" if settings.ignore_all else f"[{', '.join(paths)}]"
            self.literals[frame][spot_of(ignored)] = text
        if settings is not None:
            self._moments(frame, resource.provisioners, settings.moments)

    def _flag(
        self, frame: Frame, expr: Expression | None, what: str, usual: bool, data: InstanceData
    ) -> None:
        if expr is None or is_written_out(expr):
            return
        value = self.value(frame, expr, what, data)
        if value is not None:
            truth = _truth(value)
            text = usual if truth is None else truth
            self.literals[frame][spot_of(expr)] = "true" if text else "false"

    def _removed(self, frame: Frame, removed: Removed) -> None:
        what = f"destroy of the removed block for {removed.source.shape}"
        self._flag(frame, removed.destroy, what, False, NO_INSTANCE_DATA)
        self._moments(frame, removed.provisioners, self.run.removed[frame, removed].moments)

    def _moments(
        self, frame: Frame, provisioners: Sequence[Provisioner], moments: ProvisionerMoments
    ) -> None:
        for each in provisioners:
            for expr, words, found in (
                (each.when, ("create", "destroy"), moments.when),
                (each.on_failure, ("fail", "continue"), moments.on_failure),
            ):
                if expr is not None and expr_as_keyword(expr) not in words and each in found:
                    self.literals[frame][spot_of(expr)] = found[each]

    # -- providers ----------------------------------------------------------------------------

    def _providers(self, frame: Frame) -> None:
        call, module = frame.instance.call, frame.module
        passed = [each.in_child.config for each in (call.providers if call else ())]
        for addr in [*module.provider_configs, *passed]:
            aliases = aliases_of(self.run, frame, addr, self.target)
            if aliases is None:
                continue
            self.aliases[frame, addr] = aliases
            self._fact(frame.instance, (str(addr), tuple(aliases.names)))
        if any(not each.is_empty for each in module.provider_configs.values()):
            self._stand_alone(frame)
        for config in module.provider_configs.values():
            expr = config.count or config.for_each
            if expr is not None and DEFERRED in self.run.providers[frame][config.addr].instances:
                self.refuse(
                    "Provider instances known only when planning",
                    f"{self.target.title} must know the instances of provider.{config.addr} before "
                    "it plans, and they depend on resources. Use values that are static here.",
                    expr,
                )

    def _stand_alone(self, frame: Frame) -> None:
        """A module with a provider block: others want it called once, by calls without repetition."""
        self._fact(frame.instance, str(frame.instance.addr))
        while frame.parent is not None:
            call, caller = frame.instance.call, frame.parent
            assert call is not None
            self.alone.add(frame.instance)
            if call.depends_on is not None:
                self.refuse(
                    "Provider block in a module that is called with depends_on",
                    f"{self.target.title} does not allow provider blocks in module.{call.name}, "
                    "since its call has depends_on. Move the provider block into the caller, and "
                    "pass it in providers.",
                    call,
                )
            if not call.repetition.is_single:
                self.run.request_expansion(caller.instance.addr, call.name)
                if frame.instance.addr.key is DEFERRED and self.run.must_expand(
                    caller.instance.addr, call.name
                ):
                    self._refuse_unknown(call)
            frame = caller

    def _refuse_unknown(self, call: ModuleCall) -> None:
        self.refuse(
            "Instances known only when planning",
            f"module.{call.name} has to become a call of its own for each instance, and its "
            "instances depend on resources. Use a static for_each or count.",
            call,
        )

    def _reference(
        self,
        frame: Frame,
        ref: ProviderRef,
        data: InstanceData,
        child: ModuleInstance | None = None,
    ) -> None:
        """The key of a provider reference, where an alias takes its place."""
        aliases = self.aliases.get((frame, ref.config))
        if aliases is None or ref.key is None:
            return
        spot = spot_of(ref.key)
        if child is None and data is not NO_INSTANCE_DATA and _uses_instance(frame, ref.key):
            return
        value = self.value(frame, ref.key, f"key of the provider {ref.config}", data)
        if value is None:
            return
        owner = frame.instance if child is None else child
        self.chosen[owner, spot] = instance_key(value, aliases)
        self._fact(owner, (spot, self.chosen[owner, spot]))


def instance_key(value: Value, aliases: Aliases) -> InstanceKey:
    """The key of a provider instance that a value selects."""
    data = value.data
    found = next((key for key in aliases.names if str(key) == str(data)), None)
    return str(data) if found is None else found


def _uses_instance(frame: Frame, expr: Expression) -> bool:
    references = frame.instance.compiled.expression(expr).references
    return any(each.subject.text.startswith(("each.", "count.")) for each in references)


def _truth(value: Value) -> bool | None:
    try:
        value = convert(value, BOOL)
    except CtyError:
        return None
    return None if value.is_null else value.as_bool()
