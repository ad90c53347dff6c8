"""Configuration of one run: the module under test, with the test's replacements.

Provider blocks of the test file, including mocks, replace the module's own. An overridden module
only retains its variables, and outputs with values from the test.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import LocalProviderConfig
from nigari.config.blocks.output import Output
from nigari.config.blocks.provider_config import ProviderConfig
from nigari.config.module import Module
from nigari.config.symbol_files import LibraryDeclarations
from nigari.config.test_files import TestFile, TestRun
from nigari.config.test_mocks import (
    MockProvider,
    OverrideModule,
    OverrideResource,
    Overrides,
    Values,
)
from nigari.cty.types import DYNAMIC
from nigari.cty.values import Value, null
from nigari.diagnostics import Diagnostics
from nigari.eval.core.compile import CompiledModule
from nigari.eval.core.module_tree import InstallModule, ModuleInstance, Modules
from nigari.eval.static.run import StaticRun
from nigari.hcl.bound_names import BoundBody, BoundExpression, Names
from nigari.hcl.expressions import Literal
from nigari.record import record, replace


@record
class RunProviders:
    """Provider configurations of a run, and the mocked ones among them."""

    configs: Mapping[LocalProviderConfig, ProviderConfig]
    mocks: Mapping[LocalProviderConfig, MockProvider]


def run_providers(
    module: Module, file: TestFile, run: TestRun, names: Names, diags: Diagnostics
) -> RunProviders:
    """Collect the provider configurations of a run."""
    configs = dict(module.provider_configs)
    mocks: dict[LocalProviderConfig, MockProvider] = {}

    def put(addr: LocalProviderConfig, given: ProviderConfig | MockProvider) -> None:
        mocks.pop(addr, None)
        config = given.config if isinstance(given, MockProvider) else given
        if isinstance(given, MockProvider):
            mocks[addr] = given
        configs[addr] = _bound(replace(config, name=addr.name, alias=addr.alias), names)

    if not run.providers:
        for config in file.providers.values():
            put(config.addr, config)
        for mock in file.mocks.values():
            put(mock.config.addr, mock)
        return RunProviders(configs, mocks)
    for passed in run.providers:
        name = str(passed.in_parent.config)
        found = file.providers.get(name) or file.mocks.get(name)
        if found is None:
            diags.error(
                "Provider block not found",
                f"The test file has neither a provider nor a mock_provider block for {name}. The "
                "providers of a run are those of its test file: add a block there.",
                passed.in_parent.range,
            )
        else:
            put(passed.in_child.config, found)
    return RunProviders(configs, mocks)


def _bound(config: ProviderConfig, names: Names) -> ProviderConfig:
    """Bind `run` and the test's variables in a provider block of a test file."""
    for_each = config.for_each
    return replace(
        config,
        body=BoundBody(config.body, names),
        for_each=None if for_each is None else BoundExpression(for_each, names),
    )


def merged_overrides(file: Overrides, run: Overrides, diags: Diagnostics) -> Overrides:
    """Combine all overrides of a run; its own take precedence over those of the file."""
    own = {each.name for each in run.resources}
    modules = {each.target for each in run.modules}
    for each in file.resources:
        if each.name in own:
            _warn_of_two(each.name, each, diags)
    for module in file.modules:
        if module.target in modules:
            _warn_of_two(str(module.target), module, diags)
    kept = tuple(each for each in file.modules if each.target not in modules)
    return Overrides((*run.resources, *file.resources), (*run.modules, *kept))


def _warn_of_two(
    name: str, override: OverrideResource | OverrideModule, diags: Diagnostics
) -> None:
    diags.warning(
        "Override in the file not used",
        f"Both the run and its file override {name}. The run's own override is used.",
        override.range,
    )


class TestedModules:
    """Loads modules, and empties the overridden ones."""

    __test__ = False

    def __init__(self, modules: Modules, overrides: Sequence[OverrideModule]) -> None:
        self._modules = modules
        self._overrides = {each.target: each.outputs for each in overrides}
        self._made: dict[tuple[ModuleAddr, int], CompiledModule] = {}
        self.replaced: dict[ModuleAddr, Module] = {}
        """The original modules of the overridden ones."""

    @property
    def expanded(self) -> frozenset[tuple[ModuleAddr, str]]:
        """Calls with overrides for single instances."""
        found: set[tuple[ModuleAddr, str]] = set()
        for target in self._overrides:
            at = target
            while at.parent is not None:
                if at.key is not None:
                    found.add((at.parent.unkeyed, at.name))
                at = at.parent
        return frozenset(found)

    def load_all(
        self, wanted: Sequence[tuple[InstallModule, ModuleInstance]], diags: Diagnostics
    ) -> Sequence[CompiledModule | None]:
        found = self._modules.load_all(wanted, diags)
        return [
            module if module is None else self._replaced(effect.addr, module)
            for (effect, _), module in zip(wanted, found, strict=True)
        ]

    def library_at(self, directory: str, diags: Diagnostics) -> LibraryDeclarations | None:
        return self._modules.library_at(directory, diags)

    def _replaced(self, addr: ModuleAddr, compiled: CompiledModule) -> CompiledModule:
        targets = [each for each in self._overrides if _is_meant(each, addr)]
        if not targets:
            return compiled
        # The most specific override wins.
        target = max(targets, key=_precision)
        outputs = self._overrides[target]
        self.replaced[target] = compiled.module
        made = target, id(compiled.declared)
        if made not in self._made:
            self._made[made] = compiled.with_module(_emptied(compiled.module, outputs))
        return self._made[made].at(compiled.module.directory)


def _is_meant(target: ModuleAddr, addr: ModuleAddr) -> bool:
    """Check whether a target covers a module instance; a call without a key covers all its
    instances.
    """
    return target.names == addr.names and all(
        wanted is None or wanted == key
        for (_, wanted), (_, key) in zip(target.steps, addr.steps, strict=True)
    )


def _precision(target: ModuleAddr) -> int:
    return sum(key is not None for _, key in target.steps)


def _emptied(module: Module, outputs: Values) -> Module:
    """Build a module without resources and with these outputs; all others are null."""
    return replace(
        module,
        locals={},
        calls={},
        resources={},
        provider_configs={},
        checks={},
        moved=(),
        removed=(),
        imports=(),
        outputs={
            name: _given(output, outputs.get(name, null(DYNAMIC)))
            for name, output in module.outputs.items()
        },
    )


def _given(output: Output, value: Value) -> Output:
    expr = output.expr
    literal = Literal(expr.source, expr.start, expr.end, value)
    return replace(output, expr=literal, depends_on=(), preconditions=())


def check_targets(
    overrides: Overrides,
    static: StaticRun,
    replaced: Mapping[ModuleAddr, Module],
    diags: Diagnostics,
) -> None:
    """Report overrides of undeclared objects."""
    modules: dict[ModuleAddr, dict[int, Module]] = {}
    for addr, module in replaced.items():
        modules.setdefault(addr, {})[id(module)] = module
    for frame in static.frames():
        address, module = frame.instance.addr, frame.instance.module
        if not any(_is_meant(each, address) for each in replaced):
            modules.setdefault(address.unkeyed, {})[id(module)] = module
    for each in overrides.resources:
        if any(each.target.module.is_inside(addr.unkeyed) for addr in replaced):
            continue
        _check_resource(each, modules.get(each.target.module, {}).values(), diags)
    for override in overrides.modules:
        found = modules.get(override.target)
        if found is None:
            if not any(override.target.is_inside(addr) for addr in replaced):
                _report_no_module(override.target, override, diags)
            continue
        for name in override.outputs:
            if not any(name in module.outputs for module in found.values()):
                diags.warning(
                    "Override of an output that does not exist",
                    f'{override.target} has no output "{name}", so its value is not used.',
                    override.range,
                )


def _check_resource(
    override: OverrideResource, modules: Collection[Module], diags: Diagnostics
) -> None:
    if not modules:
        _report_no_module(override.target.module, override, diags)
        return
    if not any(override.target.item in module.resources for module in modules):
        diags.error(
            "Override of a resource that does not exist",
            f"The tested configuration has no {override.target}, so it cannot be overridden. The "
            "overrides of a file apply to all of its runs, including those of other modules.",
            override.range,
        )
    elif override.target.item.mode is not override.mode:
        wanted = {"managed": "override_resource", "data": "override_data"}
        block = wanted.get(override.target.item.mode.name.lower(), "another block")
        diags.error(
            "Override of the wrong kind",
            f"{override.target} cannot be overridden with this block. Use {block}.",
            override.range,
        )


def _report_no_module(
    addr: ModuleAddr, override: OverrideResource | OverrideModule, diags: Diagnostics
) -> None:
    diags.error(
        "Override in a module that does not exist",
        f"The tested configuration has no {addr}, so nothing in it can be overridden. The "
        "overrides of a file apply to all of its runs, including those of other modules.",
        override.range,
    )
