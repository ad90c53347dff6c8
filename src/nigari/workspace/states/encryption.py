"""Encryption of the states and plans of a working directory: the `encryption` block and the
environment's `TF_ENCRYPTION`, with values from the static phase.

Only the root module counts. Values may be sensitive or ephemeral; they go nowhere but into keys.
What is not used is not evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from nigari.addrs.resource import Resource, ResourceInstance
from nigari.config.blocks import encryption as declared
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import BOOL, STRING, Type
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.scope import Binding
from nigari.eval.core.static_position import StaticPosition
from nigari.eval.core.worklist import Node
from nigari.eval.static.run import StaticRun, slot_value
from nigari.hcl.body import Attribute, Body
from nigari.hcl.expressions import Expression
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source
from nigari.hcl.static import abs_traversal_for_expr
from nigari.hcl.traversal import TraverseAttr, TraverseRoot
from nigari.lang.references import Reference
from nigari.record import replace
from nigari.state.encryption import (
    BlockName,
    Encryption,
    EncryptionConfig,
    KeyProviderConfig,
    MethodConfig,
    TargetConfig,
    merge,
)
from nigari.state.encryption.envelope import is_encrypted
from nigari.workspace.context.quick_scan import ENCRYPTION_VARIABLE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_KEY_PROVIDER: Final = "key_provider"
_METHOD: Final = "method"


def configured_encryption(
    run: StaticRun, environ: Mapping[str, str], diags: Diagnostics
) -> Encryption | None:
    """The encryption of the root module, with that of the environment laid over it.

    `None` after reporting what is wrong with it: then no state may be read or written.
    """
    from nigari.hcl.json_body import parse_json_body

    errors = diags.error_count
    block = run.root.module.encryption
    base = None if block is None else _Reading(run, diags).config(block)
    override = None
    text = environ.get(ENCRYPTION_VARIABLE, "").strip()
    if text:
        source = Source.from_bytes(ENCRYPTION_VARIABLE, text.encode("utf-8", "surrogateescape"))
        body = (parse_json_body if text.startswith("{") else parse_body)(source, diags)
        over = declared.decode_encryption(body, source.range(0, 0), diags)
        override = _Reading(run, diags).config(over)
    if diags.error_count > errors:
        return None
    encryption = Encryption(replace(merge(base, override), environ=environ), diags)
    return None if diags.error_count > errors else encryption


def state_decryption(run: StaticRun, environ: Mapping[str, str]) -> Callable[[bytes], bytes]:
    """Decrypts states as far as the configuration can, and gives others as they are."""
    layers: list[Encryption | None] = []

    def decrypt(data: bytes) -> bytes:
        if not is_encrypted(data):
            return data
        if not layers:
            layers.append(configured_encryption(run, environ, Diagnostics()))
        found = None if layers[0] is None else layers[0].state.decrypt(data, Diagnostics())
        return data if found is None else found.data

    return decrypt


def check_encryption(run: StaticRun, environ: Mapping[str, str]) -> None:
    """Report to the run what keeps states and plans from being encrypted as they should be."""
    if run.root.module.encryption is None and not environ.get(ENCRYPTION_VARIABLE, "").strip():
        return
    found = Diagnostics()
    encryption = configured_encryption(run, environ, found)
    if encryption is not None and encryption.state.prepare(found):
        encryption.plan.prepare(found)
    known = set(run.diags)
    run.diags.extend([each for each in found if each not in known])


class StaticArguments:
    """The arguments of a `key_provider` or `method` block, evaluated when keys are made."""

    __slots__ = ("_attributes", "_block", "_body", "_run")

    def __init__(self, run: StaticRun, block: str, body: Body) -> None:
        self._run = run
        self._block = block
        self._body = body
        self._attributes: dict[str, Attribute] | None = None

    @property
    def key_providers(self) -> Mapping[BlockName, Range | None]:
        """The key providers whose keys the arguments use, and where those are named."""
        found: dict[BlockName, Range | None] = {}
        for attribute in self._given(Diagnostics()).values():
            for reference in self._references(attribute.expr):
                label = _key_provider(reference)
                if label is not None:
                    end = reference.remaining.steps[0].end
                    found.setdefault(label, reference.source.range(reference.start, end))
        return found

    def values(
        self, keys: Mapping[BlockName, Value], diags: Diagnostics
    ) -> Mapping[str, Value] | None:
        """The values by argument name, or `None` after reporting why there are none."""
        values: dict[str, Value] = {}
        errors = diags.error_count
        for name, attribute in self._given(diags).items():
            value = self._value(name, attribute.expr, keys, diags)
            if value is not None:
                values[name] = value
        return None if diags.error_count > errors else values

    def _given(self, diags: Diagnostics) -> dict[str, Attribute]:
        if self._attributes is None:
            self._attributes = self._body.just_attributes(diags)
        return self._attributes

    def _references(self, expr: Expression) -> tuple[Reference, ...]:
        return self._run.root.instance.compiled.expression(expr).references

    def _value(
        self, name: str, expr: Expression, keys: Mapping[BlockName, Value], diags: Diagnostics
    ) -> Value | None:
        labels = [_key_provider(each) for each in self._references(expr)]
        if any(label is not None for label in labels):
            used = [label for label in labels if label is not None]
            return self._with_keys(expr, used, keys, diags)
        return static_value(self._run, f"{name} of {self._block}", expr, diags)

    def _with_keys(
        self,
        expr: Expression,
        used: list[BlockName],
        keys: Mapping[BlockName, Value],
        diags: Diagnostics,
    ) -> Value | None:
        """The value of an expression in which keys stand, beside variables and locals."""
        binding, found = self._run.noting(partial(self._bound, expr))
        for label in used:
            binding.put((_KEY_PROVIDER, label.type, label.name), keys[label])
        diags.extend(found)
        return expr.value(binding.scope(), diags)

    def _bound(self, expr: Expression) -> Binding:
        """The names of an expression with their values, those of keys apart."""
        run = self._run
        others = [each for each in self._references(expr) if _key_provider(each) is None]
        while True:
            binding = Binding(run.root)
            binding.bind(others)
            needs = [need for need in binding.needs if isinstance(need, Node)]
            if not needs:
                return binding
            run.evaluate(needs)


class _Reading:
    """From a declared block to the configuration that it gives."""

    def __init__(self, run: StaticRun, diags: Diagnostics) -> None:
        self._run = run
        self._diags = diags

    def config(self, block: declared.EncryptionBlock) -> EncryptionConfig:
        return EncryptionConfig(
            key_providers=tuple(self._key_provider(each) for each in block.key_providers),
            methods=tuple(self._method(each) for each in block.methods),
            state=self._target(block.state),
            plan=self._target(block.plan),
            remote_default=self._target(block.remote_default),
            remote={
                each.name: target
                for each in block.remote
                if (target := self._target(each)) is not None
            },
            subject=block.range,
        )

    def _key_provider(self, block: declared.KeyProviderBlock) -> KeyProviderConfig:
        label = BlockName(block.type, block.name)
        name = f"{_KEY_PROVIDER}.{label}"
        alias = self._typed(f"alias of {name}", block.encrypted_metadata_alias, STRING)
        return KeyProviderConfig(
            label,
            StaticArguments(self._run, name, block.body),
            "" if alias is None else alias.as_string(),
            block.range,
        )

    def _method(self, block: declared.MethodBlock) -> MethodConfig:
        label = BlockName(block.type, block.name)
        arguments = StaticArguments(self._run, f"{_METHOD}.{label}", block.body)
        return MethodConfig(label, arguments, block.range)

    def _target(self, block: declared.EncryptionTarget | None) -> TargetConfig | None:
        if block is None:
            return None
        enforced = self._typed(f"enforced of {block.name}", block.enforced, BOOL)
        places: dict[BlockName, Range] = {}
        fallbacks: list[BlockName] = []
        inner = block.fallback
        while inner is not None:
            label = self._method_name(inner.method, inner.range, places)
            fallbacks += [] if label is None else [label]
            inner = inner.fallback
        method = block.method
        return TargetConfig(
            None if method is None else self._method_name(method, block.range, places),
            tuple(fallbacks),
            enforced is not None and enforced.as_bool(),
            block.range,
            places,
        )

    def _method_name(
        self, expr: Expression | None, where: Range, places: dict[BlockName, Range]
    ) -> BlockName | None:
        """The method that an expression names, which is never evaluated; notes where it does."""
        where = where if expr is None else expr.range
        traversal = None if expr is None else abs_traversal_for_expr(expr, Diagnostics())
        match [] if traversal is None else traversal.steps:
            case [TraverseRoot(name="method"), TraverseAttr() as kind, TraverseAttr() as name]:
                label = BlockName(kind.name, name.name)
                places.setdefault(label, where)
                return label
        self._diags.error(
            "Invalid reference to an encryption method",
            "Refer to a method by its type and name, as in method.aes_gcm.example.",
            where,
        )
        return None

    def _typed(self, what: str, expr: Expression | None, type_: Type) -> Value | None:
        value = None if expr is None else static_value(self._run, what, expr, self._diags)
        if value is None or expr is None:
            return None
        try:
            value = convert(value, type_)
        except CtyError as error:
            self._diags.error(
                "Wrong value type", f"Invalid value for the {what}: {error.message}.", expr.range
            )
            return None
        return None if value.is_null else value


def static_value(run: StaticRun, what: str, expr: Expression, diags: Diagnostics) -> Value | None:
    """The known value of an expression of the root module, `None` after reporting why not."""
    slot = StaticPosition(what, run.root, expr, run.request, takes_secrets=True)
    value, found = run.noting(partial(slot_value, run, slot))
    # It may depend on something whose error was reported before, elsewhere.
    diags.extend(found if value is not None or found.has_errors else run.diags)
    return value


def _key_provider(reference: Reference) -> BlockName | None:
    """The key provider that a reference names, if it names one."""
    subject = reference.subject
    resource = subject.resource if isinstance(subject, ResourceInstance) else subject
    if not isinstance(resource, Resource) or resource.type != _KEY_PROVIDER:
        return None
    steps = reference.remaining.steps
    if steps and isinstance(steps[0], TraverseAttr):
        return BlockName(resource.name, steps[0].name)
    return None
