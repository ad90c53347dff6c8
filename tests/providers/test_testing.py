"""The harness for tests of providers: what it offers, and that it finds what OpenTofu refuses."""

import runpy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pytest

from nigari.providers.python import KEEP, REPLACE, Computed, Provider, ProviderError, warn
from nigari.providers.testing import UNKNOWN, Broken, Failed, Harness

EXAMPLE = Path(__file__).parents[2] / "examples" / "python-provider" / "terraform-provider-files"


def example() -> Provider:
    provider = runpy.run_path(str(EXAMPLE))["provider"]
    assert isinstance(provider, Provider)
    return provider


def test_the_example(tmp_path: Path) -> None:
    with Harness(example(), directory=str(tmp_path)) as files:
        plan = files.plan("files_text", name="a", content="hello")
        assert (plan.action, plan["name"], plan["sha256"]) == ("create", "a", UNKNOWN)
        made = files.apply(plan)
        assert made["sha256"].startswith("2cf24dba")
        assert made.data["content"] == "hello"
        assert files.plan(made, name="a", content="hello").action == "no-op"
        assert files.plan(made, name="a").action == "update"
        changed = files.plan(made, name="b")
        assert (changed.action, changed.replaces) == ("replace", ("name",))
        made = files.apply(changed)
        assert [path.name for path in tmp_path.iterdir()] == ["b"]
        assert files.data("files_listing")["names"] == ["b"]
        assert files.call("shout", "x") == "X"
        assert files.import_object("files_text", "b")["content"] == ""
        (tmp_path / "b").write_text("drift")
        read = files.read(made)
        assert read is not None
        assert read["content"] == "drift"
        files.destroy(made)
        assert files.read(made) is None
        files.check("files_text", {"name": "c"}, {"name": "c", "content": "x"}, {"name": "d"})
        assert list(tmp_path.iterdir()) == []


def test_a_plan_with_unknown_arguments(tmp_path: Path) -> None:
    with Harness(example(), directory=str(tmp_path)) as files:
        plan = files.plan("files_text", name="a", content=UNKNOWN)
        assert plan["content"] is UNKNOWN
        with pytest.raises(ValueError, match="all known"):
            files.apply(plan)
        assert files.apply(plan, name="a", content="late")["content"] == "late"
        with pytest.raises(Broken, match="plan changes"):
            files.apply(plan, name="other", content="late")


@dataclass
class Base:
    """Keeps all rules; each case breaks one."""

    name: str
    tags: list[str] = field(default_factory=list)
    id: Computed[Annotated[str, KEEP]] = ""
    serial: Computed[int] = 0

    def create(self, config: object) -> None:
        self.id, self.serial = f"id-{self.name}", 1

    def read(self, config: object) -> bool:
        return True

    def update(self, config: object, prior: "Base") -> None:
        self.serial = prior.serial + 1

    def delete(self, config: object) -> None: ...


@dataclass
class Renames(Base):
    def create(self, config: object) -> None:
        self.name = self.name.upper()


@dataclass
class DropsTags(Base):
    def create(self, config: object) -> None:
        self.tags = self.tags[:1]


@dataclass
class Reorders(Base):
    def read(self, config: object) -> bool:
        self.tags = sorted(self.tags)
        return True


@dataclass
class Counts(Base):
    def read(self, config: object) -> bool:
        self.serial += 1
        return True


@dataclass
class Vanishes(Base):
    def read(self, config: object) -> bool:
        return False


@dataclass
class ChangesKept(Base):
    def update(self, config: object, prior: Base) -> None:
        self.id = "another"


@dataclass
class PlansOther(Base):
    def plan(self, config: object, prior: object) -> None:
        self.name = "mine"


@dataclass
class Guesses(Base):
    def plan(self, config: object, prior: object) -> None:
        # Wrong while the name is not known yet.
        self.id = f"id-{'x' if self.name is UNKNOWN else self.name}"


@dataclass
class NeverDone(Base):
    def plan(self, config: object, prior: "NeverDone | None") -> None:
        self.serial = 0 if prior is None else prior.serial + 1

    def create(self, config: object) -> None:
        self.id = "id"


@dataclass
class Open(Base):
    def create(self, config: object) -> None:
        self.id = UNKNOWN


BROKEN: list[tuple[type, type[AssertionError], str]] = [
    (Renames, Broken, "the created object is not what was planned: name"),
    (DropsTags, Broken, "the created object is not what was planned: tags"),
    (Reorders, Broken, r"reading changes the created object: tags\[0\]"),
    (Counts, Broken, "reading changes the created object: serial"),
    (Vanishes, Broken, "it no longer exists right after it was created"),
    (ChangesKept, Broken, "the created object is not what was planned: id"),
    (PlansOther, Broken, "planning: name: the planned value is neither"),
    (Guesses, Broken, "the plan was different while name was unknown: id"),
    (NeverDone, Broken, "the same arguments lead to another change: serial"),
    (Open, Failed, "UNKNOWN"),
]


@pytest.mark.parametrize(("owner", "error", "text"), BROKEN, ids=str)
def test_what_opentofu_would_refuse(owner: type, error: type[AssertionError], text: str) -> None:
    stages: list[dict[str, object]] = [{"name": "a", "tags": ["z", "b"]}, {"name": "c"}]
    with Harness(registered(owner)) as demo, pytest.raises(error, match=text):
        demo.check("demo_thing", *stages)


def test_a_sound_provider_passes() -> None:
    with Harness(registered(Base)) as demo:
        demo.check("demo_thing", {"name": "a", "tags": ["z"]}, {"name": "c"})


def registered(owner: type) -> Provider:
    provider = Provider("demo")
    provider.resource("thing")(owner)
    return provider


def test_errors_and_warnings() -> None:
    @dataclass
    class Talks:
        name: Annotated[str, REPLACE]

        def create(self, config: object) -> None:
            warn("Careful", attribute="name")
            if self.name == "bad":
                raise ProviderError("Bad", "Too bad.", attribute="name")

        def delete(self, config: object) -> None: ...

    with Harness(registered(Talks)) as demo:
        (warning,) = demo.apply("demo_thing", name="a").warnings
        assert warning.summary == "Careful"
        with pytest.raises(Failed) as failed:
            demo.apply("demo_thing", name="bad")
        assert str(failed.value).endswith("error: Bad (name): Too bad.")
        assert len(failed.value.diagnostics) == 2


def test_a_configuration_that_is_refused() -> None:
    @dataclass
    class Settings:
        url: str

        def validate(self) -> None:
            raise ProviderError("No such server", attribute="url")

    refused = pytest.raises(Failed, match=r"No such server \(url\)")
    with refused, Harness(Provider("demo", Settings), url="x"):
        pass


def test_types_that_the_provider_does_not_have() -> None:
    with Harness(Provider("none")) as harness:
        with pytest.raises(LookupError, match='no resource type "none_x"; it has none'):
            harness.plan("none_x")
        with pytest.raises(LookupError, match='no data source "none_x"'):
            harness.data("none_x")
