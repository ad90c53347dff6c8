"""Files that other programs read to install or run Nigari name what exists."""

import re
import shlex
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from nigari.cli.commands.fmt import EXTENSIONS, OWN_FILES
from nigari.cli.main import COMMANDS
from nigari.cli.views.help_links import SITE as NAMED_SITE
from scripts.site import publish

ROOT: Final = Path(__file__).resolve().parents[1]
WORKFLOWS: Final = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document


def steps(document: dict[str, Any]) -> list[dict[str, Any]]:
    jobs = document.get("jobs", {"action": document.get("runs")})
    return [step for job in jobs.values() for step in job["steps"]]


def test_hooks_run_commands_that_exist() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert len(hooks) == 3
    for hook in hooks:
        words = [*hook["entry"].split(), *hook.get("args", ())]
        assert words[0] == "nigari"
        assert words[1] in COMMANDS
        assert re.search(hook["files"], "modules/a/main.tf")
        assert re.search(hook["files"], "tests/a.tftest.hcl")
        assert not re.search(hook["files"], "main.tf.md")


def test_hook_formats_what_the_command_formats() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (files,) = (re.compile(hook["files"]) for hook in hooks if hook["id"] == "nigari-fmt")
    names = {*(f"a{ending}" for ending in EXTENSIONS), *OWN_FILES}
    assert {each for each in names if not files.search(f"modules/{each}")} == set()
    for name in ("a.tf.json", "terragrunt.hcl", "own-fleet.hcl", ".terraform.lock.hcl"):
        assert not files.search(name)


def test_workflows_make_targets_that_exist() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    runs = [step.get("run", "") for path in WORKFLOWS for step in steps(read(path))]
    made = [
        name
        for text in runs
        for line in re.findall(r"^make (.+)$", text, re.M)
        for name in shlex.split(line)
        if "=" not in name
    ]
    assert made
    assert set(made) <= set(targets)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_may_only_read_unless_they_say_why(path: Path) -> None:
    document = read(path)
    assert document["permissions"] == {"contents": "read"}
    for name, job in document["jobs"].items():
        allowed = {"contents"} if name == "site" else {"id-token"}
        assert job.get("permissions", {}).keys() <= allowed


def test_the_action_installs_this_checkout() -> None:
    (_, step) = steps(read(ROOT / "action.yml"))
    assert step["env"]["SOURCE"] == "${{ github.action_path }}"
    assert "shim -name=" in step["run"]


def test_wheels_are_tested_with_sources_that_exist() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheels = settings["tool"]["cibuildwheel"]
    assert all((ROOT / name).exists() for name in wheels["test-sources"])
    folders = re.findall(r"tests/\w+", wheels["test-command"])
    assert folders
    assert all((ROOT / name).is_dir() for name in folders)


def test_each_python_release_is_tested_and_has_wheels() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    named = re.findall(r":: (3\.\d+)", "\n".join(settings["project"]["classifiers"]))
    assert len(named) > 4
    check = read(ROOT / ".github" / "workflows" / "check.yml")["jobs"]["check"]
    assert check["strategy"]["matrix"]["python"] == named
    built = re.findall(r"cp(\d)(\d+)-", settings["tool"]["cibuildwheel"]["build"])
    assert [f"{major}.{minor}" for major, minor in built] == named
    release = read(ROOT / ".github" / "workflows" / "release.yml")
    (builder,) = (step["uses"] for step in steps(release) if "cibuildwheel" in step.get("uses", ""))
    (major,) = re.findall(r"@v(\d+)\.", builder)
    assert int(major) >= 4, "earlier releases have no CPython 3.15"


def test_each_release_adds_its_site_to_the_others(tmp_path: Path) -> None:
    pages = tmp_path / "pages"
    pages.mkdir()
    for version in ("0.9.0", "0.10.0", "0.9.1"):
        site = tmp_path / version
        site.mkdir()
        (site / "index.html").write_text(version, encoding="utf-8")
        publish(site, version, pages)
    shown = {path.parent.name: path.read_text("utf-8") for path in pages.glob("*/index.html")}
    assert shown == {"0.9": "0.9.1", "0.10": "0.10.0", "latest": "0.10.0"}
    assert 'url=latest/"' in (pages / "index.html").read_text("utf-8")
    listed = yaml.safe_load((pages / "versions.json").read_text("utf-8"))
    assert [(each["version"], each["aliases"]) for each in listed] == [
        ("0.10", ["latest"]),
        ("0.9", []),
    ]


def test_messages_name_the_site_of_the_latest_release() -> None:
    settings = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))
    assert settings["project"]["site_url"] == NAMED_SITE
