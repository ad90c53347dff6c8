"""Nigari evaluates OpenTofu / Terraform configurations, and HCL languages of your own.

    nigari.load("directory")    a whole configuration, with all that is known before anything runs
    nigari.hcl                  HCL files: plain data, trees, layout, decoding, rewriting
    nigari.cty                  the values and types of the language
    nigari.diagnostics          what is wrong with a text, and how that is shown
    nigari.providers.python     providers written in Python

These are for programs, and docs/library.md is their guide; the other packages serve the command
line. Nothing is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nigari.lazy import lazy_exports
from nigari.version import VERSION

if TYPE_CHECKING:
    from os import PathLike

    from nigari import cty, diagnostics, hcl
    from nigari.workspace.view import Configuration
else:
    __getattr__ = lazy_exports(__name__, {name: (name,) for name in ("cty", "diagnostics", "hcl")})

__version__ = VERSION

__all__ = ["__version__", "cty", "diagnostics", "hcl", "load"]


def __dir__() -> list[str]:
    return __all__


def load(
    path: str | PathLike[str] = ".", variables: Mapping[str, object] | None = None
) -> Configuration:
    """The configuration in a directory: its modules, with what is known before anything runs.

    `variables` are plain Python values, or `cty` values, for the root module's input variables.
    Nothing is asked for and no provider is started: what cannot be known before planning is
    unknown, and says why.
    """
    from nigari.workspace import load as load_configuration

    return load_configuration(path, variables)
