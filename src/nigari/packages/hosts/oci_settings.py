"""OCI settings in the CLI configuration: credentials, and repository addresses."""

from __future__ import annotations

import os
from collections.abc import Mapping

from nigari.hcl.quoting import quoted
from nigari.lazy import lazy_pattern
from nigari.packages.hosts.cli_config import OciCredentials, OciDefaults, OciSecret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.packages.hosts.cli_config_syntax import SettingItem, SettingsObject


_REPOSITORY: Final = lazy_pattern(
    r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*"
)
_DOMAIN: Final = lazy_pattern(
    r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?|\[[0-9a-fA-F:]+\](?::[0-9]{1,5})?"
)


def read_credentials(label: str, body: SettingsObject) -> OciCredentials:
    """Interpret an `oci_credentials` block; raise `ValueError` if it is invalid."""
    domain, path = parse_repository(label, needs_name=False)
    given = {name: _text(body, name) for name in _ARGUMENTS if body.all(name)}
    helper = given.pop("docker_credentials_helper", "")
    if helper:
        if given:
            raise ValueError("docker_credentials_helper cannot be combined with other arguments")
        if path or "/" in helper:
            raise ValueError("docker_credentials_helper is the name of a program for a whole host")
        return OciCredentials(domain, helper=helper)
    if set(given) not in ({"username", "password"}, {"access_token", "refresh_token"}):
        raise ValueError(
            "it must have username and password, or access_token and refresh_token, or "
            "docker_credentials_helper"
        )
    return OciCredentials(domain, path, OciSecret(**given))


_ARGUMENTS: Final = (
    "username",
    "password",
    "access_token",
    "refresh_token",
    "docker_credentials_helper",
)


def read_defaults(body: SettingsObject, file: str) -> OciDefaults:
    """Interpret an `oci_default_credentials` block; raise `ValueError` if it is invalid."""
    discovers = all(item.value is not False for item in body.all("discover_ambient_credentials"))
    files: tuple[str, ...] | None = None
    for item in body.all("docker_style_config_files"):
        values = item.value if isinstance(item.value, list) else [item.value]
        base = os.path.dirname(file)
        files = tuple(os.path.join(base, each) for each in values if isinstance(each, str))
    if files is not None and not discovers:
        raise ValueError(
            "docker_style_config_files has no effect if discover_ambient_credentials is false"
        )
    helper = (
        _text(body, "docker_credentials_helper") if body.all("docker_credentials_helper") else ""
    )
    if "/" in helper:
        raise ValueError("docker_credentials_helper is a name, not a path")
    return OciDefaults(discovers, files, helper)


def parse_repository(text: str, needs_name: bool = True) -> tuple[str, str]:
    """Split a repository address into registry and name; raise `ValueError` if it is invalid."""
    domain, _, name = text.partition("/")
    if not _DOMAIN.fullmatch(domain):
        raise ValueError(f"{quoted(text)} does not begin with the name of a host")
    if (name or needs_name) and not _REPOSITORY.fullmatch(name):
        raise ValueError(
            f"{quoted(text)} is not the address of a repository, such as example.com/team/name"
        )
    return domain, name


class RepositoryTemplate:
    """A repository address as a template over the parts of a provider address."""

    NAMES: Final = ("hostname", "namespace", "type")

    def __init__(self, text: str) -> None:
        from nigari.diagnostics import Diagnostics
        from nigari.hcl.parser import parse_template
        from nigari.hcl.source import Source

        diags = Diagnostics()
        self._expression = parse_template(Source("repository_template", text), diags)
        if diags.has_errors:
            raise ValueError(next(iter(diags)).detail.rstrip("."))
        self.used: set[str] = {each.root_name for each in self._expression.variables()}
        unknown = sorted(self.used - set(self.NAMES))
        if unknown:
            raise ValueError(
                f"repository_template refers to {unknown[0]}, but only hostname, namespace and type "
                "are available"
            )
        parse_repository(self.text(dict.fromkeys(self.NAMES, "example")))

    def text(self, parts: Mapping[str, str]) -> str:
        """Render the address for one provider."""
        from nigari import cty
        from nigari.diagnostics import Diagnostics
        from nigari.hcl.scope import Scope

        diags = Diagnostics()
        names = {name: cty.string(value) for name, value in parts.items()}
        value = self._expression.value(Scope(names), diags)
        if diags.has_errors or value.is_null or value.type != cty.STRING:
            raise ValueError("repository_template must evaluate to a string")
        return value.as_string()


_URI_PART: Final = lazy_pattern(r"\{([^{}]*)\}")
_URI_LITERAL: Final = lazy_pattern(r"""(?:[^\x00-\x20"'%<>\\^`{|}]|%[0-9A-Fa-f]{2})*""")


class UriTemplate:
    """A repository address as a URI template of level 1 (RFC 6570), over the same parts."""

    def __init__(self, text: str) -> None:
        self._text = text
        literal, end = "", 0
        for part in _URI_PART.finditer(text):
            literal += text[end : part.start()]
            end = part.end()
            if part[1] not in RepositoryTemplate.NAMES:
                raise ValueError(
                    f"{quoted(part[0])} cannot be expanded, only {{hostname}}, {{namespace}} and "
                    "{type} can"
                )
        if not _URI_LITERAL.fullmatch(literal + text[end:]):
            raise ValueError("it has a character that a URI template cannot have outside of braces")
        parse_repository(self.text(dict.fromkeys(RepositoryTemplate.NAMES, "example")))

    def text(self, parts: Mapping[str, str]) -> str:
        """Render the address for one provider."""
        from urllib.parse import quote

        return _URI_PART.sub(lambda part: quote(parts[part[1]], safe="~"), self._text)


def _text(body: SettingsObject, name: str) -> str:
    items: list[SettingItem] = body.all(name)
    value = items[-1].value
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} must be a string that is not empty")
    return value
