"""`CtyError`, the exception of every failed operation on types and values.

It holds a message and a path into the value. It knows no source text: the evaluator turns it into a
diagnostic with a range.
"""


class Step:
    """One step of a path into a value; `nigari.cty.paths` defines both kinds."""

    __slots__ = ()


class CtyError(Exception):
    """An operation that a value or type does not support. `path` leads to the wrong part."""

    def __init__(self, message: str, path: tuple[Step, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.path))

    def under(self, *steps: Step) -> "CtyError":
        """Prefix the path with the steps that lead to the part in which the error occurred."""
        return CtyError(self.message, steps + self.path)
