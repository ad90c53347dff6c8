"""Objects that move, and the provider configurations that are asked for them.

Two objects have the same name in two regions. Whatever moves, the one that goes is read and destroyed
where it is, and the one that stays is left alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from nigari.providers.python import Computed
from nigari.providers.python import Provider as PythonProvider
from tests.plan.cloud import REQUIRED, Cloud, install
from tests.plan.sessions import applied, apply_failed, apply_saved, failed, saved, session, words
from tests.providers_found import find_provider


def alias(name: str, region: str) -> str:
    return f'provider "cloud" {{\n  alias  = "{name}"\n  region = "{region}"\n}}\n'


def keyed(name: str, *keys: str) -> str:
    found = ", ".join(f'"{key}"' for key in keys)
    return (
        f'provider "cloud" {{\n  alias    = "{name}"\n  for_each = toset([{found}])\n'
        "  region   = each.key\n}\n"
    )


def box(name: str, provider: str, repeated: str = "", lines: str = "") -> str:
    return (
        f'resource "cloud_box" "{name}" {{\n  {repeated}\n  provider = {provider}\n'
        f'  name = "b"\n  {lines}\n}}\n'
    )


def moved(*pairs: tuple[str, str]) -> str:
    return "".join(f"moved {{\n  from = {old}\n  to = {new}\n}}\n" for old, new in pairs)


def call(name: str, source: str, *lines: str) -> str:
    rest = "\n  ".join(lines)
    return f'module "{name}" {{\n  source = "./{source}"\n  {rest}\n}}\n'


US, EU = alias("us", "us"), alias("eu", "eu")
DEFAULT_US = 'provider "cloud" {\n  region = "us"\n}\n'
JUST_US = 'for_each = toset(["us"])'
BOTH = 'for_each = toset(["us", "eu"])'
TO_KEYS = (("cloud_box.us", 'cloud_box.b["us"]'), ("cloud_box.eu", 'cloud_box.b["eu"]'))
WANTS = (
    'terraform {\n  required_providers {\n    cloud = {\n      source = "example.com/test/cloud"\n'
)
WANTS += "      configuration_aliases = [%s]\n    }\n  }\n}\n"


@dataclass(frozen=True)
class Provider:
    """What makes the two objects: the blocks, and the references to them."""

    blocks: str
    us: str
    eu: str


MAKERS = {
    "aliases": Provider(US + EU, "cloud.us", "cloud.eu"),
    "default and alias": Provider(DEFAULT_US + EU, "cloud", "cloud.eu"),
    "keys": Provider(
        keyed("one", "us", "x") + keyed("two", "eu", "us"),
        'cloud.one["us"]',
        'cloud.two["eu"]',
    ),
}
KEEPERS = {
    "keyed": (keyed("by", "us"), "cloud.by[each.key]"),
    "keyed with the region": (keyed("by", "us", "eu"), "cloud.by[each.key]"),
    "alias": (alias("all", "us"), "cloud.all"),
    "default": (DEFAULT_US, "cloud"),
}
"""The blocks after the move, and the provider of the resource that everything has moved to."""


def module(provider: str, repeated: str) -> str:
    """A module with one box, whose provider is passed as `cloud.p`."""
    return WANTS % "cloud.p" + box("b", "cloud.p", repeated)


def passing(name: str, source: str, provider: str, *lines: str) -> str:
    return call(name, source, f"providers = {{ cloud.p = {provider} }}", *lines)


@dataclass(frozen=True)
class Story:
    before: str
    after: str
    modules: tuple[tuple[str, str], ...] = ()


def by_instances(made: Provider, blocks: str, provider: str) -> Story:
    before = made.blocks + box("us", made.us) + box("eu", made.eu)
    return Story(before, blocks + box("b", provider, JUST_US) + moved(*TO_KEYS))


def into_modules(made: Provider, blocks: str, provider: str) -> Story:
    before = made.blocks + box("us", made.us) + box("eu", made.eu)
    pairs = [(old, f"module.m[{new.rpartition('[')[2]}.cloud_box.one") for old, new in TO_KEYS]
    after = blocks + passing("m", "m", provider, JUST_US) + moved(*pairs)
    inner = WANTS % "cloud.p" + box("one", "cloud.p")
    return Story(before, after, (("m", inner),))


def whole_modules(made: Provider, blocks: str, provider: str) -> Story:
    before = made.blocks + passing("us", "m", made.us) + passing("eu", "m", made.eu)
    after = blocks + passing("m", "m", provider, JUST_US)
    after += moved(("module.us", 'module.m["us"]'), ("module.eu", 'module.m["eu"]'))
    inner = WANTS % "cloud.p" + box("one", "cloud.p")
    return Story(before, after, (("m", inner),))


def counted(made: Provider, blocks: str, provider: str) -> Story:
    """Both move by themselves, as the call had `count` and has none."""
    provider = provider.replace("each.key", '"us"')
    both = WANTS % "cloud.u, cloud.e" + box("us", "cloud.u") + box("eu", "cloud.e")
    inner = (("m", both), ("n", WANTS % "cloud.p" + box("us", "cloud.p")))
    passed = f"providers = {{\n    cloud.u = {made.us}\n    cloud.e = {made.eu}\n  }}"
    before = made.blocks + call("m", "m", "count = 1", passed)
    return Story(before, blocks + passing("m", "n", provider), inner)


def numbered(made: Provider, blocks: str, provider: str) -> Story:
    """Of two instances the first moves by itself."""
    regions = keyed("made", "us", "eu")
    before = regions + box("b", 'cloud.made[["us", "eu"][count.index]]', "count = 2")
    return Story(before, blocks + box("b", provider.replace("each.key", '"us"')))


WAYS = (by_instances, into_modules, whole_modules, counted, numbered)


@pytest.fixture
def cloud(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    monkeypatch.chdir(tmp_path)
    return install(monkeypatch)


def write(text: str, modules: tuple[tuple[str, str], ...] = ()) -> None:
    Path("main.tf").write_text(REQUIRED + text)
    for name, inner in modules:
        Path(name).mkdir(exist_ok=True)
        Path(name, "main.tf").write_text(inner)


def begun(cloud: Cloud, story: Story) -> None:
    """Both objects are made, and the configuration has changed."""
    write(story.before, story.modules)
    applied()
    assert sorted(cloud.objects) == [("eu", "b"), ("us", "b")]
    cloud.forget_instances()
    write(story.after, story.modules)


def asked(cloud: Cloud, *operations: str) -> list[tuple[str, str]]:
    """The regions in which objects were read or changed."""
    return [(operation, region) for operation, region, _ in cloud.calls if operation in operations]


ALL = [
    pytest.param(way(made, *keeper), id=f"{way.__name__}, {name} to {keeper_name}")
    for way in WAYS
    for name, made in MAKERS.items()
    if way is not numbered or name == "keys"
    for keeper_name, keeper in KEEPERS.items()
]


@pytest.mark.parametrize("story", ALL)
def test_what_is_left_out_is_destroyed_where_it_is(cloud: Cloud, story: Story) -> None:
    begun(cloud, story)
    applied()
    assert sorted(cloud.objects) == [("us", "b")]
    assert asked(cloud, "delete") == [("delete", "eu")]
    assert sorted(asked(cloud, "read")) == [("read", "eu"), ("read", "us")]


@pytest.mark.parametrize("story", ALL)
def test_also_without_reading_it(cloud: Cloud, story: Story) -> None:
    begun(cloud, story)
    saved(refresh=False)
    apply_saved()
    assert sorted(cloud.objects) == [("us", "b")]
    assert asked(cloud, "read", "delete") == [("delete", "eu")]


def objects() -> dict[str, str]:
    """The objects that the file has, behind a barrier where its provider is in our own member."""
    state = json.loads(Path("terraform.tfstate").read_text())
    return {
        f"{each.get('module', '')} {each['name']} {entry.get('index_key')}".strip(): (
            "barred" if entry["schema_version"] >= 1 << 32 else "open"
        )
        for each in state["resources"]
        for entry in each["instances"]
    }


@pytest.mark.parametrize("story", ALL)
def test_what_could_not_be_destroyed_is_tried_again_where_it_is(cloud: Cloud, story: Story) -> None:
    begun(cloud, story)
    cloud.stuck = {"b"}
    apply_failed()
    assert len(objects()) == 2
    cloud.stuck = set()
    cloud.forget_instances()
    applied()
    assert sorted(cloud.objects) == [("us", "b")]
    assert asked(cloud, "delete") == [("delete", "eu")]
    assert set(objects().values()) == {"open"}


@pytest.mark.parametrize("story", ALL)
def test_only_refreshed_or_left_out_nothing_changes(cloud: Cloud, story: Story) -> None:
    begun(cloud, story)
    applied(refresh_only=True)
    assert sorted(asked(cloud, "read", "delete")) == [("read", "eu"), ("read", "us")]
    cloud.forget_instances()
    applied(refresh=False)
    assert asked(cloud, "read", "delete") == [("delete", "eu")]


@pytest.mark.parametrize("story", ALL)
def test_without_memory_it_is_refused_or_right(cloud: Cloud, story: Story) -> None:
    """OpenTofu has written the state since, and left out what is remembered."""
    begun(cloud, story)
    state = json.loads(Path("terraform.tfstate").read_text())
    state.pop("nigari_provider_instances", None)
    Path("terraform.tfstate").write_text(json.dumps(state))
    assert "is not in the configuration any more" in words(failed(refresh=False))
    assert cloud.calls == []
    write(story.after + "".join(b for b in (US, EU) if b not in story.after), story.modules)
    if "aliases" in story.before:
        applied()
        assert asked(cloud, "delete") == [("delete", "eu")]


@pytest.mark.parametrize("story", ALL)
def test_a_destroy_finds_both(cloud: Cloud, story: Story) -> None:
    begun(cloud, story)
    session().destroy()
    assert cloud.objects == {}
    assert sorted(asked(cloud, "delete")) == [("delete", "eu"), ("delete", "us")]


# -- one at a time ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
def test_the_state_command_moves_the_provider_along(cloud: Cloud, name: str) -> None:
    made = MAKERS[name]
    begun(cloud, Story(made.blocks + box("us", made.us) + box("eu", made.eu), ""))
    session().state_move("cloud_box.us", 'cloud_box.b["us"]')
    session().state_move("cloud_box.eu", 'cloud_box.b["eu"]')
    assert sorted(objects().values()) == ["barred", "open"]
    write(alias("all", "us") + box("b", "cloud.all", JUST_US))
    saved(refresh=False)
    apply_saved()
    assert list(cloud.objects) == [("us", "b")]
    assert asked(cloud, "delete") == [("delete", "eu")]


def test_what_its_resource_names_now_counts(cloud: Cloud) -> None:
    """Both are declared, so both are asked for where the configuration says that they are."""
    before = US + EU + box("us", "cloud.us") + box("eu", "cloud.eu")
    begun(cloud, Story(before, alias("all", "us") + box("b", "cloud.all", BOTH) + moved(*TO_KEYS)))
    applied()
    assert asked(cloud, "read") == [("read", "us")] * 2


def test_a_target_leaves_the_provider_of_others(cloud: Cloud) -> None:
    begun(cloud, Story(US + EU + box("us", "cloud.us") + box("eu", "cloud.eu"), ""))
    for old, new in TO_KEYS:
        session().state_move(old, new)
    blocks = keyed("by", "us", "eu")
    write(blocks + box("b", "cloud.by[each.key]", BOTH, 'content = "new"'))
    applied(targets=['cloud_box.b["us"]'])
    write(keyed("by", "us") + box("b", "cloud.by[each.key]", JUST_US))
    cloud.objects["us", "b"] = cloud.objects["by", "b"] = "someone else's"
    cloud.forget_instances()
    saved(refresh=False)
    apply_saved()
    assert asked(cloud, "delete") == [("delete", "eu")]


def test_a_deposed_object_is_destroyed_where_it_is(cloud: Cloud) -> None:
    """It was put aside in one region, and then its instance went to another one."""

    def named(name: str, region: str) -> str:
        lines = "lifecycle {\n    create_before_destroy = true\n  }"
        made = box("b", f'cloud.by["{region}"]', lines=lines)
        return keyed("by", "us", "eu") + made.replace('= "b"', f'= "{name}"')

    write(named("b", "eu"))
    applied()
    cloud.stuck = {"b"}
    write(named("c", "eu"))
    apply_failed()
    cloud.objects["us", "b"] = "someone else's"
    write(named("c", "us"))
    apply_failed()
    assert sorted(cloud.objects) == [("eu", "b"), ("eu", "c"), ("us", "b"), ("us", "c")]
    cloud.forget_instances()
    cloud.stuck = set()
    applied()
    assert sorted(cloud.objects) == [("eu", "c"), ("us", "b"), ("us", "c")]
    assert sorted(cloud.calls) == [("delete", "eu", "b"), ("read", "eu", "b"), ("read", "us", "c")]


def test_a_provider_that_the_state_has_lost_is_not_guessed(cloud: Cloud) -> None:
    begun(cloud, Story(US + EU + box("us", "cloud.us") + box("eu", "cloud.eu"), ""))
    session().state_move("cloud_box.us", 'cloud_box.b["us"]')
    session().state_move("cloud_box.eu", 'cloud_box.b["eu"]')
    state = json.loads(Path("terraform.tfstate").read_text())
    del state["nigari_object_providers"]
    Path("terraform.tfstate").write_text(json.dumps(state))
    write(US + EU + box("b", "cloud.us", JUST_US))
    assert "Error: Unknown provider of an object" in words(failed(refresh=False))
    session().state_remove('cloud_box.b["eu"]')
    applied()
    assert asked(cloud, "delete") == []


@pytest.mark.parametrize("refresh", [True, False])
def test_an_object_of_another_type_is_not_taken_for_one_of_this(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch, refresh: bool
) -> None:
    """It was moved to an instance that is not declared, so its new provider does not know it."""
    null = PythonProvider("null")
    ended: list[str] = []

    @null.resource("resource")
    @dataclass
    class Resource:
        id: Computed[str] = ""

        def create(self, settings: object) -> None:
            self.id = "1"

        def read(self, settings: object) -> bool:
            return True

        def delete(self, settings: object) -> None:
            ended.append(self.id)

    find_provider(monkeypatch, lambda: null, "registry.opentofu.org/hashicorp/null")
    needed = (
        'terraform {\n  required_providers {\n    null = { source = "hashicorp/null" }\n  }\n}\n'
    )
    Path("main.tf").write_text(needed + 'resource "null_resource" "a" {}\n')
    applied()
    data = 'resource "terraform_data" "t" {\n  for_each = toset([])\n}\n'
    move = moved(("null_resource.a", 'terraform_data.t["a"]'))
    Path("main.tf").write_text(needed + data + move)
    said = words(failed(refresh=refresh))
    assert "Error: Moved object of another provider" in said
    assert "remove the moved block, so that the object is destroyed as what it is" in said
    Path("main.tf").write_text(needed + data)
    applied(refresh=refresh)
    assert ended == ["1"]
