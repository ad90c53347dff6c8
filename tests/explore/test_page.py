"""The page: one file, with a policy that names what is in it, and nothing from elsewhere."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from nigari.explore import page as module
from nigari.explore.document import Document
from nigari.explore.page import PageNotBuilt, page
from nigari.explore.secrets import Secrets
from tests.cli.process import inside

_FILES = {"main.tf": 'variable "p" {\n  default = "x"\n}\n'}


@pytest.fixture(name="built")
def pretend_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "static"
    place.mkdir()
    (place / "page.js").write_text("run()")
    (place / "page.css").write_text("p { color: red }")
    monkeypatch.setattr(module, "_BUILT", place)


@pytest.fixture(name="directory")
def some_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "work"
    place.mkdir()
    (place / "main.tf").write_text(_FILES["main.tf"])
    monkeypatch.chdir(place)
    return place


def digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(("is_served", "connects"), [(False, "'none'"), (True, "'self'")])
def test_only_what_is_in_it_runs(is_served: bool, connects: str) -> None:
    found = page(Document({"title": "a <title>"}, Secrets()), is_served)
    assert f"script-src 'sha256-{digest('run()')}'" in found.policy
    assert f"style-src 'sha256-{digest('p { color: red }')}'" in found.policy
    assert f"connect-src {connects}" in found.policy
    assert "default-src 'none'" in found.policy
    assert "unsafe" not in found.policy
    assert "a &lt;title&gt; · Nigari" in found.html
    assert not re.search(r"""(src|href)=["']?(https?:|//)""", found.html)


def test_a_page_that_is_not_built_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, directory: Path
) -> None:
    monkeypatch.setattr(module, "_BUILT", tmp_path / "nowhere")
    with pytest.raises(PageNotBuilt):
        page(Document({"title": "title"}, Secrets()))
    done = inside("explore", "-out=page.html")
    assert done.code == 1
    assert "make page" in done.err
    assert not (directory / "page.html").exists()


@pytest.mark.usefixtures("built")
def test_the_command_writes_one_file(directory: Path) -> None:
    done = inside("explore", "-out=page.html", "-var", "p=y")
    assert (done.code, done.err) == (0, "")
    html = (directory / "page.html").read_text()
    found = re.search(r'id="document">(.*?)</script>', html)
    assert found is not None
    data = json.loads(gzip.decompress(base64.b64decode(found[1])))
    assert data["title"] == "work"
    assert data["values"]["texts"] == ['"y"']


@pytest.mark.usefixtures("built", "directory")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-out=page.html", "missing.out"), "missing.out"),
        (("-out=page.html", "main.tf"), "Unusable plan file"),
        (("-out=nowhere/page.html",), "cannot be written"),
        (("-out=page.html", "-events=missing.jsonl"), "missing.jsonl"),
        (("-port=x",), "-port"),
        (("-fleet", "plan.out"), "-fleet"),
    ],
)
def test_mistakes_are_told(words: tuple[str, ...], message: str) -> None:
    done = inside("explore", *words)
    assert done.code == 1
    assert message in done.err


@pytest.mark.usefixtures("built")
def test_a_fleet_is_shown_with_its_units(directory: Path) -> None:
    (directory / "main.tf").unlink()
    (directory / "net").mkdir()
    (directory / "net" / "main.tf").write_text('output "id" {\n  value = 1\n}\n')
    (directory / "app").mkdir()
    (directory / "app" / "main.tf").write_text('variable "id" {}\n')
    (directory / "fleet.hcl").write_text(
        'unit "app" {\n  directory = "app"\n  variables = { id = unit["net"].outputs.id }\n}\n'
    )
    done = inside("explore", "-fleet", "-out=page.html")
    assert (done.code, done.err) == (0, "")
    html = (directory / "page.html").read_text()
    found = re.search(r'id="document">(.*?)</script>', html)
    assert found is not None
    fleet = json.loads(gzip.decompress(base64.b64decode(found[1])))["fleet"]
    assert {each["name"]: each["needs"] for each in fleet["units"]} == {"app": ["net"], "net": []}


@pytest.mark.usefixtures("built")
def test_a_directory_without_configuration_is_an_error(directory: Path) -> None:
    (directory / "main.tf").unlink()
    for words in ((), ("-fleet",)):
        done = inside("explore", "-out=page.html", *words)
        assert done.code == 1, words
        assert done.err.startswith("\nError: No "), done.err
        assert not (directory / "page.html").exists()
