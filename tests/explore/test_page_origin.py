"""The head of a page: when, where and by which command it was made."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nigari.explore import page as module
from tests.cli.process import inside
from tests.explore.explored import Data, write

_FILES = {
    "main.tf": 'variable "p" {\n  default = "x"\n}\nvariable "s" {\n  default = ""\n  sensitive = true\n}\nresource "terraform_data" "a" {\n  input = var.p\n}\n',
    "environments.hcl": 'environment "prod" {\n  variables = {\n    p = "prod"\n  }\n}\n',
}


@pytest.fixture(name="directory")
def some_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    built = tmp_path / "static"
    write(built, {"page.js": "run()", "page.css": "p {}"})
    monkeypatch.setattr(module, "_BUILT", built)
    place = tmp_path / "work"
    write(place, _FILES)
    monkeypatch.chdir(place)
    return place


def shown(place: Path, *words: str, first: tuple[str, ...] = ()) -> Data:
    done = inside(*first, "explore", "-out=page.html", *words)
    assert (done.code, done.err) == (0, "")
    html = (place / "page.html").read_text()
    assert "planted" not in html
    found = re.search(r'id="document">(.*?)</script>', html)
    assert found is not None
    text = gzip.decompress(base64.b64decode(found[1])).decode()
    assert "planted" not in text
    data: Data = json.loads(text)
    return data


def git(place: Path, *words: str) -> str:
    author = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    done = subprocess.run(
        ["git", *author, *words], cwd=place, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ((), "nigari explore -out=page.html"),
        (("-no-browser",), "nigari explore -out=page.html -no-browser"),
        (("-no-browser=false",), "nigari explore -out=page.html -no-browser=false"),
        (("-var", "s=planted=x"), "nigari explore -out=page.html -var=s=…"),
    ],
)
def test_a_page_names_its_command_without_values(
    directory: Path, words: tuple[str, ...], command: str
) -> None:
    assert shown(directory, *words)["made"]["command"] == command


def test_a_page_names_its_time_workspace_and_environment(directory: Path) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    data = shown(directory)
    assert before <= datetime.fromisoformat(data["made"]["at"].replace("Z", "+00:00"))
    assert (data["workspace"], data["environment"]) == ("default", "")
    data = shown(directory, first=("-env=prod",))
    assert (data["workspace"], data["environment"]) == ("default", "prod")


def test_a_plan_names_when_it_was_made(directory: Path) -> None:
    done = inside("plan", "-out=plan.out")
    assert done.code == 0, done.err
    made = shown(directory, "plan.out")["made"]
    assert made["planned"] <= made["at"]
    assert made["command"] == "nigari explore -out=page.html plan.out"


def test_a_page_names_its_commit_and_whether_files_differ(directory: Path) -> None:
    assert "commit" not in shown(directory)["made"]
    git(directory, "init", "-q")
    assert "commit" not in shown(directory)["made"]
    git(directory, "add", "main.tf", "environments.hcl")
    git(directory, "commit", "-q", "-m", "first")
    made = shown(directory)["made"]
    assert (made["commit"], made.get("is_changed")) == (git(directory, "rev-parse", "HEAD"), None)
    (directory / "main.tf").write_text(_FILES["main.tf"] + "# more\n")
    assert shown(directory)["made"]["is_changed"] is True
