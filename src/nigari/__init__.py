"""Nigari evaluates OpenTofu / Terraform configurations, and HCL languages of your own.

    nigari.load("directory")    a whole configuration, with all that is known before anything runs
    nigari.open("directory")    a session: plan, apply, and work with the state
    nigari.aio                  the same sessions as coroutines
    nigari.fleet                many root modules, planned and applied as one
    nigari.config               what one directory declares, with nothing evaluated
    nigari.functions()          the functions of OpenTofu, for hcl.evaluate
    nigari.hcl                  HCL files: plain data, trees, layout, decoding, rewriting
    nigari.cty                  the values and types of the language
    nigari.diagnostics          what is wrong with a text, and how that is shown
    nigari.providers.python     providers written in Python

These are for programs, and docs/python/library.md is their guide; the other packages serve the command
line. Nothing is imported before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.lazy import lazy_exports
from nigari.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from nigari import aio, config, cty, diagnostics, events, fleet, hcl
    from nigari.aio import Applied, Ask, Initialized
    from nigari.cty.function import Function
    from nigari.session import Round, Session, open, read_plan  # noqa: A004 - people write `nigari.open`
    from nigari.workspace.context.last_apply import LastApply
    from nigari.workspace.explain.explanation import Explanation
    from nigari.workspace.plans.change_reasons import ArgumentReason, ChangeReasons, Missing
    from nigari.workspace.session.environment_result import EnvironmentInfo
    from nigari.workspace.session.failure import SessionError
    from nigari.workspace.session.load_configuration import Configuration
    from nigari.workspace.session.plan_result import (
        Deferred,
        Plan,
        PlannedAction,
        PlannedChange,
        Summary,
    )
    from nigari.workspace.session.state_result import Output, StoredResource, StoredState
    from nigari.workspace.views.blocks import BackendView, BlockView, ResourceView
    from nigari.workspace.views.declarations import OutputView, Rule, VariableView
    from nigari.workspace.views.module_views import CallView, ModuleView
    from nigari.workspace.views.provider_views import ProviderRequirement, ProviderView
    from nigari.workspace.views.static_value import StaticValue, ValueOrigin
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            **{
                name: (name,) for name in ("config", "cty", "diagnostics", "events", "fleet", "hcl")
            },
            "aio": ("Applied", "Ask", "Initialized", "aio"),
            "session": ("Round", "Session", "open", "read_plan"),
            "nigari.workspace.views.blocks": ("BackendView", "BlockView", "ResourceView"),
            "nigari.workspace.views.declarations": ("OutputView", "Rule", "VariableView"),
            "nigari.workspace.explain.explanation": ("Explanation",),
            "nigari.workspace.views.static_value": ("StaticValue", "ValueOrigin"),
            "nigari.workspace.views.provider_views": (
                "ProviderRequirement",
                "ProviderView",
            ),
            "nigari.workspace.views.module_views": ("CallView", "ModuleView"),
            "nigari.workspace.plans.change_reasons": (
                "ArgumentReason",
                "ChangeReasons",
                "Missing",
            ),
            "nigari.workspace.context.last_apply": ("LastApply",),
            "nigari.workspace.session.environment_result": ("EnvironmentInfo",),
            "nigari.workspace.session.failure": ("SessionError",),
            "nigari.workspace.session.load_configuration": ("Configuration",),
            "nigari.workspace.session.plan_result": (
                "Deferred",
                "Plan",
                "PlannedAction",
                "PlannedAction",
                "PlannedChange",
                "Summary",
            ),
            "nigari.workspace.session.state_result": ("Output", "StoredResource", "StoredState"),
        },
    )

__version__ = VERSION

__all__ = [
    "Applied",
    "ArgumentReason",
    "Ask",
    "BackendView",
    "BlockView",
    "CallView",
    "ChangeReasons",
    "Configuration",
    "Deferred",
    "EnvironmentInfo",
    "Explanation",
    "Initialized",
    "StaticValue",
    "LastApply",
    "Missing",
    "ModuleView",
    "Output",
    "OutputView",
    "Plan",
    "PlannedAction",
    "PlannedChange",
    "ProviderRequirement",
    "ProviderView",
    "ResourceView",
    "Round",
    "Rule",
    "Session",
    "SessionError",
    "StoredResource",
    "StoredState",
    "Summary",
    "ValueOrigin",
    "VariableView",
    "__version__",
    "aio",
    "config",
    "cty",
    "diagnostics",
    "events",
    "fleet",
    "functions",
    "hcl",
    "load",
    "open",
    "read_plan",
]


def functions(directory: str | PathLike[str] = ".") -> Mapping[str, Function]:
    """The functions of OpenTofu, for `hcl.evaluate` and `hcl.Scope`.

    Those that read files do so from the directory. `uuid`, `timestamp` and `bcrypt` give another
    result for every call; functions of providers are not among them.
    """
    from os import fspath
    from os.path import abspath

    from nigari.lang.files import DiskFiles
    from nigari.lang.functions.table import function_table

    root = abspath(fspath(directory))
    return function_table(DiskFiles(root), ".", root=root)


def load(
    path: str | PathLike[str] = ".",
    variables: Mapping[str, object] | None = None,
    var_files: Sequence[str | PathLike[str]] = (),
    *,
    workspace: str | None = None,
    environment: str | None = None,
    environ: Mapping[str, str] | None = None,
    usual: bool = True,
) -> Configuration:
    """Load a directory's configuration: its modules with their static values.

    Variables have the values that they have for the program: from `terraform.tfvars`,
    `*.auto.tfvars`, `TF_VAR_` environment variables and what `nigari init -remember` keeps, in the
    selected workspace. `variables`, plain Python or `cty` values, are stronger than all of them;
    `var_files` are read as `-var-file` is. `workspace` stands for another workspace than the
    selected one, `environment` for one of those that `environments.hcl` declares, and `environ`
    takes the place of the process's environment. With `usual=False` only what is passed here
    counts, and the workspace is the default one.

    Nothing is asked for, nothing is installed and no provider is started: what cannot be known before
    planning is unknown, and says why. What is wrong is in `diagnostics`; only a directory that does
    not exist is a `FileNotFoundError`, and anything else than a directory a `NotADirectoryError`.
    """
    from nigari.workspace.session.load_configuration import load as load_configuration

    return load_configuration(
        path,
        variables,
        var_files,
        workspace=workspace,
        environment=environment,
        environ=environ,
        usual=usual,
    )
