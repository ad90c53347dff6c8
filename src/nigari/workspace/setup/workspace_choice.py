"""Selects the workspace to use after init, since the selected one need not exist in the backend.

The user is prompted if that is possible; otherwise a diagnostic says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence

from nigari.backends.protocol import DEFAULT_WORKSPACE, Backend
from nigari.backends.workspaces import is_valid_name
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.workspace.context.prompts import Prompter


async def existing_workspace(
    backend: Backend, selected: str, is_given: bool, prompter: Prompter, diags: Diagnostics
) -> str | None:
    """The workspace to use; None after reporting that there is none.

    In a backend without a default workspace the only one is used without a word; among several,
    and where there are none yet, people choose. A workspace that is given must exist.
    """
    if backend.has_default:
        return selected
    names = await backend.workspaces(diags)
    if diags.error_count or selected in names:
        return None if diags.error_count else selected
    if len(names) == 1 and not is_given:
        return names[0]
    can_choose = prompter.can_prompt and not is_given
    answer = _chosen(names, selected, prompter) if can_choose else None
    if answer is None:
        _report(names, selected, diags)
    elif not await backend.create_workspace(answer, diags):
        return None
    return answer


async def remaining_workspace(
    backend: Backend, selected: str, prompter: Prompter, diags: Diagnostics
) -> str | None:
    """The workspace to use where there is always a default one; None after reporting that the
    selected one is gone. If only the default one is left, that is used without a word.
    """
    if selected == DEFAULT_WORKSPACE or not backend.has_default or not backend.has_workspaces:
        return selected
    names = await backend.workspaces(diags)
    if diags.error_count:
        return None
    if selected in names:
        return selected
    if len(names) == 1:
        return names[0]
    answer = _chosen(names, selected, prompter) if prompter.can_prompt else None
    if answer is None:
        diags.error(
            f'Workspace "{selected}" doesn\'t exist',
            f"It is selected, but the backend has only these workspaces: {', '.join(names)}. Run "
            '"nigari init" at a terminal to select one of them, or set TF_WORKSPACE to one.',
        )
    return answer


def _chosen(names: Sequence[str], selected: str, prompter: Prompter) -> str | None:
    if not names:
        name = prompter.text(
            "workspace", "There are no workspaces yet. Name of the first one", False
        )
        return name if name is not None and is_valid_name(name) else None
    listed = "".join(f"\n  {number}. {name}" for number, name in enumerate(names, 1))
    text = prompter.text(
        "workspace",
        f'The selected workspace "{selected}" does not exist. Enter the number of another one:'
        f"{listed}\n",
        False,
    )
    index = int(text) - 1 if text is not None and text.isascii() and text.isdigit() else -1
    return names[index] if 0 <= index < len(names) else None


def _report(names: Sequence[str], selected: str, diags: Diagnostics) -> None:
    if not names:
        diags.error(
            "No workspaces",
            "The backend has no workspaces yet. Create the first one "
            f"{advice().new_workspace()}, or name it when init asks for it at a terminal.",
        )
        return
    diags.error(
        f'Workspace "{selected}" doesn\'t exist',
        f"The backend has these workspaces: {', '.join(names)}. Select one of them "
        f"{advice().select_workspace()}, or create another {advice().new_workspace()}.",
    )
