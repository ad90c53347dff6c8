"""Cooldown of new versions: `cooldown_period` in the CLI configuration, for modules and providers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nigari.diagnostics import Diagnostics
from nigari.hcl.source import Source
from nigari.lang.ages import parse_age
from nigari.packages.hosts.cli_config import CliConfig
from nigari.packages.hosts.cli_config_settings import parse_cli_config
from nigari.packages.hosts.network import Network
from nigari.packages.providers.configured_sources import provider_source
from tests.cli.initializing import call, init, records, write
from tests.net_world.registry import Key
from tests.net_world.server import json_answer
from tests.net_world.world import World
from tests.packages.module_world import ModuleWorld
from tests.packages.registry_work import HOST, Work


def _ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7d", 604800),
        ("36h", 129600),
        ("1w1d", 691200),
        ("90m", 5400),
        ("0s", 0),
        ("7", None),
        ("", None),
        ("-1d", None),
        ("1y", None),
    ],
)
def test_ages(text: str, seconds: int | None) -> None:
    assert parse_age(text) == seconds


def _parsed(text: str) -> tuple[CliConfig, list[str]]:
    diags = Diagnostics()
    config = parse_cli_config(Source.from_bytes("tofurc", text.encode()), {}, diags)
    return config, [each.detail for each in diags]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('direct {\n cooldown_period = "7 days"\n}', "must be an age"),
        ('direct {\n include = ["a/b"]\n}', "three or four parts"),
        ('direct {\n include = ["*/a/b/c"]\n}', "after a wildcard"),
        ("mirror {}", "no installation method mirror for modules"),
        ('direct "x" {}', "without labels"),
    ],
)
def test_mistakes_in_the_settings(body: str, problem: str) -> None:
    _, problems = _parsed(f"module_installation {{\n{body}\n}}\n")
    assert any(problem in each for each in problems)


def test_mirrors_have_no_cooldown() -> None:
    text = 'provider_installation {\n filesystem_mirror {\n  path = "x"\n  cooldown_period = "7d"\n }\n}\n'
    assert "only registries know ages" in _parsed(text)[1][0]


# -- modules ----------------------------------------------------------------------------------


@pytest.fixture
def world(tmp_path: Path) -> Iterator[ModuleWorld]:
    with ModuleWorld(tmp_path / "world") as made:
        made.publish("team/net/x", "1.0.0", "1.1.0", "2.0.0")
        ages: dict[str, object] = {"1.0.0": _ago(90), "1.1.0": None, "2.0.0": _ago(2)}
        versions = [{"version": each, "discovered": at} for each, at in ages.items()]
        made.replies["/v1/modules/team/net/x/versions"] = json_answer(
            {"modules": [{"versions": versions}]}
        )
        yield made


def _configured(world: ModuleWorld, tmp_path: Path, arguments: str) -> Path:
    settings = tmp_path / "tofurc"
    settings.write_text(f"module_installation {{\n  direct {{\n{arguments}\n  }}\n}}\n")
    world.settings["TF_CLI_CONFIG_FILE"] = str(settings)
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    write(work, call("a", f"{world.host}/team/net/x", ">= 1"))
    return work


@pytest.mark.parametrize(
    ("arguments", "version"),
    [
        ("", "2.0.0"),
        ('cooldown_period = "1d"', "2.0.0"),
        ('cooldown_period = "7d"', "1.1.0"),
        ('cooldown_period = "7d"\n include = ["HOST/*/*/*"]', "1.1.0"),
        ('cooldown_period = "7d"\n include = ["HOST/other/*/*"]', "2.0.0"),
        ('cooldown_period = "7d"\n include = ["*/*/*/*"]\n exclude = ["HOST/team/net/x"]', "2.0.0"),
        ('cooldown_period = "7d"\n include = ["registry.opentofu.org/*/*/*"]', "2.0.0"),
    ],
)
def test_new_module_versions_are_not_selected(
    world: ModuleWorld, tmp_path: Path, arguments: str, version: str
) -> None:
    work = _configured(world, tmp_path, arguments.replace("HOST", world.host))
    done = init(world, work)
    assert done.code == 0, done.err
    assert records(work)["a"]["Version"] == version


def test_the_error_names_the_version_that_is_too_new(world: ModuleWorld, tmp_path: Path) -> None:
    work = _configured(world, tmp_path, 'cooldown_period = "7d"')
    write(work, call("a", f"{world.host}/team/net/x", "~> 2.0"))
    done = init(world, work)
    assert done.code == 1
    assert "Version 2.0.0 is too new until" in done.err
    assert "cooldown_period" in done.err


def test_an_installed_version_stays(world: ModuleWorld, tmp_path: Path) -> None:
    work = _configured(world, tmp_path, "")
    assert init(world, work).code == 0
    _configured(world, tmp_path, 'cooldown_period = "7d"')
    assert init(world, work).code == 0
    assert records(work)["a"]["Version"] == "2.0.0"
    assert init(world, work, "-upgrade").code == 0
    assert records(work)["a"]["Version"] == "1.1.0"


# -- providers --------------------------------------------------------------------------------


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path / "registry", HOST)
    shelf = made.registries[HOST]
    key = Key()
    for version in ("1.0.0", "2.0.0"):
        shelf.publish("acme", "thing", version, key)
    ages = {"1.0.0": _ago(90), "2.0.0": _ago(2)}
    here = [{"os": "linux", "arch": "amd64"}]
    versions = [
        {"version": each, "discovered": at, "protocols": ["5.0"], "platforms": here}
        for each, at in ages.items()
    ]
    shelf.answers["/v1/providers/acme/thing/versions"] = json_answer({"versions": versions})
    yield made
    made.close()


def _installed(registry: World, base: Path, cooldown: str, asked: str = "") -> tuple[Work, str]:
    config, problems = _parsed(
        f'provider_installation {{\n  direct {{\n    cooldown_period = "{cooldown}"\n  }}\n}}\n'
    )
    assert not problems
    work = Work(registry, base, config)

    def source(network: Network) -> object:
        return provider_source(config, {}, base, network)

    done = work.install(asked, source=source)  # type: ignore[arg-type]  # any source will do
    return work, "".join(str(each.version) for each in done.outcomes)


def test_new_provider_versions_are_not_selected(registry: World, tmp_path: Path) -> None:
    assert _installed(registry, tmp_path / "a", "1d")[1] == "2.0.0"
    assert _installed(registry, tmp_path / "b", "7d")[1] == "1.0.0"


def test_a_locked_version_stays(registry: World, tmp_path: Path) -> None:
    first, _ = _installed(registry, tmp_path / "a", "1d")
    work, _ = _installed(registry, tmp_path / "b", "7d")
    work.locks = first.locks
    done = work.install(source=lambda network: provider_source(work.config, {}, tmp_path, network))
    assert [str(each.version) for each in done.outcomes] == ["2.0.0"]


def test_the_error_names_the_provider_version(registry: World, tmp_path: Path) -> None:
    work, _ = _installed(registry, tmp_path / "a", "7d", "~> 2.0")
    assert "2.0.0 is too new until" in work.error
