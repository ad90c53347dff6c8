"""The same directory made ready by both programs: what each resolves and writes down."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from nigari.addrs.provider import default_provider
from nigari.lang.versions import Version
from nigari.packages.content.platforms import current_platform
from nigari.packages.providers.provider_package import unpacked_path
from tests.packages.repositories import Repository
from tests.real import program
from tests.real.directory_cases import Directory

_OUTPUT: Final = 'output "x" {\n  value = path.module\n}\n'
_PROVIDERS: Final = (("random", (3, 9, 0)), ("random", (3, 8, 0)), ("time", (0, 14, 2)))


class Surroundings:
    """What all directories may refer to: a repository and a mirror of providers."""

    def __init__(self, place: Path) -> None:
        self.place = place
        inner = Repository(place / "inner")
        inner.commit({"main.tf": _OUTPUT})
        self.repository = Repository(place / "repository")
        self._fill(inner)
        mirror = place / "mirror"
        for name, version in _PROVIDERS:
            there = unpacked_path(
                mirror, default_provider(name), Version(version), current_platform()
            )
            there.mkdir(parents=True)
            shutil.copy2(
                program(f"terraform-provider-{name}"), there / f"terraform-provider-{name}"
            )
        self.settings = place / "tofurc"
        self.settings.write_text(
            f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n'
        )

    def _fill(self, inner: Repository) -> None:
        call = 'module "{0}" {{\n  source = "{1}"\n}}\n'
        repository = self.repository
        self.first = repository.commit(
            {
                "main.tf": _OUTPUT,
                "sub/main.tf": _OUTPUT + call.format("deep", "./deep"),
                "sub/deep/main.tf": _OUTPUT,
                "up/main.tf": _OUTPUT + call.format("up", "../sub"),
                "var/main.tf": 'variable "v" {}\n' + call.format("n", "../${var.v}"),
                "out/main.tf": call.format("out", "../../out"),
                "far/main.tf": call.format("far", "../../../../beside"),
                "names/main.tf": 'output "src" {\n  value = "./m"\n}\n',
            },
            tag="v1",
        )
        repository.commit({"two/main.tf": _OUTPUT}, tag="v2")
        repository.git("branch", "dev")
        repository.git("branch", "feature/x")
        repository.git(
            "-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner.path), "in"
        )
        repository.commit({}, tag="v3")

    def filled(self, text: str) -> str:
        """A text with the places that stand in braces."""
        for name, value in (
            ("{repo}", str(self.repository.path)),
            ("{inner}", str(self.place / "inner")),
            ("{first}", self.first),
            ("{short}", self.first[:10]),
        ):
            text = text.replace(name, value)
        return text

    def run(self, case: Directory, command: Path, work: Path) -> tuple[list[int], str]:
        """Go through a case with one of the programs: exit statuses, and all that it printed."""
        work.mkdir()
        environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TF_")},
            "TF_CLI_CONFIG_FILE": str(self.settings),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "protocol.file.allow",
            "GIT_CONFIG_VALUE_0": "always",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }
        codes: list[int] = []
        printed = ""
        steps = case.steps if case.commands else [*case.steps, ["init"]]
        for step in steps:
            if isinstance(step, tuple):
                path = work / step[0]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(self.filled(step[1]))
                continue
            words = [self.filled(word) for word in step]
            while "=" in words[0]:
                name, _, value = words.pop(0).partition("=")
                environ[name] = value
            if words[0] == "rm":
                path = work / words[1]
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
                continue
            flags = ["-input=false", "-no-color"] if words[0] == "init" else ["-no-color"]
            done = subprocess.run(
                [str(command), words[0], *flags, *words[1:]],
                cwd=work,
                env=environ,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=120,
                check=False,
            )
            codes.append(done.returncode)
            printed += done.stdout + done.stderr
        return codes, printed


OURS: Final = Path(sys.executable).parent / "nigari"


def resolved(work: Path) -> dict[str, object]:
    """What a program has written down: modules, backend, providers."""
    data = work / ".terraform"
    found: dict[str, object] = {}
    modules = data / "modules" / "modules.json"
    if modules.exists():
        entries = json.loads(modules.read_text())["Modules"]
        found["modules"] = {each["Key"]: each for each in entries}
    memory = data / "terraform.tfstate"
    backend = json.loads(memory.read_text()).get("backend") if memory.exists() else None
    if backend is not None:
        found["backend"] = backend
    lock = work / ".terraform.lock.hcl"
    if lock.exists():
        found["lock"] = lock.read_text()
    found["states"] = sorted(
        str(path.relative_to(work))
        for path in work.rglob("*.tfstate")
        if ".terraform" not in path.parts
    )
    return found
