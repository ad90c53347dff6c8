"""Incremental construction of documents."""

from __future__ import annotations

from nigari.compat.hcl2.const import IS_BLOCK


class Builder:
    """A body of arguments and blocks; `build` returns the data for `dumps`."""

    def __init__(self, attributes: dict[str, object] | None = None) -> None:
        self.attributes: dict[str, object] = attributes or {}
        self.blocks: dict[str, list[tuple[list[str], Builder, Builder | None]]] = {}

    def block(
        self,
        block_type: str,
        labels: list[str] | None = None,
        __nested_builder__: Builder | None = None,
        **attributes: object,
    ) -> Builder:
        """Add a block with these arguments, and with the blocks of another builder inside it."""
        if __nested_builder__ is self:
            raise ValueError("a builder cannot be nested in itself")
        added = Builder(attributes)
        entry = (list(labels or ()), added, __nested_builder__)
        self.blocks.setdefault(block_type, []).append(entry)
        return added

    def build(self) -> dict[str, object]:
        """Convert the body to data."""
        body: dict[str, object] = {IS_BLOCK: True, **self.attributes}
        for block_type, entries in self.blocks.items():
            built = body.setdefault(block_type, [])
            assert isinstance(built, list)
            for labels, builder, nested in entries:
                content: dict[str, object] = builder.build()
                if nested is not None:
                    _add_blocks(content, nested)
                for label in reversed(labels):
                    content = {label: content}
                built.append(content)
        return body


def _add_blocks(body: dict[str, object], nested: Builder) -> None:
    for key, blocks in nested.build().items():
        if key != IS_BLOCK:
            have = body.setdefault(key, [])
            assert isinstance(have, list)
            assert isinstance(blocks, list)
            have.extend(blocks)
