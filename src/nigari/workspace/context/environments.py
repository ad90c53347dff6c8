"""Environments: names for a workspace, values of variables and settings of the backend that belong
together, as `environments.hcl` beside the configuration declares them.

    environment "prod" {
      workspace = "prod"
      var_files = ["prod.tfvars"]
      variables = { region = "us-east-1" }
      backend   = { key = "prod/terraform.tfstate" }
    }

Here is what the file declares. What the parts of an environment do is for those who know variables,
backends and workspaces to say.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.cty.paths import GetAttr
from nigari.cty.types import DYNAMIC, KIND_MAP, KIND_OBJECT, STRING, ListType
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.advice import advice
from nigari.hcl.body import Attribute, AttributeSchema, BlockSchema, BodySchema, Content
from nigari.hcl.quoting import quoted
from nigari.hcl.static import expr_part
from nigari.hcl.suggestion import did_you_mean, listed
from nigari.record import record, replace
from nigari.workspace.context.environment import Environment, Setting
from nigari.workspace.context.nigari_files import (
    BlockInstance,
    OwnFile,
    parse_own_file,
    read_own_file,
)
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FILE_NAME: Final = "environments.hcl"
VARIABLE: Final = "NIGARI_ENV"
"""The environment variable that names the environment where nothing else does."""
WORKSPACE_VARIABLE: Final = "TF_WORKSPACE"
_BLOCKS: Final = (BlockSchema("environment", ("name",)),)
_ARGUMENTS: Final = BodySchema(
    tuple(
        AttributeSchema(name) for name in ("name", "workspace", "var_files", "variables", "backend")
    )
)
_IN_NAMES: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")


@record
class Environments:
    """All environments of a directory."""

    by_name: Mapping[str, Environment]
    sources: Mapping[str, bytes]
    """The file that declares them, for showing diagnostics."""

    def find(self, name: str, diags: Diagnostics) -> Environment | None:
        """The environment of that name; None after reporting that there is none."""
        found = self.by_name.get(name)
        if found is None:
            _report_undeclared(name, self, diags)
        return found


def read_environments(
    where: WorkingDirectory, diags: Diagnostics, data: bytes | None = None
) -> Environments:
    """The environments that the file beside the configuration declares, or this text in its place;
    what is wrong with it is reported, and what is right is there all the same.
    """
    if data is None:
        file = read_own_file(where, FILE_NAME, _BLOCKS, diags)
    else:
        file = parse_own_file(where, FILE_NAME, data, _BLOCKS, diags)
    if file is None:
        return Environments({}, {})
    found: dict[str, Environment] = {}
    for block in file.blocks:
        for instance in file.instances(block, diags):
            environment = _environment(instance, diags)
            if environment is None:
                continue
            environment = replace(environment, sources=_sources(file))
            known = found.setdefault(environment.name, environment)
            if known is not environment:
                _report_duplicate(environment, known, diags)
    return Environments(found, _sources(file))


def in_environment(
    where: WorkingDirectory, name: str, diags: Diagnostics
) -> tuple[WorkingDirectory, Mapping[str, bytes]]:
    """The directory in the environment of that name, and the file that declares it; what is wrong
    is reported.
    """
    found = read_environments(where, diags)
    if diags.has_errors:
        return where, found.sources
    environment = found.find(name, diags)
    selected = where.environ.get(WORKSPACE_VARIABLE)
    if environment is not None and environment.workspace and selected:
        if selected != environment.workspace:
            _report_workspace(environment, selected, diags)
    return replace(where, environment=environment), found.sources


def _report_workspace(environment: Environment, selected: str, diags: Diagnostics) -> None:
    diags.error(
        "Two workspaces",
        f'The environment "{environment.name}" is in the workspace "{environment.workspace}", but '
        f'the environment variable {WORKSPACE_VARIABLE} selects "{selected}". Unset it.',
        environment.range,
    )


def _sources(file: OwnFile) -> Mapping[str, bytes]:
    return {file.path: file.data}


def _environment(instance: BlockInstance, diags: Diagnostics) -> Environment | None:
    errors = diags.error_count
    content = instance.body.content(_ARGUMENTS, diags)
    name = _name(instance, content, diags)
    environment = Environment(
        name,
        instance.block.def_range,
        _workspace(instance, content, diags),
        _var_files(instance, content, diags),
        _settings(instance, content, "variables", diags),
        _settings(instance, content, "backend", diags),
    )
    return None if diags.error_count > errors else environment


def _name(instance: BlockInstance, content: Content, diags: Diagnostics) -> str:
    """The label of the block, or what the instances of the block are called."""
    label, attribute = instance.block.labels[0], content.attributes.get("name")
    place = instance.block.label_ranges[0]
    name = label if instance.key is None else f"{label}-{instance.key}"
    if attribute is not None and instance.key is None:
        diags.error(
            "Name without for_each",
            "The label of this block is the name of the environment. The argument name is for "
            "blocks with for_each, whose instances need a name each.",
            attribute.name_range,
        )
    elif attribute is not None:
        value = instance.value(attribute, STRING, diags)
        name, place = "" if value is None else value.as_string(), attribute.expr.range
        if value is None:
            return name
    if not name or name[0] in "-." or not _IN_NAMES.issuperset(name):
        diags.error(
            "Invalid environment name",
            f"{quoted(name)} cannot be the name of an environment: names are made of letters, "
            "digits, underscores, hyphens and dots, and begin with a letter, a digit or an "
            "underscore.",
            place,
        )
    return name


def _workspace(instance: BlockInstance, content: Content, diags: Diagnostics) -> str:
    attribute = content.attributes.get("workspace")
    value = None if attribute is None else instance.value(attribute, STRING, diags)
    if value is None or attribute is None or not _is_plain(attribute, value, diags):
        return ""
    from nigari.backends.workspaces import invalid_name, is_valid_name

    name = value.as_string()
    if not is_valid_name(name):
        problem = invalid_name(name, f"the environment {quoted(instance.block.labels[0])}")
        diags.error(problem.summary, problem.detail, attribute.expr.range)
    return name


def _var_files(instance: BlockInstance, content: Content, diags: Diagnostics) -> tuple[str, ...]:
    attribute = content.attributes.get("var_files")
    value = None if attribute is None else instance.value(attribute, ListType(STRING), diags)
    if value is None or attribute is None or not _is_plain(attribute, value, diags):
        return ()
    paths = [each for each in value.sequence() if not each.is_null]
    if len(paths) < len(value.sequence()):
        diags.error(
            "Invalid value",
            'The argument "var_files" contains null. Each element must be the path of a file.',
            attribute.expr.range,
        )
    return tuple(each.as_string() for each in paths)


def _is_plain(attribute: Attribute, value: Value, diags: Diagnostics) -> bool:
    """Return whether a value may be shown.

    Values that are always stored or shown must not be sensitive.
    """
    if not value.contains_marked:
        return True
    diags.error(
        "Secret value",
        f'The argument "{attribute.name}" is shown and stored, so a sensitive value cannot be '
        "used for it.",
        attribute.expr.range,
    )
    return False


def _settings(
    instance: BlockInstance, content: Content, name: str, diags: Diagnostics
) -> Mapping[str, Setting]:
    attribute = content.attributes.get(name)
    value = None if attribute is None else instance.value(attribute, DYNAMIC, diags)
    if value is None or attribute is None:
        return {}
    if name == "backend" and not _is_plain(attribute, value, diags):
        return {}
    value = value.unmark()[0]
    if value.type.kind not in (KIND_OBJECT, KIND_MAP):
        diags.error(
            "Invalid value",
            f'Invalid value for the argument "{name}": an object is required, such as '
            f'{{ region = "eu" }}, not {value.type.with_article()}.',
            attribute.expr.range,
        )
        return {}
    return {
        key: Setting(element, expr_part(attribute.expr, (GetAttr(key),)).range)
        for key, element in value.mapping().items()
    }


def _report_duplicate(second: Environment, first: Environment, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate environment",
        f'There is already an environment "{first.name}", at {first.range}. Each needs a unique '
        "name.",
        second.range,
    )


def _report_undeclared(name: str, known: Environments, diags: Diagnostics) -> None:
    names = list(known.by_name)
    if not known.sources:
        detail = (
            f'There is no environment "{name}", because this directory has no {FILE_NAME}, which '
            f"declares environments. Add one, or use neither "
            f"{advice().option('-env')} nor {VARIABLE}."
        )
    else:
        others = f"It declares {listed(names)}." if names else "It declares none."
        hint = did_you_mean(name, names)
        detail = f'{FILE_NAME} declares no environment "{name}". {others}{hint}'
    diags.error("No such environment", detail)
