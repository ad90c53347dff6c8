"""Encrypted states under the `state` commands: the block, the environment, and both."""

import json
import re
from pathlib import Path

import pytest

from tests.cli.process import inside
from tests.cli.states import resource, write_state

STATE = Path("terraform.tfstate")
BLOCKS = """
key_provider "pbkdf2" "inner" {
  passphrase = %s
  iterations = 200000
}
key_provider "pbkdf2" "outer" {
  chain      = key_provider.pbkdf2.inner
  iterations = 200000
}
method "aes_gcm" "m" {
  keys = key_provider.pbkdf2.outer
}
method "unencrypted" "u" {}
"""
TARGET = """
state {
  method = method.aes_gcm.m
  fallback {
    method = method.unencrypted.u
  }
}
"""
STRICT = "state {\n  method = method.aes_gcm.m\n  enforced = true\n}\n"
PASSPHRASE = '"a passphrase for tests only"'
VARIABLES = """
variable "first" {
  sensitive = true
  default   = "a passphrase"
}
variable "second" {
  ephemeral = true
  type      = string
}
locals {
  passphrase = "${var.first} ${var.second}"
}
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_state(STATE, resource("a"), resource("b"))


def configure(blocks: str, before: str = "") -> None:
    Path("main.tf").write_text(f"{before}\nterraform {{\n  encryption {{\n{blocks}\n  }}\n}}\n")


def is_encrypted(path: Path = STATE) -> bool:
    return "encrypted_data" in json.loads(path.read_text())


def test_from_plain_to_encrypted_and_back() -> None:
    configure(BLOCKS % PASSPHRASE + TARGET)
    assert inside("state", "list").out == "terraform_data.a\nterraform_data.b\n"
    assert not is_encrypted()
    assert inside("taint", "terraform_data.a").code == 0
    assert is_encrypted()
    assert is_encrypted(Path("terraform.tfstate.backup"))
    configure(BLOCKS % PASSPHRASE + STRICT)
    assert inside("state", "mv", "terraform_data.a", "terraform_data.c").code == 0
    assert is_encrypted()
    assert not is_encrypted_text(inside("state", "pull").out)
    configure(
        BLOCKS % PASSPHRASE
        + "state {\n method = method.unencrypted.u\n fallback {\n method = method.aes_gcm.m\n }\n}"
    )
    assert inside("state", "rm", "terraform_data.b").code == 0
    assert not is_encrypted()
    Path("main.tf").unlink()
    assert inside("state", "list").out == "terraform_data.c\n"


def is_encrypted_text(text: str) -> bool:
    return "encrypted_data" in json.loads(text)


def test_values_come_from_variables_and_locals() -> None:
    configure(BLOCKS % "local.passphrase" + TARGET, VARIABLES)
    second = "-var=second=for tests only"
    assert inside("taint", second, "terraform_data.a").code == 0
    assert is_encrypted()
    known = {"TF_VAR_second": "for tests only"}
    assert inside("state", "list", settings=known).code == 0
    assert "tests only" not in STATE.read_text()
    missing = inside("state", "list")
    assert missing.code == 1
    assert "var.second" in missing.err
    wrong = inside("state", "list", "-var=second=for nobody at all")
    assert wrong.code == 1
    assert "Decryption failed" in wrong.err


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(BLOCKS % PASSPHRASE + TARGET, id="native"),
        pytest.param(
            json.dumps(
                {
                    "key_provider": {
                        "pbkdf2": {
                            "k": {
                                "passphrase": "${var.first} and more of it",
                                "iterations": 200000,
                            }
                        }
                    },
                    "method": {
                        "aes_gcm": {"m": {"keys": "${key_provider.pbkdf2.k}"}},
                        "unencrypted": {"u": {}},
                    },
                    "state": {
                        "method": "method.aes_gcm.m",
                        "fallback": {"method": "method.unencrypted.u"},
                    },
                }
            ),
            id="json",
        ),
    ],
)
def test_the_environment(text: str) -> None:
    Path("main.tf").write_text(VARIABLES)
    environ = {"TF_ENCRYPTION": text}
    assert inside("taint", "terraform_data.a", settings=environ).code == 0
    assert is_encrypted()
    assert inside("state", "list", settings=environ).code == 0
    refused = inside("state", "list")
    assert refused.code == 1
    assert "encrypted" in refused.err


def test_the_environment_over_the_block() -> None:
    configure(BLOCKS.replace("passphrase = %s", "") + TARGET)
    environ = {
        "TF_ENCRYPTION": f'key_provider "pbkdf2" "inner" {{\n  passphrase = {PASSPHRASE}\n}}'
    }
    assert inside("taint", "terraform_data.a", settings=environ).code == 0
    assert is_encrypted()
    assert inside("state", "list").code == 1


@pytest.mark.parametrize(
    "blocks",
    [
        pytest.param("state {\n  method = method.aes_gcm.m\n}", id="undeclared method"),
        pytest.param("state {\n  method = 5\n}", id="no method"),
        pytest.param(BLOCKS % "terraform_data.a.id" + TARGET, id="a resource"),
        pytest.param(BLOCKS % "var.nope" + TARGET, id="an undeclared variable"),
        pytest.param(BLOCKS % '"short"' + TARGET, id="a short passphrase"),
        pytest.param((BLOCKS % PASSPHRASE).replace(".inner", ".outer") + TARGET, id="a cycle"),
        pytest.param(
            (BLOCKS % PASSPHRASE).replace("iterations", "repetitions") + TARGET, id="an argument"
        ),
    ],
)
def test_nothing_is_written_where_encryption_is_wrong(blocks: str) -> None:
    configure(blocks)
    before = STATE.read_bytes()
    done = inside("taint", "terraform_data.a")
    assert done.code == 1
    assert done.err.count("Error:") == 1
    assert STATE.read_bytes() == before


@pytest.mark.parametrize(
    ("blocks", "line"),
    [
        ("state {\n  method = method.aes_gcm.m\n}", "  method = method.aes_gcm.m"),
        ((BLOCKS % PASSPHRASE).replace("pbkdf2.outer", "pbkdf2.nope") + TARGET, "pbkdf2.nope"),
    ],
)
def test_what_is_not_declared_is_told_where_it_is_named(blocks: str, line: str) -> None:
    configure(blocks)
    said = inside("taint", "terraform_data.a").err
    assert "is not declared" in said
    quoted = next(each for each in said.splitlines() if re.match(r" *\d+: ", each))
    assert quoted.endswith(line)


def test_a_plain_state_is_refused_where_encryption_is_enforced() -> None:
    configure(BLOCKS % PASSPHRASE + STRICT)
    assert inside("state", "list").code == 1
    assert not is_encrypted()


def test_modules_that_are_not_installed_do_not_matter() -> None:
    configure(
        BLOCKS % PASSPHRASE + TARGET,
        'module "m" {\n  source = "git::https://example.com/x.git"\n}\n',
    )
    assert inside("state", "list").code == 0


PLAN = "plan {\n  method = method.aes_gcm.m\n  enforced = true\n}\n"
THING = """
resource "terraform_data" "new" {
  input = "a value to be kept secret"
}
"""


def test_a_saved_plan_is_encrypted_shown_and_applied() -> None:
    STATE.unlink()
    configure(BLOCKS % PASSPHRASE + PLAN, THING)
    assert inside("plan", "-out=p").code == 0
    assert is_encrypted(Path("p"))
    assert b"PK" not in Path("p").read_bytes()[:2]
    shown = inside("show", "p")
    assert (shown.code, shown.err) == (0, "")
    assert "terraform_data.new" in shown.out
    configure(BLOCKS % '"another passphrase"' + PLAN, THING)
    for arguments in (["show", "p"], ["apply", "p"]):
        refused = inside(*arguments)
        assert refused.code == 1
        assert "Decryption failed" in refused.err
    assert not STATE.exists()
    configure(BLOCKS % PASSPHRASE + PLAN, THING)
    assert inside("apply", "p").code == 0
    assert "terraform_data.new" in inside("state", "list").out


def test_a_plain_plan_is_refused_where_encryption_is_enforced() -> None:
    STATE.unlink()
    Path("main.tf").write_text(THING)
    assert inside("plan", "-out=p").code == 0
    assert Path("p").read_bytes().startswith(b"PK")
    configure(BLOCKS % PASSPHRASE + PLAN, THING)
    for arguments in (["show", "p"], ["apply", "p"]):
        assert inside(*arguments).code == 1
    assert not STATE.exists()


REMOTE = """
data "terraform_remote_state" "other" {
  backend = "local"
  config = {
    path = "other.tfstate"
  }
}
output "o" {
  value = data.terraform_remote_state.other.outputs
}
"""


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ('remote_state_data_source "other" {\n  method = method.aes_gcm.m\n}', 0),
        ("default {\n  method = method.aes_gcm.m\n}", 0),
        ('remote_state_data_source "another" {\n  method = method.aes_gcm.m\n}', 1),
        ("default {\n  method = method.unencrypted.u\n}", 1),
    ],
)
def test_remote_states_are_decrypted_by_name(target: str, code: int) -> None:
    configure(BLOCKS % PASSPHRASE + STRICT, 'output "x" {\n  value = "there"\n}\n')
    STATE.unlink()
    assert inside("apply", "-auto-approve").code == 0
    assert is_encrypted()
    STATE.rename("other.tfstate")
    configure(
        BLOCKS % PASSPHRASE + f"remote_state_data_sources {{\n{target}\n}}\n",
        REMOTE,
    )
    done = inside("apply", "-auto-approve")
    assert done.code == code, done.err
    assert ("there" in done.out) == (code == 0)


def test_an_encrypted_file_can_be_pushed() -> None:
    configure(BLOCKS % PASSPHRASE + TARGET)
    assert inside("taint", "terraform_data.a").code == 0
    STATE.rename("copy")
    assert is_encrypted(Path("copy"))
    assert inside("state", "push", "copy").code == 0
    assert is_encrypted()
    assert inside("state", "list").out == "terraform_data.a\nterraform_data.b\n"
    configure(BLOCKS % '"another passphrase"' + TARGET)
    STATE.unlink()
    assert inside("state", "push", "copy").code == 1
    assert not STATE.exists()
