"""Files that several modules share by symbolic links.

What is in such a file is one text for all of them: it has each finding once, and a name in it counts as
unused only if none of the modules uses it. Deliberately unknown here: rules, and how files are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from nigari.lint.model import LintedModule
from nigari.lint.rule import Finding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_UNUSED: Final = "unused-"
"""What the names of rules begin with whose findings hold only if they hold everywhere."""
_Key = tuple[str, str, int, int]


class SharedFiles:
    """The files of some modules, by what their names lead to."""

    def __init__(self, modules: Iterable[LintedModule], root: str) -> None:
        """`root` is the directory that the names of files start at."""
        self._root = root
        self._links: dict[str, str] = {}
        """Where the paths of symbolic links lead to."""
        self._uses: dict[str, int] = {}
        """The number of modules that have a file, by where its paths lead to."""
        for module in modules:
            directory = os.path.realpath(module.path)
            for name in module.module.files:
                path = os.path.join(module.path, os.path.basename(name))
                target = os.path.join(directory, os.path.basename(name))
                if os.path.islink(target):
                    target = os.path.realpath(target)
                if target != path:
                    self._links[path] = target
                self._uses[target] = self._uses.get(target, 0) + 1

    def once(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """Leave out the same findings under other names of a file, and those that do not hold in
        every module that has it.
        """
        if not self._links:
            yield from findings
            return
        found: dict[_Key, list[Finding]] = {}
        for finding in findings:
            target = self._target(finding)
            if finding.range is None or target is None:
                yield finding
            else:
                where = finding.range
                key = finding.rule, target, where.start.byte, where.end.byte
                found.setdefault(key, []).append(finding)
        for (rule, target, _, _), same in found.items():
            if not _holds_everywhere(rule) or len(same) >= self._needed(target):
                # Not every name leads there: the file may be outside of all modules.
                yield min(same, key=lambda each: (self._path(each) != target, _name(each)))

    def _target(self, finding: Finding) -> str | None:
        """Where the path of a finding's file leads to, if that is a file which is shared."""
        path = self._path(finding)
        target = self._links.get(path, path)
        return target if target != path or self._uses.get(target, 0) > 1 else None

    def _path(self, finding: Finding) -> str:
        return os.path.normpath(os.path.join(self._root, _name(finding)))

    def _needed(self, target: str) -> int:
        """The number of modules in which something must be unused. Who else has a file that lies
        outside of these modules is not known, so one of them is not enough.
        """
        return max(2, self._uses[target])


def _name(finding: Finding) -> str:
    return "" if finding.range is None else finding.range.filename


def _holds_everywhere(rule: str) -> bool:
    return rule.partition(":")[2].startswith(_UNUSED)
