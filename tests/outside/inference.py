"""Schemas of providers that cannot be reached, worked out from the configurations that use them.

What is written becomes an argument or a block, what is read and never written a result. All
configurations of the set count for each type, so that no directory decides alone what is right.
"""

from __future__ import annotations

import re
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from nigari import cty
from nigari.addrs.provider import Provider
from nigari.config.load import ModuleLoader
from nigari.config.module import Module
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Body
from nigari.hcl.expressions import Expression
from nigari.hcl.native_body import NativeBody
from nigari.lang.files import DiskFiles
from nigari.schema.attribute_blocks import element_block
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.provider import ProviderSchema, Schema
from tests.outside.reads import ELEMENT, FIELD, Kind, Names, paths, texts
from tests.outside.shapes import ModuleShapes, Read, Shape, argument_type, shapes

_META: Final = frozenset(
    ("count", "for_each", "provider", "depends_on", "lifecycle", "provisioner", "connection")
)
_SECRET: Final = ("password", "secret", "private_key", "token", "access_key")
_MANY = re.compile(
    r"(^|_)(ids|names|arns|zones|values|cidrs|blocks|groups|types|keys|methods|headers|roles|regions|"
    r"policies|actions|resources|identifiers|namespaces|addresses|accounts|subnets|instances)$"
)
"""Names of attributes that are lists more often than not."""
_MODES: Final = ("resource", "data", "ephemeral")


@dataclass
class Seen:
    """What was seen of a kind of body: arguments with their shapes, and blocks inside."""

    arguments: dict[str, set[Shape]] = field(default_factory=dict)
    blocks: dict[str, Seen] = field(default_factory=dict)
    repeated: bool = False

    def add(self, body: Body, known: ModuleShapes, skipped: frozenset[str] = frozenset()) -> None:
        if not isinstance(body, NativeBody):
            return
        for name, attribute in body.attributes.items():
            if name not in skipped:
                self.arguments.setdefault(name, set()).update(shapes(attribute.expr, known))
        counted: dict[str, int] = defaultdict(int)
        for block in body.blocks:
            if block.type in skipped:
                continue
            name, inner = block.type, block.body
            if name == "dynamic" and block.labels and isinstance(inner, NativeBody):
                name = block.labels[0]
                counted[name] += 1
                contents = [each.body for each in inner.blocks if each.type == "content"]
            else:
                contents = [inner]
            counted[name] += 1
            nested = self.blocks.setdefault(name, Seen())
            nested.repeated = nested.repeated or counted[name] > 1
            for content in contents:
                nested.add(content, known)


@dataclass
class Observations:
    """Everything that was seen, by kind; and which provider serves which kinds."""

    seen: dict[Kind, Seen] = field(default_factory=dict)
    read: dict[Kind, Read] = field(default_factory=dict)
    configurations: dict[str, Seen] = field(default_factory=dict)
    metas: dict[str, Seen] = field(default_factory=dict)
    served: dict[str, set[Kind]] = field(default_factory=dict)

    def add_directories(self, directories: Iterable[str]) -> None:
        for directory in directories:
            module = ModuleLoader(DiskFiles()).load(directory, Diagnostics())
            if module is not None:
                self._add(module)

    def _add(self, module: Module) -> None:
        known = ModuleShapes(
            {name: each.type for name, each in module.variables.items()},
            {name: each.expr for name, each in module.locals.items()},
        )
        for required in module.required_providers.values():
            if required.provider is not None:
                self._served(required.provider)
        for resource in module.resources.values():
            # OpenTofu has no actions: a directory with one is not compared for its schema.
            if resource.block.type not in _MODES:
                continue
            kind = (resource.block.type, resource.addr.type)
            self.seen.setdefault(kind, Seen()).add(resource.block.body, known, _META)
            self._served(module.provider(resource.provider_name)).add(kind)
            ignored = resource.lifecycle.ignore_changes
            for traversal in ignored if isinstance(ignored, tuple) else ():
                self.read.setdefault(kind, Read()).add(texts(traversal.steps), is_list=False)
        for local, configured in module.provider_configs.items():
            provider = module.provider(local.name)
            if provider is not None:
                self._served(provider)
                seen = self.configurations.setdefault(str(provider), Seen())
                seen.add(configured.block.body, known, _CONFIGURED)
        for name, meta in module.provider_metas.items():
            provider = module.provider(name)
            if provider is not None:
                self.metas.setdefault(str(provider), Seen()).add(meta.block.body, known)
        names = Names(known.locals)
        for expression, kind_around in _expressions(module):
            names.self_kind = kind_around
            for path, is_list in paths(expression, names):
                steps = _without_keys(path.steps)
                if steps:
                    self.read.setdefault(path.kind, Read()).add(steps, is_list)

    def _served(self, provider: Provider | None) -> set[Kind]:
        # What is built into the programs has a schema already, which a stub would hide.
        if provider is None or provider.is_builtin:
            return set()
        return self.served.setdefault(str(provider), set())

    def schema(self, provider: str) -> ProviderSchema:
        """What a provider offers."""
        found: Mapping[str, dict[str, Schema]] = {mode: {} for mode in _MODES}
        for kind in sorted(self.served.get(provider, ())):
            mode, name = kind
            block = _block(
                self.seen.get(kind, Seen()), self.read.get(kind), f"{mode} {name}", {"id"}
            )
            found[mode][name] = Schema(block)
        configuration = _block(self.configurations.get(provider, Seen()), None, provider, set())
        meta = self.metas.get(provider)
        return ProviderSchema(
            Schema(configuration),
            resources=found["resource"],
            data_sources=found["data"],
            ephemeral_resources=found["ephemeral"],
            provider_meta=None if meta is None else Schema(_block(meta, None, provider, set())),
        )


_CONFIGURED: Final = frozenset(("alias", "version", "for_each", "count"))


def _without_keys(steps: tuple[str, ...]) -> tuple[str, ...]:
    """Without the key of a resource instance, and any other index before the first attribute."""
    while steps and steps[0] in (ELEMENT, FIELD):
        steps = steps[1:]
    return steps


def _expressions(module: Module) -> Iterator[tuple[Expression, Kind | None]]:
    for local in module.locals.values():
        yield local.expr, None
    for output in module.outputs.values():
        yield from ((each, None) for each in _in_body(output.block.body))
    for resource in module.resources.values():
        kind = (resource.block.type, resource.addr.type)
        yield from ((each, kind) for each in _in_body(resource.block.body))
    for call in module.calls.values():
        yield from ((each, None) for each in _in_body(call.block.body))
    for configured in module.provider_configs.values():
        yield from ((each, None) for each in _in_body(configured.block.body))
    for check in module.checks.values():
        yield from ((each, None) for each in _in_body(check.block.body))


def _in_body(body: Body) -> Iterator[Expression]:
    if isinstance(body, NativeBody):
        for attribute in body.attributes.values():
            yield attribute.expr
        for block in body.blocks:
            yield from _in_body(block.body)


def _block(seen: Seen, read: Read | None, about: str, results: set[str]) -> Block:
    reads = {} if read is None else read.attributes
    attributes: dict[str, Attribute] = {}
    blocks: dict[str, NestedBlock] = {}
    for name, inner in seen.blocks.items():
        nested = _nested(inner, reads.get(name), f"{about}.{name}", name)
        as_attribute = cty.ListType(nested.block.implied_type)
        if name in seen.arguments and element_block(as_attribute) and not as_attribute.has_dynamic:
            attributes[name] = Attribute(as_attribute, optional=True, computed=True)
        else:
            blocks[name] = nested
    for name in {*seen.arguments, *reads, *results} - blocks.keys() - attributes.keys():
        attributes[name] = _attribute(seen, reads, name, about)
    return Block(attributes, blocks)


def _attribute(seen: Seen, reads: Mapping[str, Read], name: str, about: str) -> Attribute:
    """No provider that we know has attributes of any type in blocks; OpenTofu crashes on some."""
    is_nested = "." in about.partition(" ")[2]
    written = seen.arguments.get(name)
    read = reads.get(name)
    type_ = argument_type(frozenset(written or ()), read)
    if written is None and read is None:
        type_ = cty.STRING
    elif not written and type_ == cty.DYNAMIC and is_nested:
        type_ = cty.ListType(cty.STRING) if _MANY.search(name) else cty.STRING
    elif not written and type_ == cty.STRING and about.startswith("data ") and _MANY.search(name):
        type_ = cty.ListType(cty.STRING)
    indexed = read is not None and read.element is not None
    if type_ == cty.ListType(cty.STRING) and not indexed and _chance(f"{about}.{name}", 3):
        type_ = cty.SetType(cty.STRING)
    return Attribute(
        type_,
        optional=written is not None,
        computed=(written is None or read is not None) and not name.endswith("_wo"),
        write_only=name.endswith("_wo") and about.startswith("resource "),
        sensitive=any(word in name for word in _SECRET) and not name.endswith(("_id", "_arn")),
    )


def _nested(seen: Seen, read: Read | None, about: str, name: str) -> NestedBlock:
    element = None if read is None else read.element
    direct = read if read is not None and read.attributes else None
    block = _block(seen, element or direct, about, set())
    if name == "timeouts" or (direct is not None and element is None):
        return NestedBlock(block, Nesting.SINGLE)
    is_free = element is None and not block.implied_type.has_dynamic
    if is_free and not seen.repeated and _chance(about, 4):
        return NestedBlock(block, Nesting.SINGLE)
    if is_free and _chance(about, 3):
        return NestedBlock(block, Nesting.SET)
    return NestedBlock(block, Nesting.LIST)


def _chance(name: str, of: int) -> bool:
    """True for one of so many names, always the same ones."""
    return zlib.crc32(name.encode()) % of == 0
