"""`Module`: all declarations in one directory.

Merged blocks are decoded here, each by the module of its type, and names that must be unique across
types are checked. Deliberately unknown here: called modules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from nigari.addrs.provider import LocalProviderConfig, Provider, implied_provider
from nigari.addrs.resource import Resource as ResourceAddr
from nigari.config.blocks.language import RequiredVersion
from nigari.config.blocks.local import Local, decode_local
from nigari.config.blocks.output import Output, decode_output
from nigari.config.blocks.provider_config import ProviderConfig, decode_provider_config
from nigari.config.blocks.required_providers import (
    ProviderMeta,
    RequiredProvider,
    decode_provider_meta,
)
from nigari.config.blocks.resource import Resource, decode_resource, resource_addr
from nigari.config.blocks.variable import Variable, decode_variable
from nigari.config.core.declared import Declared
from nigari.config.merge import MergedBlocks
from nigari.diagnostics import Diagnostics, Pos, Range
from nigari.record import record

TYPE_CHECKING = False
# Loading these costs start-up time, and many configurations have no such blocks.
if TYPE_CHECKING:
    from nigari.config.blocks.backend import BackendBlock
    from nigari.config.blocks.checks import Check
    from nigari.config.blocks.encryption import EncryptionBlock
    from nigari.config.blocks.imports import Import
    from nigari.config.blocks.module_call import ModuleCall
    from nigari.config.blocks.moved import Moved
    from nigari.config.blocks.removed import Removed
    from nigari.config.blocks.symbols import LibraryCall

_START = Pos(1, 1, 0)


@record
class Module:
    """A directory of configuration files. Nothing in it is evaluated."""

    directory: str
    """Path relative to the working directory, as users write it."""
    files: tuple[str, ...]
    variables: Mapping[str, Variable]
    locals: Mapping[str, Local]
    outputs: Mapping[str, Output]
    calls: Mapping[str, ModuleCall]
    resources: Mapping[ResourceAddr, Resource]
    """Managed, data and ephemeral resources, the data sources of checks, and actions."""
    provider_configs: Mapping[LocalProviderConfig, ProviderConfig]
    required_providers: Mapping[str, RequiredProvider]
    required_versions: tuple[RequiredVersion, ...]
    provider_metas: Mapping[str, ProviderMeta]
    backend: BackendBlock | None
    encryption: EncryptionBlock | None
    checks: Mapping[str, Check]
    moved: tuple[Moved, ...]
    removed: tuple[Removed, ...]
    imports: tuple[Import, ...]
    experiments: Mapping[str, Range] = {}
    """The experiments of the language that are enabled, and where."""
    symbols: Mapping[str, LibraryCall] = {}
    """The symbol libraries that it uses."""
    has_open_types: bool = False
    """True if the types of variables or outputs name types of symbol libraries."""

    @property
    def range(self) -> Range:
        """Beginning of the first file, for diagnostics about missing blocks."""
        return Range(self.files[0] if self.files else self.directory, _START, _START)

    def call_at(self, step: str) -> ModuleCall | LibraryCall:
        """Return the call that a step of an address stands for: of a module or a symbol library."""
        call = self.calls.get(step)
        return self.symbols[step.removeprefix("symbols:")] if call is None else call

    def provider(self, name: str) -> Provider | None:
        """Return the provider with a local name; None if its source needs evaluation."""
        required = self.required_providers.get(name)
        return implied_provider(name) if required is None else required.provider


def decode_module(
    directory: str, files: Sequence[str], found: MergedBlocks, diags: Diagnostics
) -> Module:
    """Decode all merged blocks of a directory."""
    for declared in found.aside:
        _DECODERS[declared.block.type](declared, diags)
    resources = _resources(found, diags)
    variables = {
        key[0]: decode_variable(declared, diags)
        for key, declared in found.named["variable"].items()
    }
    outputs = _outputs(found, diags)
    open_types = [each.open_type for each in variables.values()]
    open_types += [each.open_type for each in outputs.values()]
    return Module(
        directory=directory,
        files=tuple(files),
        variables=variables,
        locals={name: decode_local(each, diags) for name, each in found.locals.items()},
        outputs=outputs,
        calls=_calls(found, diags),
        resources=resources,
        provider_configs=_provider_configs(found, diags),
        required_providers=found.required_providers,
        required_versions=tuple(found.required_versions),
        provider_metas=_provider_metas(found, diags),
        backend=_backend(found),
        encryption=found.encryption,
        checks=_checks(found, resources, diags),
        moved=_moved(found, diags),
        removed=_removed(found, diags),
        imports=_imports(found, diags),
        experiments=found.experiments,
        symbols=_symbols(found, diags),
        has_open_types=any(each is not None for each in open_types),
    )


def _decode_any_resource(declared: Declared, diags: Diagnostics) -> Resource:
    return decode_resource(resource_addr(declared.block), declared, diags)


def _decode_call(declared: Declared, diags: Diagnostics) -> ModuleCall | None:
    from nigari.config.blocks.module_call import decode_module_call

    return decode_module_call(declared, diags)


def _decode_library_call(declared: Declared, diags: Diagnostics) -> LibraryCall | None:
    from nigari.config.blocks.symbols import decode_library_call

    return decode_library_call(declared, diags)


def _decode_check(declared: Declared, diags: Diagnostics) -> Check:
    from nigari.config.blocks.checks import decode_check

    return decode_check(declared, diags)


def _decode_moved(declared: Declared, diags: Diagnostics) -> Moved | None:
    from nigari.config.blocks.moved import decode_moved

    return decode_moved(declared, diags)


def _decode_removed(declared: Declared, diags: Diagnostics) -> Removed | None:
    from nigari.config.blocks.removed import decode_removed

    return decode_removed(declared, diags)


def _decode_import(declared: Declared, diags: Diagnostics) -> Import | None:
    from nigari.config.blocks.imports import decode_import

    return decode_import(declared, diags)


_DECODERS: dict[str, Callable[[Declared, Diagnostics], object]] = {
    "variable": decode_variable,
    "output": decode_output,
    "module": _decode_call,
    "provider": decode_provider_config,
    "provider_meta": decode_provider_meta,
    "symbols": _decode_library_call,
    "check": _decode_check,
    "moved": _decode_moved,
    "removed": _decode_removed,
    "import": _decode_import,
    "resource": _decode_any_resource,
    "data": _decode_any_resource,
    "ephemeral": _decode_any_resource,
    "list": _decode_any_resource,
    "action": _decode_any_resource,
}


def _backend(found: MergedBlocks) -> BackendBlock | None:
    block = found.backend or found.cloud
    if block is None:
        return None
    from nigari.config.blocks.backend import BackendBlock

    return BackendBlock(block)


def _resources(found: MergedBlocks, diags: Diagnostics) -> dict[ResourceAddr, Resource]:
    resources: dict[ResourceAddr, Resource] = {}
    for type_ in ("resource", "data", "ephemeral", "list", "action"):
        for declared in found.named[type_].values():
            addr = resource_addr(declared.block)
            resources[addr] = decode_resource(addr, declared, diags)
    return resources


def _outputs(found: MergedBlocks, diags: Diagnostics) -> dict[str, Output]:
    outputs: dict[str, Output] = {}
    for declared in found.named["output"].values():
        output = decode_output(declared, diags)
        if output is not None:
            outputs[output.name] = output
    return outputs


def _calls(found: MergedBlocks, diags: Diagnostics) -> dict[str, ModuleCall]:
    calls: dict[str, ModuleCall] = {}
    for declared in found.named["module"].values():
        call = _decode_call(declared, diags)
        if call is not None:
            calls[call.name] = call
    return calls


def _provider_configs(
    found: MergedBlocks, diags: Diagnostics
) -> dict[LocalProviderConfig, ProviderConfig]:
    configs: dict[LocalProviderConfig, ProviderConfig] = {}
    for declared in found.named["provider"].values():
        config = decode_provider_config(declared, diags)
        if config is not None:
            configs.setdefault(config.addr, config)
    return configs


def _provider_metas(found: MergedBlocks, diags: Diagnostics) -> dict[str, ProviderMeta]:
    metas: dict[str, ProviderMeta] = {}
    for declared in found.named["provider_meta"].values():
        meta = decode_provider_meta(declared, diags)
        if meta is not None:
            metas[meta.provider] = meta
    return metas


def _checks(
    found: MergedBlocks, resources: dict[ResourceAddr, Resource], diags: Diagnostics
) -> dict[str, Check]:
    """Decode checks; their data sources join the resources, whose names must be distinct."""
    checks: dict[str, Check] = {}
    for declared in found.named["check"].values():
        check = _decode_check(declared, diags)
        checks[check.name] = check
        if check.data is not None:
            first = resources.setdefault(check.data.addr, check.data)
            if first is not check.data:
                _report_second_data(check.data, first, diags)
    return checks


def _moved(found: MergedBlocks, diags: Diagnostics) -> tuple[Moved, ...]:
    decoded = [_decode_moved(declared, diags) for declared in found.unnamed["moved"]]
    return tuple([each for each in decoded if each is not None])


def _removed(found: MergedBlocks, diags: Diagnostics) -> tuple[Removed, ...]:
    decoded = [_decode_removed(declared, diags) for declared in found.unnamed["removed"]]
    return tuple([each for each in decoded if each is not None])


def _imports(found: MergedBlocks, diags: Diagnostics) -> tuple[Import, ...]:
    imports: list[Import] = []
    targets: dict[str, Import] = {}
    for declared in found.unnamed["import"]:
        decoded = _decode_import(declared, diags)
        if decoded is None:
            continue
        imports.append(decoded)
        if not decoded.target.keys:
            first = targets.setdefault(str(decoded.shape), decoded)
            if first is not decoded:
                _report_second_import(decoded, first, diags)
    return tuple(imports)


def _symbols(found: MergedBlocks, diags: Diagnostics) -> dict[str, LibraryCall]:
    """Decode the uses of symbol libraries; none count where the experiment is not enabled."""
    if not found.experiments and not found.named["symbols"]:
        return {}
    from nigari.config.blocks.symbols import report_no_experiment, warn_of_experiment

    for where in found.experiments.values():
        warn_of_experiment(where, diags)
    calls: dict[str, LibraryCall] = {}
    for declared in found.named["symbols"].values():
        call = _decode_library_call(declared, diags)
        if not found.experiments:
            report_no_experiment(declared.range, diags)
        elif call is not None:
            calls[call.name] = call
    return calls


def _report_second_data(data: Resource, first: Resource, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate data source",
        f"{data.addr} was already declared at {first.range}. The data source of a "
        "check needs a unique name too.",
        data.range,
    )


def _report_second_import(second: Import, first: Import, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate import",
        f"The import block at {first.range} already imports {second.shape}.",
        second.range,
    )
