"""The files of one module, rewritten for a plain configuration.

Every change is an edit of the text, so comments and layout of everything else stay.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import LocalProviderConfig
from nigari.config.blocks.provider_config import ProviderConfig, written_alias
from nigari.config.core.declared import Repetition, dependency_value
from nigari.eval.core.module_tree import InstanceData, ModuleInstance
from nigari.hcl.body import Attribute, Block
from nigari.hcl.collections import ObjectConstructor
from nigari.hcl.edits import Edit, applied
from nigari.hcl.expressions import Expression
from nigari.hcl.formatter import format
from nigari.hcl.native_body import NativeBody
from nigari.hcl.quoting import quoted
from nigari.hcl.render import render_value
from nigari.hcl.source import Source
from nigari.hcl.static import expr_as_keyword
from nigari.plain.addresses import Addresses
from nigari.plain.block_edits import (
    REPETITION,
    comment_start,
    is_first,
    label_edit,
    line_removed,
    lines_removed,
    repetition_of,
    replaced,
)
from nigari.plain.expressions import InstanceWords, Rewriting, SplitBlock, object_of
from nigari.plain.instance_words import instance_words, key_literal
from nigari.plain.passed_inputs import InputModule
from nigari.plain.provider_blocks import IteratedProvider, iterated_provider
from nigari.plain.provider_texts import ProviderTexts
from nigari.plain.resource_splits import ResourceSplit, split_resource
from nigari.plain.static_values import StaticValues
from nigari.plain.target import TERRAFORM
from nigari.plain.variants import CallPlan, Variant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeAlias

SourceText: TypeAlias = Callable[[Expression, ModuleInstance], "str | None"]
"""The text for the source of a called module; None if it can stay as written."""


class ModuleText:
    """One module, with all that changes in it."""

    def __init__(
        self,
        values: StaticValues,
        variant: Variant,
        source_text: SourceText,
        others: Mapping[ModuleAddr, Variant],
        module_path: str | None = None,
        inputs: InputModule | None = None,
    ) -> None:
        """`others` are the variants of all modules; `module_path` is what `path.module` was, if the module is written elsewhere;
        `inputs` is the module that variables move into.
        """
        self._values = values
        self._variant = variant
        self._source_text = source_text
        self._inputs = inputs
        frame = variant.frame
        self._resources = {
            str(addr): split
            for addr, resource in variant.module.resources.items()
            if (split := split_resource(values, variant.frames, resource)) is not None
        }
        blocks = {name: each.block for name, each in self._resources.items()}
        for name, plan in variant.calls.items():
            if plan.names is not None:
                blocks[f"module.{name}"] = _split_call(plan)
        if inputs is not None:
            blocks.update(inputs.replacements)
        root = "terraform" if values.target.program == TERRAFORM else "tofu"
        self._rewriting = Rewriting(values.literals[frame], blocks, module_path, root)
        self._addresses = Rewriting(values.literals[frame], {}, module_path, root)
        self._places = Addresses(self._addresses, blocks, variant, others)
        self._providers = ProviderTexts(values, frame, self._rewriting)

    def file(self, body: NativeBody) -> str:
        """The new text of a file, in standard layout if it was."""
        edits: list[Edit] = []
        for block in body.blocks:
            if self._inputs is not None and self._inputs.takes(block):
                edits.append(lines_removed(block))
            else:
                edits += _BLOCKS.get(block.type, ModuleText._usual)(self, block)
        text = body.source.text
        new = applied(text, edits)
        return format(new) if new != text and format(text) == text else new

    def copies(self, body: NativeBody, wanted: Callable[[Block], bool]) -> str:
        """Return the rewritten variables of a file that another module declares, with comments."""
        text = body.source.text
        return "\n".join(
            f"{text[comment_start(each) : each.start]}{self._copy(each, self.variable(each))}\n"
            for each in body.blocks
            if wanted(each)
        )

    def changes_in(self, source: Source) -> list[str]:
        """Return the necessary changes to a JSON file, which is not rewritten."""
        name = posixpath.basename(source.filename)
        literals = self._values.literals[self._variant.frame]
        found = [source.text[start:end] for file, start, end in literals if file == name]
        found += [name for name in self._rewriting.split if name in source.text]
        for call_name, plan in self._variant.calls.items():
            child = next(iter(plan.children.values()), None)
            is_here = posixpath.basename(plan.call.source.source.filename) == name
            is_split = plan.names is not None
            if is_here and (is_split or (child and self._source_text(plan.call.source, child))):
                found.append(f"module.{call_name}")
        return found

    # -- any block ----------------------------------------------------------------------------

    def _usual(self, block: Block) -> list[Edit]:
        return [*self._inside(block)]

    def _inside(
        self,
        block: Block,
        words: InstanceWords | None = None,
        skip: Sequence[str] = (),
        rewriting: Rewriting | None = None,
    ) -> Iterator[Edit]:
        """The edits of the expressions in a block, except in some of its own arguments."""
        rewriting = rewriting or self._rewriting
        for attribute in block.attributes.values():
            if attribute.name in skip:
                continue
            if attribute.name in ("depends_on", "replace_triggered_by"):
                yield from self._list(attribute, words)
            else:
                yield from rewriting.edits(attribute.expr, words)
        for inner in block.blocks:
            if inner.type == "data" and block.type == "check":
                yield from self.resource(inner)
            elif inner.type == "lifecycle":
                yield from self._lifecycle(inner, words)
            else:
                yield from self._inside(inner, words, (), rewriting)

    def _lifecycle(self, block: Block, words: InstanceWords | None) -> Iterator[Edit]:
        target = self._values.target
        gone = [name for name in ("enabled", "destroy") if not target.has(f"lifecycle.{name}")]
        gone = [name for name in gone if name in block.attributes]
        yield from (line_removed(block.attributes[name]) for name in gone)
        yield from self._inside(block, words, gone)

    def _list(self, attribute: Attribute, words: InstanceWords | None) -> Iterator[Edit]:
        """The edit of a list of addresses, if it changes."""
        elements = attribute.expr.static_list()
        texts: list[list[str]] = []
        for each in elements or ():
            value = dependency_value(each) if attribute.name == "depends_on" else None
            if value is None:
                texts.append(self._rewriting.addresses(each, words))
            else:
                texts.append(self._rewriting.whole_addresses(value))
        written = [each.source.text[each.start : each.end] for each in elements or ()]
        if [[each] for each in written] != texts:
            whole = ", ".join(text for each in texts for text in each)
            yield Edit(attribute.expr.start, attribute.expr.end, f"[{whole}]")

    def _copy(self, block: Block, edits: Iterable[Edit]) -> str:
        """The text of a block after edits, in standard layout."""
        start = block.start
        moved = [Edit(each.start - start, each.end - start, each.text) for each in edits]
        text = applied(block.source.text[start : block.end], moved)
        return format(f"{text}\n").rstrip("\n")

    # -- module calls -------------------------------------------------------------------------

    def module(self, block: Block) -> list[Edit]:
        plan = self._variant.calls.get(block.labels[0])
        if plan is None:
            return self._usual(block)
        if plan.names is None:
            child = next(iter(plan.children.values()), None)
            return [*self._call(block, child, None)]
        copies: list[str] = []
        moves: list[tuple[str, str]] = []
        for key, name in plan.names.items():
            child = plan.children[key]
            words = instance_words(
                key, plan.call.repetition, self._data(plan, key), self._rewriting
            )
            edits = [label_edit(block, 0, name), *self._call(block, child, words)]
            edits += [line_removed(each) for each in repetition_of(block)]
            copies.append(self._copy(block, edits))
            if key is not None:
                old = f"module.{plan.call.name}[{key_literal(key)}]"
                moves.append((old, f"module.{name}"))
        return [replaced(block, copies, moves if is_first(block, plan.call.block) else ())]

    def _data(self, plan: CallPlan, key: InstanceKey) -> list[InstanceData]:
        """Return the values of `each` and `count` in an instance of a call, in all modules that
        contain it.
        """
        callers = [
            frame.instance.children.get(plan.call.name, {}) for frame in self._variant.frames
        ]
        return [children[key].data for children in callers if key in children]

    def _call(
        self, block: Block, child: ModuleInstance | None, words: InstanceWords | None
    ) -> Iterator[Edit]:
        given = block.attributes
        source, version = given.get("source"), given.get("version")
        texts: list[tuple[Attribute | None, str | None]] = []
        if child is not None:
            if source is not None:
                texts.append((source, self._source_text(source.expr, child)))
            texts.append((version, self._values.versions.get(child)))
        for attribute, text in texts:
            if attribute is not None and text is not None:
                yield Edit(attribute.expr.start, attribute.expr.end, text)
            elif attribute is not None:
                yield from self._rewriting.edits(attribute.expr, words)
        if "providers" in given:
            yield from self._providers.passed(given["providers"].expr, words, child)
        dropped = () if words is None else REPETITION
        yield from self._inside(block, words, ("source", "version", "providers", *dropped))

    # -- providers ----------------------------------------------------------------------------

    def provider(self, block: Block) -> list[Edit]:
        addr = LocalProviderConfig(block.labels[0], written_alias(block.body) or "")
        config = self._variant.module.provider_configs.get(addr)
        if config is None or not config.is_expanded:
            return self._usual(block)
        names = self._providers.names(addr)
        if not self._values.target.has("provider for_each"):
            return [self._provider_copies(block, config, names)]
        found = iterated_provider(self._values, self._variant.frame, config, self._rewriting)
        return [*self._iterated(block, found)]

    def _iterated(self, block: Block, found: IteratedProvider) -> Iterator[Edit]:
        for attribute in repetition_of(block):
            if found.text is not None:
                text = f"for_each = {found.text}"
                yield Edit(attribute.name_start, attribute.expr.end, text)
        skipped = () if found.text is None else REPETITION
        yield from self._inside(block, found.words, skipped)

    def _provider_copies(
        self, block: Block, config: ProviderConfig, names: Mapping[InstanceKey, str]
    ) -> Edit:
        copies: list[str] = []
        repetition = Repetition(config.count, config.for_each)
        nodes = [self._values.run.providers[frame][config.addr] for frame in self._variant.frames]
        for key, name in names.items():
            data = [node.instances[key] for node in nodes if key in node.instances]
            words = instance_words(key, repetition, data, self._rewriting)
            edits = [*self._inside(block, words, ("alias", *REPETITION))]
            alias = block.attributes.get("alias")
            if alias is not None:
                edits.append(Edit(alias.expr.start, alias.expr.end, quoted(name)))
            edits += [line_removed(each) for each in repetition_of(block)]
            copies.append(self._copy(block, edits))
        return replaced(block, copies, ())

    # -- resources ----------------------------------------------------------------------------

    def resource(self, block: Block) -> list[Edit]:
        prefix = "" if block.type == "resource" else f"{block.type}."
        split = self._resources.get(f"{prefix}{'.'.join(block.labels)}")
        if split is None:
            return [*self._selected(block), *self._inside(block, None, ("provider",))]
        copies = [self._resource_copy(block, split, key) for key in split.names]
        moves = split.moves if is_first(block, split.resource.block) else ()
        return [replaced(block, copies, moves)]

    def _selected(self, block: Block) -> Iterator[Edit]:
        provider = block.attributes.get("provider")
        if provider is not None:
            text = self._providers.reference(provider.expr, None)
            yield Edit(provider.expr.start, provider.expr.end, text)

    def _resource_copy(self, block: Block, split: ResourceSplit, key: InstanceKey) -> str:
        given, ref = block.attributes, split.reference
        edits = [label_edit(block, 1, split.names[key])]
        if "provider" in given:
            expr = given["provider"].expr
            edits.append(Edit(expr.start, expr.end, f"{ref.name}.{split.aliases[key]}"))
        words = None
        if split.resource.repetition.count is not None:
            data = split.data[key]
            words = instance_words(key, split.resource.repetition, data, self._rewriting)
            edits += [line_removed(each) for each in repetition_of(block)]
        elif "for_each" in given:
            expr = given["for_each"].expr
            edits.append(Edit(expr.start, expr.end, self._filtered(split, expr, key)))
        edits += self._inside(block, words, ("provider", *REPETITION))
        return self._copy(block, edits)

    def _filtered(self, split: ResourceSplit, for_each: Expression, key: InstanceKey) -> str:
        """The instances that select a provider key."""
        assert split.reference.key is not None
        words = InstanceWords("key", lambda steps: f"value{steps}")
        selected = self._rewriting.text(split.reference.key, words)
        selected = selected if isinstance(key, str) else f"tostring({selected})"
        collection = self._rewriting.text(for_each)
        wanted = quoted(str(key))
        return f"{{ for key, value in {collection} : key => value if {selected} == {wanted} }}"

    # -- everything else ----------------------------------------------------------------------

    def terraform(self, block: Block) -> list[Edit]:
        edits: list[Edit] = []
        for inner in block.blocks:
            if inner.type == "backend" and self._variant.path.is_root:
                edits += self._backend(inner)
                continue
            if inner.type != "required_providers":
                edits += self._inside(inner)
                continue
            for attribute in inner.attributes.values():
                aliases, text = None, None
                for key, value in attribute.expr.static_map() or ():
                    if expr_as_keyword(key) == "configuration_aliases":
                        aliases, text = value, self._providers.configuration_aliases(value)
                if aliases is not None and text is not None:
                    edits.append(Edit(aliases.start, aliases.end, text))
                if isinstance(attribute.expr, ObjectConstructor):
                    for _, value in attribute.expr.items:
                        if value is not aliases:
                            edits += self._rewriting.edits(value)
                else:
                    edits += self._rewriting.edits(attribute.expr)
        for attribute in block.attributes.values():
            edits += self._rewriting.edits(attribute.expr)
        return edits

    def _backend(self, block: Block) -> Iterator[Edit]:
        """The arguments of a backend block, some of which an environment gives."""
        given = self._values.backend
        yield from self._inside(block, None, [*given])
        added: list[str] = []
        for name, value in given.items():
            attribute, text = block.attributes.get(name), render_value(value, "    ")
            if attribute is None:
                added.append(f"\n    {name} = {text}")
            else:
                yield Edit(attribute.expr.start, attribute.expr.end, text)
        if added:
            end = block.open_start + 1
            is_empty = not block.attributes and not block.blocks
            yield Edit(end, end, "".join(added) + ("\n  " if is_empty else ""))

    def variable(self, block: Block) -> list[Edit]:
        dropped = [
            each
            for name, each in block.attributes.items()
            if name in ("const", "deprecated") and not self._values.target.has(name)
        ]
        edits = [line_removed(each) for each in dropped]
        skipped = [each.name for each in dropped]
        return [*edits, *self._inside(block, None, ("type", *skipped))]

    def moved(self, block: Block) -> list[Edit]:
        """Addresses inside an instance that has a new address follow it."""
        edits: list[Edit] = []
        for attribute in block.attributes.values():
            expr = attribute.expr
            text = self._places.followed(expr)
            if text != expr.source.text[expr.start : expr.end]:
                edits.append(Edit(expr.start, expr.end, text))
        return edits

    def removed(self, block: Block) -> list[Edit]:
        """Others remove whole blocks only: an instance gets an address of its own before."""
        edits = [*self._inside(block, None, ("from",), self._addresses)]
        given = block.attributes.get("from")
        if given is None:
            return edits
        old = self._places.followed(given.expr)
        parts = self._places.parts(old)
        if parts:
            place = given.expr.start, given.expr.end
            return [
                replaced(
                    block, [self._copy(block, [*edits, Edit(*place, each)]) for each in parts], ()
                )
            ]
        new = self._places.without_keys(old) if "[" in old else old
        edits.append(Edit(given.expr.start, given.expr.end, new))
        if new != old:
            text = f"\n\nmoved {{\n  from = {old}\n  to   = {new}\n}}"
            edits.append(Edit(block.end, block.end, text))
        return edits

    def imported(self, block: Block) -> list[Edit]:
        edits = [*self._selected(block), *self._inside(block, None, ("provider", "to"))]
        target = block.attributes.get("to")
        if target is not None:
            text = self._places.in_modules(target.expr) or self._rewriting.text(target.expr)
            if text.startswith(("{", "[", "merge(")):
                self._values.refuse(
                    "Import into an instance that a value selects",
                    f"The instances of the target become blocks of their own in "
                    f"{self._values.target.title}, so the address needs literal keys. Write an "
                    "import block for each of them.",
                    target.expr,
                )
            edits.append(Edit(target.expr.start, target.expr.end, text))
        return edits


def _split_call(plan: CallPlan) -> SplitBlock:
    parts = {key: f"module.{name}" for key, name in (plan.names or {}).items()}
    return SplitBlock(object_of(parts, plan.call.repetition), parts, tuple(parts.values()))


_BLOCKS: Final[dict[str, Callable[[ModuleText, Block], list[Edit]]]] = {
    "module": ModuleText.module,
    "provider": ModuleText.provider,
    "resource": ModuleText.resource,
    "data": ModuleText.resource,
    "ephemeral": ModuleText.resource,
    "action": ModuleText.resource,
    "terraform": ModuleText.terraform,
    "language": ModuleText.terraform,
    "variable": ModuleText.variable,
    "moved": ModuleText.moved,
    "removed": ModuleText.removed,
    "import": ModuleText.imported,
}
