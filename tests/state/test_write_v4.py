"""Writing a state again and again: what is remembered of earlier texts is never out of date."""

from __future__ import annotations

import json
import random

import pytest

from nigari.addrs.absolute import Abs, instance_of
from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ROOT_MODULE
from nigari.addrs.provider import Provider, ProviderConfig
from nigari.addrs.resource import DATA, MANAGED, Resource
from nigari.diagnostics import Diagnostics
from nigari.state.draft import StateDraft
from nigari.state.files import parse_state
from nigari.state.formats.write_v4 import Writer
from nigari.state.json_text import compact
from nigari.state.model import ObjectStatus, State, StateFile, StoredObject

MODULES = (ROOT_MODULE, ROOT_MODULE.child("m", "k"), ROOT_MODULE.child("m", "k").child("n", 0))
RESOURCES = tuple(
    Resource(mode, type_, name) for mode in (MANAGED, DATA) for type_ in "ab" for name in "xy"
)
KEYS: tuple[InstanceKey, ...] = (None, 0, 1, 2, 10, "a", "b")
NAME = Provider("example.com", "test", "p")
PROVIDER = ProviderConfig(NAME, "alias")
OTHERS = (
    Abs(ROOT_MODULE, ProviderConfig(NAME, "other").instance()),
    Abs(ROOT_MODULE, ProviderConfig(NAME, "other").instance("k")),
    Abs(MODULES[1], ProviderConfig(NAME).instance()),
    Abs(ROOT_MODULE.child("m", "gone"), PROVIDER.instance("${x}")),
    Abs(ROOT_MODULE, ProviderConfig(Provider("example.com", "else", "p")).instance()),
)
"""Providers that objects bring along from other resources, which the format has no place for."""


def change(draft: StateDraft, chance: random.Random) -> None:
    """Change some object, or take it away."""
    resource = Abs(chance.choice(MODULES), chance.choice(RESOURCES))
    address = instance_of(resource, chance.choice(KEYS))
    provider = Abs(ROOT_MODULE, PROVIDER.instance(chance.choice((None, None, "k"))))
    status = chance.choice((ObjectStatus.READY, ObjectStatus.TAINTED))
    text = json.dumps(
        {"n": chance.randrange(9), "text": chance.choice(("a b", "é", ""))}, ensure_ascii=False
    )
    stored = chance.choice((None, StoredObject(text, status=status, private=b"p")))
    if resource.item.mode is MANAGED and chance.random() < 0.2:
        provider = chance.choice(OTHERS)
    if resource.item.mode is MANAGED and chance.random() < 0.2:
        draft.set_deposed(address, chance.choice(("0000000a", "0000000b")), stored, provider)
    else:
        draft.set_current(address, stored, provider)


def objects(state: State) -> list[tuple[str, list[object]]]:
    """All objects with their providers."""
    return [(address.text, list(each.objects())) for address, each in state.instances()]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_is_what_there_is(seed: int) -> None:
    chance = random.Random(seed)
    draft, writers = StateDraft(), (Writer(is_for_people=True), Writer(is_for_people=False))
    for serial in range(1, 50):
        for _ in range(chance.randrange(6)):
            change(draft, chance)
        file = StateFile(draft.finish(), "line", serial)
        texts = [writer.write(file) for writer in writers]
        for text in texts:
            found = parse_state(text, Diagnostics())
            assert found is not None
            assert objects(found.state) == objects(file.state)
            assert found.serial == serial
        assert compact(texts[0].decode()) == texts[1].decode().removesuffix("\n")
