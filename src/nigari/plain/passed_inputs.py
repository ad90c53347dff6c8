"""Variables of a root module whose values come from states of other configurations.

A variable has a type, a default, validations and marks, and only a call can give it a value that
other programs read when they plan. So these variables move into a module of their own, which hands
them back as outputs: `var.x` becomes `module.fleet_inputs.x`. Which expressions give the values is
decided by the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from nigari.config.blocks.variable import Variable
from nigari.config.module import Module
from nigari.hcl.body import Block
from nigari.hcl.formatter import format
from nigari.plain.expressions import SplitBlock
from nigari.plain.names import free_name
from nigari.record import ReadOnly, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_NAME: Final = "fleet_inputs"


@record
class PassedInputs:
    """Values for variables of the root module."""

    expressions: Mapping[str, str] = ReadOnly({})
    """The text of the value of each variable."""
    blocks: str = ""
    """The blocks that these expressions refer to."""


NO_INPUTS: Final = PassedInputs()


@record
class InputModule:
    """The module that hands values back, as a configuration calls it."""

    name: str
    """The name of the call, of the module's directory and of the file with the call."""
    inputs: PassedInputs
    variables: Mapping[str, Variable]

    @property
    def replacements(self) -> dict[str, SplitBlock]:
        """What expressions refer to in place of the variables."""
        call = f"module.{self.name}"
        return {f"var.{each}": SplitBlock(f"{call}.{each}", {}, (call,)) for each in self.variables}

    def takes(self, block: Block) -> bool:
        """Check whether a block declares a variable that moves into the module."""
        return block.type == "variable" and block.labels[0] in self.variables

    def files(self, declared: Mapping[str, str]) -> dict[str, str]:
        """The files of the module and the file with its call, by their paths. `declared` has the
        texts of the variable blocks by file name, so that one overrides another as before.
        """
        found = {f"{self.name}/{file}": text for file, text in declared.items()}
        outputs = "\n".join(_output(each) for each in self.variables.values())
        found[f"{self.name}/{self.name}.tf"] = format(outputs)
        arguments = "".join(f"{name} = {text}\n" for name, text in self.inputs.expressions.items())
        call = f'module "{self.name}" {{\nsource = "./{self.name}"\n\n{arguments}}}\n'
        found[f"{self.name}.tf"] = format(f"{self.inputs.blocks}\n{call}")
        return found


def input_module(
    module: Module, inputs: PassedInputs, entries: Collection[str]
) -> InputModule | None:
    """The module for the variables that get a value from elsewhere, if there are any. `entries` are
    the names in the root module's directory.
    """
    variables = {
        name: module.variables[name] for name in inputs.expressions if name in module.variables
    }
    if not variables:
        return None
    stems = {each.partition(".")[0] for each in entries}
    name = free_name(_NAME, stems, module.calls)
    given = {each: inputs.expressions[each] for each in variables}
    return InputModule(name, PassedInputs(given, inputs.blocks), variables)


def check_variables(
    found: InputModule, module: Module, refuse: Callable[[str, str, Block], None]
) -> None:
    """Report variables that cannot move into a module."""
    for name, variable in found.variables.items():
        if variable.block.source.filename.endswith(".json"):
            refuse(
                "File in the JSON syntax",
                f"The variable {name} gets a value of another unit, so its block has to move, and files "
                "in the JSON syntax are not rewritten. Write it in the native syntax.",
                variable.block,
            )
    for name, variable in module.variables.items():
        others = _others(variable)
        moved = name in found.variables
        wrong = others if moved else others & found.variables.keys()
        if wrong:
            refuse(
                "Validation with another variable",
                f"The variable {name} is validated with {', '.join(sorted(wrong))}, and one of them "
                "gets a value of another unit, so that they are in different modules. Write a check "
                "block or a precondition instead.",
                variable.block,
            )


def _others(variable: Variable) -> set[str]:
    """What a variable's validations refer to, beside the variable itself."""
    found: set[str] = set()
    for rule in variable.validations:
        for expr in (rule.condition, rule.error_message):
            for each in expr.variables():
                names = [str(getattr(step, "name", "")) for step in each.steps[:2]]
                name = names[-1] if names[0] == "var" else ".".join(names)
                if name != variable.name:
                    found.add(name)
    return found


def _output(variable: Variable) -> str:
    marks = [each for each in ("sensitive", "ephemeral") if getattr(variable, each)]
    lines = "".join(f"{each} = true\n" for each in marks)
    return f'output "{variable.name}" {{\nvalue = var.{variable.name}\n{lines}}}\n'
