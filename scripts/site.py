"""Builds the site of the documents in build/site: `make docs`.

Pages are plain Markdown with links that work in the repository. For the site, the pages of the top directory are
put beside them, links to other files of the repository lead to GitHub, and the order of the navigation comes from
`zensical.toml`. A warning of the generator is an error.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCES: Final = ROOT / "build" / "site-sources"
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


def main() -> None:
    """Prepare the sources, and build the site from them."""
    prepare()
    shutil.rmtree(ROOT / "build" / "site", ignore_errors=True)
    command = [str(Path(sys.executable).parent / "zensical"), "build", "--clean", "--strict"]
    sys.exit(subprocess.run(command, cwd=ROOT, check=False).returncode)


if __name__ == "__main__":
    main()
