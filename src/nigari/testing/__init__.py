"""Module tests: test files with runs and real, mocked or overridden objects; and, for Python
programs, modules under test (`nigari.testing.module`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nigari.lazy import lazy_exports

if TYPE_CHECKING:
    from nigari.testing.modules import UNKNOWN, Mocked, ModuleUnderTest, Result, module
else:
    __getattr__ = lazy_exports(
        __name__, {"modules": ("UNKNOWN", "Mocked", "ModuleUnderTest", "Result", "module")}
    )

__all__ = ["UNKNOWN", "Mocked", "ModuleUnderTest", "Result", "module"]
