"""Short commands start quickly, because they import only what they use.

Times depend on the machine; what is imported does not, and is where the time goes.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from benchmarks.configurations import resource_chains
from nigari.addrs.provider import default_provider
from nigari.lang.versions import Version
from nigari.packages.content.platforms import current_platform
from nigari.packages.content.user_cache import cache_directory
from nigari.packages.providers.checksums import directory_checksum
from nigari.packages.providers.provider_package import unpacked_path
from nigari.workspace.plugins.schema_cache import Form, SchemaCache

HEAVY: Final = frozenset(
    (
        "asyncio",
        "cryptography",
        "dataclasses",
        "datetime",
        "google",
        "grpc",
        "hashlib",
        "http",
        "inspect",
        "ipaddress",
        "json",
        "locale",
        "pathlib",
        "pickle",
        "platform",
        "random",
        "nigari.regexp",
        "shutil",
        "socket",
        "subprocess",
        "tempfile",
        "threading",
        "typing",
        "unicodedata",
        "unittest",
        "urllib",
        "uuid",
        "wcwidth",
        "yaml",
        "zipfile",
    )
)
SLIGHT: Final = HEAVY | {"contextlib", "importlib"}
"""What even the shortest commands would notice."""
CORE: Final = ("nigari.cty", "nigari.hcl", "nigari.config", "nigari.eval", "nigari.workspace")
NOT_FOR_VALIDATE: Final = (
    "nigari.cty.json",
    "nigari.cty.msgpack",
    "nigari.cty.stdlib",
    "nigari.diagnostics.render",
    "nigari.hcl.formatter",
    "nigari.hcl.json_scanner",
    "nigari.net",
    "nigari.packages.providers.provider_installer",
    "nigari.packages.providers.provider_selection",
    "nigari.plan",
    "nigari.providers.client",
    "nigari.providers.wire",
    "nigari.state",
)

NOT_FOR_MISSING_PROVIDERS: Final = (
    "nigari.config.blocks.checks",
    "nigari.config.blocks.encryption",
    "nigari.config.blocks.imports",
    "nigari.config.blocks.removed",
    "nigari.cty.conversions",
    "nigari.cty.stdlib",
    "nigari.eval.core.expansion",
    "nigari.eval.core.explain",
    "nigari.eval.core.scope",
    "nigari.eval.nodes.check_node",
    "nigari.eval.nodes.conditions",
    "nigari.eval.nodes.local",
    "nigari.eval.nodes.output",
    "nigari.eval.nodes.provider_functions",
    "nigari.eval.nodes.resource",
    "nigari.eval.nodes.validation",
    "nigari.eval.nodes.variable",
    "nigari.eval.static.const_variable",
    "nigari.eval.static.required",
    "nigari.eval.validate",
    "nigari.hcl.decode",
    "nigari.hcl.json_expressions",
    "nigari.lang.marks",
    "nigari.lang.references",
    "nigari.packages.hosts.cli_config_settings",
    "nigari.packages.providers.installed_program",
    "nigari.plan",
    "nigari.providers",
    "nigari.running",
    "nigari.state",
    "nigari.workspace.plugins.provider_start",
)
NOT_FOR_INIT: Final = (
    "nigari.backends.backend_spec",
    "nigari.cty.json",
    "nigari.cty.stdlib",
    "nigari.eval.validate",
    "nigari.hcl.json_scanner",
    "nigari.plan",
    "nigari.providers.api",
    "nigari.running",
    "nigari.state.model",
)

NOT_FOR_INIT_AGAIN: Final = (
    "nigari.backends.local",
    "nigari.config.load",
    "nigari.config.module",
    "nigari.cty",
    "nigari.diagnostics.render",
    "nigari.eval",
    "nigari.hcl.parser",
    "nigari.hcl.scanner",
    "nigari.hcl.source",
    "nigari.packages.hosts",
    "nigari.packages.modules",
    "nigari.packages.providers.lockfile",
    "nigari.packages.providers.provider_installer",
    "nigari.providers",
    "nigari.schema",
    "nigari.state",
    "nigari.workspace.configuration",
    "nigari.workspace.setup.initialize",
    "nigari.workspace.states",
)

NOT_FOR_KEPT_SCHEMAS: Final = (
    "nigari.cty.json",
    "nigari.cty.stdlib",
    "nigari.diagnostics.render",
    "nigari.eval.validate",
    "nigari.net",
    "nigari.packages.providers.provider_installer",
    "nigari.packages.providers.provider_selection",
    "nigari.packages.providers.provider_sources",
    "nigari.plan",
    "nigari.providers",
    "nigari.schema.block",
    "nigari.state.files",
    "nigari.state.model",
)

FOR_PACKAGES: Final = frozenset(("hashlib", "threading"))
"""What it takes to check the package of a provider."""
FOR_PATHS: Final = frozenset(("ipaddress", "pathlib", "urllib"))
"""What objects for paths bring along."""
FOR_DIGESTS: Final = frozenset(("hashlib",))
"""What it takes to see whether files have changed."""
FOR_STATES: Final = frozenset(("json",))
"""What a state needs, and the record of the modules that are installed."""
NOT_FOR_STATES: Final = (
    "nigari.addrs.parse",
    "nigari.addrs.values",
    "nigari.config",
    "nigari.cty.conform",
    "nigari.cty.conversion_results",
    "nigari.cty.conversions",
    "nigari.cty.operations",
    "nigari.cty.stdlib",
    "nigari.diagnostics.render",
    "nigari.eval",
    "nigari.hcl.expressions",
    "nigari.hcl.parser",
    "nigari.hcl.scanner",
    "nigari.hcl.source",
    "nigari.packages",
    "nigari.plan",
    "nigari.providers",
    "nigari.schema",
    "nigari.state.encryption.config",
    "nigari.state.encryption.envelope",
    "nigari.state.encryption.setup",
    "nigari.state.indexed_draft",
    "nigari.state.provider_memory",
    "nigari.state.formats.upgrade",
    "nigari.workspace.configuration.directory",
)
NOT_FOR_PLAN: Final = (
    "nigari.apply.engine",
    "nigari.backends.open_backend",
    "nigari.cli.views.json_lines",
    "nigari.cli.views.progress_events",
    "nigari.cty.msgpack",
    "nigari.diagnostics.render",
    "nigari.diagnostics.unexpected",
    "nigari.hcl.formatter",
    "nigari.packages.content.unpacking",
    "nigari.packages.modules.module_manifest",
    "nigari.plan.deferred.chains",
    "nigari.plan.model.plan_data",
    "nigari.plan.nodes.data",
    "nigari.plan.nodes.ephemeral",
    "nigari.plan.nodes.lists",
    "nigari.plan.object_search",
    "nigari.plan.queries",
    "nigari.plan.show.json_document",
    "nigari.plan.show.plan_json",
    "nigari.providers.client",
    "nigari.providers.wire",
    "nigari.state.show",
    "nigari.workspace.context.interruptions",
    "nigari.workspace.documents",
    "nigari.workspace.plans.generated_blocks",
    "nigari.workspace.session.apply_journal",
    "nigari.workspace.session.apply_rounds",
)
NOT_FOR_SHOWING: Final = (
    "nigari.eval",
    "nigari.hcl.parser",
    "nigari.packages",
    "nigari.providers.api",
    "nigari.providers.builtin.functions",
    "nigari.providers.wire",
    "nigari.state.draft",
    "nigari.state.encryption.config",
    "nigari.state.encryption.envelope",
    "nigari.state.provider_memory",
    "nigari.state.show.show_json",
    "nigari.workspace.plugins.provider_start",
    "nigari.workspace.plugins.providers",
)
NOT_FOR_FORMATTING: Final = (
    "nigari.addrs",
    "nigari.config",
    "nigari.cty.conversions",
    "nigari.cty.stdlib",
    "nigari.eval",
    "nigari.packages",
    "nigari.schema",
    "nigari.state",
    "nigari.workspace",
)
USUAL: Final = """
terraform {
  required_providers {
    example = { source = "example/example", version = "~> 1.0" }
  }
}
provider "other" {}
variable "name" {
  type    = string
  default = "x"
}
locals {
  upper = upper(var.name)
}
resource "example_thing" "a" {
  count = 2
  name  = local.upper
  lifecycle {
    create_before_destroy = true
    ignore_changes        = [name]
  }
}
moved {
  from = example_thing.b
  to   = example_thing.a[0]
}
output "names" { value = example_thing.a[*].name }
"""
"""What most configurations are made of."""
SMALL_STATE: Final = """{
  "version": 4, "terraform_version": "1.12.6", "serial": 1,
  "lineage": "b8ae8e4e-8e0e-4f0e-9d3b-0d7f3d7d6f21",
  "outputs": {"name": {"value": "x", "type": "string"}},
  "resources": [{
    "module": "module.m[0]", "mode": "managed", "type": "example_thing", "name": "a",
    "provider": "provider[\\"registry.opentofu.org/hashicorp/example\\"].alias",
    "instances": [{
      "schema_version": 0, "attributes": {"id": "1"}, "sensitive_attributes": [],
      "dependencies": ["example_thing.b"]
    }]
  }],
  "check_results": null
}
"""
BUILTIN_STATE: Final = """{
  "version": 4, "terraform_version": "1.12.6", "serial": 1,
  "lineage": "b8ae8e4e-8e0e-4f0e-9d3b-0d7f3d7d6f21",
  "outputs": {"name": {"value": ["x"], "type": ["list", "string"]}},
  "resources": [{
    "mode": "managed", "type": "terraform_data", "name": "a",
    "provider": "provider[\\"terraform.io/builtin/terraform\\"]",
    "instances": [{
      "schema_version": 0, "sensitive_attributes": [],
      "attributes": {"id": "1", "input": null, "output": null, "triggers_replace": null}
    }]
  }],
  "check_results": null
}
"""


def surroundings() -> dict[str, str]:
    """The environment of a command."""
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("TF_", "PYTHONPATH"))}
    return {**environment, "PYTHONPATH": os.pathsep.join(sys.path)}


def imported(directory: Path, *command: str, typed: str = "", ends: int = 0) -> set[str]:
    """The modules that a command imports; those of the interpreter's own start do not count."""
    program = (
        "import sys; before = set(sys.modules); from nigari.cli.main import main; "
        "status = main(sys.argv[1:]); "
        "print(status, *(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *command],
        cwd=directory,
        env=surroundings(),
        input=typed,
        capture_output=True,
        text=True,
        check=True,
    )
    status, *modules = done.stderr.splitlines()[-1].split()
    assert status == str(ends), done.stderr
    return set(modules)


def under(modules: set[str], *roots: str) -> set[str]:
    return {m for m in modules for root in roots if m == root or m.startswith(f"{root}.")}


@pytest.fixture
def ten_resources(tmp_path: Path) -> Path:
    return resource_chains(tmp_path / "ten", 10)


def test_version_imports_nothing_of_the_core(tmp_path: Path) -> None:
    modules = imported(tmp_path, "version")
    assert not under(modules, *SLIGHT, "enum", "re")
    assert not under(modules, *CORE)


def test_validate_imports_only_what_it_uses(ten_resources: Path) -> None:
    modules = imported(ten_resources, "validate")
    assert not under(modules, *HEAVY)
    assert not under(modules, *NOT_FOR_VALIDATE)


def test_console_and_eval_import_only_what_they_use(ten_resources: Path) -> None:
    # The console looks for a state, too.
    assert not under(imported(ten_resources, "console", typed="1 + 2\n"), *HEAVY - FOR_STATES)
    assert not under(imported(ten_resources, "eval", "1 + 2"), *HEAVY)


@pytest.mark.parametrize("command", ["plan", "graph", "plan -destroy"])
def test_planning_without_plugins_needs_no_event_loop(ten_resources: Path, command: str) -> None:
    modules = imported(ten_resources, *command.split())
    # The lock of a state says since when it is held.
    assert not under(modules, *HEAVY - FOR_STATES - {"datetime"})
    assert not under(modules, *NOT_FOR_PLAN)


def test_taking_from_a_state_needs_no_configuration(tmp_path: Path) -> None:
    required = 'terraform {\n  required_version = ">= 1.0"\n}\n'
    (tmp_path / "main.tf").write_text(required)
    (tmp_path / "terraform.tfstate").write_text(SMALL_STATE)
    modules = imported(tmp_path, "taint", "module.m[0].example_thing.a")
    assert not under(modules, *HEAVY - FOR_STATES - {"datetime"})
    assert not under(modules, "nigari.config", "nigari.eval", "nigari.schema")


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        ("validate", ()),
        ("plan", ()),
        ("plan -destroy", ()),
        ("apply", ()),
        ("destroy", ()),
        ("refresh", ()),
        ("providers schema -json", ("nigari.state",)),
    ],
)
def test_missing_providers_are_reported_without_what_evaluates_or_talks_to_them(
    tmp_path: Path, command: str, needed: tuple[str, ...]
) -> None:
    (tmp_path / "called").mkdir()
    (tmp_path / "called" / "main.tf").write_text(USUAL)
    (tmp_path / "main.tf").write_text(f'{USUAL}module "m" {{\n  source = "./called"\n}}\n')
    modules = imported(tmp_path, *command.split(), ends=1)
    assert not under(modules, *HEAVY)
    assert not under(modules, *set(NOT_FOR_MISSING_PROVIDERS).difference(needed))


def test_an_init_with_nothing_to_install_imports_only_what_it_uses(ten_resources: Path) -> None:
    modules = imported(ten_resources, "init")
    assert not under(modules, *HEAVY - FOR_PATHS - FOR_STATES - FOR_DIGESTS)
    assert not under(modules, *NOT_FOR_INIT)


def test_an_init_with_nothing_to_do_imports_only_what_tells_it_so(ten_resources: Path) -> None:
    # The first one makes the directory that its memory is in.
    for _ in range(2):
        imported(ten_resources, "init")
    modules = imported(ten_resources, "init")
    assert not under(modules, *SLIGHT - FOR_STATES)
    assert not under(modules, *NOT_FOR_INIT_AGAIN)


def test_kept_schemas_import_only_what_they_use(tmp_path: Path) -> None:
    provider = default_provider("example")
    store = tmp_path / ".terraform" / "providers"
    package = unpacked_path(store, provider, Version((1, 0, 0)), current_platform())
    package.mkdir(parents=True)
    (package / "terraform-provider-example").write_text("a program that is never started\n")
    checksum = directory_checksum(package)
    (tmp_path / "main.tf").write_text('provider "example" {}\n')
    (tmp_path / ".terraform.lock.hcl").write_text(
        f'provider "{provider}" {{\n  version = "1.0.0"\n  hashes = ["{checksum}"]\n}}\n'
    )
    environment = surroundings()
    cache = SchemaCache(cache_directory(environment, "schemas") or "", environment)
    cache.keep(provider, checksum, Form.JSON, f'"{provider}":{{}}'.encode())
    modules = imported(tmp_path, "providers", "schema", "-json")
    assert not under(modules, *HEAVY - FOR_PACKAGES)
    assert not under(modules, *NOT_FOR_KEPT_SCHEMAS)


def test_an_init_that_has_everything_needs_no_network(tmp_path: Path) -> None:
    provider = default_provider("example")
    store = tmp_path / ".terraform" / "providers"
    package = unpacked_path(store, provider, Version((1, 0, 0)), current_platform())
    package.mkdir(parents=True)
    (package / "terraform-provider-example").write_text("a program that is never started\n")
    (tmp_path / "main.tf").write_text('provider "example" {}\n')
    (tmp_path / ".terraform.lock.hcl").write_text(
        f'provider "{provider}" {{\n  version = "1.0.0"\n'
        f'  hashes = ["{directory_checksum(package)}"]\n}}\n'
    )
    modules = imported(tmp_path, "init")
    assert not under(modules, "asyncio", "httpcore", "ssl", "nigari.net.client")


@pytest.mark.parametrize(
    "command",
    [
        ("state", "list"),
        ("state", "pull"),
        ("output",),
        ("output", "-json"),
        ("workspace", "show"),
        ("workspace", "list"),
    ],
    ids=" ".join,
)
def test_looking_at_a_state_imports_only_what_it_uses(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "main.tf").write_text('output "name" {\n  value = "x"\n}\n')
    (tmp_path / "terraform.tfstate").write_text(SMALL_STATE)
    modules = imported(tmp_path, *command)
    assert not under(modules, *SLIGHT - FOR_STATES)
    assert not under(modules, *NOT_FOR_STATES)


def test_showing_the_builtin_provider_imports_only_what_it_uses(tmp_path: Path) -> None:
    (tmp_path / "terraform.tfstate").write_text(BUILTIN_STATE)
    modules = imported(tmp_path, "show")
    assert not under(modules, *SLIGHT - FOR_STATES)
    assert not under(modules, *NOT_FOR_SHOWING)


def test_formatting_imports_only_what_it_uses(ten_resources: Path) -> None:
    modules = imported(ten_resources, "fmt")
    assert not under(modules, *SLIGHT)
    assert not under(modules, *NOT_FOR_FORMATTING)


@pytest.mark.parametrize(
    "package", ["addrs", "cty", "diagnostics", "state.encryption", "workspace"]
)
def test_everything_a_package_promises_is_there(package: str) -> None:
    program = (
        f"import nigari.{package} as package; "
        "print([name for name in package.__all__ if getattr(package, name, None) is None])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_what_a_package_does_not_promise_is_not_there() -> None:
    from nigari import cty

    with pytest.raises(AttributeError, match=r"module 'nigari\.cty' has no attribute 'nothing'"):
        cty.nothing  # type: ignore[attr-defined] # noqa: B018
