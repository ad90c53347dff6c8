"""The files that have changed since a commit of the repository that they are in."""

from __future__ import annotations

import os

from nigari.diagnostics import Diagnostics
from nigari.workspace.context.git import git, names_in


def known_commit(root: str, reference: str, diags: Diagnostics) -> str | None:
    """The commit that a text means; None after reporting that it means none."""
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    if git(root, diags, "rev-parse", "--show-toplevel") is None:
        return None
    found = git(root, Diagnostics(), *asked)
    if found is not None:
        return os.fsdecode(found).strip()
    shallow = git(root, Diagnostics(), "rev-parse", "--is-shallow-repository")
    hint = " Check the name, or fetch it first."
    if shallow is not None and shallow.strip() == b"true":
        hint = (
            " This clone is shallow and may lack it: fetch more of the history, for example with "
            '"git fetch --unshallow".'
        )
    diags.error(
        "No such commit", f'"{reference}" is not a commit that is in this repository.{hint}'
    )
    return None


def changed_files(root: str, commit: str, diags: Diagnostics) -> set[str] | None:
    """The files that differ from a commit, as absolute paths, those of submodules included; None
    after reporting why they are not known. Files that git does not know yet have changed, too.
    """
    top = git(root, diags, "rev-parse", "--show-toplevel")
    if top is None:
        return None
    base = os.path.realpath(os.fsdecode(top).rstrip("\n"))
    compared = ("diff", "--name-only", "--no-renames", "--ignore-submodules=none", "-z", commit)
    differing = git(base, diags, *compared, "--")
    new = git(base, diags, "ls-files", "--others", "--exclude-standard", "-z")
    if differing is None or new is None:
        return None
    found: set[str] = set()
    for name in names_in(differing + new):
        path = os.path.join(base, name)
        if os.path.isdir(path) and not os.path.islink(path):
            found |= _changed_below(base, name, commit)
        else:
            found.add(path)
    return found


def _changed_below(base: str, name: str, commit: str) -> set[str]:
    """The files of a submodule that differ from what it was then; all of them where that is not
    known.
    """
    path = os.path.join(base, name)
    entry = git(base, Diagnostics(), "ls-tree", "-z", commit, "--", name)
    then = entry.split()[2] if entry and entry.split()[1] == b"commit" else b""
    found = changed_files(path, os.fsdecode(then), Diagnostics()) if then else None
    if found is not None:
        return found
    tracked = git(path, Diagnostics(), "ls-files", "--cached", "--others", "-z") or b""
    return {os.path.join(path, each) for each in names_in(tracked)}
