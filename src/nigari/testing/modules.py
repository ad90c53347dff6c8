"""Modules under test for Python programs, in particular for pytest.

with nigari.testing.module("modules/bucket", {"region": "eu"}, mocks=["aws"]) as bucket:
plan = bucket.plan()
assert plan.actions == {"aws_s3_bucket.logs": "create"}
assert plan.resources["aws_s3_bucket.logs"]["bucket"] == "logs-eu"

States are in memory only, and applied objects are destroyed at the end. A mocked provider needs no
plugin if its schema is cached from an earlier run, and one that is passed as an object needs none
at all.
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import MappingProxyType, TracebackType
from typing import Final, TypeVar

from nigari import cty
from nigari.addrs.absolute import resource_of
from nigari.addrs.provider import Provider
from nigari.addrs.resource import DATA, MANAGED, ResourceMode
from nigari.apply.listener import ApplyListener
from nigari.config.test_files import TestFile, decode_test_file
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.inputs import InputKind, InputValue
from nigari.hcl.parser import parse_body
from nigari.hcl.quoting import quoted
from nigari.hcl.source import Source
from nigari.lang.functions.table import function_table
from nigari.plan.model.changes import Action
from nigari.providers import api
from nigari.providers.base import ProviderBase
from nigari.record import record, replace
from nigari.schema.provider import ProviderSchema
from nigari.state.model import State
from nigari.state.objects import decode
from nigari.testing.execution import (
    Execution,
    Prepared,
    SuiteContext,
    destroy,
    plan_context,
    taken,
)
from nigari.testing.outcome import RunOutcome, Shown
from nigari.testing.plugins import Plugins
from nigari.testing.values import ValueSource
from nigari.workspace.configuration.directory import Workspace
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.plugins.provider_schemas import offered_schemas
from nigari.workspace.plugins.providers import InstalledProviders
from nigari.workspace.session.failure import SessionError

T = TypeVar("T")
__tracebackhide__ = True
"""Hides this module in pytest tracebacks, so that a failure shows the test."""
Values = Mapping[str, object]
_NOTHING: Final[Mapping[str, Values]] = MappingProxyType({})


class UnknownUntilApply:
    """Placeholder for values that are known after apply."""

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = UnknownUntilApply()


@record
class Mocked:
    """A provider with mocked objects, with values for computed attributes."""

    name: str
    """Local name of the provider in the module."""
    resources: Mapping[str, Values] = _NOTHING
    """Values by resource type."""
    data: Mapping[str, Values] = _NOTHING
    """Values by data source type."""
    alias: str = ""


@record
class Result:
    """A plan, or the objects after apply."""

    actions: Mapping[str, str]
    """Planned actions by address: `create`, `update`, `delete`, …"""
    resources: Mapping[str, object]
    """Attribute values of objects by address, as plain Python data; `UNKNOWN` for unknown ones."""
    outputs: Mapping[str, object]

    def snapshot(self) -> str:
        """Write the result as a deterministic text, for snapshot comparisons."""
        data = {"actions": self.actions, "resources": self.resources, "outputs": self.outputs}
        return json.dumps(data, indent=2, sort_keys=True, default=str) + "\n"


def module(
    path: str | os.PathLike[str] = ".",
    variables: Values | None = None,
    *,
    mocks: Sequence[str | Mocked] = (),
    providers: Mapping[str, Callable[[], api.Provider]] | None = None,
    overrides: Mapping[str, Values] | None = None,
) -> ModuleUnderTest:
    """Create a module under test.

    `mocks` are mocked providers. `providers` creates providers in this process, by the last part of
    their source, instead of starting plugins. `overrides` has values for single resources and data
    sources, or outputs of modules, by address.
    """
    mocked = [Mocked(each) if isinstance(each, str) else each for each in mocks]
    return ModuleUnderTest(
        os.fspath(path), dict(variables or {}), mocked, dict(providers or {}), overrides or {}
    )


class ModuleUnderTest:
    """A module that is planned and applied for tests. Close it, or use it in a `with` block."""

    def __init__(
        self,
        path: str,
        variables: dict[str, object],
        mocks: Sequence[Mocked],
        providers: Mapping[str, Callable[[], api.Provider]],
        overrides: Mapping[str, Values],
    ) -> None:
        where = WorkingDirectory(os.environ, path)
        self._workspace = Workspace(where)
        self._variables = variables
        names = {each.name for each in mocks if not each.alias}
        self._plugins = Plugins(_Found(where, names, providers))
        self._file = _test_file(mocks, overrides)
        self._state = State()
        self._prepared: Prepared | None = None
        self._loop = _Loop()

    def plan(self, variables: Values | None = None) -> Result:
        """Plan the module; raise `SessionError` on failure."""
        return self._loop.wait(self._run(0, variables or {}))

    def apply(self, variables: Values | None = None) -> Result:
        """Apply the module, and return its objects; raise `SessionError` on failure."""
        return self._loop.wait(self._run(1, variables or {}))

    def failures(self, variables: Values | None = None) -> list[str]:
        """List the addresses of objects whose conditions fail in a plan: `var.region`, …"""
        try:
            self.plan(variables)
        except SessionError as error:
            found = dict.fromkeys(each.checked for each in error.errors)
            if "" not in found:
                return list(found)
            raise
        return []

    def close(self) -> None:
        """Destroy applied objects, and end all plugins."""
        try:
            self._loop.wait(self._end())
        finally:
            self._loop.close()

    def __enter__(self) -> ModuleUnderTest:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def _run(self, index: int, variables: Values) -> Result:
        outcome = RunOutcome("python")
        context = self._context({**self._variables, **variables})
        run = self._file.runs[index]
        execution = Execution(context, self._file, run, outcome, ApplyListener())
        changed = await execution.execute(self._state, {})
        if changed is not None and execution.prepared is not None:
            self._state, self._prepared = changed, execution.prepared
        if outcome.diags.has_errors or outcome.shown is None:
            raise SessionError(list(outcome.diags), self._workspace.sources)
        return _result(outcome.shown)

    def _context(self, variables: Values) -> SuiteContext:
        workspace = self._workspace
        functions = function_table(
            workspace.files,
            ".",
            root=workspace.where.absolute_root,
            home_directory=workspace.home_directory,
        )
        inputs = {
            name: InputValue(InputKind.CALLER, "the caller", value=Value.of(value))
            for name, value in variables.items()
        }
        values = ValueSource(inputs, functions)
        return SuiteContext(workspace, "default", self._plugins, values, shows=True)

    async def _end(self) -> None:
        reported = Diagnostics()
        try:
            if self._prepared is not None and self._state.has_managed_objects:
                context, diags = plan_context(self._context({}), self._prepared), Diagnostics()
                destroyed = await destroy(context, self._state, ApplyListener(), diags)
                if destroyed is not None:
                    _, self._state = destroyed
                reported.extend(taken(diags, self._plugins))
                await context.close()
        finally:
            await self._plugins.close()
        if reported.has_errors:
            raise SessionError(list(reported), self._workspace.sources)


class _Found(InstalledProviders):
    """Providers in this process, and cached schemas of mocked ones, which need no plugin."""

    def __init__(
        self,
        where: WorkingDirectory,
        mocked: set[str],
        made: Mapping[str, Callable[[], api.Provider]],
    ) -> None:
        super().__init__(where)
        self._mocked = mocked
        self._made = made

    def is_elsewhere(self, provider: Provider) -> bool:
        return provider.type in self._made or super().is_elsewhere(provider)

    async def start(
        self, provider: Provider, known_schema: ProviderSchema | None, diags: Diagnostics
    ) -> api.Provider | None:
        make = self._made.get(provider.type)
        if make is not None:
            return make()
        if provider.type in self._mocked and not provider.is_builtin:
            schema = (await offered_schemas(self, [provider], diags)).get(provider)
            return None if schema is None else _SchemaOnly(schema)
        return await super().start(provider, known_schema, diags)


class _SchemaOnly(ProviderBase):
    """A provider that only has a schema, for mocks."""

    def __init__(self, schema: ProviderSchema) -> None:
        self._schema = schema

    async def schema(self) -> api.SchemaResponse:
        return api.SchemaResponse(self._schema)

    async def validate_resource(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def validate_data(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()

    async def validate_ephemeral(self, type_name: str, config: cty.Value) -> api.Response:
        return api.Response()


class _Loop:
    """A separate event loop, so that tests may have one too."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def wait(self, work: Coroutine[object, object, T]) -> T:
        try:
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()
        except SessionError as error:
            # The exception has the reason; its traceback would only show the loop.
            raise error.with_traceback(None) from None

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _test_file(mocks: Sequence[Mocked], overrides: Mapping[str, Values]) -> TestFile:
    """Build the equivalent test file."""
    parts = ['run "plan" {\n  command = plan\n}\nrun "apply" {}\n']
    for mock in mocks:
        alias = f"  alias = {quoted(mock.alias)}\n" if mock.alias else ""
        parts.append(f"mock_provider {quoted(mock.name)} {{\n{alias}}}\n")
    parts += [f"{_override_kind(address)} {{\n  target = {address}\n}}\n" for address in overrides]
    diags = Diagnostics()
    source = Source("<test>", "".join(parts))
    file = decode_test_file("python", parse_body(source, diags), diags)
    if diags.has_errors:
        raise SessionError(list(diags), {"<test>": source.text.encode()})
    given = list(overrides.values())
    named = {mock.config.alias + "." + mock.config.name: mock for mock in file.mocks.values()}
    replaced = {
        str(named[f"{mock.alias}.{mock.name}"].config.addr): replace(
            named[f"{mock.alias}.{mock.name}"], defaults=_defaults(mock)
        )
        for mock in mocks
    }
    is_module = [_override_kind(address) == "override_module" for address in overrides]
    resources = [_values(each) for each, whole in zip(given, is_module, strict=True) if not whole]
    modules = [_values(each) for each, whole in zip(given, is_module, strict=True) if whole]
    own = file.overrides
    return replace(
        file,
        mocks=replaced,
        overrides=replace(
            own,
            resources=tuple(
                replace(each, values=values)
                for each, values in zip(own.resources, resources, strict=True)
            ),
            modules=tuple(
                replace(each, outputs=values)
                for each, values in zip(own.modules, modules, strict=True)
            ),
        ),
    )


def _override_kind(address: str) -> str:
    """Return the type of override block for an address."""
    steps = address.split(".")
    while steps[:1] == ["module"]:
        steps = steps[2:]
    if not steps:
        return "override_module"
    return "override_data" if steps[0] == "data" else "override_resource"


def _defaults(mock: Mocked) -> Mapping[tuple[ResourceMode, str], Mapping[str, Value]]:
    found: dict[tuple[ResourceMode, str], Mapping[str, Value]] = {}
    for mode, given in ((MANAGED, mock.resources), (DATA, mock.data)):
        found.update(((mode, name), _values(each)) for name, each in given.items())
    return found


def _values(given: Values) -> Mapping[str, Value]:
    return {name: Value.of(value) for name, value in given.items()}


def _result(shown: Shown) -> Result:
    plan = shown.outcome.plan
    changed = [each for each in plan.changes if not each.deposed]
    actions = {
        str(each.address): _action(each.action)
        for each in changed
        if each.action is not Action.NO_OP
    }
    if shown.state is None:
        values = {str(each.address): plain(each.after) for each in changed}
        outputs = {name: plain(each.after) for name, each in plan.outputs.items()}
        return Result(actions, values, outputs)
    values = {}
    for address, instance in shown.state.instances():
        manager = shown.state.resources[resource_of(address)].manager_of(address.item.key)
        schema = shown.outcome.inputs.pool.schema_of(manager.item.provider, address.item.resource)
        if instance.current is not None and schema is not None:
            values[str(address)] = plain(decode(instance.current, schema))
    outputs = {name: plain(each.value) for name, each in shown.state.outputs.items()}
    return Result(actions, values, outputs)


def _action(action: Action) -> str:
    return "replace" if action.is_replace else action.value


def plain(value: Value) -> object:
    """Convert a value to plain Python data, including sensitive parts; unknown ones are `UNKNOWN`."""
    return value.unmark_deep()[0].to_python(unknown=UNKNOWN)
