"""Documents cannot rot: what they name exists, what they link to is there, what they show runs."""

import ast
import contextlib
import importlib
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from scripts.cli_pages import PLACE, pages
from scripts.site import REPOSITORY, site_page
from tests.markdown_pages import anchors

ROOT: Final = Path(__file__).resolve().parents[1]
DOCUMENTS: Final = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]

# Made on the reader's machine, not kept in the repository.
GENERATED: Final = frozenset({".venv", "build", "dist"})
# Files of the people who use the program, and patterns for names.
NOT_OURS: Final = frozenset(
    {
        ".nigari/fleet",
        ".nigari.lock.hcl",
        ".terraform/",
        ".tfcomponent.hcl",
        ".tfstack.hcl",
        ".tftest.hcl",
        ".tftest.json",
        ".tofutest.hcl",
        ".tofutest.json",
        ".terraform.lock.hcl",
        ".tf",
        ".tf.json",
        ".tofu",
        ".json",
        ".jsonl",
        "./network",
        "../shared",
        "/opt/modules",
        "cdk.tf.json",
        "cdktf.out/stacks/NAME/cdk.tf.json",
        "web.tfquery.hcl",
        "environments.hcl",
        "lint.hcl",
        "variables.tf",
        "outputs.tf",
        "errored.tfstate",
        "errored.1.tfstate",
        "errored_test.1.tfstate",
        "fleet.hcl",
        ".nigari/fleet/ID/journal.jsonl",
        ".nigari/fleet/logs",
        ".nigari/fleet/rescued",
        ".terraform/units",
        "terragrunt.hcl",
        "account.hcl",
        "region.hcl",
        "env.hcl",
        "env.tfvars",
        "terragrunt.stack.hcl",
        "files.py",
        "main.tf",
        "plan.bin",
        "public/index.html",
        "terraform.NAME.tfstate",
        "terraform.tfstate",
        "terraform.io/builtin/terraform",
        "registry.terraform.io/hashicorp/aws",
        "ns/name/aws",
        "registry.example.com/ns/name/aws",
        "github.com/owner/name",
        "bitbucket.org/owner/name",
        "s3-eu-west-1.amazonaws.com/bucket/key",
        "s3.REGION.amazonaws.com/BUCKET/KEY",
        "terraform.tfvars",
        "~/.cache/nigari",
        "~/.netrc",
        "errored_test.tfstate",
        "~/.cache/nigari-outside",
        "~/.cache/nigari-peers",
        "../shared/conformance",
    }
)

_FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_PYTHON: Final = re.compile(
    r"^\s*(?:```|~~~)\s*py|^ {4,}(?:import \w|from \w+.* import )", re.MULTILINE
)
_NAMED_FILE: Final = re.compile(r"# ([\w./-]+\.(?:tf|tfvars|hcl))\n")
_SPAN: Final = re.compile(r"`([^`\n]+)`")
_LINK: Final = re.compile(r"\[[^\]]*\]\(([^)#\s]*)#?([^)\s]*)\)")
_TARGET_OF_LINK: Final = re.compile(r"\]\([^)]*\)")
_SYMBOL: Final = re.compile(r"(?<!\.)\bnigari(?:\.(?!github\.io)[A-Za-z_]\w*)+")
_PATH: Final = re.compile(r"[\w.~-]*(?:/[\w.*-]+)*/?")
_SUFFIX: Final = re.compile(r"\.(py|md|toml|json|jsonl|hcl|tf|tofu|txt|tfvars|tfstate|yml|yaml)$")
_TARGET: Final = re.compile(r"\bmake ([a-z][a-z-]*)")


def prose(document: Path) -> str:
    return _FENCE.sub("", document.read_text(encoding="utf-8"))


def named_paths(document: Path) -> Iterator[str]:
    for span in _SPAN.findall(prose(document)):
        is_path = "/" in span or _SUFFIX.search(span)
        if is_path and _PATH.fullmatch(span) and not _SYMBOL.fullmatch(span):
            yield span


def path_exists(document: Path, name: str) -> bool:
    is_media_type = name.startswith("application/")
    if is_media_type or name in NOT_OURS or name.split("/", maxsplit=1)[0] in GENERATED:
        return True
    places = (ROOT, document.parent, ROOT / "src" / "nigari")
    return any(any(place.glob(name.rstrip("/"))) for place in places)


def is_there(document: Path, path: str, anchor: str) -> bool:
    """Whether a link of a document leads to a file, and to a heading of it if it names one."""
    target = document.parent / path if path else document
    if not anchor:
        return target.exists()
    return target.is_file() and anchor in anchors(target.read_text(encoding="utf-8"))


def symbol_exists(name: str) -> bool:
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[length:]:
            if not hasattr(found, attribute):
                return False
            found = getattr(found, attribute)
        return True
    return False


def said_to_be_printed(text: str) -> tuple[list[str], bool]:
    """The comment after each print, on its line or on the next, and whether all have one."""
    lines = text.splitlines()
    ends = sorted(
        call.end_lineno or 0
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "print"
    )
    found: list[str] = []
    for end in ends:
        _, same_line, said = lines[end - 1].rpartition(")  # ")
        below = lines[end].strip() if end < len(lines) else ""
        if same_line or below.startswith("# "):
            found.append(said if same_line else below.removeprefix("# "))
    return found, len(found) == len(ends)


def python_examples() -> Iterator[tuple[str, Path, str, dict[str, str]]]:
    """The examples of all documents, with the files that a document has for its own, and where
    its reader is without them.
    """
    for document in DOCUMENTS:
        blocks = _FENCE.findall(document.read_text(encoding="utf-8"))
        files = {
            match[1]: text
            for language, text in blocks
            if language == "hcl" and (match := _NAMED_FILE.match(text)) is not None
        }
        examples = [text for language, text in blocks if language == "python"]
        for index, text in enumerate(examples):
            place = document.parent if ROOT / "examples" in document.parents else ROOT
            yield f"{document.relative_to(ROOT)} {index}", place, text, files


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
class TestDocument:
    def test_paths_exist(self, document: Path) -> None:
        missing = [name for name in named_paths(document) if not path_exists(document, name)]
        assert missing == []

    def test_links_lead_somewhere(self, document: Path) -> None:
        missing = [
            f"{path}#{anchor}"
            for path, anchor in _LINK.findall(prose(document))
            if not path.startswith(("http:", "https:")) and not is_there(document, path, anchor)
        ]
        assert missing == []

    def test_symbols_exist(self, document: Path) -> None:
        text = _TARGET_OF_LINK.sub("]", document.read_text(encoding="utf-8"))
        names = sorted(set(_SYMBOL.findall(text)))
        assert [name for name in names if not symbol_exists(name)] == []

    def test_all_python_is_run(self, document: Path) -> None:
        """Also what is indented, or fenced in another way, would have to be."""
        blocks = _FENCE.findall(document.read_text(encoding="utf-8"))
        others = [text for language, text in blocks if language != "python"]
        assert [text for text in [prose(document), *others] if _PYTHON.search(text)] == []

    def test_make_targets_exist(self, document: Path) -> None:
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
        named = set(_TARGET.findall("\n".join(_SPAN.findall(prose(document)))))
        assert named <= set(targets)


@pytest.mark.parametrize(
    ("directory", "text", "files"),
    [pytest.param(*example, id=name) for name, *example in python_examples()],
)
def test_python_example_runs_and_prints_what_it_says(
    directory: Path,
    text: str,
    files: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An example's `# …` comment after a print is its output; its tests pass."""
    monkeypatch.chdir(directory)
    if files:
        (tmp_path / "nothing.tfrc").touch()
        monkeypatch.setenv("TF_CLI_CONFIG_FILE", str(tmp_path / "nothing.tfrc"))
        monkeypatch.chdir(tmp_path)
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(text, "example", "exec"), {"__name__": "example"})
    wanted, all_said = said_to_be_printed(text)
    printed = output.getvalue().splitlines()
    assert (printed if all_said else [each for each in printed if each in wanted]) == wanted
    if "def test_" in text:
        (tmp_path / "test_example.py").write_text(text)
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            [*command, str(tmp_path), str(tmp_path / "test_example.py")],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout


def test_the_pages_of_commands_are_those_of_the_tables() -> None:
    """Written by `python -m scripts.cli_pages`, as `make pictures` does."""
    written = {path.name: path.read_text(encoding="utf-8") for path in PLACE.glob("*.md")}
    assert written == pages()


def test_the_navigation_of_the_site_names_pages() -> None:
    """Of `docs`, or of the top directory, which `scripts/site.py` puts beside them."""
    text = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    named = re.findall(r'"([\w/.-]+\.md)"', text)
    assert len(named) > 40
    assert [
        name for name in named if not any((ROOT / at / name).is_file() for at in ("docs", "."))
    ] == []


def test_links_out_of_the_documents_lead_to_the_repository() -> None:
    text = (
        "[a](../CHANGELOG.md#x) [b](../examples/demo.py) [c](guides/ci.md)\n```\n[d](../e)\n```\n"
    )
    assert site_page(text, Path("docs")) == (
        f"[a](CHANGELOG.md#x) [b]({REPOSITORY}examples/demo.py) [c](guides/ci.md)\n```\n[d](../e)\n```\n"
    )


def test_architecture_fits_on_four_pages() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 180


def test_decision_notes_are_dated_and_short() -> None:
    for note in (ROOT / "docs" / "decisions").glob("*.md"):
        text = note.read_text(encoding="utf-8")
        assert re.search(r"^Date: \d{4}-\d\d-\d\d$", text, re.MULTILINE), note.name
        assert len(text.splitlines()) <= 50, note.name


@pytest.mark.parametrize(
    "recipe",
    sorted((ROOT / "docs" / "python" / "cookbook").glob("*.md")),
    ids=lambda path: path.stem,
)
def test_recipes_are_short(recipe: Path) -> None:
    for language, text in _FENCE.findall(recipe.read_text(encoding="utf-8")):
        lines = [line for line in text.splitlines() if line.strip()]
        assert language != "python" or len(lines) <= 15


_TAGS = ("safer", "more capable", "more precise", "not supported")


def test_differences_are_few_and_have_tags() -> None:
    """Each costs an oracle for ever, and a program that does what OpenTofu does can't have many."""
    text = (ROOT / "docs" / "differences.md").read_text()
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        for line in text.splitlines()
        if line.startswith("| ") and not line.startswith(("| Area", "| ---"))
    ]
    assert 40 < len(rows) <= 60
    for area, theirs, ours, tag, when in rows:
        assert area
        assert theirs
        assert ours
        assert tag in _TAGS
        assert when.endswith("."), area
