"""Shows what nigari does with two small configurations.

On `examples/regions`: what is known of a configuration before anything runs. On
`examples/provider-iteration`: a provider for each of three regions, from the first plan over the
removal of a region to the destruction of everything.

Run it with `make demo`. It needs no network, and leaves nothing behind.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from nigari.packages.content.platforms import current_platform

EXAMPLES = Path(__file__).parent
PROVIDER = EXAMPLES / "python-provider" / "terraform-provider-files"
QUESTIONS = (
    "nigari validate",
    """nigari explain 'module.region["eu"].source'""",
    "nigari explain output.summary",
    """nigari eval -var owner=ada 'module.app.summary'""",
    "nigari eval terraform_data.release.id",
    "nigari eval -var environment=test var.environment",
)
TWO_REGIONS = """-var 'regions=["eu", "us"]'"""


def say(text: str) -> None:
    """Tell what comes next."""
    print(f"\n=== {text}\n", flush=True)


def run(command: str, directory: Path, environ: Mapping[str, str] | None = None) -> None:
    """Run a command and print what it says."""
    print(f"$ {command}", flush=True)
    _, *arguments = shlex.split(command)
    subprocess.run(
        [sys.executable, "-m", "nigari", *arguments], cwd=directory, env=environ, check=False
    )
    print(flush=True)


def show_files(directory: Path) -> None:
    """Print which files the provider has made, as `find` would."""
    print("$ find cloud -type f", flush=True)
    for path in sorted((directory / "cloud").rglob("*")):
        if path.is_file():
            print(path.relative_to(directory).as_posix(), flush=True)
    print(flush=True)


def install_provider(directory: Path) -> dict[str, str]:
    """Put the example provider where `init` finds it, and give the environment that says so."""
    versions = directory / "mirror" / "example.com" / "demo" / "files"
    package = versions / "1.0.0" / current_platform()
    package.mkdir(parents=True)
    program = package / PROVIDER.name
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{PROVIDER}" "$@"\n')
    program.chmod(0o755)
    settings = directory / "settings.tfrc"
    mirror = (directory / "mirror").as_posix()
    settings.write_text(
        f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n'
    )
    return {**os.environ, "TF_CLI_CONFIG_FILE": str(settings)}


def ask() -> None:
    """What is known before anything runs."""
    say("What is known before anything runs")
    for question in QUESTIONS:
        run(question, EXAMPLES / "regions")


def iterate(directory: Path) -> None:
    """A provider for each region, from the first plan to the end."""
    environ = install_provider(directory)
    work = directory / "work"
    shutil.copytree(EXAMPLES / "provider-iteration", work)
    say("A provider for each of three regions")
    run("nigari init", work, environ)
    run("nigari plan -out=three-regions", work, environ)
    run("nigari apply three-regions", work, environ)
    show_files(work)
    say("Asia goes: its provider, and in the same apply everything that was made with it")
    run(f"nigari apply -auto-approve {TWO_REGIONS}", work, environ)
    show_files(work)
    say("The end")
    run(f"nigari destroy -auto-approve {TWO_REGIONS}", work, environ)
    show_files(work)


def main() -> None:
    """Show both."""
    ask()
    with tempfile.TemporaryDirectory() as directory:
        iterate(Path(directory))


if __name__ == "__main__":
    main()
