"""Builds the site of the documents in build/site: `make docs`.

    python -m scripts.site [--publish DIRECTORY]

`--publish` adds the site to a directory that has those of earlier releases, instead of building it.

Pages are plain Markdown with links that work in the repository. For the site, the pages of the top directory are
put beside them, links to other files of the repository lead to GitHub, and the order of the navigation comes from
`zensical.toml`. A warning of the generator is an error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from nigari.version import VERSION

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = ROOT / "build" / "site-sources"
SITE: Final = ROOT / "build" / "site"
_TO_LATEST: Final = (
    '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=latest/">\n'
)
REPOSITORY: Final = "https://github.com/nigari/nigari/blob/main/"
_TOP: Final = (
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
)
_STYLE: Final = """\
.md-typeset table:not([class]) { display: table; }
.md-typeset table:not([class]) :is(th, td) { min-width: 6.5rem; }
.md-typeset table:not([class]) td code { overflow-wrap: anywhere; }
.md-typeset__table { overflow-x: auto; }
.md-typeset img { max-width: 100%; }
.md-nav__link--active, .md-nav__link--active * { color: #3346c4 !important; }
[data-md-color-scheme="slate"] .md-nav__link--active, [data-md-color-scheme="slate"] .md-nav__link--active * {
  color: #9db0ff !important;
}
"""
# A name of its own for each landmark, and scrolling with the keyboard where a table or a program is wide.
_SCRIPT: Final = """\
const SCROLLS = ".md-typeset__scrollwrap, .md-typeset pre > code";
const mend = () => {
  document.querySelectorAll(".md-nav .md-nav, .md-code__nav").forEach((each, number) => {
    each.removeAttribute("aria-labelledby");
    each.setAttribute("aria-label", `Part ${number + 1}`);
  });
  document.querySelectorAll(".md-version__current").forEach((each) => {
    each.setAttribute("aria-label", `Version ${each.textContent.trim()}`);
  });
  for (const each of document.querySelectorAll(SCROLLS)) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
  }
};
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", mend);
mend();
"""
_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"(\]\()(?!https?:|#)([^)#\s]+)((?:#[^)]*)?\))")


def site_page(text: str, directory: Path) -> str:
    """The text of a page in a directory of the repository, with links that work on the site."""

    def link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(directory / match[2]))
        place = target.relative_to("docs") if target.is_relative_to("docs") else target
        is_page = target.is_relative_to("docs") or str(target) in _TOP
        if not is_page or (ROOT / target).is_dir():
            return f"{match[1]}{REPOSITORY}{target.as_posix()}{match[3]}"
        start = directory.relative_to("docs") if directory.is_relative_to("docs") else Path()
        return f"{match[1]}{os.path.relpath(place, start)}{match[3]}"

    parts, end = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_LINK.sub(link, text[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(link, text[end:])])


def prepare() -> None:
    """Write the sources of the site."""
    shutil.rmtree(SOURCES, ignore_errors=True)
    shutil.copytree(ROOT / "docs", SOURCES)
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT)
        target = SOURCES / page.relative_to(ROOT / "docs")
        target.write_text(
            site_page(page.read_text(encoding="utf-8"), name.parent), encoding="utf-8"
        )
    for top in _TOP:
        text = (ROOT / top).read_text(encoding="utf-8")
        (SOURCES / top).write_text(site_page(text, Path()), encoding="utf-8")
    (SOURCES / "site.css").write_text(_STYLE, encoding="utf-8")
    (SOURCES / "site.js").write_text(_SCRIPT, encoding="utf-8")


def publish(site: Path, version: str, pages: Path) -> None:
    """Put a site where those of other versions are: below its minor release, and as `latest` unless
    a newer one is there. The selector of versions reads `versions.json`.
    """
    listed = pages / "versions.json"
    known = json.loads(listed.read_text(encoding="utf-8")) if listed.is_file() else []
    minor = ".".join(version.split(".")[:2])
    minors = sorted({minor, *(each["version"] for each in known)}, key=_numbers, reverse=True)
    for name in (minor, "latest") if minors[0] == minor else (minor,):
        shutil.rmtree(pages / name, ignore_errors=True)
        shutil.copytree(site, pages / name)
    versions = [
        {"version": each, "title": each, "aliases": ["latest"] if each == minors[0] else []}
        for each in minors
    ]
    listed.write_text(json.dumps(versions, indent=2) + "\n", encoding="utf-8")
    (pages / "index.html").write_text(_TO_LATEST, encoding="utf-8")
    (pages / ".nojekyll").touch()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def main() -> None:
    """Prepare the sources and build the site from them, or publish it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--publish", type=Path, metavar="DIRECTORY")
    given = parser.parse_args()
    if given.publish:
        publish(SITE, VERSION, given.publish)
        return
    prepare()
    shutil.rmtree(SITE, ignore_errors=True)
    command = [str(Path(sys.executable).parent / "zensical"), "build", "--clean", "--strict"]
    sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
