"""One module as JSON data, without those that it calls: `show -module=DIR`.

It tells what the module declares for those who would call it. No module or provider need be
installed, so there are no expressions: what they mean is the providers' affair.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.diagnostics import Diagnostics
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.inputs import Inputs
from nigari.eval.core.module_tree import InstallModule, ModuleInstance
from nigari.workspace.configuration.directory import Workspace
from nigari.workspace.documents.show_configuration import Data, configuration_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.config.symbol_files import LibraryDeclarations


_EXPRESSIONS: Final = frozenset(
    ("expression", "expressions", "count_expression", "for_each_expression")
)


class _NoModules:
    """Module lookup for a document without called modules."""

    def load_all(
        self, wanted: Sequence[tuple[InstallModule, ModuleInstance]], diags: Diagnostics
    ) -> Sequence[CompiledModule | None]:
        return [None] * len(wanted)

    def library_at(self, directory: str, diags: Diagnostics) -> LibraryDeclarations | None:
        return None


def module_data(
    workspace: Workspace, inputs: Inputs, selected: str, diags: Diagnostics
) -> Data | None:
    """The module in a directory; None after reporting why it cannot be read."""
    run, found = workspace.static(inputs, selected, modules=_NoModules())
    diags.extend(found)
    if run is None or diags.has_errors:
        return None
    data = configuration_data(run, lambda provider: None)
    root = data["root_module"]
    assert isinstance(root, dict)
    for kind in ("outputs", "module_calls"):
        if kind in root:
            root[kind] = {name: _declared(each) for name, each in root[kind].items()}
    if "resources" in root:
        root["resources"] = [_declared(each) for each in root["resources"]]
    return data


def _declared(block: Data) -> Data:
    """A block without its expressions."""
    kept = {name: value for name, value in block.items() if name not in _EXPRESSIONS}
    provisioners = kept.get("provisioners")
    if isinstance(provisioners, list):
        kept["provisioners"] = [_declared(each) for each in provisioners]
    return kept
