"""One session of the console: what it knows, and how it answers a statement.

Statements are evaluated in one module instance of a static run. Deliberately unknown here: where
statements come from and where answers go.
"""

from __future__ import annotations

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.compile import Compiled
from nigari.eval.core.instances import Frame
from nigari.eval.core.scope import evaluate
from nigari.eval.core.worklist import Node
from nigari.eval.static.run import StaticRun
from nigari.hcl.parser import parse_expression
from nigari.hcl.source import Source
from nigari.lang.references import references_in_expression
from nigari.lang.render import console_text
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


INPUT_NAME: Final = "<console-input>"

HELP: Final = """\
Type an expression to see its value: anything that is allowed in a configuration file.

  1 + 2                       arithmetic, strings, collections
  var.region                  input variables, local values and modules of
  local.names                 the configuration in the working directory
  [for n in range(3) : n]     an open bracket continues on the next line
  type(local.names)           the type of a value

Leave with "exit", Ctrl-D, or Ctrl-C on an empty line."""


@record
class Answer:
    """The result of a statement: a text to print, or diagnostics."""

    text: str
    diags: Diagnostics
    ends: bool = False
    """True if the user has left the console."""


class ConsoleSession:
    """Answers statements."""

    def __init__(self, run: StaticRun, frame: Frame) -> None:
        self._run = run
        self._frame = frame

    def prepare(self) -> Diagnostics:
        """Evaluate the variables, local values and outputs of the module, and return their
        diagnostics. Whatever has no value because of an error is unknown from then on.
        """
        found, frame = Diagnostics(), self._frame
        nodes = [*frame.variables.values(), *frame.locals.values(), *frame.outputs.values()]
        with self._run.reporting_to(found):
            self._run.evaluate(nodes)
        return found

    def answer(self, statement: str) -> Answer:
        """Evaluate a statement."""
        diags = Diagnostics()
        word = statement.strip()
        if word in ("", "exit"):
            return Answer("", diags, ends=bool(word))
        if word == "help":
            return Answer(HELP, diags)
        compiled = _compile(statement, diags)
        if diags.has_errors:
            return Answer("", diags)
        return self._show(compiled)

    def _show(self, compiled: Compiled) -> Answer:
        diags = Diagnostics()
        value = self._evaluate(compiled, diags)
        if diags.has_errors:
            return Answer("", diags)
        return Answer(console_text(value, diags), diags)

    def _evaluate(self, compiled: Compiled, diags: Diagnostics) -> Value:
        run = self._run
        with run.reporting_to(diags):
            while True:
                value = evaluate(self._frame, compiled)
                if isinstance(value, Value):
                    return value
                # Each round follows references one step further; a node is never asked for twice.
                run.evaluate([need for need in value if isinstance(need, Node)])

    def names(self) -> list[str]:
        """Everything that an expression may begin with, for completion."""
        frame = self._frame
        names = [f"var.{name}" for name in frame.variables]
        names += [f"local.{name}" for name in frame.locals]
        names += [f"module.{name}" for name in frame.calls]
        names += [str(addr) for addr in frame.resources]
        names += ["path.module", "path.root", "path.cwd", "terraform.workspace", "tofu.workspace"]
        names += [f"{name}(" for name in self._run.functions if "::" not in name]
        return sorted(names)


def _compile(statement: str, diags: Diagnostics) -> Compiled:
    expression = parse_expression(Source(INPUT_NAME, statement), diags)
    problems = Diagnostics()
    references = references_in_expression(expression, problems)
    return Compiled(expression, tuple(references), tuple(problems))
