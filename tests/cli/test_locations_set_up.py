"""Locations of states that no init has set up: every command refuses them and creates nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import nigari
from tests.backends.world.state_server import StateServer
from tests.cli.init_world import directory, init, write
from tests.cli.process import Done, inside

__all__ = ["directory"]

CONFIGURATION = """
variable "region" {}
terraform {
  backend "local" {
    path = "states/${var.region}.tfstate"
  }
}
resource "terraform_data" "a" {
  input = var.region
}
output "region" {
  value = terraform_data.a.output
}
"""
STATE = '{"version": 4, "serial": 1, "lineage": "other", "outputs": {}, "resources": []}'

READING = (
    "console",
    "graph",
    "output",
    "output -json",
    "plan",
    "plan -destroy",
    "plan -input=false",
    "plan -json",
    "plan -refresh=false",
    "providers",
    "providers schema -json",
    "show",
    "show -json",
    "state list",
    "state pull",
    "state show terraform_data.a",
    "why terraform_data.a",
    "workspace list",
    "workspace show",
)
WRITING = (
    "apply -auto-approve",
    "apply -auto-approve -input=false",
    "apply -auto-approve -json",
    "destroy -auto-approve",
    "force-unlock -force 00000000-0000-0000-0000-000000000000",
    "import terraform_data.a x",
    "plan -out=plan.out",
    "refresh",
    "state mv terraform_data.a terraform_data.b",
    "state push pushed.tfstate",
    "state replace-provider -auto-approve terraform.io/builtin/terraform a/b",
    "state rm terraform_data.a",
    "taint terraform_data.a",
    "untaint terraform_data.a",
    "workspace delete -force other",
    "workspace new other",
    "workspace select other",
)
STATELESS = (
    "config -json",
    "eval var.region",
    "explain output.region",
    "get",
    "validate",
    "version",
)
_UNCHANGED_BY_WORDS = {"console": "1\n"}


def ran(command: str, *options: str, **settings: str) -> Done:
    """A command with options behind its own words."""
    words = command.split()
    count = 2 if words[0] in ("state", "workspace") or words[:2] == ["providers", "schema"] else 1
    stdin = _UNCHANGED_BY_WORDS.get(command, "")
    return inside(*words[:count], *options, *words[count:], stdin=stdin, settings=settings)


def told(done: Done) -> str:
    return " ".join((done.err + done.out).replace("\\n", " ").replace('\\"', '"').split())


def contents() -> dict[str, bytes]:
    """All files of the directory, without notes of schemas."""
    return {str(path): path.read_bytes() for path in sorted(Path().rglob("*")) if path.is_file()}


@pytest.fixture
def europe(directory: Path) -> Path:
    """A directory that was set up and applied for one region, with a state of another beside it."""
    write({"main.tf": CONFIGURATION, "pushed.tfstate": STATE})
    assert init("-var", "region=eu").code == 0
    assert inside("apply", "-auto-approve", "-var", "region=eu").code == 0
    write({"states/prod.tfstate": STATE})
    return directory


@pytest.mark.parametrize("region", ["ue", "prod"])
@pytest.mark.parametrize("command", [*READING, *WRITING])
def test_a_location_that_is_not_set_up(europe: Path, command: str, region: str) -> None:
    """Whether there is a state does not matter where a variable leads there."""
    before = contents()
    done = ran(command, "-var", f"region={region}")
    if command == "workspace show":
        assert done.code == 0, "it acts nowhere"
    else:
        assert done.code == 1, done.out
        said = told(done)
        for part in (
            'path was "states/eu.tfstate"',
            f'is "states/{region}.tfstate" now',
            "var.region",
            '"nigari init -var region=... -reconfigure"',
        ):
            assert part in said
    assert contents() == before


@pytest.mark.parametrize("command", STATELESS)
def test_commands_without_a_state(europe: Path, command: str) -> None:
    before = contents()
    options = () if command == "version" else ("-var", "region=ue")
    done = ran(command, *options)
    assert done.code in (0, 2), done.err
    after = contents()
    assert {name: after.get(name) for name in before} == before
    assert not Path("states/ue.tfstate").exists()


@pytest.mark.parametrize("command", [*READING, *WRITING])
def test_a_location_that_is_set_up(europe: Path, command: str) -> None:
    """As in a directory that has never had another one."""
    assert init("-reconfigure", "-var", "region=us").code == 0
    done = ran(command, "-var", "region=eu")
    assert "has set up" not in told(done)
    assert not Path("states/us.tfstate").exists()
    if command in READING or "auto-approve" in command:
        assert done.code in (0, 2) or "replace-provider" in command, done.err


# -- how the value arrives --------------------------------------------------------------------


@pytest.mark.parametrize("how", ["file", "auto", "process", "default"])
def test_wherever_the_value_comes_from(europe: Path, how: str) -> None:
    options: tuple[str, ...] = ()
    settings: dict[str, str] = {}
    if how == "file":
        write({"x.tfvars": 'region = "ue"\n'})
        options = ("-var-file=x.tfvars",)
    elif how == "auto":
        write({"x.auto.tfvars": 'region = "ue"\n'})
    elif how == "process":
        settings = {"TF_VAR_region": "ue"}
    else:
        write({"main.tf": CONFIGURATION.replace("{}", '{\n  default = "ue"\n}', 1)})
    done = inside("apply", "-auto-approve", *options, settings=settings)
    assert done.code == 1
    assert 'is "states/ue.tfstate" now (it depends on var.region)' in told(done)
    assert not Path("states/ue.tfstate").exists()


def test_sessions_of_programs(europe: Path) -> None:
    with nigari.open(europe, variables={"region": "ue"}) as session:
        with pytest.raises(nigari.SessionError, match="Backend configuration has changed"):
            session.apply()
        session.init(reconfigure=True)
        session.apply()
    assert Path("states/ue.tfstate").exists()


# -- what was set up --------------------------------------------------------------------------


def test_switching_among_known_locations(europe: Path) -> None:
    assert init("-reconfigure", "-var", "region=us").code == 0
    for region in ("us", "eu", "us", "eu"):
        assert inside("apply", "-auto-approve", "-var", f"region={region}").code == 0
        assert inside("output", "-raw", "-var", f"region={region}", "region").out == region
        assert init("-input=false", "-var", f"region={region}").code == 0


def test_another_block_of_a_known_location(europe: Path) -> None:
    """Branches may differ in the block: each was set up once."""
    other = CONFIGURATION.replace("states/", "other/")
    write({"main.tf": other})
    assert inside("plan", "-var", "region=eu").code == 1
    assert init("-reconfigure", "-var", "region=eu").code == 0
    for text in (CONFIGURATION, other):
        write({"main.tf": text})
        assert inside("plan", "-var", "region=eu").code == 0


def test_no_block_beside_a_known_location(europe: Path) -> None:
    without = 'variable "region" {}\n'
    write({"main.tf": without})
    assert inside("plan", "-var", "region=eu").code == 1
    assert init("-reconfigure", "-var", "region=eu").code == 0
    assert inside("apply", "-auto-approve", "-var", "region=eu").code == 0
    write({"main.tf": CONFIGURATION})
    assert inside("output", "-raw", "-var", "region=eu", "region").out == "eu"
    assert inside("output", "-raw", "-var", "region=ue", "region").code == 1
    assert init("-input=false", "-var", "region=eu").code == 0
    write({"main.tf": without})
    assert inside("plan", "-var", "region=eu").code == 0


def test_credentials_are_no_location(directory: Path) -> None:
    with StateServer() as server:
        block = f'address = "{server.server.url}/a"\n    password = var.password'
        text = (
            f'variable "password" {{}}\nterraform {{\n  backend "http" {{\n    {block}\n  }}\n}}\n'
        )
        write({"main.tf": f'{text}output "a" {{\n  value = 1\n}}\n'})
        assert init("-var", "password=first-secret").code == 0
        second = ("-var", "password=second-secret")
        assert inside("apply", "-auto-approve", *second).code == 0
        assert init(*second).code == 0
    noted = Path(".terraform/nigari.backend.json").read_text()
    assert "secret" not in noted
    assert "secret" not in inside("init", "-show").out


# -- workspaces -------------------------------------------------------------------------------

PLAIN = 'terraform {\n  backend "local" {}\n}\noutput "a" {\n  value = terraform.workspace\n}\n'
BY_WORKSPACE = PLAIN.replace("{}", '{\n    workspace_dir = "w-${terraform.workspace}"\n  }')


@pytest.mark.parametrize("text", [PLAIN, BY_WORKSPACE])
@pytest.mark.parametrize("command", ["apply -auto-approve", "output", "plan", "refresh"])
def test_a_workspace_that_nobody_has_made(directory: Path, text: str, command: str) -> None:
    write({"main.tf": text})
    assert init().code == 0
    assert inside("workspace", "new", "prod").code == 0
    assert inside("apply", "-auto-approve").code == 0
    before = contents()
    done = ran(command, TF_WORKSPACE="prdo")
    assert done.code == 1
    assert 'The workspace "prdo" has no state' in told(done)
    assert "TF_WORKSPACE" in told(done)
    assert '"nigari workspace new prdo"' in told(done)
    assert contents() == before
    assert ran(command, TF_WORKSPACE="prod").code == 0
    options = ("-reconfigure",) if text is BY_WORKSPACE else ()
    assert init(*options, TF_WORKSPACE="prdo").code == 0
    assert ran(command, TF_WORKSPACE="prdo").code == 0


@pytest.mark.parametrize("text", [PLAIN, BY_WORKSPACE])
def test_a_workspace_of_somebody_else(directory: Path, text: str) -> None:
    """Its state exists, and its name was given: that is enough."""
    write({"main.tf": text})
    assert init().code == 0
    place = "w-prod" if text is BY_WORKSPACE else "terraform.tfstate.d"
    write({f"{place}/prod/terraform.tfstate": STATE})
    assert inside("plan", "-detailed-exitcode", settings={"TF_WORKSPACE": "prod"}).code == 2
    assert inside("workspace", "select", "prod").code == 0
    assert inside("apply", "-auto-approve").code == 0
    assert inside("output", "-raw", "a").out == "prod"


def test_the_default_workspace_that_was_not_set_up(directory: Path) -> None:
    write({"main.tf": PLAIN})
    assert init(TF_WORKSPACE="prod").code == 0
    assert inside("apply", "-auto-approve").code == 1
    assert not Path("terraform.tfstate").exists()
    write({"terraform.tfstate": STATE})
    assert inside("plan").code == 0


def test_a_variable_beside_the_workspace(directory: Path) -> None:
    """A workspace that exists is no leave to follow a variable."""
    write({"main.tf": CONFIGURATION.replace("states/", "states/${terraform.workspace}-")})
    assert init("-var", "region=eu").code == 0
    write({"terraform.tfstate.d/prod/terraform.tfstate": STATE})
    wrong = inside("workspace", "new", "-var", "region=ue", "other")
    assert wrong.code == 1
    assert "var.region" in told(wrong)
    assert inside("workspace", "select", "-var", "region=ue", "prod").code == 1
    assert inside("workspace", "select", "-var", "region=eu", "prod").code == 0
    assert inside("plan", "-var", "region=eu").code == 0
    assert inside("plan", "-var", "region=ue").code == 1


def test_a_deleted_workspace_is_not_set_up_any_more(directory: Path) -> None:
    write({"main.tf": PLAIN})
    assert init().code == 0
    assert inside("workspace", "new", "w").code == 0
    assert inside("workspace", "select", "default").code == 0
    assert inside("workspace", "delete", "w").code == 0
    assert inside("apply", "-auto-approve", settings={"TF_WORKSPACE": "w"}).code == 1
    assert not Path("terraform.tfstate.d/w").exists()


def test_without_a_backend_nothing_is_set_up(directory: Path) -> None:
    """As in OpenTofu: the local file needs no init, in any workspace."""
    write({"main.tf": 'output "a" {\n  value = 1\n}\n'})
    assert inside("apply", "-auto-approve", settings={"TF_WORKSPACE": "w"}).code == 0
    assert inside("apply", "-auto-approve").code == 0


# -- saved plans, environments, other programs ------------------------------------------------


def test_a_plan_for_another_directory(europe: Path) -> None:
    assert inside("plan", "-out=plan.out", "-var", "region=eu").code == 0
    other = europe.parent / "other"
    other.mkdir()
    os.chdir(other)
    write({"main.tf": CONFIGURATION, "plan.out": ""})
    Path("plan.out").write_bytes((europe / "plan.out").read_bytes())
    assert init("-var", "region=us").code == 0
    before = contents()
    for options in ((), ("-input=false",), ("-json",)):
        done = inside("apply", *options, "plan.out")
        assert done.code == 1
        assert 'path = "states/eu.tfstate"' in told(done)
        assert 'path = "states/us.tfstate"' in told(done)
        assert "nigari init -reconfigure" in told(done)
        assert contents() == before
    assert init("-reconfigure", "-var", "region=eu").code == 0
    write({"states/eu.tfstate": (europe / "states/eu.tfstate").read_text()})
    assert inside("apply", "plan.out").code == 0


ENVIRONMENTS = """
environment "dev" {
  variables = { region = "eu" }
}
environment "prod" {
  variables = { region = "us" }
  backend   = { workspace_dir = "prod" }
}
"""


def test_environments_have_locations_of_their_own(directory: Path) -> None:
    write({"main.tf": CONFIGURATION, "environments.hcl": ENVIRONMENTS})
    assert inside("-env=dev", "init").code == 0
    assert inside("-env=dev", "apply", "-auto-approve").code == 0
    assert inside("-env=prod", "plan").code == 1
    assert inside("-env=prod", "init").code == 0
    typo = inside("-env=dev", "apply", "-auto-approve", "-var", "region=us")
    assert typo.code == 1
    assert 'is "states/us.tfstate" now' in told(typo)
    write({"environments.hcl": ENVIRONMENTS.replace('"us"', '"ue"')})
    changed = inside("-env=prod", "apply", "-auto-approve")
    assert changed.code == 1
    assert 'path was "states/us.tfstate" and is "states/ue.tfstate" now' in told(changed)
    assert inside("-env=dev", "plan").code == 0


def test_a_directory_of_an_earlier_version(europe: Path) -> None:
    noted = Path(".terraform/nigari.backend.json")
    backend = json.loads(Path(".terraform/terraform.tfstate").read_text())["backend"]
    import hashlib

    def digest(texts: list[str]) -> str:
        return hashlib.sha256(json.dumps(texts).encode()).hexdigest()

    written = json.loads(noted.read_text())["written"]
    old = {
        "backend": digest([json.dumps(backend, sort_keys=True)]),
        "text": written,
        "defaults": {"region": digest([])},
        "values": {"region": digest(['"eu"'])},
        "workspace": "default",
        "overridden": [],
    }
    noted.write_text(json.dumps(old))
    assert inside("output", "-raw", "-var", "region=eu", "region").out == "eu"
    assert inside("output", "-raw", "-var", "region=ue", "region").code == 1
    assert init("-reconfigure", "-var", "region=us").code == 0
    assert inside("output", "-raw", "-var", "region=eu", "region").out == "eu"


@pytest.mark.parametrize(
    "noted", ["{", "[]", '{"locations": 1, "last": ""}', '{"locations": [{}]}']
)
def test_a_list_of_locations_that_cannot_be_read(europe: Path, noted: str) -> None:
    Path(".terraform/nigari.backend.json").write_text(noted)
    assert inside("plan", "-var", "region=eu").code == 0
    assert inside("plan", "-var", "region=ue").code == 1
    assert init("-var", "region=eu").code == 0


FLEET = """
unit "app" {
  for_each  = { eu = "eu", us = "us" }
  directory = "app"
  variables = { region = each.value }
}
"""


def test_units_that_share_a_directory(directory: Path) -> None:
    """Each is set up by the first init of its own, and refused when its variables change."""
    write({"app/main.tf": CONFIGURATION, "fleet.hcl": FLEET})
    assert inside("fleet", "apply", "-auto-approve").code == 1
    assert not list(Path("app").rglob("*.tfstate"))
    for _ in range(2):
        assert inside("fleet", "init").code == 0
    assert inside("fleet", "apply", "-auto-approve").code == 0
    before = contents()
    write({"fleet.hcl": FLEET.replace('us = "us"', 'us = "su"')})
    for command in (["apply", "-auto-approve"], ["plan"], ["init"]):
        done = inside("fleet", *command)
        assert done.code == 1
        assert 'is "states/su.tfstate" now' in told(done)
    after = contents()
    states = [name for name in before if name.endswith(".tfstate")]
    assert [name for name in after if name.endswith(".tfstate")] == states
    assert all(after[name] == before[name] for name in states)
    assert inside("fleet", "init", "-reconfigure").code == 0
    assert inside("fleet", "apply", "-auto-approve").code == 0


def damaged_note(**changed: object) -> None:
    noted = Path(".terraform/nigari.backend.json")
    noted.write_text(json.dumps({**json.loads(noted.read_text()), **changed}))


@pytest.mark.parametrize("overridden", ["module.m", ["nothing"], {"a": 1}, None])
def test_a_damaged_note_of_locations(europe: Path, overridden: object) -> None:
    damaged_note(overridden=overridden)
    assert inside("plan", "-var", "region=eu").code == 0
    assert inside("plan", "-var", "region=ue").code == 1
    assert init("-var", "region=eu").code == 0


def test_a_damaged_selection_of_a_workspace(europe: Path) -> None:
    for name in ("defau\0tult", "../../x", "a b"):
        write({".terraform/environment": name})
        for command in ("plan", "output", "apply -auto-approve", "init"):
            done = ran(command, "-var", "region=eu")
            assert done.code == 1
            assert "Invalid workspace name" in told(done)
            assert str(Path(".terraform", "environment")) in told(done)


@pytest.mark.parametrize("name", ["path", "workspace_dir"])
def test_a_damaged_backend_file_is_set_up_anew(europe: Path, name: str) -> None:
    saved = Path(".terraform/terraform.tfstate")
    found = json.loads(saved.read_text())
    found["backend"]["config"][name] = "\ud800"
    saved.write_text(json.dumps(found))
    assert inside("output").code == 1
    assert init("-reconfigure", "-var", "region=eu").code in (0, 1)
    assert inside("plan", "-var", "region=eu").code in (0, 1)


def test_what_init_was_given_does_not_outlive_the_setting_that_it_overrides(
    directory: Path,
) -> None:
    settings = 'environment "dev" {\n  backend = { path = "dev.tfstate", workspace_dir = "w" }\n}\n'
    write(
        {
            "main.tf": 'terraform {\n  backend "local" {}\n}\n',
            "environments.hcl": settings,
        }
    )
    assert inside("-env=dev", "init", "-backend-config=path=given.tfstate").code == 0
    assert inside("-env=dev", "plan").code == 0
    write({"environments.hcl": f"# The same.\n{settings}"})
    assert inside("-env=dev", "plan").code == 0
    write({"environments.hcl": settings.replace("dev.tfstate", "other.tfstate")})
    for command in ("plan", "init"):
        done = inside("-env=dev", command)
        assert done.code == 1
        assert 'path was "given.tfstate" and is "other.tfstate" now' in done.err
