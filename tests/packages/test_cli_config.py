from pathlib import Path

import pytest

from nigari.addrs.provider import Provider, default_provider
from nigari.diagnostics import Diagnostics, Severity
from nigari.hcl.source import Source
from nigari.packages.hosts.address_patterns import ProviderPattern
from nigari.packages.hosts.cli_config import (
    CliConfig,
    HostToken,
    InstallMethod,
    ProviderInstallation,
    RegistryProtocols,
)
from nigari.packages.hosts.cli_config_files import load_cli_config
from nigari.packages.hosts.cli_config_settings import parse_cli_config
from nigari.packages.hosts.cli_config_syntax import SettingItem, SettingsObject, read_items
from nigari.packages.hosts.network import Network
from nigari.packages.providers.configured_sources import provider_source

DEMO = Provider("example.com", "team", "demo")


def parsed(text: str) -> tuple[CliConfig, Diagnostics]:
    diags = Diagnostics()
    source = Source.from_bytes("tofurc", text.encode())
    return parse_cli_config(source, {"HOME": "/h"}, diags), diags


NATIVE = """
# All settings there are.
plugin_cache_dir = "$HOME/cache/${MISSING}x"
plugin_cache_may_break_dependency_lock_file = true
disable_checkpoint = true

provider_installation {
  dev_overrides {
    "example.com/team/demo" = "/dev/demo"
    hashicorp/aws           = "/unused"
  }
  filesystem_mirror {
    path    = "/mirror"
    include = ["example.com/*/*"]
  }
  network_mirror {
    url                  = "https://mirror.example.com/"
    download_retry_count = 5
    trust_all_hashes     = true
  }
  direct {
    exclude = ["example.com/*/*", "hashicorp/random"]
  }
}

host "Example.com" {
  services = {
    "modules.v1" = "https://example.com/modules/"
  }
}
credentials "example.com" {
  token = "s3cret"
}
registry_protocols {
  retry_count             = 3
  request_timeout_seconds = 20
}
credentials_helper "keys" {
  args = ["--quick"]
}
""".replace('    hashicorp/aws           = "/unused"\n', "")

JSON = """
{
  "plugin_cache_dir": "$HOME/cache/${MISSING}x",
  "plugin_cache_may_break_dependency_lock_file": true,
  "provider_installation": {
    "dev_overrides": {"example.com/team/demo": "/dev/demo"},
    "filesystem_mirror": {"path": "/mirror", "include": ["example.com/*/*"]},
    "network_mirror": [
      {"url": "https://mirror.example.com/", "download_retry_count": 5, "trust_all_hashes": true}
    ],
    "direct": {"exclude": ["example.com/*/*", "hashicorp/random"]}
  },
  "host": {"Example.com": {"services": {"modules.v1": "https://example.com/modules/"}}},
  "credentials": {"example.com": {"token": "s3cret"}},
  "registry_protocols": {"retry_count": 3, "request_timeout_seconds": "20"},
  "credentials_helper": {"keys": {"args": ["--quick"]}}
}
"""


@pytest.mark.parametrize("text", [NATIVE, JSON], ids=["native", "json"])
def test_everything(text: str) -> None:
    config, diags = parsed(text)
    assert not list(diags)
    ours = ProviderPattern("example.com", "*", "*")
    assert config == CliConfig(
        plugin_cache_dir="/h/cache/x",
        plugin_cache_may_break_lock_file=True,
        installation=ProviderInstallation(
            (
                InstallMethod("filesystem_mirror", "/mirror", (ours,)),
                InstallMethod(
                    "network_mirror",
                    "https://mirror.example.com/",
                    download_retries=5,
                    trust_all_hashes=True,
                ),
                InstallMethod(
                    "direct",
                    exclude=(ours, ProviderPattern("registry.opentofu.org", "hashicorp", "random")),
                ),
            ),
            {DEMO: "/dev/demo"},
        ),
        hosts={"example.com": {"modules.v1": "https://example.com/modules/"}},
        credentials={"example.com": HostToken("s3cret", "tofurc")},
        credentials_helper=("keys", "--quick"),
        registry_protocols=RegistryProtocols(3, 20),
    )
    assert "s3cret" not in repr(config)


@pytest.mark.parametrize(
    "text",
    [
        "provider_installation = 5",
        'provider_installation "x" {\n}',
        "provider_installation {\n}\nprovider_installation {\n}",
        "provider_installation {\n  nowhere {\n  }\n}",
        "provider_installation {\n  direct = 1\n}",
        'provider_installation {\n  direct "x" {\n  }\n}',
        "provider_installation {\n  filesystem_mirror {\n  }\n}",
        "provider_installation {\n  network_mirror {\n  }\n}",
        'provider_installation {\n  direct {\n    include = ["a"]\n  }\n}',
        'provider_installation {\n  direct {\n  }\n  dev_overrides {\n    "a/b" = "c"\n  }\n}',
        'provider_installation {\n  dev_overrides {\n    "a/b/c/d" = "c"\n  }\n}',
        'host "not a host" {\n}',
        'credentials "not a host" {\n}',
        "registry_protocols = 1",
        'registry_protocols "x" {\n}',
        "registry_protocols {\n}\nregistry_protocols {\n}",
        'registry_protocols {\n  retry_count = "many"\n}',
        "registry_protocols {\n  request_timeout_seconds = -1\n}",
    ],
)
def test_what_makes_no_sense_is_one_error(text: str) -> None:
    _, diags = parsed(text)
    assert [d.severity for d in diags] == [Severity.ERROR]


def items(text: str) -> SettingsObject:
    diags = Diagnostics()
    result = read_items(Source.from_bytes("x", text.encode()), diags)
    assert not list(diags)
    return result


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("a = 1", (SettingItem(("a",), 1, 1),)),
        ("a = -1.5", (SettingItem(("a",), -1.5, 1),)),
        ("a = 0x10", (SettingItem(("a",), 16, 1),)),
        ("// c\n/* d\n */ a = true # e", (SettingItem(("a",), True, 3),)),
        ('"a/b" = "c\\n\\"\\u00e9"', (SettingItem(("a/b",), 'c\n"é', 1),)),
        ('a.b-c = "d"', (SettingItem(("a.b-c",), "d", 1),)),
        ('a = [1, [], "x",]', (SettingItem(("a",), [1, [], "x"], 1),)),
        ("a = <<EOT\nline\n  EOT\n", (SettingItem(("a",), "line\n", 1),)),
        ('a "b" { }', (SettingItem(("a", "b"), SettingsObject(), 1),)),
        ("a = { b = 1 }", (SettingItem(("a",), SettingsObject((SettingItem(("b",), 1, 1),)), 1),)),
        ("a = 1, b = 2", (SettingItem(("a",), 1, 1), SettingItem(("b",), 2, 1))),
    ],
)
def test_syntax(text: str, expected: tuple[SettingItem, ...]) -> None:
    assert items(text).items == expected


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a", 1),
        ("a =", 1),
        ("a = b", 1),
        ("\n\na = [1", 3),
        ("a {", 1),
        ("a = 1\n}", 2),
        ("a = 1 =", 1),
        ('a = "unfinished', 1),
        ("a = <<EOT\nnever", 1),
        ("a = 12monkeys", 1),
        ("a = \x00", 1),
        ("{ not json", 1),
        ("a = " + "[" * 20_000, 1),
        ("a { " * 20_000, 1),
        ("{" + '"a": {' * 50_000, 1),
    ],
)
def test_broken_syntax_is_one_error_at_its_place(text: str, line: int) -> None:
    diags = Diagnostics()
    assert read_items(Source.from_bytes("x", text.encode()), diags) == SettingsObject()
    (diagnostic,) = diags
    assert diagnostic.subject is not None
    assert diagnostic.subject.start.line == line


def load(environment: dict[str, str]) -> tuple[CliConfig, Diagnostics]:
    diags = Diagnostics()
    return load_cli_config(environment, diags), diags


def cache_of(environment: dict[str, str]) -> str:
    config, diags = load(environment)
    assert not list(diags)
    return Path(config.plugin_cache_dir).name


def test_which_file_is_read(tmp_path: Path) -> None:
    home, config_home = tmp_path / "home", tmp_path / "config"
    (config_home / "opentofu").mkdir(parents=True)
    home.mkdir()
    environment = {"HOME": str(home), "XDG_CONFIG_HOME": str(config_home)}

    def write(path: Path, name: str) -> None:
        (tmp_path / name).mkdir()
        path.write_text(f'plugin_cache_dir = "{tmp_path / name}"\n')

    assert cache_of(environment) == ""
    write(config_home / "opentofu" / "b.tfrc", "from-directory")
    assert cache_of(environment) == "from-directory"
    write(config_home / "opentofu" / "tofurc", "from-config-home")
    assert cache_of(environment) == "from-config-home"
    write(home / ".terraformrc", "from-old-name")
    assert cache_of(environment) == "from-old-name"
    write(home / ".tofurc", "from-home")
    assert cache_of(environment) == "from-home"
    write(tmp_path / "chosen", "from-environment")
    chosen = environment | {"TF_CLI_CONFIG_FILE": str(tmp_path / "chosen")}
    assert cache_of(chosen) == "from-environment"
    (tmp_path / "direct").mkdir()
    assert cache_of(chosen | {"TF_PLUGIN_CACHE_DIR": str(tmp_path / "direct")}) == "direct"


def test_a_chosen_file_that_is_not_there_is_a_warning(tmp_path: Path) -> None:
    config, diags = load({"TF_CLI_CONFIG_FILE": str(tmp_path / "nothing")})
    assert config == CliConfig()
    assert [d.severity for d in diags] == [Severity.WARNING]


def test_a_cache_need_not_be_there(tmp_path: Path) -> None:
    config, diags = load({"TF_PLUGIN_CACHE_DIR": str(tmp_path / "nothing")})
    assert config.plugin_cache_dir == str(tmp_path / "nothing")
    assert list(diags) == []


def test_a_directory_that_may_not_be_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> list[str]:
        raise PermissionError(13, "Permission denied", path)

    (tmp_path / ".terraform.d").mkdir()
    monkeypatch.setattr("os.listdir", refuse)
    config, diags = load({"HOME": str(tmp_path)})
    assert config == CliConfig()
    assert [d.detail for d in diags] == [
        f"{tmp_path}/.terraform.d cannot be read: Permission denied."
    ]


def test_two_files_cannot_both_say_how_to_install(tmp_path: Path) -> None:
    (tmp_path / ".terraform.d").mkdir()
    (tmp_path / ".tofurc").write_text("provider_installation {\n}\n")
    (tmp_path / ".terraform.d" / "a.tfrc.json").write_text('{"provider_installation": {}}')
    _, diags = load({"HOME": str(tmp_path)})
    assert diags.error_count == 1


def test_where_providers_come_from(tmp_path: Path) -> None:
    plugins = tmp_path / "terraform.d" / "plugins"
    (plugins / "example.com/team/demo/1.0.0/linux_amd64").mkdir(parents=True)
    network = Network(CliConfig(), {})
    usual = provider_source(CliConfig(), {"HOME": str(tmp_path / "home")}, tmp_path, network)
    assert usual.names_for(DEMO) == [str(plugins)]
    text = NATIVE.replace('"/mirror"', '"mirror"')
    configured = provider_source(parsed(text)[0], {}, tmp_path, network)
    elsewhere = "the network mirror https://mirror.example.com/"
    assert configured.names_for(DEMO) == [str(tmp_path / "mirror"), elsewhere]
    assert configured.names_for(default_provider("random")) == [elsewhere]
    assert configured.names_for(default_provider("other")) == [
        elsewhere,
        "the provider's own registry",
    ]


@pytest.mark.parametrize(
    ("plugins", "environ"),
    [
        ("work/terraform.d/plugins", {}),
        ("home/.terraform.d/plugins", {"HOME": "home"}),
        ("data/opentofu/plugins", {"HOME": "home", "XDG_DATA_HOME": "data"}),
        ("data/terraform/plugins", {"HOME": "home", "XDG_DATA_HOME": "data"}),
        ("home/.local/share/terraform/plugins", {"HOME": "home"}),
        ("shared/terraform/plugins", {"HOME": "home", "XDG_DATA_DIRS": "none:shared"}),
    ],
)
def test_where_providers_are_found_unless_it_is_said(
    plugins: str, environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / plugins / "example.com/team/demo/1.0.0/linux_amd64").mkdir(parents=True)
    whole = {
        name: ":".join(f"{tmp_path}/{each}" for each in value.split(":"))
        for name, value in environ.items()
    }
    found = provider_source(CliConfig(), whole, tmp_path / "work", Network(CliConfig(), {}))
    assert found.names_for(DEMO) == [str(tmp_path / plugins)]
