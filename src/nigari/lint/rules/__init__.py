"""The rules that are built in, by subject."""

from __future__ import annotations

from nigari.lint.rule import Rule
from nigari.lint.rules.core import CORE_RULES
from nigari.lint.rules.declarations import DECLARATION_RULES
from nigari.lint.rules.order import ORDER_RULES
from nigari.lint.rules.repetition import REPETITION_RULES
from nigari.lint.rules.secrets import SECRET_RULES
from nigari.lint.rules.syntax import SYNTAX_RULES
from nigari.lint.rules.unused import UNUSED_RULES
from nigari.lint.rules.values import VALUE_RULES
from nigari.lint.rules.versions import VERSION_RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

RULES: Final[tuple[Rule, ...]] = (
    *CORE_RULES,
    *UNUSED_RULES,
    *VALUE_RULES,
    *REPETITION_RULES,
    *ORDER_RULES,
    *SECRET_RULES,
    *VERSION_RULES,
    *DECLARATION_RULES,
    *SYNTAX_RULES,
)

__all__ = ["CORE_RULES", "RULES"]
