"""Secrets that are planted everywhere a person may type one, and what some hundred commands say.

Each secret is looked for in all that is printed, with and without `-json`, and in every file that is
written. Those that must hold one are listed with the reason in `_MUST_HOLD`.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import shlex
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from io import BytesIO, StringIO
from pathlib import Path
from urllib.parse import quote

import pytest

from nigari.cli.command import Terminal
from nigari.cli.crash import apologise
from tests.backends.world.state_server import StateServer
from tests.cli.process import inside
from tests.explore.explored import write
from tests.net_world.server import Answer, Asked, Server
from tests.packages.archives import files, packed

_MUST_HOLD = {
    ".terraform/terraform.tfstate": (
        "the backend's arguments: later commands, and OpenTofu, connect with them"
    ),
    ".terraform/modules/modules.json": "the sources as OpenTofu compares them",
    "plan.out": "a saved plan has the configuration and the variables to be applied with",
    "terraform.tfstate": "a state has the values of outputs and attributes",
    "terraform.tfstate.backup": "the same, as it was before",
    ".plan": "the saved plans of the units of a fleet",
}


class World:
    """Directories with secrets in them, and everything that commands have said about them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.secrets: list[str] = []
        self.said: list[tuple[str, str]] = []
        self.own: dict[Path, bytes] = {}
        self.environ: dict[str, str] = {}

    def plant(self) -> str:
        """A secret that is nowhere else."""
        self.secrets.append(f"plantedsecret{len(self.secrets):03}x")
        return self.secrets[-1]

    def write(self, name: str, content: Mapping[str, str]) -> None:
        """Write files of our own, which have secrets, as people's files do."""
        write(self.root / name, content)
        for path in content:
            self.own[self.root / name / path] = (self.root / name / path).read_bytes()

    def run(self, name: str, *lines: str) -> None:
        """Run commands in a directory."""
        for line in lines:
            with contextlib.chdir(self.root / name):
                done = inside(*shlex.split(line), settings=self.environ, stdin="no\n")
            self.said.append((f"{name}: nigari {line} ({done.code})", done.out + done.err))
            assert done.code != 11, self.said[-1]

    def leaks(self) -> list[str]:
        """Where a secret was found, with the text around it."""
        found = [f"{what}: {each}" for what, text in self.said for each in self._in(text.encode())]
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            is_own = self.own.get(path) == (path.read_bytes() if path.is_file() else b"")
            if path.is_file() and not is_own and not name.endswith(tuple(_MUST_HOLD)):
                found += [f"{name}: {each}" for each in self._in(_content(path))]
        return found

    def _in(self, data: bytes) -> Iterator[str]:
        text = data.decode(errors="replace")
        for secret in self.secrets:
            for form in (secret, quote(secret), b64encode(secret.encode()).decode().rstrip("=")):
                at = text.find(form)
                if at >= 0:
                    yield repr(text[max(at - 60, 0) : at + 60])
                    break


def _content(path: Path) -> bytes:
    """The content of a file, with what is packed in it."""
    data = path.read_bytes()
    if zipfile.is_zipfile(BytesIO(data)):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return b"\n".join(archive.read(each) for each in archive.namelist())
    # A page has its document compressed.
    for packed_text in re.findall(rb"H4sI[A-Za-z0-9+/=]+", data):
        data += gzip.decompress(b64decode(packed_text))
    return data


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path / "work")
    (tmp_path / "empty.tfrc").touch()
    made.environ = {
        "HOME": str(tmp_path / "home"),
        "TF_CLI_CONFIG_FILE": str(tmp_path / "empty.tfrc"),
        "NIGARI_CACHE_DIR": str(tmp_path / "work" / "cache"),
        "TF_REGISTRY_DISCOVERY_RETRY": "0",
        "PATH": "/usr/bin:/bin",
    }
    return made


_LOOKING = (
    "validate",
    "validate -json",
    "config -json",
    "environments",
    "environments -json",
    "graph",
    "providers",
    "explore -out page.html",
    "fleet list",
    "fleet list -json",
    "fleet graph",
    "fleet graph -format=json",
    "explore -fleet -out fleet.html",
)
_WORKING = (
    "plan",
    "plan -json",
    "plan -out plan.out",
    "show plan.out",
    "apply -auto-approve",
    "apply -json -auto-approve",
    "output",
    "state list",
    "state show terraform_data.a",
    "show",
    "why terraform_data.a",
    "uses var.password",
    "explain var.password",
    "explain -json var.password",
    "explore -out applied.html",
    "fleet plan",
    "fleet show",
    "workspace list",
    "refresh",
    "destroy -auto-approve",
)


def _backend(**arguments: str) -> str:
    kind = arguments.pop("kind")
    lines = "".join(f'    {name} = "{value}"\n' for name, value in arguments.items())
    return f'terraform {{\n  backend "{kind}" {{\n{lines}  }}\n}}\n'


_ROOT = """
variable "password" {
  type      = string
  sensitive = true
}
variable "other" {
  default   = "DEFAULT"
  sensitive = true
}
resource "terraform_data" "a" {
  triggers_replace = var.password
}
output "password" {
  value     = var.password
  sensitive = true
}
"""


def test_a_backend_that_works(world: World) -> None:
    user = world.plant()
    with StateServer(user=f"me:{user}") as server:
        token, header = world.plant(), world.plant()
        address = server.url.replace("://", f"://me:{user}@") + f"?token={token}"
        block = _backend(
            kind="http",
            address=address,
            lock_address=address,
            unlock_address=address,
            username="me",
            password=user,
        ).replace("password =", f'headers = {{ X-Key = "{header}" }}\n    password =')
        world.write(
            "http",
            {
                "main.tf": block + _ROOT.replace("DEFAULT", world.plant()),
                "terraform.tfvars": f'password = "{world.plant()}"\n',
                "environments.hcl": (
                    'environment "prod" {\n'
                    f'  backend = {{ password = "{world.plant()}", key = "x" }}\n'
                    f'  variables = {{ password = "{world.plant()}" }}\n}}\n'
                ),
            },
        )
        world.run("http", "init", "init -json", "init -show", *_LOOKING, *_WORKING)
        world.run("http", "init -show -json", "workspace new x", "workspace select default")
        names = ("address", "password", "headers", "username")
        world.run("http", *(f"explain {each}backend.{n}" for n in names for each in ("", "-json ")))
        given = world.plant()
        world.run("http", f"init -backend-config=password={given}", "plan")
        world.run("http", f"init -json -backend-config=password={given}")
        world.run("http", f"init -reconfigure -backend-config=password={given}")
        # Another password in the configuration, and another one in the environment.
        changed = world.own[world.root / "http/main.tf"].decode().replace(user, world.plant())
        world.write("http", {"main.tf": changed})
        world.run("http", "plan", "plan -json", "init", "init -json", "fleet plan", "fleet init")
        world.run("http", "-env=prod init", "-env=prod plan", "-env=prod init -json")
        world.run("http", "init -migrate-state", "init -reconfigure")
    assert not world.leaks(), "\n".join(dict.fromkeys(world.leaks()))


def test_a_backend_that_cannot_be_reached(world: World) -> None:
    secret, key = world.plant(), world.plant()
    for name, block in {
        "pg": _backend(
            kind="pg", conn_str=f"postgres://me:{secret}@127.0.0.1:1/db?sslmode=disable"
        ),
        "s3": _backend(
            kind="s3", bucket="b", key="k", region="us-east-1", access_key=key, secret_key=secret
        ),
        "gcs": _backend(kind="gcs", bucket="b", credentials=secret, encryption_key=key),
        "consul": _backend(
            kind="consul", address="127.0.0.1:1", path="x", access_token=secret, http_auth=key
        ),
        "azurerm": _backend(
            kind="azurerm",
            storage_account_name="account",
            container_name="c",
            key="k",
            sas_token=f"sv=1&sig={secret}",
            client_secret=key,
        ),
        "remote": _backend(
            kind="remote", hostname="127.0.0.1:1", organization="o", token=secret
        ).replace("    token", '    workspaces {\n      name = "w"\n    }\n    token'),
        "cos": _backend(
            kind="cos", bucket="b", region="r", secret_id=key, secret_key=secret, prefix="x"
        ),
        "misspelled": _backend(kind="pg", conn_str=f"postgres://me:{secret}@h/db", conn_string=key),
        "line": f'terraform {{ backend "pg" {{ conn_str = "{secret}", x = "{key}" }} }}\n',
        "broken": f'terraform {{\n  backend "pg" {{\n    conn_str = "{secret}\n  }}\n}}\n',
        "typed": f'terraform {{\n  backend "pg" {{\n    conn_str = ["{secret}"]\n  }}\n}}\n',
        "reached": (
            f'locals {{\n  s = "{secret}"\n}}\nterraform {{\n  backend "pg" {{\n'
            "    conn_str = local.s.part\n  }\n}\n"
        ),
        "local": _backend(kind="local", path="x.tfstate", password=secret),
    }.items():
        world.write(name, {"main.tf": block})
    quick = {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:1", "AWS_MAX_ATTEMPTS": "1"}
    world.environ = {**world.environ, **quick, "PG_CONN_STR": f"postgres://x:{world.plant()}@h/d"}
    for name in ("pg", "misspelled", "line", "broken", "typed", "reached", "local"):
        # A local value is shown by those who list all of them, whatever refers to it.
        more = () if name == "reached" else _LOOKING
        world.run(name, "init", "init -json", "validate -json", "plan", *more)
    for name in ("s3", "gcs", "consul", "azurerm", "remote", "cos"):
        world.run(name, "config -json", "fleet list -json", "explore -out page.html", "plan")
    world.write(
        "json",
        {
            "main.tf.json": json.dumps(
                {"terraform": {"backend": {"pg": {"conn_str": secret, "x": key}}}}
            )
        },
    )
    world.run("json", "init", "init -json", "validate -json", "config -json", *_LOOKING)
    settings = f'conn_str = "{secret}"\nx = "{key}"\n'
    world.write("given", {"main.tf": _backend(kind="pg"), "prod.tfbackend": settings})
    world.run("given", "init -backend-config=prod.tfbackend", "plan")
    world.run("given", "init -json -backend-config=prod.tfbackend")
    world.run("given", f"init -backend-config=conn_st={secret}", "init -backend-config=nothing")
    assert not world.leaks(), "\n".join(dict.fromkeys(world.leaks()))


def test_modules_with_credentials_in_their_sources(world: World) -> None:
    content = packed("zip", files({"main.tf": 'output "x" {\n  value = 1\n}\n'}))

    def answer(asked: Asked) -> Answer:
        return Answer(200, content) if "/m.zip" in asked.path else Answer(404)

    server = Server(answer)
    try:
        host = server.url.removeprefix("http://")
        user, signature, third = (world.plant() for _ in range(3))
        good = f"http://me:{user}@{host}/m.zip?X-Amz-Signature={signature}"
        missing = f"http://{user}@{host}/no.zip?token={signature}"
        world.write("good", {"main.tf": f'module "m" {{\n  source = "{good}"\n}}\n'})
        world.run("good", "init", "init -json -upgrade", "get", "init -lock-modules", *_LOOKING)
        world.run("good", "plan", "explain module.m.source", "explain -json module.m.source")
        world.run("good", "cache list", "cache list -json", "providers", "show -json")
        again = good.replace(signature, world.plant())
        world.write("good", {"main.tf": f'module "m" {{\n  source = "{again}"\n}}\n'})
        world.run("good", "validate", "plan", "plan -json", "validate -json", "init")
        failing = {
            "missing": missing,
            "git": f"git::https://me:{user}@127.0.0.1:1/x.git?sshkey={third}",
            "slash": f"git::https://me:{user}/x@127.0.0.1:1/x.git",
            "bad": f"https://me:{user}@h h/x?token={third}",
            "escape": f"https://me:{user}@h/%zz?token={third}",
            "s3": f"s3::http://127.0.0.1:1/b/k.zip?aws_access_key_id={user}"
            f"&aws_access_key_secret={signature}&aws_access_token={third}",
        }
        for name, source in failing.items():
            world.write(name, {"main.tf": f'module "m" {{\n  source = "{source}"\n}}\n'})
            world.run(name, "init", "init -json", "get", "validate", "validate -json", *_LOOKING)
            world.run(f"{name}", "plan", "fleet plan", "fleet init")
        world.write("empty", {})
        (world.root / "empty").mkdir(exist_ok=True)
        world.run("empty", *(f"init -from-module='{each}'" for each in failing.values()))
        world.run("empty", f"init -json -from-module='{missing}'")
    finally:
        server.close()
    assert not world.leaks(), "\n".join(dict.fromkeys(world.leaks()))


def test_variables_and_arguments(world: World) -> None:
    secret = world.plant()
    broken = {
        "type": f'password = ["{secret}"]\n',
        "syntax": f'password = "{secret}"  x\n',
        "open": f'password = "{secret}\n',
        "undeclared": f'password = "a"\nother_password = "{secret}"\n',
        "git-crypt": f"\x00GITCRYPT {secret}\n",
    }
    for name, text in broken.items():
        world.write(name, {"main.tf": _ROOT, "terraform.tfvars": text})
        world.run(name, "validate", "plan", "plan -json", "init", "console", *_LOOKING)
    world.write("given", {"main.tf": _ROOT.replace("type      = string", "type = number")})
    world.environ["TF_VAR_password"] = secret
    world.run("given", "init", "plan", "plan -json", f"plan -var password={secret}")
    world.run("given", f"plan -var 'password=[\"{secret}\"'", f"plan -var other=x{secret}")
    world.run("given", f"plan -var password:{secret}", f"plan -var ={secret}", f"plan x={secret}")
    world.write(
        "checked",
        {
            "main.tf": _ROOT
            + f'provider "x" {{\n  token = "{secret}" y\n}}\n'
            + f'resource "x_y" "z" {{\n  password = "{secret}"\n  connection {{\n    host = 1 2\n'
            + f'    password = "{secret}"\n  }}\n}}\n'
        },
    )
    world.run("checked", "init", "init -json", "validate", "validate -json", "plan", *_LOOKING)
    world.write("works", {"main.tf": _ROOT})
    world.run("works", "init", *_WORKING, *_LOOKING)
    assert not world.leaks(), "\n".join(dict.fromkeys(world.leaks()))


def test_secrets_without_quotes(world: World) -> None:
    """Who forgets the quotes writes a name, which messages and snippets do not repeat either."""
    secret = world.plant()
    tokens = 'variable "tokens" {\n  type      = map(string)\n  sensitive = true\n}\n'
    for name, file, text in (
        ("word", "terraform.tfvars", f"password = {secret}\n"),
        ("parts", "terraform.tfvars", f"password = {secret}-x.y\n"),
        ("template", "terraform.tfvars", f'password = "${{{secret}}}"\n'),
        ("call", "terraform.tfvars", f'password = {secret}("x")\n'),
        ("json", "terraform.tfvars.json", f'{{"password": {secret}}}\n'),
        (
            "environment",
            "environments.hcl",
            f'environment "prod" {{\n  variables = {{ password = {secret} }}\n}}\n',
        ),
        ("provider", "p.tf", f'provider "terraform" {{\n  token = {secret}\n}}\n'),
        (
            "backend",
            "b.tf",
            f'terraform {{\n  backend "pg" {{\n    conn_str = {secret}\n  }}\n}}\n',
        ),
        ("marked", "m.tf", f'check "c" {{\n  assert {{\n    condition = sensitive("{secret}")\n'),
    ):
        text += "    error_message = 1\n  }\n}\n" if name == "marked" else ""
        world.write(name, {"main.tf": _ROOT, file: text})
        world.run(name, "validate", "validate -json", "plan", "plan -json", "init", *_LOOKING)
        world.run(
            name, "-env=prod plan", "-env=prod plan -json", "lint", "lint -json", "fleet plan"
        )
    world.write("fleet", {"a/main.tf": _ROOT})
    unit = f'unit "a" {{\n  directory = "a"\n  variables = {{ password = {secret} }}\n}}\n'
    world.write("fleet", {"fleet.hcl": unit})
    world.run("fleet", "fleet list", "fleet list -json", "fleet plan", "fleet init")
    world.write("option", {"main.tf": tokens})
    for value in (f"{{a={secret}}}", f"{{{secret}={{}}}}", f'{{a="x" {secret}}}', secret):
        world.run(
            "option", *(shlex.join([each, f"-var=tokens={value}"]) for each in ("plan", "init"))
        )
        world.environ["TF_VAR_tokens"] = value
        world.run("option", "plan -json", "console", "validate")
    world.run("option", f"apply password={secret}", f"fleet apply x={secret}")
    settings = {
        "x.tfbackend": f"conn_str = {secret}\n",
        "y.tfbackend": f'conn_str = "a"\n{secret}\n',
    }
    world.write("settings", {"main.tf": _backend(kind="pg"), **settings})
    for given in ("x.tfbackend", "y.tfbackend", f"password:{secret}", f"'password {secret}'"):
        world.run(
            "settings", f"init -backend-config={given}", f"init -json -backend-config={given}"
        )
    world.environ["PG_CONN_STR"] = secret
    world.run("settings", "init", "init -json")
    Path(world.environ["TF_CLI_CONFIG_FILE"]).write_text(
        f'credentials "h.example" {{\n  token = {secret}\n}}\n'
    )
    world.run("option", "init", "init -json", "login h.example", "providers")
    assert not world.leaks(), "\n".join(dict.fromkeys(world.leaks()))


def test_errors_of_functions(world: World) -> None:
    """They quote parts of what they were given, and keys that come from it."""
    secret = world.plant()
    declared = 'variable "p" {\n  sensitive = true\n}\n'
    world.write("f", {"main.tf": declared, "terraform.tfvars": f'p = "{secret}"\n'})
    for expression in (
        'replace("a", "/[${var.p}/", "")',
        'regex("(?<${var.p}", "a")',
        '{ (var.p) = 1, (var.p) = 2 }["z"]',
        "jsondecode(var.p)",
        'yamldecode("a: [${var.p}")',
        "{ a = 1 }[var.p]",
    ):
        world.run("f", *(shlex.join([each, expression]) for each in ("eval", "explain")))
    assert not world.leaks(), "\n".join(dict.fromkeys(world.leaks()))


def test_a_fleet(world: World) -> None:
    with StateServer() as server:
        secret, token = world.plant(), world.plant()
        address = server.url.replace("://", f"://me:{secret}@") + f"?token={token}"
        other = address.replace("/state", "/other")
        world.write(
            "fleet",
            {
                "fleet.hcl": (
                    'unit "a" {\n  directory = "a"\n}\nunit "b" {\n  directory = "b"\n}\n'
                    'unit "c" {\n  directory = "c"\n}\n'
                ),
                "a/main.tf": _backend(kind="http", address=address)
                + 'output "x" {\n  value = 1\n}\n',
                "b/main.tf": _backend(kind="http", address=other)
                + 'data "terraform_remote_state" "a" {\n  backend = "http"\n'
                + f'  config = {{\n    address = "{address}"\n    password = "{secret}"\n  }}\n}}\n',
                "c/main.tf": (
                    'data "terraform_remote_state" "z" {\n  backend = "http"\n'
                    f'  config = {{ address = "http://me:{secret}@127.0.0.1:1/z?token={token}" }}\n'
                    f'}}\nmodule "m" {{\n  source = "https://{secret}@127.0.0.1:1/x.zip"\n}}\n'
                ),
                "d/main.tf": _backend(kind="http", address=address.replace("/state", "/d")),
                "e/fleet.hcl": (
                    f'unit "a" {{\n  directory = "a"\n  backend_config = {{ password = "{secret}" }} x\n}}\n'
                ),
            },
        )
        world.run("fleet", *_LOOKING[8:], "fleet init", "fleet init -json", "fleet validate")
        world.run("fleet", f"fleet init -backend-config=password={secret}", "fleet init")
        world.run("fleet/e", "fleet list", "fleet list -json")
        world.run("fleet/d", "init", "init -show", "plan", f"init -backend-config=token={secret}")
        world.run("fleet", "fleet plan", "fleet plan -json", "fleet apply -auto-approve")
        world.run("fleet", "fleet output", "fleet drift", "fleet show", *_LOOKING[8:])
        world.run("fleet", "fleet destroy -auto-approve", "fleet apply -auto-approve -json")
    assert not world.leaks(), "\n".join(dict.fromkeys(world.leaks()))


def test_what_servers_say(world: World) -> None:
    """They repeat addresses, whole or in parts: in locks, errors and redirects."""
    secret, token = world.plant(), world.plant()
    with StateServer() as server:
        address = server.url.replace("://", f"://me:{secret}@") + f"?token={token}"
        block = _backend(
            kind="http",
            address=address,
            lock_address=address,
            unlock_address=address,
            retry_max="0",
        )
        world.write("locked", {"main.tf": block + 'output "x" {\n  value = 1\n}\n'})
        world.run("locked", "init")
        using = (
            "plan -lock-timeout=0s",
            "plan -json -lock-timeout=0s",
            "fleet plan -lock-timeout=0s",
            "state list",
        )
        info = {"ID": "1", "Path": address, "Who": "me", "Operation": "apply", "Info": address}
        for lock in (json.dumps(info), f"no JSON {address}"):
            server.locks["/state"] = lock.encode()
            world.run("locked", *using, "force-unlock -force 2")
        server.locks.clear()
        text = {"content-type": "text/plain"}
        for answer in (
            Answer(400, f"{address} is wrong".encode(), text),
            Answer(403, f"me may not use {secret}, nor the token {token}".encode(), text),
            Answer(302, b"", {"location": f"http://x:{secret}@127.0.0.1:1/?token={token}"}),
        ):
            server.interfere = lambda _, answer=answer: answer  # type: ignore[misc]
            world.run("locked", *using, "init -reconfigure", "init -json -reconfigure")
    world.write("consul", {"main.tf": _backend(kind="consul", path="x")})
    world.environ["CONSUL_HTTP_ADDR"] = f"http://me:{secret}@127.0.0.1:1"
    world.run("consul", "init")
    address = f"https://me:{secret}@127.0.0.1:1"
    block = _backend(kind="kubernetes", secret_suffix="x", host=address, token=token)
    world.write("kubernetes", {"main.tf": block})
    world.run("kubernetes", "init -json")
    assert not world.leaks(), "\n".join(dict.fromkeys(world.leaks()))


def test_settings_of_other_states(world: World) -> None:
    """A data source has them in plans and states, where the same ones are shown as of a backend."""
    user, token, password, key = (world.plant() for _ in range(4))
    state = {"version": 4, "serial": 1, "lineage": "x", "terraform_version": "1.9.0"}
    outputs = {"x": {"value": 1, "type": "number"}}
    server = Server(lambda _: Answer(200, json.dumps({**state, "outputs": outputs}).encode()))
    try:
        address = server.url.replace("://", f"://me:{user}@") + f"/s?token={token}"
        settings = f"""
  config = {{
    address  = "{address}&x=${{terraform_data.a.id}}"
    password = "{password}"
    headers  = {{ X-Key = "{key}" }}
  }}
"""
        text = f'data "terraform_remote_state" "b" {{\n  backend = "http"{settings}}}\n'
        reading = 'output "x" {\n  value = data.terraform_remote_state.b.outputs.x\n}\n'
        world.write("reads", {"main.tf": f'resource "terraform_data" "a" {{\n}}\n{text}{reading}'})
        world.run("reads", "init", *_WORKING[:2], *_WORKING[4:10])
        world.run("reads", "state show data.terraform_remote_state.b", "explore -out page.html")
        assert "(sensitive value)" in world.said[-2][1]
    finally:
        server.close()
    wrong = f'  backend = "pg"\n  config = {{ conn_str = ["{key}"] }}\n'
    world.write("wrong", {"main.tf": f'data "terraform_remote_state" "b" {{\n{wrong}}}\n'})
    world.run("wrong", "init", "plan", *_LOOKING)
    assert not world.leaks(), "\n".join(dict.fromkeys(world.leaks()))


def test_a_crash(world: World) -> None:
    secret = world.plant()

    error = StringIO()
    failure = ValueError(f"something with {secret}")
    assert apologise(failure, Terminal(StringIO(), StringIO(), error, {})) == 11
    world.said.append(("a crash", error.getvalue()))
    assert "ValueError" in error.getvalue()
    assert not world.leaks(), "\n".join(dict.fromkeys(world.leaks()))


def test_secrets_are_found_where_they_are(world: World) -> None:
    """The search itself finds what is printed and what is written."""
    secret = world.plant()
    world.write("shown", {"main.tf": f'output "x" {{\n  value = "{secret}"\n}}\n'})
    world.run("shown", "eval '\"a\"'")
    (world.root / "shown" / "log").write_text(secret)
    assert len(world.leaks()) == 1
