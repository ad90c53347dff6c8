"""Variables that nothing declares any more, although a removed provider block had secrets from them.

A destroy still needs such a secret once. Until then the variable counts as declared, in a file of its
own beside the configuration, which a saved plan takes along. Which variables these are is recorded
with the providers of a state.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.config.blocks.variable import Variable
from nigari.config.load import ModuleLoader
from nigari.config.module import Module
from nigari.diagnostics import Diagnostics
from nigari.eval.core.inputs import Inputs
from nigari.lang.files import Files, MemoryFiles
from nigari.running.provider_instances import own_config
from nigari.running.secret_sources import source_variables
from nigari.state.model import State
from nigari.workspace.context.prompts import Prompter
from nigari.workspace.plans.generated_blocks import WithGenerated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_NAME: Final = "nigari_removed_variables.tf"


def given_removed(
    module: Module, state: State, inputs: Inputs, prompter: Prompter
) -> tuple[str, Inputs]:
    """Declare the removed variables that have a value, and return the text with all inputs.

    Only those of removed blocks are prompted for: a block that remains may have another source.
    """
    texts, found = [], dict(inputs)
    for name, (text, is_needed) in sorted(_removed(module, state).items()):
        if name not in found and is_needed and prompter.can_prompt:
            answer = prompter.value_of(_declared(name, text))
            if answer is not None:
                found[name] = answer
        if name in found:
            texts.append(text)
    return "".join(texts), found


def with_declarations(files: Files, directory: str, text: str) -> Files:
    """Return the files of a directory with the declarations beside them."""
    return WithGenerated(files, directory, _NAME, text)


def _removed(module: Module, state: State) -> Mapping[str, tuple[str, bool]]:
    found: dict[str, tuple[str, bool]] = {}
    for memory in state.remembered.values():
        is_gone = own_config(module, memory.address.item) is None
        for name, is_whole in source_variables(memory).items():
            if name not in module.variables:
                was_needed = name in found and found[name][1]
                text = _block(name, str(memory.address), is_whole)
                found[name] = (text, is_gone or was_needed)
    return found


def _block(name: str, provider: str, is_whole: bool) -> str:
    # Without a type, the value of an option is a string; with `any`, an expression.
    type_ = "" if is_whole else "  type        = any\n"
    text = provider.replace("\\", "\\\\").replace('"', '\\"').replace("${", "$${")
    description = f"The removed {text.replace('%{', '%%{')} needs it to destroy its objects."
    return (
        f'variable "{name}" {{\n  description = "{description}"\n{type_}  sensitive   = true\n}}\n'
    )


def _declared(name: str, text: str) -> Variable:
    module = ModuleLoader(MemoryFiles({_NAME: text})).load(".", Diagnostics())
    assert module is not None
    return module.variables[name]
