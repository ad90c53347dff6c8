"""`import` blocks in validation, while nothing is known of the objects: are the arguments valid?

The resource waits for it, as nothing that the block needs may come from what it imports. Which
instance the keys of its target mean is decided when planning.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.config.blocks.imports import Import
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.types import (
    DYNAMIC,
    KIND_DYNAMIC,
    KIND_MAP,
    KIND_OBJECT,
    KIND_SET,
    KIND_TUPLE,
    STRING,
    Type,
)
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, unknown
from nigari.diagnostics import Range
from nigari.eval.core.instances import Frame, ResourceNode
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.eval.core.scope import evaluate
from nigari.eval.core.worklist import Need, Node, Stages
from nigari.eval.nodes.provider_config import provider_of
from nigari.eval.nodes.resource import Schemas
from nigari.hcl.expressions import Expression
from nigari.lang.marks import SENSITIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_REPEATABLE: Final = (KIND_MAP, KIND_OBJECT, KIND_SET, KIND_TUPLE, KIND_DYNAMIC)


class ValidatedImport(Node):
    """An import block of the root module."""

    __slots__ = ("_block", "_data", "_frame", "_keys_seen", "_schemas", "_stages")

    def __init__(self, frame: Frame, block: Import, schemas: Schemas) -> None:
        super().__init__()
        self._frame = frame
        self._block = block
        self._schemas = schemas
        self._keys_seen = 0
        self._data = NO_INSTANCE_DATA
        if block.for_each is not None:
            self._data = InstanceData(each_key=unknown(STRING), each_value=DYNAMIC_UNKNOWN)
        self._stages = Stages(
            self._check_repetition, self._check_keys, self._check_id, self._check_identity
        )

    @property
    def label(self) -> str:
        return f"import of {self._block.shape}"

    @property
    def range(self) -> Range:
        return self._block.range

    def fail(self) -> None:
        """Nothing depends on its result."""

    def step(self) -> Sequence[Need]:
        return self._stages.step()

    def _value(self, expr: Expression, data: InstanceData) -> Value | list[Need]:
        compiled = self._frame.instance.compiled.expression(expr)
        return evaluate(self._frame, compiled, data, owner=self._own_resource)

    @property
    def _own_resource(self) -> ResourceNode | None:
        """The resource that is imported, where the block can name it: it waits for this node."""
        shape = self._block.shape
        return self._frame.resources.get(shape.item.resource) if shape.module.is_root else None

    def _check_repetition(self) -> Sequence[Need]:
        expr = self._block.for_each
        if expr is None:
            return ()
        value = self._value(expr, NO_INSTANCE_DATA)
        if not isinstance(value, Value):
            return value
        if SENSITIVE in value.marks:
            self._report("for_each", expr, "it is sensitive, and its keys become part of addresses")
        elif value.is_null:
            self._report("for_each", expr, "it is null")
        elif value.type.kind not in _REPEATABLE:
            self._report(
                "for_each", expr, "a map, a set of strings or a list in brackets is required"
            )
        return ()

    def _check_id(self) -> Sequence[Need]:
        expr = self._block.id
        if expr is None:
            return ()
        value = self._value(expr, self._data)
        if not isinstance(value, Value):
            return value
        if value.is_null:
            self._report("id", expr, "it is null")
        elif value.is_known and SENSITIVE in value.marks:
            self._report("id", expr, "it is sensitive, and would be shown")
        else:
            self._check_fit(value, STRING, "id", expr)
        return ()

    def _check_keys(self) -> Sequence[Need]:
        """Check that the keys of the target can be evaluated."""
        for expr in self._block.target.keys[self._keys_seen :]:
            value = self._value(expr, self._data)
            if not isinstance(value, Value):
                return value
            self._keys_seen += 1
        return ()

    def _check_identity(self) -> Sequence[Need]:
        expr = self._block.identity
        if expr is None:
            return ()
        value = self._value(expr, self._data)
        if not isinstance(value, Value):
            return value
        wanted = self._identity_type()
        if wanted is None:
            self._report(
                "identity", expr, "resources of this type have no identity. Use an id instead"
            )
        elif value.is_null:
            self._report("identity", expr, "it is null")
        else:
            self._check_fit(value, wanted, "identity", expr)
        return ()

    def _identity_type(self) -> Type | None:
        """The attributes that identify an object of the target's type, if any."""
        shape = self._block.shape
        # A key that has to be evaluated is not known here: then any instance may be meant.
        modules = [self._frame.instance]
        for name, key in shape.module.steps:
            found = [each.children.get(name, {}) for each in modules]
            named = [each[key] for each in found if key in each]
            modules = named or [child for each in found for child in each.values()]
        wanted = shape.item.resource
        module = next((each for each in modules if wanted in each.module.resources), None)
        if module is None:
            return DYNAMIC
        resource = module.module.resources[wanted]
        offered = self._schemas.of(provider_of(module.module, resource.provider_name))
        if offered is None:
            return DYNAMIC
        schema = offered.resources.get(resource.addr.type)
        return None if schema is None or schema.identity is None else schema.identity.import_type

    def _check_fit(self, value: Value, wanted: Type, argument: str, expr: Expression) -> None:
        try:
            convert(value, wanted)
        except CtyError as error:
            self._report(argument, expr, error.message)

    def _report(self, argument: str, expr: Expression, problem: str) -> None:
        self._frame.run.diags.error(
            "Invalid import argument",
            f"The {argument} of the import of {self._block.shape} cannot be used: {problem}.",
            expr.range,
        )
