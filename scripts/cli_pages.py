"""Writes docs/reference/cli: a page for each command, from the tables that `-help` prints.

    python -m scripts.cli_pages

In `index.md`, the table of commands is generated, and everything else is written by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from nigari.cli.command import FLAG_SWITCH, Command, Flag
from nigari.cli.help import COMMON_OPTIONS, flag_title
from nigari.cli.main import COMMANDS, load

_DOCUMENTS: Final = Path(__file__).resolve().parents[1] / "docs"
PLACE: Final = _DOCUMENTS / "reference" / "cli"
_INDEX: Final = "index.md"
_HEAD: Final = "| command | purpose |\n| --- | --- |\n"
# Pages about the subject of a command or of a group of commands.
_SEE_ALSO: Final = {
    "apply": ("concepts/planning.md", "concepts/rounds.md"),
    "cache": ("reference/modules.md",),
    "config": ("concepts/static-evaluation.md", "guides/plain-configurations.md"),
    "console": ("concepts/static-evaluation.md",),
    "destroy": ("concepts/planning.md",),
    "environments": ("concepts/environments.md",),
    "eval": ("concepts/static-evaluation.md",),
    "explain": ("concepts/static-evaluation.md",),
    "explore": ("guides/explore.md",),
    "fleet": ("concepts/fleets.md", "guides/many-modules.md"),
    "fmt": ("guides/ci.md",),
    "force-unlock": ("guides/remote-state.md",),
    "get": ("reference/modules.md",),
    "graph": ("concepts/planning.md",),
    "hcldec": ("python/library.md",),
    "import": ("guides/import.md",),
    "init": ("reference/modules.md", "reference/providers.md", "concepts/states.md"),
    "lint": ("reference/lint.md", "guides/policies.md"),
    "login": ("reference/network.md",),
    "logout": ("reference/network.md",),
    "lsp": ("guides/editors.md",),
    "metadata": ("guides/editors.md",),
    "output": ("concepts/states.md", "guides/secrets.md"),
    "plan": ("concepts/planning.md", "guides/saved-plans.md"),
    "provider": ("reference/providers.md",),
    "providers": ("reference/providers.md",),
    "query": ("guides/query.md",),
    "refresh": ("guides/drift.md",),
    "rename": ("guides/refactoring.md",),
    "shim": ("guides/other-tools.md",),
    "show": ("concepts/planning.md", "guides/ci.md"),
    "state": ("concepts/states.md", "guides/refactoring.md"),
    "taint": ("concepts/planning.md",),
    "test": ("guides/testing.md", "reference/test-files.md"),
    "untaint": ("concepts/planning.md",),
    "uses": ("guides/refactoring.md",),
    "validate": ("guides/ci.md",),
    "version": ("policy.md",),
    "why": ("concepts/planning.md",),
    "workspace": ("concepts/states.md", "concepts/environments.md"),
}


def pages() -> dict[str, str]:
    """The text of each page by its file name."""
    before, _, rest = (PLACE / _INDEX).read_text(encoding="utf-8").partition(_HEAD)
    rows = [
        f"| [`{name}`]({name.replace(' ', '-')}.md) | {cell(summary)} |"
        for name, (_, summary) in sorted(COMMANDS.items())
    ]
    after = rest.partition("\n\n")[2]
    index = f"{before}{_HEAD}{chr(10).join(rows)}\n\n{after}"
    return {_INDEX: index} | {
        f"{name.replace(' ', '-')}.md": _page(name, load(name), summary)
        for name, (_, summary) in sorted(COMMANDS.items())
    }


def _page(name: str, command: Command, summary: str) -> str:
    usage = " ".join(
        part
        for part in ("nigari", name, "[options]" if command.flags else "", command.arguments)
        if part
    )
    parts = [f"# nigari {name}", f"{summary}.", f"```\n{usage}\n```"]
    parts += [cell(" ".join(each.split())) for each in command.description.split("\n\n")]
    if command.examples:
        parts.append("## Examples")
        examples = [
            f"# {each.text}\n{each.command}" if each.text else each.command
            for each in command.examples
        ]
        parts.append("```sh\n" + "\n\n".join(examples) + "\n```")
    if command.flags:
        parts.append("## Options")
        parts.append(_table({flag_title(flag): _meaning(flag) for flag in command.flags}))
    given = {flag.name for flag in command.flags}
    common = {title: text for title, text in COMMON_OPTIONS.items() if title[1:] not in given}
    parts += ["## Options of every command", _table(common)]
    group = name.split(" ", maxsplit=1)[0]
    links = [_link(page) for page in _SEE_ALSO[group]]
    links.append("[All commands, exit statuses and environment variables](index.md)")
    parts.append("See also: " + " · ".join(links))
    return "\n\n".join(parts) + "\n"


def _link(page: str) -> str:
    """A link to a page, with its title."""
    heading = (_DOCUMENTS / page).read_text(encoding="utf-8").partition("\n")[0]
    return f"[{heading.removeprefix('# ')}](../../{page})"


def _meaning(flag: Flag) -> str:
    has_default = flag.kind != FLAG_SWITCH and flag.default
    return f"{flag.help}. Default: `{flag.default}`" if has_default else flag.help


def _table(rows: dict[str, str]) -> str:
    lines = [f"| `{cell(title, is_code=True)}` | {cell(text)} |" for title, text in rows.items()]
    return "\n".join(["| option | meaning |", "| --- | --- |", *lines])


def cell(text: str, *, is_code: bool = False) -> str:
    """A text that Markdown shows as it is."""
    plain = text.replace("|", "\\|")
    return plain if is_code else plain.replace("*", "\\*").replace("<", "&lt;").replace("_", "\\_")


def main() -> None:
    """Write all pages, and remove those of commands that no longer exist."""
    written = pages()
    for path in PLACE.glob("*.md"):
        if path.name not in written:
            path.unlink()
    for name, text in written.items():
        (PLACE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
