"""Encrypted states and plans that `tofu` and Nigari hand to each other."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from nigari import cty
from nigari.diagnostics import Diagnostics
from nigari.state.draft import StateDraft
from nigari.state.encryption import (
    BlockName,
    Encryption,
    EncryptionConfig,
    GivenArguments,
    KeyProviderConfig,
    MethodConfig,
    TargetConfig,
)
from tests.state.tofu import TofuDirectory

pytestmark = pytest.mark.real

PASSPHRASE = "a passphrase for tests only"
RESOURCES = """
variable "word" { default = "first" }
resource "terraform_data" "a" { input = var.word }
output "word" { value = terraform_data.a.output }
"""
BLOCKS = """
key_provider "pbkdf2" "single" {
  passphrase = "%s"
  iterations = 200000
}
key_provider "pbkdf2" "inner" {
  passphrase = "%s"
  iterations = 200000
}
key_provider "pbkdf2" "outer" {
  chain         = key_provider.pbkdf2.inner
  iterations    = 200000
  hash_function = "sha256"
}
method "unencrypted" "plain" {}
method "aes_gcm" "simple" { keys = key_provider.pbkdf2.single }
method "aes_gcm" "chained" {
  keys = key_provider.pbkdf2.outer
  aad  = [1, 2, 3]
}
"""


def tofu_config(method: str, fallback: str = "", passphrase: str = PASSPHRASE) -> str:
    extra = f"fallback {{\n method = method.{fallback}\n }}" if fallback else ""
    target = f"method = method.{method}\n{extra}"
    return f"{BLOCKS % (passphrase, passphrase)}\nstate {{\n{target}\n}}\nplan {{\n{target}\n}}\n"


def our_config(method: str, fallback: str = "", passphrase: str = PASSPHRASE) -> Encryption:
    single = BlockName("pbkdf2", "single")
    inner, outer = BlockName("pbkdf2", "inner"), BlockName("pbkdf2", "outer")
    simple = GivenArguments(
        {"passphrase": cty.string(passphrase), "iterations": cty.number(200_000)}
    )
    labels = {
        name: BlockName(*name.split("."))
        for name in ("aes_gcm.simple", "aes_gcm.chained", "unencrypted.plain")
    }
    target = TargetConfig(labels[method], (labels[fallback],) if fallback else ())
    diags = Diagnostics()
    encryption = Encryption(
        EncryptionConfig(
            key_providers=(
                KeyProviderConfig(single, simple),
                KeyProviderConfig(inner, simple),
                KeyProviderConfig(
                    outer,
                    GivenArguments(
                        {
                            "chain": inner,
                            "iterations": cty.number(200_000),
                            "hash_function": cty.string("sha256"),
                        }
                    ),
                ),
            ),
            methods=(
                MethodConfig(labels["unencrypted.plain"]),
                MethodConfig(labels["aes_gcm.simple"], GivenArguments({"keys": single})),
                MethodConfig(
                    labels["aes_gcm.chained"],
                    GivenArguments({"keys": outer, "aad": cty.Value.of([1, 2, 3])}),
                ),
            ),
            state=target,
            plan=target,
        ),
        diags,
    )
    assert not diags.has_errors, list(diags)
    return encryption


@pytest.fixture
def directory(tmp_path: Path) -> TofuDirectory:
    return TofuDirectory(tmp_path, RESOURCES)


METHODS = ["aes_gcm.simple", "aes_gcm.chained", "unencrypted.plain"]


@pytest.mark.parametrize("method", METHODS)
def test_tofu_writes_and_we_read(directory: TofuDirectory, method: str) -> None:
    directory.apply(TF_ENCRYPTION=tofu_config(method))
    snapshots = directory.read(our_config(method).state)
    assert snapshots.state.outputs["word"].value == cty.string("first")


@pytest.mark.parametrize("method", METHODS)
def test_we_write_and_tofu_reads(directory: TofuDirectory, method: str) -> None:
    directory.apply(TF_ENCRYPTION=tofu_config(method))
    snapshots = directory.read(our_config(method).state)
    assert snapshots.file is not None
    before = snapshots.file.serial
    draft = StateDraft(snapshots.state)
    draft.set_outputs({})
    diags = Diagnostics()
    assert asyncio.run(snapshots.write(draft.finish(), diags)), list(diags)
    stored = json.loads(directory.state.read_text())
    assert stored["serial"] == before + 1
    assert ("encrypted_data" in stored) is (method != "unencrypted.plain")
    pulled = json.loads(directory.run("state", "pull", TF_ENCRYPTION=tofu_config(method)))
    assert pulled["outputs"] == {}
    assert pulled["serial"] == before + 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("unencrypted.plain", "aes_gcm.simple"),
        ("aes_gcm.simple", "unencrypted.plain"),
        ("aes_gcm.simple", "aes_gcm.chained"),
    ],
)
def test_fallback_migrations_both_ways(directory: TofuDirectory, old: str, new: str) -> None:
    directory.apply(TF_ENCRYPTION=tofu_config(old))
    snapshots = directory.read(our_config(new, old).state)
    diags = Diagnostics()
    assert asyncio.run(snapshots.write(snapshots.state, diags)), list(diags)
    assert "terraform_data.a" in directory.run("state", "list", TF_ENCRYPTION=tofu_config(new))
    directory.apply("-var", "word=second", TF_ENCRYPTION=tofu_config(old, new))
    assert directory.read(our_config(old).state).state.outputs["word"].value == cty.string("second")


@pytest.mark.parametrize("method", ["aes_gcm.simple", "aes_gcm.chained"])
def test_a_wrong_passphrase_is_refused_and_the_file_left_alone(
    directory: TofuDirectory, method: str
) -> None:
    directory.apply(TF_ENCRYPTION=tofu_config(method))
    before = directory.state.read_bytes()
    snapshots = directory.snapshots(our_config(method, passphrase="quite another phrase").state)
    diags = Diagnostics()
    assert not asyncio.run(snapshots.read(diags))
    assert [each.summary for each in diags] == ["Decryption failed"]
    assert not asyncio.run(snapshots.write(snapshots.state, diags))
    assert directory.state.read_bytes() == before


@pytest.mark.parametrize("method", ["aes_gcm.simple", "aes_gcm.chained"])
def test_the_envelope_of_a_plan_opens_both_ways(directory: TofuDirectory, method: str) -> None:
    environment = tofu_config(method)
    directory.run("init", TF_ENCRYPTION=environment)
    directory.run("plan", "-out=plan", TF_ENCRYPTION=environment)
    plan = directory.path / "plan"
    diags = Diagnostics()
    layer = our_config(method).plan
    opened = layer.decrypt(plan.read_bytes(), diags)
    assert opened is not None, list(diags)
    assert opened.data.startswith(b"PK")
    ours = layer.encrypt(opened.data, diags)
    assert ours is not None
    plan.write_bytes(ours)
    directory.run("apply", "plan", TF_ENCRYPTION=environment)
    assert "encrypted_data" in directory.state.read_text()


def test_the_form_of_the_file_is_that_of_tofu(directory: TofuDirectory) -> None:
    directory.apply(TF_ENCRYPTION=tofu_config("aes_gcm.simple"))
    theirs = directory.state.read_text()
    snapshots = directory.read(our_config("aes_gcm.simple").state)
    draft = StateDraft(snapshots.state)
    draft.set_outputs({})
    assert asyncio.run(snapshots.write(draft.finish(), Diagnostics()))
    ours = directory.state.read_text()

    def shape(text: str) -> list[str]:
        return [line.partition(":")[0] for line in text.splitlines()]

    assert shape(ours) == shape(theirs)
    assert ours[-3:] == theirs[-3:]


EXTERNAL = """
import base64, json, sys
mode, magic = sys.argv[1], sys.argv[2]
print(json.dumps({"magic": magic, "version": 1}), flush=True)
request = json.load(sys.stdin)
key = base64.b64encode(bytes(range(32))).decode()
if mode == "keys":
    keys = {"encryption_key": key}
    if request is not None:
        assert request == {"external_data": {"n": 1, "s": "<x>"}}, request
        keys["decryption_key"] = key
    answer = {"keys": keys, "meta": {"external_data": {"n": 1, "s": "<x>"}}}
else:
    assert base64.b64decode(request["key"]) == bytes(range(32))
    data = base64.b64decode(request["payload"])
    answer = {"payload": base64.b64encode(bytes(b ^ 85 for b in data)).decode()}
print(json.dumps(answer))
"""


@pytest.mark.parametrize("method", ["aes_gcm", "external"])
def test_external_programs(directory: TofuDirectory, method: str) -> None:
    script = directory.path / "external.py"
    script.write_text(EXTERNAL)
    keys = [sys.executable, str(script), "keys", "OpenTofu-External-Key-Provider"]
    crypt = [sys.executable, str(script), "xor", "OpenTofu-External-Encryption-Method"]
    commands = {"encrypt_command": crypt, "decrypt_command": crypt} if method == "external" else {}
    arguments = "".join(f"{name} = {json.dumps(each)}\n" for name, each in commands.items())
    theirs = f"""
key_provider "external" "k" {{ command = {json.dumps(keys)} }}
method "{method}" "m" {{
  keys = key_provider.external.k
  {arguments}
}}
state {{ method = method.{method}.m }}
"""
    provider, label = BlockName("external", "k"), BlockName(method, "m")
    given = {name: cty.Value.of(each) for name, each in commands.items()}
    diags = Diagnostics()
    ours = Encryption(
        EncryptionConfig(
            key_providers=(
                KeyProviderConfig(provider, GivenArguments({"command": cty.Value.of(keys)})),
            ),
            methods=(MethodConfig(label, GivenArguments({"keys": provider, **given})),),
            state=TargetConfig(label),
        ),
        diags,
    )
    directory.apply(TF_ENCRYPTION=theirs)
    snapshots = directory.read(ours.state)
    draft = StateDraft(snapshots.state)
    draft.set_outputs({})
    assert asyncio.run(snapshots.write(draft.finish(), diags)), list(diags)
    assert json.loads(directory.run("state", "pull", TF_ENCRYPTION=theirs))["outputs"] == {}
