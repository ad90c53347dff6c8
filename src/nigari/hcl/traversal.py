"""Traversals: a name and the steps from it to a part of its value, as in `a.b[0]["c"]`.

A traversal can be read without evaluation, printed as source, and applied to a value. Deliberately
unknown here: which expressions are traversals, and the meaning of root names.
"""

from __future__ import annotations

from nigari.cty import numbers
from nigari.cty.copying import reduced
from nigari.cty.types import KIND_BOOL
from nigari.cty.values import DYNAMIC_UNKNOWN, Value
from nigari.diagnostics import Diagnostics, Range
from nigari.hcl.evaluation import Fault, attribute, index
from nigari.hcl.quoting import quoted
from nigari.hcl.source import Source


class Step:
    """One step of a traversal; `start` and `end` are offsets into the traversal's source.

    Equality ignores positions: steps are equal if they lead to the same part.
    """

    __slots__ = ("end", "start")

    start: int
    end: int

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end

    def apply(self, value: Value) -> Value | Fault:
        """Follow this step into a value."""
        raise TypeError(f"{type(self).__name__} cannot be applied to a value")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Step) and _identity(self) == _identity(other)

    def __hash__(self) -> int:
        return hash(_identity(self))

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self}>"


class TraverseRoot(Step):
    """The first name of a traversal."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str, start: int, end: int) -> None:
        self.name = name
        self.start = start
        self.end = end

    def __str__(self) -> str:
        return self.name


class TraverseAttr(Step):
    """`.name`; the offsets include the dot."""

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str, start: int, end: int) -> None:
        self.name = name
        self.start = start
        self.end = end

    def apply(self, value: Value) -> Value | Fault:
        return attribute(value, self.name)

    def __str__(self) -> str:
        return f".{self.name}"


class TraverseIndex(Step):
    """`[key]` with a literal key; the offsets include the brackets."""

    __slots__ = ("key",)

    key: Value

    def __init__(self, key: Value, start: int, end: int) -> None:
        self.key = key
        self.start = start
        self.end = end

    def apply(self, value: Value) -> Value | Fault:
        return index(value, self.key)

    def __str__(self) -> str:
        return f"[{_key_text(self.key)}]"


class TraverseSplat(Step):
    """`[*]` or `.*`, in patterns such as the paths of `ignore_changes`; never applied."""

    __slots__ = ()

    def __str__(self) -> str:
        return "[*]"


class Traversal:
    """Steps through a value. An absolute traversal begins with a `TraverseRoot`.

    Equality ignores positions: traversals are equal if they have the same steps.
    """

    __slots__ = ("source", "steps")

    source: Source
    steps: list[Step]

    def __init__(self, source: Source, steps: list[Step]) -> None:
        self.source = source
        self.steps = steps

    @property
    def root_name(self) -> str:
        """The first name of an absolute traversal."""
        root = self.steps[0]
        if not isinstance(root, TraverseRoot):
            raise TypeError("a relative traversal has no root name")
        return root.name

    @property
    def start(self) -> int:
        """Offset of the first character."""
        return self.steps[0].start if self.steps else 0

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.steps[-1].end if self.steps else 0

    @property
    def range(self) -> Range:
        """Range of the whole traversal."""
        return self.source.range(self.start, self.end)

    def step_range(self, step: Step) -> Range:
        """Range of one step, with its dot or brackets."""
        return self.source.range(step.start, step.end)

    def split(self, at: int = 1) -> tuple[Traversal, Traversal]:
        """Split off the first steps; the rest is a relative traversal."""
        return Traversal(self.source, self.steps[:at]), Traversal(self.source, self.steps[at:])

    def join(self, rest: Traversal) -> Traversal:
        """Append the steps of a relative traversal."""
        return Traversal(self.source, self.steps + rest.steps)

    def odd_index(self) -> tuple[int, int] | None:
        """Find an index that is valid in an expression, but not in a reference parsed from a
        separate text: a number after a dot, or a key that is neither a number nor a string.
        """
        for step in self.steps:
            if isinstance(step, TraverseIndex):
                # ParseTraversalAbs knows no legacy index.
                if not self.source.text.startswith("[", step.start):
                    return step.start + 1, step.end
                if step.key.data is None or step.key.type.kind == KIND_BOOL:
                    return step.start + 1, step.end - 1
        return None

    def apply_rel(self, value: Value, diags: Diagnostics) -> Value:
        """Follow a relative traversal into a value."""
        for step in self.steps:
            result = step.apply(value)
            if isinstance(result, Fault):
                diags.error(result.summary, result.detail, self.step_range(step), self.range)
                return DYNAMIC_UNKNOWN
            value = result
        return value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Traversal) and self.steps == other.steps

    def __hash__(self) -> int:
        return hash(tuple(self.steps))

    def __reduce__(self) -> tuple[object, ...]:
        return reduced(self)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, position: int) -> Step:
        return self.steps[position]

    def __str__(self) -> str:
        return "".join([str(step) for step in self.steps])

    def __repr__(self) -> str:
        return f"Traversal({str(self)!r})"


def _identity(step: Step) -> tuple[str, object]:
    if isinstance(step, TraverseRoot):
        return "root", step.name
    if isinstance(step, TraverseAttr):
        return "attribute", step.name
    if isinstance(step, TraverseIndex):
        return "index", step.key
    return "splat", None


def _key_text(key: Value) -> str:
    data = key.data
    if isinstance(data, str):
        return quoted(data)
    if isinstance(data, bool):
        return "true" if data else "false"
    if isinstance(data, int | numbers.Number):
        return numbers.to_text(data)
    return "null" if data is None else "..."
