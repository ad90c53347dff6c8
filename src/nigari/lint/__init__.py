"""Lint: rules over configurations and plans, what they find, and how it is fixed.

A rule is data (`Rule`) with a function over one read model (`nigari.lint.model`), which is worked out
once for all rules. Rules of OpenTofu and our own are in `nigari.lint.rules`, those that users write
in Python are found by `nigari.lint.python_rules`. Deliberately unknown here: how findings are shown,
and how the units of a fleet are found.
"""

from __future__ import annotations

from nigari.lazy import lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.lint.python_rules import Violation, configuration_rule, plan_rule
else:
    __getattr__ = lazy_exports(
        __name__, {"python_rules": ("Violation", "configuration_rule", "plan_rule")}
    )

__all__ = ["Violation", "configuration_rule", "plan_rule"]
