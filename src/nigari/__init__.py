"""Nigari evaluates OpenTofu / Terraform configurations, and HCL languages of your own.

Nothing is imported here beyond the version: `import nigari.hcl`, `import nigari.cty` and the other
packages are each a door of their own, and a program pays only for those it opens. `load` reads a
whole configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from nigari.version import VERSION

if TYPE_CHECKING:
    from os import PathLike

    from nigari.workspace.view import Configuration

__version__ = VERSION

__all__ = ["__version__", "load"]


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
