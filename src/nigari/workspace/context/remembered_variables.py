"""Values of variables that a working directory remembers, so that they need not be given again.

With `-remember`, init stores the values that static positions used, for the selected workspace
and the configuration of its backend: with another one they belong to another environment. Sensitive
and ephemeral values are never remembered. They rank below every other source but
defaults.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path

from nigari.cty.errors import CtyError
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.inputs import InputKind, InputValue
from nigari.eval.core.worklist import DONE
from nigari.eval.nodes.variable import RootVariable
from nigari.eval.static.run import StaticRun
from nigari.packages.content.whole_file import make_directories, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FILE_NAME: Final = "nigari.variables.json"


def load_remembered(
    data_directory: Path, workspace: str, diags: Diagnostics
) -> Mapping[str, InputValue]:
    """The remembered values of a workspace."""
    path = data_directory / FILE_NAME
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return {}
    except OSError as error:
        _report_unreadable(path, str(error), diags)
        return {}
    from nigari.cty.json import value_from_json
    from nigari.cty.type_json import type_from_json

    try:
        found = json.loads(content)["workspaces"].get(workspace, {})
        values = {
            name: value_from_json(
                json.dumps(each["value"]), type_from_json(json.dumps(each["type"]))
            )
            for name, each in found.get("values", {}).items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, CtyError) as error:
        _report_unreadable(path, str(error), diags)
        return {}
    origin = "the values that init remembers"
    return {
        name: InputValue(InputKind.REMEMBERED, origin, value=value)
        for name, value in values.items()
    }


def belongs_to(data_directory: Path, workspace: str, backend: str) -> bool:
    """Return whether a workspace's remembered variables belong to a backend, by its digest."""
    found = _workspaces(data_directory).get(workspace)
    return isinstance(found, dict) and found.get("backend") == backend


def save_remembered(
    data_directory: Path, workspace: str, values: Mapping[str, Value], backend: str
) -> None:
    """Remember values for a workspace and its backend, in place of what was. An `OSError` says why
    it cannot be.
    """
    from nigari.cty.json import value_to_json
    from nigari.cty.type_json import type_to_json

    remembered = {
        name: {
            "type": json.loads(type_to_json(value.type)),
            "value": json.loads(value_to_json(value, value.type)),
        }
        for name, value in sorted(values.items())
    }
    workspaces = _workspaces(data_directory)
    workspaces[workspace] = {"backend": backend, "values": remembered}
    _write(data_directory, workspaces)


def forget(data_directory: Path, workspace: str) -> bool:
    """Forget the values for a workspace; whether there were any. An `OSError` says why it cannot
    be.
    """
    workspaces = _workspaces(data_directory)
    if workspaces.pop(workspace, None) is None:
        return False
    _write(data_directory, workspaces)
    return True


def _workspaces(data_directory: Path) -> dict[str, object]:
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        return dict(json.loads((data_directory / FILE_NAME).read_bytes())["workspaces"])
    return {}


def _write(data_directory: Path, workspaces: dict[str, object]) -> None:
    make_directories(data_directory)
    text = json.dumps({"workspaces": workspaces}, indent=2, ensure_ascii=False)
    write_whole(data_directory / FILE_NAME, f"{text}\n".encode())


def worth_remembering(run: StaticRun) -> Mapping[str, Value]:
    """The values that were given for variables and that static places have used."""
    found: dict[str, Value] = {}
    for name, node in run.root.variables.items():
        if node.state != DONE or not isinstance(node, RootVariable) or node.given is None:
            continue
        if node.value.is_wholly_known and not node.value.contains_marked:
            found[name] = node.value
    return found


def _report_unreadable(path: Path, reason: str, diags: Diagnostics) -> None:
    diags.warning(
        "Cannot read remembered values",
        f"{path}, in which init stores remembered values of variables, cannot be used: {reason}. "
        'Run "nigari init -remember" to write it again, or delete it.',
    )
