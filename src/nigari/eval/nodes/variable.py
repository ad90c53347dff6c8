"""Input variables: the values given for them, converted to their declared types and validated.

A variable of the root module takes its value from outside, any other from the argument of its call;
in the static and validate phases it may also be unknown. Where values from outside come from is not
known here.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.config.blocks.variable import Variable
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.paths import path_text
from nigari.cty.types import without_optional
from nigari.cty.values import Value, null, unknown
from nigari.diagnostics import Cause, Diagnostics, Range
from nigari.eval.core.causes import CauseKind, Phase, UnknownCause
from nigari.eval.core.inputs import InputValue
from nigari.eval.core.instances import FAILED, Frame, Origin, ValueNode
from nigari.eval.core.scope import evaluate
from nigari.eval.core.worklist import Need, Node
from nigari.hcl.body import Attribute
from nigari.lang.marks import EPHEMERAL, SENSITIVE


class VariableNode(ValueNode):
    """An input variable of one module instance."""

    __slots__ = ("then", "variable")

    def __init__(self, frame: Frame, variable: Variable) -> None:
        super().__init__(frame)
        self.variable: Variable = variable
        self.then: Node | None = None
        """The work once the variable has its value: its validations."""

    @property
    def label(self) -> str:
        return self.frame.label(f"var.{self.variable.name}")

    @property
    def range(self) -> Range:
        return self.variable.range

    @property
    def given_at(self) -> Range:
        """The range of the given value, or else of the declaration."""
        return self.variable.range

    @property
    def giver(self) -> str:
        """The source of the value, if it is outside the configuration."""
        return ""

    def accept(self, given: Value, where: Range) -> None:
        """Make a given value this variable's, or report why it cannot be."""
        self.value = self.marked(self.fitted(given, where))
        if self.then is not None:
            self.frame.run.want(self.then)

    def fitted(self, given: Value, where: Range) -> Value:
        """The value converted to the declared type, with defaults for attributes left out."""
        try:
            return fitted(self.variable, given)
        except CtyError as error:
            self._report_unfit(error, where)
            return unknown(without_optional(self.variable.type)).with_causes(FAILED.causes)

    def _report_unfit(self, error: CtyError, where: Range) -> None:
        """Point at the declaration that is not met; where the value comes from is the cause."""
        is_shown = error.path and not (self.variable.sensitive or self.variable.ephemeral)
        part = f" at {path_text(error.path)}" if is_shown else ""
        default = self.variable.default
        if default is not None and where == default.range:
            self.frame.run.diags.error(
                "Invalid default value for variable",
                f"The default of {self.label} does not match its type{part}: {error.message}.",
                where,
            )
            return
        given_elsewhere = where != self.variable.range
        given = f"for {self.label} from {self.giver}" if self.giver else f"given for {self.label}"
        self.frame.run.diags.error(
            "Invalid value for variable",
            f"The value {given} does not match its type{part}: {error.message}.",
            self.variable.range,
            causes=(Cause("the value is set here", where),) if given_elsewhere else (),
        )

    def marked(self, value: Value) -> Value:
        """The value with the marks that the declaration asks for."""
        if self.variable.sensitive:
            value = value.mark(SENSITIVE)
        if self.variable.ephemeral:
            value = value.mark(EPHEMERAL)
        return value

    @property
    def default_origin(self) -> Origin | None:
        """The default, whether it is used or not."""
        default = self.variable.default
        if default is None:
            return None
        return Origin(self.frame, self.frame.instance.compiled.expression(default))

    def origin(self) -> Origin | None:
        return self.default_origin

    def take_default(self) -> Sequence[Need]:
        """Use the default, which may be any static expression of this module."""
        default = self.variable.default
        assert default is not None
        result = evaluate(self.frame, self.frame.instance.compiled.expression(default))
        if not isinstance(result, Value):
            return result
        self.accept(result, default.range)
        return ()

    @property
    def does_without_default(self) -> bool:
        """Return whether the variable has a default but receives another value."""
        return False

    def check_default(self) -> Sequence[Need]:
        """Report what is wrong with a default, whether it is needed or not."""
        default = self.variable.default
        if default is not None:
            value = evaluate(self.frame, self.frame.instance.compiled.expression(default))
            if not isinstance(value, Value):
                return value
            self.fitted(value, default.range)
        return ()

    def take_unknown(self, cause: UnknownCause) -> None:
        """Stand for a value that is not there, for a reason."""
        type_ = without_optional(self.variable.type)
        self.value: Value = self.marked(unknown(type_).with_causes((cause,)))

    def is_refused_null(self, value: Value) -> bool:
        """Return whether the value is null and the variable is not nullable."""
        return value.is_null and not self.variable.nullable


class RootVariable(VariableNode):
    """A variable of the root module: its value comes from outside, or from its default."""

    __slots__ = ("given",)

    def __init__(self, frame: Frame, variable: Variable, given: InputValue | None) -> None:
        super().__init__(frame, variable)
        self.given: InputValue | None = given

    @property
    def giver(self) -> str:
        return "" if self.given is None else self.given.origin

    def origin(self) -> Origin | None:
        return super().origin() if self.given is None else None

    def step(self) -> Sequence[Need]:
        variable = self.variable
        if self.given is None:
            if variable.default is not None:
                return self.take_default()
            if variable.is_reserved:
                self.fail()
            else:
                self.take_unknown(missing_variable(self))
            return ()
        value = self.given.resolve(variable, self.frame.run.diags)
        if value is None:
            self.fail()
        elif self.is_refused_null(value):
            if variable.default is not None:
                return self.take_default()
            where = self.given.range or variable.range
            _report_null(self.label, where, self.frame.run.diags)
            self.fail()
        else:
            self.accept(value, self.given.range or variable.range)
        return ()


class ArgumentVariable(VariableNode):
    """A variable of a called module: its value is the call's argument, in the caller's scope."""

    __slots__ = ("argument",)

    def __init__(self, frame: Frame, variable: Variable, argument: Attribute | None) -> None:
        super().__init__(frame, variable)
        self.argument: Attribute | None = argument

    @property
    def given_at(self) -> Range:
        return self.variable.range if self.argument is None else self.argument.expr.range

    @property
    def does_without_default(self) -> bool:
        return self.argument is not None and self.variable.default is not None

    def origin(self) -> Origin | None:
        caller = self.frame.parent
        if self.argument is None or caller is None:
            return super().origin()
        compiled = caller.instance.compiled.expression(self.argument.expr)
        return Origin(caller, compiled, self.frame.instance.data)

    def step(self) -> Sequence[Need]:
        variable = self.variable
        if self.argument is None:
            if variable.default is not None:
                return self.take_default()
            self.miss()
            return ()
        caller = self.frame.parent
        assert caller is not None
        compiled = caller.instance.compiled.expression(self.argument.expr)
        result = evaluate(caller, compiled, self.frame.instance.data)
        if not isinstance(result, Value):
            return result
        where = self.argument.expr.range
        if result.contains_marked and not variable.ephemeral:
            result = self._without_ephemeral(result, where)
        if self.is_refused_null(result):
            if variable.default is not None:
                return self.take_default()
            _report_null(self.label, where, self.frame.run.diags)
            result = null(variable.type)
        self.accept(result, where)
        return ()

    def miss(self) -> None:
        """Do without the argument, which is reported at the call."""
        self.fail()

    def _without_ephemeral(self, value: Value, where: Range) -> Value:
        """A value that may be stored: one that may not is reported."""
        _, marks = value.unmark_deep()
        if EPHEMERAL not in marks:
            return value
        self.frame.run.diags.error(
            "Ephemeral value for variable",
            f"This value is ephemeral, but {self.label} may be stored. If the variable is only "
            "passed on, declare it with ephemeral = true.",
            where,
        )
        return FAILED


class StaticArgument(ArgumentVariable):
    """A variable of a called module in the static phase: that the argument is missing matters only
    where a static place needs it.
    """

    __slots__ = ()

    def miss(self) -> None:
        name = f"var.{self.variable.name}"
        call = self.frame.instance.call
        where = self.variable.range if call is None else call.range
        cause = UnknownCause(
            CauseKind.MISSING_ARGUMENT, self.frame.instance.addr, name, where, Phase.STATIC
        )
        self.take_unknown(cause)


class UnknownVariable(VariableNode):
    """A variable as `validate` sees it: any value of its type. Its default is only checked."""

    __slots__ = ("_is_given",)

    def __init__(self, frame: Frame, variable: Variable, is_given: bool = False) -> None:
        super().__init__(frame, variable)
        self._is_given = is_given

    @property
    def does_without_default(self) -> bool:
        return self._is_given and self.variable.default is not None

    def step(self) -> Sequence[Need]:
        needs = () if self._is_given else self.check_default()
        if needs:
            return needs
        self.take_unknown(missing_variable(self))
        return ()


class DynamicVariable(VariableNode):
    """A variable that says `const = false`: nothing static may depend on it."""

    __slots__ = ()

    def step(self) -> Sequence[Need]:
        name = f"var.{self.variable.name}"
        module = self.frame.instance.addr
        cause = UnknownCause(CauseKind.NEVER_STATIC, module, name, self.variable.range)
        self.take_unknown(cause)
        return ()


def fitted(variable: Variable, given: Value) -> Value:
    """A value converted to a variable's type, with defaults for attributes left out; a `CtyError`
    where it does not fit.
    """
    if variable.defaults is not None and not given.is_null:
        given = variable.defaults.apply(given)
    return convert(given, variable.type)


def missing_variable(node: VariableNode) -> UnknownCause:
    """The cause of a missing value."""
    variable = node.variable
    module = node.frame.instance.addr
    name = f"var.{variable.name}"
    return UnknownCause(
        CauseKind.MISSING_VARIABLE, module, name, variable.range, known_at=Phase.STATIC
    )


def _report_null(name: str, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Invalid value for variable",
        f"{name} is declared with nullable = false and has no default, so it must have a value "
        "that is not null.",
        where,
    )
