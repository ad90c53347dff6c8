"""Lists of rules, as the option `-lint` takes them: `all,!core:unused-local`.

The grammar and the precedence are OpenTofu's: an identifier is a name, with a namespace in front of a
colon or without; `!` excludes. A rule that is named counts more than a group, a group more than
`all`, and an inclusion more than an exclusion of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable

from nigari.lazy import lazy_pattern
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

ALL: Final = "all"
# linting.addrMatchingReg: namespaces may have slashes, because providers may get some later.
_IDENTIFIER = lazy_pattern(r"(?:[a-z0-9]+[a-z0-9_\-/]*:)?[a-z0-9]+[a-z0-9_\-]*")


@record
class RuleList:
    """The identifiers that a list includes and excludes."""

    included: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.included or self.excluded)

    def allows(self, rule: str, groups: Iterable[str]) -> bool:
        """Return whether a rule should run (lintRuleAllowed)."""
        if rule in self.included:
            return True
        if rule in self.excluded:
            return False
        groups = frozenset(groups)
        if groups & self.included:
            return True
        if groups & self.excluded:
            return False
        return ALL in self.included


def is_identifier(text: str) -> bool:
    """Return whether a text can identify a rule or a group."""
    return _IDENTIFIER.fullmatch(text) is not None


def parse_rule_list(texts: Iterable[str]) -> RuleList:
    """Read the values of `-lint`. What is no identifier is ignored, as OpenTofu does."""
    included: set[str] = set()
    excluded: set[str] = set()
    for text in texts:
        for part in text.split(","):
            name = part.strip()
            target = included
            if name.startswith("!"):
                name, target = name[1:], excluded
            if is_identifier(name):
                target.add(name)
    return RuleList(frozenset(included), frozenset(excluded))
