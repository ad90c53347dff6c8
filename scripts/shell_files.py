"""Writes what shells and `man` read about the program: completion scripts and a manual page for each command.

    python -m scripts.shell_files DIRECTORY

The build hook puts them into wheels, below `share`, where packages of Homebrew and of Linux distributions find
them, and where pipx links the manual pages. They come from the tables that `-help` prints.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
if __name__ != "scripts.shell_files":
    # A build has no environment in which the package is installed.
    sys.path.insert(0, str(ROOT / "src"))

from nigari.cli.command import Command, Example  # noqa: E402 - found by the line above
from nigari.cli.completion_scripts import BASH, FISH, ZSH  # noqa: E402
from nigari.cli.help import COMMON_OPTIONS, GLOBAL_OPTIONS, flag_text, flag_title  # noqa: E402
from nigari.cli.main import COMMANDS, load  # noqa: E402
from nigari.version import VERSION  # noqa: E402

_SITE: Final = "https://nigari.github.io/nigari/latest/"


def shell_files() -> Mapping[str, str]:
    """The text of each file, by its path below the prefix of an installation."""
    pages = {"nigari": _program_page()}
    pages |= {
        f"nigari-{name.replace(' ', '-')}": _page(load(name), summary)
        for name, (_, summary) in COMMANDS.items()
    }
    return {
        "share/bash-completion/completions/nigari": BASH,
        "share/fish/vendor_completions.d/nigari.fish": FISH,
        # zsh runs the file with the first completion: it defines the function, and has to call it.
        "share/zsh/site-functions/_nigari": f'{ZSH}_nigari "$@"\n',
        **{f"share/man/man1/{name}.1": text for name, text in pages.items()},
    }


def _program_page() -> str:
    return _joined(
        "nigari",
        "plan and apply OpenTofu configurations",
        _section(
            "SYNOPSIS", "\\fBnigari\\fR [global options] \\fICOMMAND\\fR [options] [arguments]"
        ),
        _section(
            "DESCRIPTION",
            _escaped(
                "Works out every value in an OpenTofu or Terraform configuration that can be determined before anything "
                "runs, explains why the others can't, and plans and applies it with the same providers, state and files."
            ),
        ),
        _section("GLOBAL OPTIONS", *_list(GLOBAL_OPTIONS)),
        _section("COMMANDS", *_list({name: COMMANDS[name][1] for name in sorted(COMMANDS)})),
        _section("SEE ALSO", f"{_escaped('nigari-COMMAND(1)')},\n{_escaped(_SITE)}"),
    )


def _page(command: Command, summary: str) -> str:
    usage = f"\\fBnigari {_escaped(command.name)}\\fR"
    usage += " [options]" if command.flags else ""
    usage += f" {_escaped(command.arguments)}" if command.arguments else ""
    parts = [_section("SYNOPSIS", usage)]
    paragraphs = [_escaped(" ".join(each.split())) for each in command.description.split("\n\n")]
    parts.append(_section("DESCRIPTION", "\n.PP\n".join(paragraphs)))
    if command.flags:
        options = {flag_title(flag): flag_text(flag) for flag in command.flags}
        parts.append(_section("OPTIONS", *_list(options)))
    given = {flag.name for flag in command.flags}
    common = {title: text for title, text in COMMON_OPTIONS.items() if title[1:] not in given}
    parts.append(_section("OPTIONS OF EVERY COMMAND", *_list(common)))
    if command.examples:
        parts.append(_section("EXAMPLES", "\n.PP\n".join(map(_example, command.examples))))
    page = f"{_SITE}reference/cli/{command.name.replace(' ', '-')}.html"
    parts.append(_section("SEE ALSO", f"{_escaped('nigari(1)')},\n{_escaped(page)}"))
    name = f"nigari-{command.name.replace(' ', '-')}"
    return _joined(name, summary[0].lower() + summary[1:], *parts)


def _example(example: Example) -> str:
    about = (
        f"{_escaped(example.text[0].upper() + example.text[1:])}:\n.PP\n" if example.text else ""
    )
    return f"{about}.nf\n.RS 4\n{_escaped(example.command)}\n.RE\n.fi"


def _joined(name: str, summary: str, *parts: str) -> str:
    title = f'.TH "{_escaped(name.upper())}" 1 "" "Nigari {VERSION}" "Nigari Manual"'
    head = _section("NAME", f"{_escaped(name)} \\- {_escaped(summary)}")
    return "\n".join([title, head, *parts]) + "\n"


def _section(title: str, *lines: str) -> str:
    return "\n".join([f".SH {title}", *lines])


def _list(rows: Mapping[str, str]) -> Iterator[str]:
    for term, text in rows.items():
        yield f".TP\n\\fB{_escaped(term)}\\fR\n{_escaped(text)}"


def _escaped(text: str) -> str:
    """A text without what means something to roff."""
    plain = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    plain = plain.replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")
    return "\n".join(f"\\&{line}" if line[:1] == "." else line for line in plain.split("\n"))


def write(directory: Path) -> list[str]:
    """Write all files below a directory, and name them."""
    files = shell_files()
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return list(files)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
