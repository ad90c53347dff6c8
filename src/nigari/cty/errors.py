"""The one exception of the value algebra.

A `CtyError` says what is wrong and where inside the value at hand. It knows no source text:
whoever evaluates an expression turns it into a diagnostic with a range.
"""


class Step:
    """One step of a path into a value; `nigari.cty.paths` has the two kinds there are."""

    __slots__ = ()


class CtyError(Exception):
    """A value or type cannot be used as asked. `path` leads to the part that is wrong."""

    def __init__(self, message: str, path: tuple[Step, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.path))

    def under(self, *steps: Step) -> "CtyError":
        """The same error seen from outside, with `steps` leading to where it was found."""
        return CtyError(self.message, steps + self.path)
