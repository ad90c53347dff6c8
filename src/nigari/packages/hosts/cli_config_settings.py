"""Settings of a CLI configuration file: their interpretation, and merging of two files.

`cli_config_files` selects the files, and `cli_config_syntax` parses their syntax.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.addrs.hostname import normalize_hostname
from nigari.addrs.provider import Provider, parse_provider
from nigari.diagnostics import Diagnostics
from nigari.hcl.quoting import quoted
from nigari.hcl.source import Source
from nigari.hcl.suggestion import did_you_mean
from nigari.lang.ages import parse_age
from nigari.lazy import lazy_pattern
from nigari.packages.hosts.address_patterns import (
    ModulePattern,
    ProviderPattern,
    parse_module_pattern,
    parse_pattern,
)
from nigari.packages.hosts.cli_config import (
    CliConfig,
    HostToken,
    InstallMethod,
    ModuleMethod,
    OciCredentials,
    OciDefaults,
    ProviderInstallation,
    RegistryProtocols,
    mirror_host,
)
from nigari.packages.hosts.cli_config_syntax import Scalar, SettingItem, SettingsObject, read_items
from nigari.packages.hosts.oci_settings import RepositoryTemplate, read_credentials, read_defaults

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_SETTINGS: Final = (
    "credentials",
    "credentials_helper",
    "disable_checkpoint",
    "disable_checkpoint_signature",
    "host",
    "module_installation",
    "oci_credentials",
    "oci_default_credentials",
    "plugin_cache_dir",
    "plugin_cache_may_break_dependency_lock_file",
    "provider_installation",
    "providers",
    "provisioners",
    "registry_protocols",
)
_VARIABLE: Final = lazy_pattern(r"\$(?:\{(\w+)\}|(\w+))")


def parse_cli_config(
    source: Source, environment: Mapping[str, str], diags: Diagnostics
) -> CliConfig:
    """Interpret one file."""
    root = read_items(source, diags)
    name = source.filename
    _warn_of_misspelled(root, name, diags)
    installations = [_installation(item, name, diags) for item in root.all("provider_installation")]
    if len(installations) > 1:
        _report_second(name, "provider_installation", diags)
    of_modules = [_module_methods(item, name, diags) for item in root.all("module_installation")]
    if len(of_modules) > 1:
        _report_second(name, "module_installation", diags)
    return CliConfig(
        plugin_cache_dir=_expanded(_string(root, "plugin_cache_dir", name, diags), environment),
        plugin_cache_may_break_lock_file=_switch(
            root, "plugin_cache_may_break_dependency_lock_file", name, diags
        ),
        installation=installations[0] if installations else None,
        module_methods=of_modules[0] if of_modules else None,
        hosts=_hosts(root, name, diags),
        credentials=_credentials(root, name, diags),
        credentials_helper=_credentials_helper(root, name, diags),
        registry_protocols=_registry_protocols(root, name, diags),
        oci_credentials=_oci_credentials(root, name, diags),
        oci_defaults=_oci_defaults(root, name, diags),
    )


def _warn_of_misspelled(root: SettingsObject, file: str, diags: Diagnostics) -> None:
    """Warn of an unknown setting that resembles a known one: without its effect, packages may come
    from the wrong source. OpenTofu ignores unknown settings, and so are all others.
    """
    for item in root.items:
        hint = "" if item.keys[0] in _SETTINGS else did_you_mean(item.keys[0], _SETTINGS)
        if hint:
            diags.warning(
                "Unknown setting in the CLI configuration",
                f"In line {item.line} of {file}: {item.keys[0]} is not a setting, so it has no "
                f"effect.{hint}",
            )


def merged(first: CliConfig, second: CliConfig, path: str, diags: Diagnostics) -> CliConfig:
    """Merge the settings of two files, of which the second is at a path; the first takes
    precedence.
    """
    if first.installation is not None and second.installation is not None:
        _report_second(path, "provider_installation", diags)
    if first.module_methods is not None and second.module_methods is not None:
        _report_second(path, "module_installation", diags)
    if first.credentials_helper and second.credentials_helper:
        _report_second(path, "credentials_helper", diags)
    if OciDefaults() not in (first.oci_defaults, second.oci_defaults):
        _report_second(path, "oci_default_credentials", diags)
    return CliConfig(
        plugin_cache_dir=first.plugin_cache_dir or second.plugin_cache_dir,
        plugin_cache_may_break_lock_file=first.plugin_cache_may_break_lock_file
        or second.plugin_cache_may_break_lock_file,
        installation=first.installation or second.installation,
        module_methods=second.module_methods
        if first.module_methods is None
        else first.module_methods,
        hosts={**first.hosts, **second.hosts},
        credentials={**first.credentials, **second.credentials},
        credentials_helper=first.credentials_helper or second.credentials_helper,
        registry_protocols=first.registry_protocols.over(second.registry_protocols),
        oci_credentials=_distinct_oci(
            (*first.oci_credentials, *second.oci_credentials), path, diags
        ),
        oci_defaults=first.oci_defaults
        if first.oci_defaults != OciDefaults()
        else second.oci_defaults,
    )


def _credentials_helper(root: SettingsObject, file: str, diags: Diagnostics) -> tuple[str, ...]:
    found = [
        (label, *_strings(body, "args", file, diags))
        for item in root.all("credentials_helper")
        for label, body in _labelled(item, file, diags)
    ]
    if len(found) > 1:
        _report_second(file, "credentials_helper", diags)
    return found[0] if found else ()


def _registry_protocols(root: SettingsObject, file: str, diags: Diagnostics) -> RegistryProtocols:
    found = root.all("registry_protocols")
    for item in found[1:]:
        _report(file, item, "registry_protocols can occur only once", diags)
    for item in found[:1]:
        if len(item.keys) > 1 or not isinstance(item.value, SettingsObject):
            _report(file, item, "registry_protocols must be a block without labels", diags)
            continue
        return RegistryProtocols(
            _count(item, item.value, "retry_count", file, diags),
            _count(item, item.value, "request_timeout_seconds", file, diags),
        )
    return RegistryProtocols()


def _count(
    item: SettingItem, body: SettingsObject, name: str, file: str, diags: Diagnostics
) -> int | None:
    values = [inner.value for inner in body.all(name)]
    if not values:
        return None
    value = values[-1]
    # The HCL 1 decoder of OpenTofu converts between numbers and strings.
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    _report(file, item, f"{name} must be a whole number that is not negative", diags)
    return None


def _installation(item: SettingItem, file: str, diags: Diagnostics) -> ProviderInstallation:
    if len(item.keys) > 1 or not isinstance(item.value, SettingsObject):
        _report(file, item, "provider_installation is a block without labels", diags)
        return ProviderInstallation()
    methods: list[InstallMethod] = []
    overrides: dict[Provider, str] = {}
    for inner in item.value.items:
        if len(inner.keys) > 1 or not isinstance(inner.value, SettingsObject):
            _report(file, inner, f"{inner.keys[0]} must be a block without labels", diags)
        elif inner.keys[0] == "dev_overrides":
            # OpenTofu: overrides apply before all methods, so they must come first.
            if methods:
                _report(file, inner, "dev_overrides must come before the other blocks", diags)
            overrides.update(_dev_overrides(inner, inner.value, file, diags))
        else:
            method = _method(inner, inner.value, file, diags)
            methods += [method] if method is not None else []
    return ProviderInstallation(tuple(methods), overrides)


def _method(
    item: SettingItem, body: SettingsObject, file: str, diags: Diagnostics
) -> InstallMethod | None:
    kind = item.keys[0]
    needed = {
        "direct": "",
        "filesystem_mirror": "path",
        "network_mirror": "url",
        "oci_mirror": "repository_template",
    }.get(kind)
    if needed is None:
        _report(file, item, f"there is no installation method {kind}", diags)
        return None
    location = _string(body, needed, file, diags) if needed else ""
    if needed and not location:
        _report(file, item, f"{kind} must have the argument {needed}", diags)
        return None
    if kind == "network_mirror" and mirror_host(location) is None:
        _report(file, item, "url of network_mirror must be https, with a hostname", diags)
        return None
    include = _patterns(item, body, "include", file, diags)
    exclude = _patterns(item, body, "exclude", file, diags)
    if kind == "oci_mirror" and not _template_is_sound(item, location, include, file, diags):
        return None
    retries = None
    if kind in ("direct", "network_mirror"):
        retries = _count(item, body, "download_retry_count", file, diags)
    trust = _switch(body, "trust_all_hashes", file, diags)
    cooldown = _cooldown(item, body, file, diags)
    if cooldown and kind != "direct":
        _report(file, item, f"{kind} has no cooldown_period: only registries know ages", diags)
    return InstallMethod(
        kind=kind,
        location=location,
        include=include,
        exclude=exclude,
        download_retries=retries,
        trust_all_hashes=trust,
        cooldown=cooldown,
    )


def _module_methods(item: SettingItem, file: str, diags: Diagnostics) -> tuple[ModuleMethod, ...]:
    if len(item.keys) > 1 or not isinstance(item.value, SettingsObject):
        _report(file, item, "module_installation is a block without labels", diags)
        return ()
    methods: list[ModuleMethod] = []
    for inner in item.value.items:
        if len(inner.keys) > 1 or not isinstance(inner.value, SettingsObject):
            _report(file, inner, f"{inner.keys[0]} must be a block without labels", diags)
        elif inner.keys[0] != "direct":
            problem = f"there is no installation method {inner.keys[0]} for modules"
            _report(file, inner, problem, diags)
        else:
            cooldown = _cooldown(inner, inner.value, file, diags)
            include = _module_patterns(inner, inner.value, "include", file, diags)
            exclude = _module_patterns(inner, inner.value, "exclude", file, diags)
            methods.append(ModuleMethod(cooldown, include, exclude))
    return tuple(methods)


def _module_patterns(
    item: SettingItem, body: SettingsObject, name: str, file: str, diags: Diagnostics
) -> tuple[ModulePattern, ...]:
    patterns: list[ModulePattern] = []
    for text in _strings(body, name, file, diags):
        try:
            patterns.append(parse_module_pattern(text))
        except ValueError as error:
            _report(file, item, f"{name} has {quoted(text)}, and {error}", diags)
    return tuple(patterns)


def _cooldown(item: SettingItem, body: SettingsObject, file: str, diags: Diagnostics) -> int:
    """The number of seconds for which new versions are left alone."""
    text = _string(body, "cooldown_period", file, diags)
    age = parse_age(text) if text else 0
    if age is None:
        _report(file, item, 'cooldown_period must be an age such as "7d" or "36h"', diags)
    return age or 0


def _template_is_sound(
    item: SettingItem,
    text: str,
    include: tuple[ProviderPattern, ...],
    file: str,
    diags: Diagnostics,
) -> bool:
    """Check that a template yields a separate repository for each provider that it applies to."""
    try:
        used = RepositoryTemplate(text).used
    except ValueError as error:
        _report(file, item, f"oci_mirror is not valid: {error}", diags)
        return False
    fixed = {
        "hostname": {each.hostname for each in include},
        "namespace": {each.namespace for each in include},
        "type": {each.type for each in include},
    }
    for name in RepositoryTemplate.NAMES:
        # OpenTofu: two providers must never share a repository.
        if name not in used and len(fixed[name] - {"*"}) != 1:
            problem = (
                f"repository_template of oci_mirror must refer to {name}, unless include selects "
                "exactly one"
            )
            _report(file, item, problem, diags)
            return False
    return True


def _patterns(
    item: SettingItem, body: SettingsObject, name: str, file: str, diags: Diagnostics
) -> tuple[ProviderPattern, ...]:
    patterns: list[ProviderPattern] = []
    for text in _strings(body, name, file, diags):
        try:
            patterns.append(parse_pattern(text))
        except ValueError as error:
            _report(file, item, f"{name} has {quoted(text)}, and {error}", diags)
    return tuple(patterns)


def _dev_overrides(
    item: SettingItem, body: SettingsObject, file: str, diags: Diagnostics
) -> dict[Provider, str]:
    overrides: dict[Provider, str] = {}
    for entry in body.items:
        provider = parse_provider(entry.keys[0], Diagnostics())
        if provider is None or len(entry.keys) > 1 or not isinstance(entry.value, str):
            _report(
                file, item, f"{quoted(entry.keys[0])} is not a provider with its directory", diags
            )
            continue
        overrides[provider] = entry.value or "."
    return overrides


def _hosts(root: SettingsObject, file: str, diags: Diagnostics) -> dict[str, dict[str, object]]:
    hosts: dict[str, dict[str, object]] = {}
    for item in root.all("host"):
        for label, body in _labelled(item, file, diags):
            hostname = normalize_hostname(label)
            if hostname is None:
                _report(file, item, f"{quoted(label)} is not a hostname", diags)
                continue
            services = next((i.value for i in body.all("services")), None)
            hosts[hostname] = _plain(services) if isinstance(services, SettingsObject) else {}
    return hosts


def _plain(body: SettingsObject) -> dict[str, object]:
    """Convert a body to the form of a JSON document."""
    return {
        item.keys[0]: _plain(item.value) if isinstance(item.value, SettingsObject) else item.value
        for item in body.items
    }


def _credentials(root: SettingsObject, file: str, diags: Diagnostics) -> dict[str, HostToken]:
    credentials: dict[str, HostToken] = {}
    for item in root.all("credentials"):
        for label, body in _labelled(item, file, diags):
            hostname = normalize_hostname(label)
            if hostname is None:
                _report(file, item, f"{quoted(label)} is not a hostname", diags)
                continue
            if token := _string(body, "token", file, diags):
                credentials[hostname] = HostToken(token, file)
    return credentials


def _oci_credentials(
    root: SettingsObject, file: str, diags: Diagnostics
) -> tuple[OciCredentials, ...]:
    found: list[OciCredentials] = []
    for item in root.all("oci_credentials"):
        for label, body in _labelled(item, file, diags):
            try:
                found.append(read_credentials(label, body))
            except ValueError as error:
                _report(file, item, f"oci_credentials {quoted(label)} is not valid: {error}", diags)
    return _distinct_oci(tuple(found), file, diags)


def _distinct_oci(
    given: tuple[OciCredentials, ...], file: str, diags: Diagnostics
) -> tuple[OciCredentials, ...]:
    found = {(each.domain, each.path): each for each in reversed(given)}
    if len(found) < len(given):
        diags.error(
            "Invalid CLI configuration",
            f"{file} contains another oci_credentials block for the same repositories.",
        )
    return tuple(reversed(found.values()))


def _oci_defaults(root: SettingsObject, file: str, diags: Diagnostics) -> OciDefaults:
    found = root.all("oci_default_credentials")
    for item in found[1:]:
        _report(file, item, "oci_default_credentials can occur only once", diags)
    for item in found[:1]:
        if len(item.keys) > 1 or not isinstance(item.value, SettingsObject):
            _report(file, item, "oci_default_credentials must be a block without labels", diags)
            continue
        try:
            return read_defaults(item.value, file)
        except ValueError as error:
            _report(file, item, f"oci_default_credentials is not valid: {error}", diags)
    return OciDefaults()


def _labelled(item: SettingItem, file: str, diags: Diagnostics) -> list[tuple[str, SettingsObject]]:
    """List labels and bodies of a block; in JSON the labels are the keys of an object."""
    if not isinstance(item.value, SettingsObject):
        _report(file, item, f"{item.keys[0]} must be a block with a label", diags)
        return []
    if len(item.keys) == 2:
        return [(item.keys[1], item.value)]
    return [(i.keys[0], i.value) for i in item.value.items if isinstance(i.value, SettingsObject)]


def _string(body: SettingsObject, name: str, file: str, diags: Diagnostics) -> str:
    # HCL 1: of repeated arguments the last one counts.
    for item in body.all(name)[-1:]:
        if _is_text(item.value):
            return str(item.value)
        _report(file, item, f"{name} must be a string", diags)
    return ""


def _switch(body: SettingsObject, name: str, file: str, diags: Diagnostics) -> bool:
    items = body.all(name)
    for item in items:
        if not isinstance(item.value, bool):
            _report(file, item, f"{name} must be true or false", diags)
    return any(item.value is True for item in items)


def _strings(body: SettingsObject, name: str, file: str, diags: Diagnostics) -> list[str]:
    found: list[str] = []
    for item in body.all(name):
        if isinstance(item.value, list) and all(map(_is_text, item.value)):
            found += map(str, item.value)
        else:
            _report(file, item, f"{name} must be a list of strings", diags)
    return found


def _is_text(value: Scalar) -> bool:
    """Return whether a value is a string or a number, which these files do not distinguish."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _expanded(text: str, environment: Mapping[str, str]) -> str:
    # os.ExpandEnv of Go: unset variables are empty.
    return _VARIABLE.sub(lambda m: environment.get(m[1] or m[2], ""), text)


def _report(file: str, item: SettingItem, problem: str, diags: Diagnostics) -> None:
    where = f"line {item.line} of {file}" if item.line else file
    diags.error("Invalid CLI configuration", f"In {where}: {problem}.")


def _report_second(file: str, block: str, diags: Diagnostics) -> None:
    diags.error(
        "Invalid CLI configuration",
        f"{file} contains another {block} block. Only one is allowed in all CLI configuration "
        "files together.",
    )
