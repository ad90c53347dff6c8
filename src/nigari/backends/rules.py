"""Rules for the arguments of backends, beyond their types.

A schema says which arguments there are; here is which of them must have a value, exclude each other
or take only certain texts. Some values may also come from the environment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from nigari.cty.values import Value
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


Environment = Mapping[str, str]


@record
class ArgumentProblem:
    """Something that a backend cannot be configured with."""

    argument: str
    """The argument of the block itself that it is about."""
    text: str


def argument_problems(type_: str, value: Value, environ: Environment) -> list[ArgumentProblem]:
    """What is wrong with the arguments of a backend of some type."""
    found = list(_common(type_, value))
    rules = _RULES.get(type_)
    if rules is not None:
        found += rules(value, environ)
    return [ArgumentProblem(*each) for each in found]


_Found = Iterator[tuple[str, str]]


def _text(value: Value, name: str) -> str:
    """The text of an argument; nothing where it is not set."""
    found = value.attribute(name)
    return found.as_string() if found.is_known and not found.is_null else ""


_EXCLUSIVE: Final[Mapping[str, tuple[tuple[str, str], ...]]] = {
    "azurerm": (("metadata_host", "environment"), ("customer_provided_key", "encryption_scope")),
    "gcs": (("encryption_key", "kms_encryption_key"),),
    "s3": (
        ("kms_key_id", "sse_customer_key"),
        ("shared_credentials_file", "shared_credentials_files"),
        ("force_path_style", "use_path_style"),
        ("allowed_account_ids", "forbidden_account_ids"),
    ),
}
_WITHOUT_SLASHES: Final[Mapping[str, tuple[str, ...]]] = {
    "cos": ("key",),
    "oss": ("key",),
    "s3": ("key", "workspace_key_prefix"),
}


def _common(type_: str, value: Value) -> _Found:
    """The rules that several backends have."""
    for one, other in _EXCLUSIVE.get(type_, ()):
        if not value.attribute(one).is_null and not value.attribute(other).is_null:
            yield one, f"Only one of {one} and {other} can be set."
    for name in _WITHOUT_SLASHES.get(type_, ()):
        if _text(value, name).startswith("/") or _text(value, name).endswith("/"):
            yield name, f"The {name} must not begin or end with a slash."
    for name, argument in value.mapping().items():
        if isinstance(argument.data, str) and "\0" in argument.data:
            yield name, f"The {name} contains a null character."


def _local(value: Value, _environ: Environment) -> _Found:
    for name in ("path", "workspace_dir"):
        if value.attribute(name).data == "":
            yield name, f"The {name} is empty. Set it, or leave the argument out."


def _remote(value: Value, _environ: Environment) -> _Found:
    if not _text(value, "organization"):
        yield "organization", "The organization is not set."
    yield from _one_of(value, ("name", "prefix"))


def _cloud(value: Value, environ: Environment) -> _Found:
    if not _text(value, "organization") and not environ.get("TF_CLOUD_ORGANIZATION"):
        text = (
            "The organization is set neither here nor by the environment variable "
            "TF_CLOUD_ORGANIZATION."
        )
        yield "organization", text
    override = environ.get("TF_WORKSPACE", "")
    workspaces = value.attribute("workspaces")
    name = "" if workspaces.is_null else _text(workspaces, "name")
    if override and name and name != override:
        text = f'The workspace is "{name}" here, but TF_WORKSPACE is set to "{override}".'
        yield "workspaces", text
    if not override or name:
        yield from _one_of(value, ("name", "tags"))


def _one_of(value: Value, names: tuple[str, str]) -> _Found:
    """The workspaces are told apart in exactly one of two ways."""
    workspaces = value.attribute("workspaces")
    given = 0
    if not workspaces.is_null:
        given = sum(1 for name in names if workspaces.attribute(name).data not in (None, "", ()))
    if given != 1:
        have = "both are" if given else "none is"
        yield "workspaces", f"Workspaces need either {names[0]} or {names[1]}, and {have} set."


_OLD_ROLE: Final = (
    "role_arn",
    "session_name",
    "external_id",
    "assume_role_duration_seconds",
    "assume_role_policy",
    "assume_role_policy_arns",
    "assume_role_tags",
    "assume_role_transitive_tag_keys",
)


def _s3(value: Value, environ: Environment) -> _Found:
    for name in ("bucket", "key"):
        if not _text(value, name):
            yield name, f"The {name} is empty."
    if not (
        _text(value, "region") or environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    ):
        yield "region", "The region is set neither here nor by the environment variable AWS_REGION."
    if not value.attribute("assume_role").is_null:
        for name in _OLD_ROLE:
            if not value.attribute(name).is_null:
                yield name, f"{name} cannot be set together with assume_role: set it there."
    if _text(value, "retry_mode") not in ("", "standard", "adaptive"):
        yield "retry_mode", "The retry_mode must be standard or adaptive."


_RULES: Final[Mapping[str, Callable[[Value, Environment], _Found]]] = {
    "cloud": _cloud,
    "local": _local,
    "remote": _remote,
    "s3": _s3,
}
