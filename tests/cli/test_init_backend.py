"""`nigari init`: backends, what is remembered for them, and encryption."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import nigari
from tests.backends.world.buckets import FakeAlibaba
from tests.backends.world.state_server import StateServer
from tests.cli.init_world import directory, init, repository, told, write
from tests.cli.process import inside

__all__ = ["directory", "repository"]


# -- the backend ------------------------------------------------------------------------------

BACKEND = """
variable "env" {
  default = "one"
}
locals {
  path = "states/${var.env}.tfstate"
}
terraform {
  backend "local" {
    path = local.path
  }
}
"""
STATE = json.dumps(
    {"version": 4, "serial": 1, "lineage": "x", "outputs": {"a": {"value": 1, "type": "number"}}}
)


def remembered() -> dict[str, object]:
    backend = json.loads(Path(".terraform/terraform.tfstate").read_text())["backend"]
    assert isinstance(backend, dict)
    return backend


def test_a_backend_is_remembered(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init().code == 0
    assert remembered()["config"] == {"path": "states/one.tfstate", "workspace_dir": None}
    assert init().code == 0


def test_a_changed_variable_asks_what_to_do(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init().code == 0
    write({"states/one.tfstate": STATE})
    before = remembered()
    refused = init("-var", "env=two")
    assert refused.code == 1
    wanted = 'path was "states/one.tfstate" and is "states/two.tfstate" now (it depends on var.env)'
    assert wanted in told(refused)
    for choice in ("-migrate-state", "-reconfigure"):
        assert f'"nigari init -var env=... {choice}"' in told(refused)
    assert remembered() == before
    assert init("-var", "env=two", "-reconfigure").code == 0
    assert remembered()["config"] == {"path": "states/two.tfstate", "workspace_dir": None}
    assert not Path("states/two.tfstate").exists()
    done = init()
    assert done.code == 0, "it was set up before"
    said = " ".join(done.out.split())
    assert 'another location than before: path = "states/one.tfstate" (var.env)' in said
    assert remembered() == before


def test_a_state_that_was_moved_leaves_no_location(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init().code == 0
    write({"states/one.tfstate": STATE})
    assert init("-var", "env=two", "-migrate-state").code == 1, "the state may be moved, if asked"
    assert init("-var", "env=two", "-force-copy").code == 0
    assert Path("states/two.tfstate").read_text() == STATE
    assert inside("output", "-var", "env=two").code == 0
    assert inside("output").code == 1, "nobody is to go on with what was moved"
    assert init().code == 1
    assert init("-var", "env=three", "-reconfigure").code == 0
    assert not Path("states/three.tfstate").exists()
    assert inside("output", "-var", "env=two").code == 0


def test_locations_are_listed(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init().code == 0
    assert init("-var", "env=two", "-reconfigure").code == 0
    assert inside("workspace", "new", "-var", "env=two", "w").code == 0
    assert inside("init", "-show").out == (
        'Nothing is remembered for the workspace "w".\n'
        "Locations that are set up:\n"
        '- backend "local": path = "states/one.tfstate" (default)\n'
        '- backend "local": path = "states/two.tfstate" (default, w)\n'
    )


def test_a_changed_configuration_is_another_backend(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init().code == 0
    write({"main.tf": BACKEND.replace("states/", "other/")})
    done = init("-var", "env=two")
    assert done.code == 1
    wanted = 'path was "states/one.tfstate" and is "other/two.tfstate" now (it depends on var.env)'
    assert wanted in told(done)
    assert "-migrate-state" in done.err


def test_other_commands_see_a_changed_backend(directory: Path) -> None:
    write({"main.tf": BACKEND})
    done = inside("state", "list")
    assert done.code == 1
    assert "Backend not set up" in done.err
    assert init().code == 0
    write({"states/one.tfstate": STATE})
    assert inside("state", "list").code == 0
    write({"main.tf": BACKEND.replace("states/", "other/")})
    done = inside("output", "-var", "env=two")
    assert done.code == 1
    assert 'is "other/two.tfstate" now (it depends on var.env)' in told(done)


def test_the_first_backend_takes_the_state_along(directory: Path) -> None:
    write({"main.tf": BACKEND, "terraform.tfstate": STATE})
    done = init("-input=false")
    assert done.code == 1
    assert "-force-copy" in done.err
    assert not Path(".terraform").exists()
    assert init("-force-copy").code == 0
    assert Path("states/one.tfstate").read_text() == STATE
    assert Path("terraform.tfstate").read_text() == ""
    assert Path("terraform.tfstate.backup").read_text() == STATE


def test_a_backend_that_is_gone(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init().code == 0
    write({"main.tf": "", "states/one.tfstate": STATE})
    assert "no longer has a backend" in told(init())
    assert init("-migrate-state", "-force-copy").code == 0
    assert Path("terraform.tfstate").read_text() == STATE
    assert not Path(".terraform/terraform.tfstate").exists()


def test_settings_of_the_command_line(directory: Path) -> None:
    write({"main.tf": BACKEND, "more.tfbackend": 'workspace_dir = "w"\n'})
    assert init("-backend-config=path=p", "-backend-config=more.tfbackend").code == 0
    assert remembered()["config"] == {"path": "p", "workspace_dir": "w"}
    assert init().code == 0, "the hash is of the file alone"
    assert init("-backend-config=path=q").code == 1


_ENCRYPTED = """
variable "pass" {
}
terraform {
  encryption {
    key_provider "pbkdf2" "k" {
      passphrase = var.pass
    }
    method "aes_gcm" "m" {
      keys = key_provider.pbkdf2.k
    }
    state {
      method = method.aes_gcm.m
    }
  }
}
"""


def test_a_backend_that_stays_as_it_is(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init("-backend=false").code == 0
    assert not Path(".terraform").exists()


def test_keys_are_wanted_with_the_backend_only(directory: Path) -> None:
    write({"main.tf": _ENCRYPTED})
    assert "var.pass" in told(init("-input=false"))
    for option in ("-backend=false", "-cloud=false"):
        done = init("-input=false", option)
        assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ('backend "lokal" {}', 'There is no backend of type "lokal". Did you mean "local"?'),
        ('backend "etcd" {}', "was removed"),
        ('backend "local" {\n    paht = "x"\n  }', "paht"),
        ('backend "s3" {\n    key = "x"\n  }', 'requires the argument "bucket"'),
        ('backend "local" {\n    path = var.secret\n  }', "sensitive"),
        ('backend "local" {\n    path = terraform_data.a.id\n  }', "terraform_data.a"),
        ('backend "local" {\n    path = timestamp()\n  }', "result differs at every call"),
        ('backend "http" {\n    address = "x"\n    retry_max = "many"\n  }', "retry_max"),
        ('backend "local" {\n    path = var.none\n  }', "var.none, which has no value"),
        ('backend "local" {\n    path = var.nome\n  }', 'Did you mean "none"?'),
        (
            'backend "kubernetes" {\n    secret_suffix = "s"\n    exec {\n    }\n  }',
            "exec.api_version is required",
        ),
    ],
)
def test_backends_that_are_refused(block: str, said: str, directory: Path) -> None:
    variables = 'variable "none" {}\nvariable "secret" {\n  default = "x"\n  sensitive = true\n}\n'
    resource = 'resource "terraform_data" "a" {}\n'
    write({"main.tf": f"{variables}{resource}terraform {{\n  {block}\n}}\n"})
    done = init()
    assert done.code == 1
    assert said in told(done)
    assert done.err.count("Error:") == 1
    assert not Path(".terraform").exists()


@pytest.mark.parametrize(
    ("kind", "body", "says"),
    [
        ("local", 'path = ""', "The path is empty"),
        ("s3", 'bucket = "b"\nkey = "/k"\nregion = "r"', "must not begin or end with a slash"),
        ("s3", 'bucket = "b"\nkey = "k"', "The region is set neither here"),
        (
            "s3",
            'bucket = "b"\nkey = "k"\nregion = "r"\nassume_role = { role_arn = "r" }\nrole_arn = "r"',
            "role_arn cannot be set together with assume_role",
        ),
        ("remote", 'organization = "o"', "either name or prefix, and none is set"),
    ],
)
def test_arguments_that_a_backend_refuses(
    directory: Path, kind: str, body: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    write({"main.tf": f'terraform {{\n  backend "{kind}" {{\n{body}\n  }}\n}}\n'})
    done = init()
    assert done.code == 1
    assert says in told(done)


def test_settings_of_the_command_line_given_again(directory: Path) -> None:
    """Nothing has changed, whatever the types of the arguments."""
    with FakeAlibaba() as server:
        body = f'endpoint = "{server.server.url}"\n    access_key = "id"\n    region = "r"'
        body += '\n    secret_key = "the-secret"\n    assume_role {\n      session_expiration = "3"\n    }'
        write({"main.tf": f'terraform {{\n  backend "oss" {{\n    {body}\n  }}\n}}\n'})
        for _ in range(2):
            done = init("-backend-config=bucket=b", "-backend-config=encrypt=true")
            assert done.code == 0, done.err
        assert init("-backend-config=bucket=c", "-backend-config=encrypt=true").code == 1


# -- what is remembered -------------------------------------------------------------------------


def test_values_that_static_places_used_are_remembered(directory: Path) -> None:
    unused = 'variable "other" {\n  default = ""\n}\n'
    write({"main.tf": BACKEND + unused})
    assert init("-var", "env=two", "-var", "other=x", "-remember").code == 0
    assert inside("init", "-show").out.startswith('env = "two"\nLocations')
    done = init()
    assert done.code == 0
    assert "Using remembered values for var.env" in done.err
    assert remembered()["config"] == {"path": "states/two.tfstate", "workspace_dir": None}
    assert "Using remembered values for var.env" in inside("validate").err
    done = init("-reconfigure", TF_VAR_env="three")
    assert done.code == 0
    path = {"path": "states/three.tfstate", "workspace_dir": None}
    assert remembered()["config"] == path, "the environment ranks above what is remembered"


def test_secrets_are_not_remembered(directory: Path) -> None:
    text = (
        'variable "s" {\n  sensitive = true\n}\nmodule "a" {\n  source = nonsensitive(var.s)\n}\n'
    )
    write({"main.tf": text, "m/main.tf": ""})
    assert init("-var", "s=./m", "-remember").code == 0
    assert "Nothing is remembered" in inside("init", "-show").out
    assert "./m" not in Path(".terraform/nigari.variables.json").read_text()


def test_each_workspace_remembers_for_itself(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init("-var", "env=two", "-remember").code == 0
    shown = inside("init", "-show", settings={"TF_WORKSPACE": "other"})
    assert 'Nothing is remembered for the workspace "other"' in shown.out


_TWO = """\
variable "env" {}
variable "region" {
  default = "none"
}
terraform {
  backend "local" {
    path = "states/${var.env}-${var.region}.tfstate"
  }
}
"""


def test_what_is_remembered_belongs_to_its_backend(directory: Path) -> None:
    write({"main.tf": _TWO})
    assert init("-var", "env=prod", "-var", "region=eu", "-remember").code == 0
    same = init("-var", "env=prod")
    assert (same.code, "belong to another" in same.out) == (0, False)
    shown = inside("init", "-show").out
    assert shown.startswith('env = "prod"\nregion = "eu"\nLocations')
    refused = init("-var", "env=dev", "-backend-config=path=")
    assert refused.code == 1
    assert inside("init", "-show").out == shown, "nothing changes where init fails"
    other = init("-var", "env=dev", "-reconfigure")
    assert other.code == 0
    words = "The values remembered for var.env, var.region belong to another backend configuration."
    assert words in " ".join(other.out.split())
    assert remembered()["config"] == {"path": "states/dev-none.tfstate", "workspace_dir": None}
    assert "Nothing is remembered" in inside("init", "-show").out
    assert init("-var", "env=dev", "-var", "region=us", "-reconfigure", "-remember").code == 0
    assert init().code == 0
    assert remembered()["config"] == {"path": "states/dev-us.tfstate", "workspace_dir": None}


def test_what_is_remembered_for_another_backend_goes_also_unused(directory: Path) -> None:
    write({"main.tf": _TWO})
    given = "-var", "env=prod", "-var", "region=eu"
    others = "-var", "env=dev", "-var", "region=us"
    assert init(*given, "-remember").code == 0
    assert "belong to another backend" in " ".join(init(*others, "-reconfigure").out.split())
    assert "Nothing is remembered" in inside("init", "-show").out
    assert init(*given, "-remember").code == 0
    assert "belong to another backend" not in " ".join(init(*others, "-remember").out.split())
    assert inside("init", "-show").out.startswith('env = "dev"\nregion = "us"\nLocations')


def test_options_of_the_backend_make_another_one(directory: Path) -> None:
    write({"main.tf": _TWO})
    assert init("-var", "env=prod", "-var", "region=eu", "-remember").code == 0
    done = init("-var", "env=prod", "-backend-config=path=other.tfstate", "-reconfigure")
    assert "belong to another backend" in " ".join(done.out.split())
    assert "Nothing is remembered" in inside("init", "-show").out


def test_forgetting(directory: Path) -> None:
    write({"main.tf": BACKEND})
    assert init("-var", "env=two", "-remember").code == 0
    assert inside("init", "-forget").out == (
        'The values remembered for the workspace "default" are forgotten.\n'
    )
    assert init("-reconfigure").code == 0
    assert remembered()["config"] == {"path": "states/one.tfstate", "workspace_dir": None}
    again = inside("init", "-forget").out
    assert again == 'Nothing was remembered for the workspace "default".\n'


# -- encryption -------------------------------------------------------------------------------


def _encryption(key_providers: str) -> str:
    return (
        'variable "pass" {\n  sensitive = true\n}\nterraform {\n  encryption {\n'
        f"{key_providers}"
        '    method "aes_gcm" "m" {\n      keys = key_provider.pbkdf2.a\n    }\n'
        "    state {\n      method = method.aes_gcm.m\n    }\n  }\n}\n"
    )


def _key_provider(name: str, argument: str) -> str:
    return f'    key_provider "pbkdf2" "{name}" {{\n      {argument}\n    }}\n'


@pytest.mark.parametrize(
    ("key_providers", "given", "said"),
    [
        (
            _key_provider("a", "passphrase = var.pass"),
            (),
            (
                "passphrase of key_provider.pbkdf2.a must be known before anything runs, but it depends on "
                "var.pass, which has no value"
            ),
        ),
        (_key_provider("a", "passphrase = var.pass"), ("-var=pass=short",), "at least 16 bytes"),
        (
            _key_provider("a", "chain = key_provider.pbkdf2.b")
            + _key_provider("b", "chain = key_provider.pbkdf2.a"),
            (),
            "key_provider.pbkdf2.a → key_provider.pbkdf2.b → key_provider.pbkdf2.a",
        ),
    ],
)
def test_encryption_that_is_refused(
    key_providers: str, given: tuple[str, ...], said: str, directory: Path
) -> None:
    write({"main.tf": _encryption(key_providers)})
    done = init(*given)
    assert done.code == 1
    assert said in told(done)
    assert done.err.count("Error:") == 1


def test_encryption_takes_secrets(directory: Path) -> None:
    write({"main.tf": _encryption(_key_provider("a", "passphrase = var.pass"))})
    assert init("-var=pass=a-long-enough-secret").code == 0


# -- the selected workspace -------------------------------------------------------------------

LOCAL = 'terraform {\n  backend "local" {}\n}\n'


def workspaces(*names: str) -> None:
    """A directory that is set up, with these workspaces; the last one is selected."""
    write({"main.tf": LOCAL})
    assert init().code == 0
    for name in names:
        assert inside("workspace", "new", name).code == 0


def test_the_only_workspace_that_is_left_is_selected(directory: Path) -> None:
    workspaces("gone")
    Path("terraform.tfstate.d/gone").rmdir()
    assert init("-input=false").code == 0
    assert inside("workspace", "show").out == "default\n"


def test_one_of_several_workspaces_is_chosen(directory: Path) -> None:
    workspaces("a", "b", "gone")
    Path("terraform.tfstate.d/gone").rmdir()
    refused = init("-input=false")
    assert refused.code == 1
    assert "only these workspaces: default, a, b." in told(refused)
    assert inside("init", stdin="9\n").code == 1
    assert inside("workspace", "show").out == "gone\n"
    done = inside("init", stdin="3\n")
    assert done.code == 0, done.err
    assert 'The selected workspace "gone" does not exist' in done.out
    assert "  2. a\n" in done.out
    assert inside("workspace", "show").out == "b\n"


def test_a_workspace_that_the_environment_names_may_be_new(directory: Path) -> None:
    workspaces("a")
    assert init("-input=false", TF_WORKSPACE="new").code == 0


def test_without_a_backend_block_the_workspace_stays(directory: Path) -> None:
    write({"main.tf": ""})
    assert inside("workspace", "new", "gone").code == 0
    Path("terraform.tfstate.d/gone").rmdir()
    assert init("-input=false").code == 0
    assert inside("workspace", "show").out == "gone\n"


# -- what OpenTofu was given ------------------------------------------------------------------


def test_what_another_program_was_given_holds(directory: Path) -> None:
    write({"main.tf": 'terraform {\n  backend "http" {}\n}\noutput "a" {\n  value = 1\n}\n'})
    with StateServer() as server:
        assert init("-input=false", f"-backend-config=address={server.url}").code == 0
        Path(".terraform/nigari.backend.json").unlink()
        done = init("-input=false")
        assert done.code == 0, done.err
        assert inside("apply", "-auto-approve").code == 0
        assert server.state["outputs"]


FILES = r"/\S+\.tfstate"


def test_encrypted_states_can_be_compared(directory: Path) -> None:
    encryption = _encryption(_key_provider("a", 'passphrase = "a-long-enough-secret"'))
    text = encryption.replace('variable "pass" {\n  sensitive = true\n}\n', "")
    for name in ("one", "two"):
        block = f'terraform {{\n  backend "local" {{\n    path = "{name}.tfstate"\n  }}\n}}\n'
        write({"main.tf": f'{text}{block}output "a" {{\n  value = "{name}"\n}}\n'})
        assert init("-reconfigure").code == 0
        assert inside("apply", "-auto-approve").code == 0
    write({"main.tf": Path("main.tf").read_text().replace("two.tfstate", "one.tfstate")})
    seen: list[object] = []

    def ask(_: str, question: str) -> str:
        states = [json.loads(Path(each).read_bytes()) for each in re.findall(FILES, question)]
        seen.extend(each["outputs"]["a"]["value"] for each in states)
        return "yes"

    nigari.open(directory, ask=ask, environ={}).init(migrate_state=True)
    assert seen == ["two", "one"]
    assert inside("output", "-raw", "a").out == "two"
    assert Path("one.tfstate").read_bytes() == Path("two.tfstate").read_bytes()
