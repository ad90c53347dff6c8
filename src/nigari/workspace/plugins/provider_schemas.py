"""Schemas of providers, for commands that want nothing else of them.

Where all schemas are known from an earlier run, no process is started and no event loop needed.
Without one, `await asyncio.sleep(0)` asks for an event loop when a process is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from nigari.addrs.provider import Provider
from nigari.addrs.resource import DATA
from nigari.diagnostics import Diagnostics
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.addrs.resource import Resource
    from nigari.lang.versions import Version
    from nigari.schema.provider import ProviderSchema, Schema
    from nigari.state.objects import SchemaLookup
    from nigari.workspace.plugins.provider_start import ProviderStart
    from nigari.workspace.plugins.providers import InstalledProviders


def builtin_schemas(providers: Iterable[Provider]) -> Mapping[Provider, ProviderSchema]:
    """The schemas of those of the providers that are part of the program."""
    builtin = [each for each in providers if each.is_builtin]
    if not builtin:
        return {}
    from nigari.providers.builtin.schema import SCHEMA

    return dict.fromkeys(builtin, SCHEMA)


async def offered_schemas(
    installed: InstalledProviders, providers: Iterable[Provider], diags: Diagnostics
) -> Mapping[Provider, ProviderSchema]:
    """The schemas of providers; whatever has none is reported."""
    wanted = list(dict.fromkeys(providers))
    if not (plugins := _plugins(installed, wanted)):
        return await _schemas(installed, wanted, {}, diags)
    from nigari.workspace.plugins.provider_start import Purpose
    from nigari.workspace.plugins.schema_cache import Form

    begun = {each: installed.begin(each, Purpose.SCHEMA) for each in plugins}
    if all(installed.cache.has(each, Form.MESSAGES) for each in begun):
        # Most likely no process is needed, nor what talks to one.
        import nigari.providers.wire.stored_schema  # noqa: F401 - the threads need it next

        _wait(begun)
    return await _schemas(installed, wanted, begun, diags)


def schema_lookup(where: WorkingDirectory) -> Callable[[Provider], ProviderSchema | None]:
    """Finds what a provider offers, each asked once; nothing for one that cannot be asked."""
    from functools import cache

    from nigari.workspace.context.asyncio_bridge import run_until_it_waits
    from nigari.workspace.plugins.providers import InstalledProviders

    installed = InstalledProviders(where)

    @cache
    def find(provider: Provider) -> ProviderSchema | None:
        asked = offered_schemas(installed, [provider], Diagnostics())
        return run_until_it_waits(asked).get(provider)

    return find


def nearest_schema(
    installed: InstalledProviders, provider: Provider
) -> tuple[Version, ProviderSchema] | None:
    """Return the cached schema of the version that is nearest to the locked one, with its version, for
    a provider that is not installed.
    """
    from nigari.providers.wire.stored_schema import schema_from_bytes

    lock = installed.locks.providers.get(provider)
    found = installed.cache.nearest(provider, None if lock is None else lock.version)
    if found is None:
        return None
    version, encoded = found
    try:
        return version, schema_from_bytes(encoded)
    except ValueError:
        return None


def find_in(schemas: Mapping[Provider, ProviderSchema]) -> SchemaLookup:
    """Finds the schema of what a state holds."""

    def find(provider: Provider, resource: Resource) -> Schema | None:
        offered = schemas.get(provider)
        if offered is None:
            return None
        of_mode = offered.data_sources if resource.mode is DATA else offered.resources
        return of_mode.get(resource.type)

    return find


async def schema_texts(
    installed: InstalledProviders, providers: Iterable[Provider], diags: Diagnostics
) -> Mapping[Provider, str]:
    """The schemas of providers as `schemas_text` wants them; whatever has none is reported."""
    wanted = list(dict.fromkeys(providers))
    from nigari.workspace.plugins.provider_start import Purpose
    from nigari.workspace.plugins.schema_cache import Form

    begun = {each: installed.begin(each, Purpose.JSON) for each in _plugins(installed, wanted)}
    if all(installed.cache.has(each, Form.JSON) for each in begun):
        _wait(begun)
    texts: dict[Provider, str] = {}
    rest = [each for each in wanted if each not in begun or begun[each].json is None]
    if rest:
        from nigari.schema.json_form import provider_member

        for each, schema in (await _schemas(installed, rest, begun, diags)).items():
            texts[each] = provider_member(str(each), schema)
            if each in begun and schema.schema_call_optional:
                begun[each].keep_json(texts[each].encode())
    # Some may have come to be known while others were waited for.
    known = {each: begun[each].json for each in begun if each not in texts}
    return texts | {each: json.decode() for each, json in known.items() if json is not None}


def _plugins(installed: InstalledProviders, providers: Sequence[Provider]) -> list[Provider]:
    """Those of the providers whose program has to be started to be asked."""
    return [each for each in providers if not each.is_builtin and not installed.is_attached(each)]


def _wait(begun: Mapping[Provider, ProviderStart]) -> None:
    for beginning in begun.values():
        beginning.wait()


async def _schemas(
    installed: InstalledProviders,
    providers: Sequence[Provider],
    begun: Mapping[Provider, ProviderStart],
    diags: Diagnostics,
) -> Mapping[Provider, ProviderSchema]:
    found: dict[Provider, ProviderSchema | None] = {**builtin_schemas(providers)}
    asked: list[Provider] = []
    for each in providers:
        if each in found:
            continue
        if each in begun and begun[each].is_over:
            begun[each].report(diags)
            found[each] = begun[each].schema
        else:
            asked.append(each)
    if asked:
        import asyncio

        await asyncio.sleep(0)
        answers = await asyncio.gather(*(_told(installed, e, begun.get(e)) for e in asked))
        for each, (schema, reported) in zip(asked, answers, strict=True):
            diags.extend(reported)
            found[each] = schema
    return {each: schema for each, schema in found.items() if schema is not None}


async def _told(
    installed: InstalledProviders, provider: Provider, beginning: ProviderStart | None
) -> tuple[ProviderSchema | None, Diagnostics]:
    """Start a provider process, request its schema, and end it."""
    diags = Diagnostics()
    if beginning is None:
        running = await installed.start(provider, None, diags)
    else:
        running = await beginning.running(diags)
    if running is None:
        return (None if beginning is None else beginning.schema), diags
    try:
        answer = await running.schema()
    finally:
        await running.close()
    if answer.diagnostics:
        from nigari.providers.diagnostics import located

        diags.extend(located(answer.diagnostics))
    return answer.schema, diags
