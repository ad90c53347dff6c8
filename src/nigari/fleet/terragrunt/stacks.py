"""Stacks: the directories that `terragrunt stack generate` makes of a `terragrunt.stack.hcl`.

They are made in the same place, so that relative paths and the locations of states are the same. The
`values` of a unit stay in memory: they may come from the environment.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from nigari.addrs.detection import SourceError
from nigari.addrs.module_source import split_subdir
from nigari.cty.values import Value, object_value
from nigari.fleet.terragrunt.config_file import ConfigFile, Tree
from nigari.hcl.body import Attribute, Block
from nigari.hcl.native_body import NativeBody
from nigari.lazy import lazy_pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

STACK_FILE: Final = "terragrunt.stack.hcl"
GENERATED: Final = ".terragrunt-stack"
_LOCAL: Final = lazy_pattern(r"\.\.?(/|$)|/")
_MOST_DEEP: Final = 20


def generate_stack(tree: Tree, directory: str, depth: int = 0) -> list[str]:
    """Create the directories of a stack; return those of its units, and of the stacks in it."""
    file = ConfigFile(tree, os.path.join(directory, STACK_FILE))
    found: list[str] = []
    if depth > _MOST_DEEP:
        tree.diags.error(
            "Stacks nested too deeply",
            f"{directory} nests stacks more than {_MOST_DEEP} levels deep.",
        )
        return found
    for block in file.body.blocks:
        if block.type not in ("unit", "stack") or not isinstance(block.body, NativeBody):
            continue
        target = _generated(tree, file, block, block.body.attributes)
        if target and block.type == "unit":
            found.append(target)
        elif target:
            found += generate_stack(tree, target, depth + 1)
    return found


def _generated(
    tree: Tree, file: ConfigFile, block: Block, attributes: Mapping[str, Attribute]
) -> str:
    """Make the directory of a unit or a stack; empty after reporting why that cannot be done."""

    def value(name: str) -> Value | None:
        attribute = attributes.get(name)
        return None if attribute is None else attribute.expr.value(file.scope, tree.diags)

    texts = {name: value(name) for name in ("source", "path")}
    plain = {k: None if v is None else v.unmark_deep()[0].data for k, v in texts.items()}
    source, path = plain["source"], plain["path"]
    if not isinstance(source, str) or not isinstance(path, str):
        tree.diags.warning(
            "Not carried over",
            f"This {block.type} is left out: its source or its path is not known.",
            block.def_range,
        )
        return ""
    is_beside = value("no_dot_terragrunt_stack")
    has_own = is_beside is not None and is_beside.unmark_deep()[0].data is True
    home = file.directory if has_own else os.path.join(file.directory, GENERATED)
    target = os.path.normpath(os.path.join(home, path))
    if not _copy(tree, source, file.directory, target, block):
        return ""
    values = value("values")
    tree.values[target] = object_value({}) if values is None else values
    return target


def _copy(tree: Tree, source: str, base: str, target: str, block: Block) -> bool:
    """Copy what a source names; False after reporting why that cannot be done."""
    try:
        package, subdir = split_subdir(source)
        if _LOCAL.match(source):
            place = os.path.normpath(os.path.join(base, package, subdir))
            shutil.copytree(place, target, dirs_exist_ok=True, ignore=_left_out)
            return True
        fetched = _fetched(tree, package, block)
        if fetched:
            place = os.path.join(fetched, subdir)
            shutil.copytree(place, target, dirs_exist_ok=True, ignore=_left_out)
        return bool(fetched)
    except (OSError, shutil.Error, SourceError) as error:
        reason = getattr(error, "strerror", None) or "it cannot be copied"
        tree.diags.error("Cannot generate a stack", f"{source}: {reason}.", block.def_range)
        return False


def _fetched(tree: Tree, package: str, block: Block) -> str:
    """The directory of a package, which is downloaded once; empty if that has failed."""
    from nigari.workspace.setup.from_module import fetch_package

    found = tree.packages.get(package)
    if found is None:
        place = os.path.join(tree.temporary, str(len(tree.packages)))
        os.makedirs(place)
        is_there = fetch_package(package, "", place, tree.environ, tree.diags, block.def_range)
        found = tree.packages[package] = place if is_there else ""
    return found


def _left_out(directory: str, names: list[str]) -> list[str]:
    return [each for each in names if each in (".git", ".terraform", ".terragrunt-cache")]
