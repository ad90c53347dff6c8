"""Draws what the program prints: runs it in a terminal and writes SVG files for the documents.

Run it without arguments to draw all pictures anew; `tests/test_pictures.py` checks that they show
what the program says now.
"""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

PLACE: Final = Path(__file__).resolve().parents[1] / "docs" / "pictures"
_COLUMNS: Final = 96
_CHARACTER: Final = 8.4
_LINE: Final = 19
_MARGIN: Final = 16
_COLORS: Final = {
    "31": "#ff7b72",
    "32": "#7ee787",
    "33": "#e3b341",
    "34": "#79c0ff",
    "35": "#d2a8ff",
    "36": "#76e3ea",
    "90": "#8b949e",
}
_ESCAPE: Final = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])")


@dataclass
class Picture:
    """Some files, and commands that are run beside them."""

    name: str
    files: dict[str, str]
    commands: list[str]
    silent: list[str] = field(default_factory=list)
    """Commands that are run first and not shown."""


_SOURCE = """\
variable "v" {}
locals {
  s = "git::https://example.com/net.git?ref=${var.v}"
}
module "net" {
  source = local.s
}
"""
_RESOURCE = """\
resource "terraform_data" "r" {}
locals {
  s = "./${terraform_data.r.id}"
}
module "m" {
  source = local.s
}
"""
_BACKEND = """\
variable "env" {
  default = "prod"
}
terraform {
  backend "local" {
    path = "${var.env}.tfstate"
  }
}
"""
_REGIONS = """\
variable "level" {
  default = "strict"
}
module "region" {
  for_each = { eu = var.level, us = "plain" }
  source   = "./region-${each.value}"
  name     = terraform_data.app.id
}
resource "terraform_data" "app" {}
output "eu" {
  value = module.region["eu"].label
}
"""
_REGION = """\
variable "name" {}
output "label" {
  value = "${var.name} (KIND)"
}
"""
_KEYS = """\
provider "terraform" {
  alias    = "by_region"
  for_each = { eu = "eu-west-1", us = "us-east-1" }
}
resource "terraform_data" "a" {
  provider = terraform.by_region
}
resource "terraform_data" "b" {
  provider = terraform["eu"]
}
"""

_CLUSTER = """\
resource "terraform_data" "cluster" {
  input = ["shop", "stock"]
}
resource "terraform_data" "namespace" {
  for_each = toset(terraform_data.cluster.output)
  input    = each.key
}
"""

PICTURES: Final = (
    Picture("missing-variable", {"main.tf": _SOURCE}, ["nigari init -input=false"]),
    Picture("resource-in-a-source", {"main.tf": _RESOURCE}, ["nigari init"]),
    Picture(
        "backend-location",
        {"main.tf": _BACKEND},
        ["nigari output -var env=dev"],
        ["nigari init -var env=dev", "nigari init -reconfigure"],
    ),
    Picture(
        "backend-changed",
        {"main.tf": _BACKEND},
        ["nigari plan -var env=prdo"],
        ["nigari init"],
    ),
    Picture(
        "instances",
        {
            "main.tf": _REGIONS,
            "region-strict/main.tf": _REGION.replace("KIND", "strict"),
            "region-plain/main.tf": _REGION.replace("KIND", "plain"),
        },
        ["nigari explain 'module.region[\"eu\"].source'", "nigari explain output.eu"],
    ),
    Picture("provider-keys", {"main.tf": _KEYS}, ["nigari validate"]),
    Picture(
        "rounds",
        {"main.tf": _CLUSTER},
        ["nigari apply -allow-deferral -auto-approve -summary -concise"],
        ["nigari init"],
    ),
    Picture(
        "remembered",
        {"main.tf": _BACKEND},
        ["nigari init -show", "nigari eval 'upper(var.env)'"],
        ["nigari init -var env=test -remember"],
    ),
)


def drawn(picture: Picture) -> str:
    """The picture as SVG."""
    with tempfile.TemporaryDirectory() as place:
        for name, text in picture.files.items():
            path = Path(place, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for command in picture.silent:
            _printed(command, place)
        shown = ""
        for command in picture.commands:
            shown += f"\x1b[90m$ \x1b[0m\x1b[1m{command}\x1b[0m\n{_printed(command, place)}\n"
    return _svg(shown.strip("\n"))


def _printed(command: str, place: str) -> str:
    """What a command prints on a terminal."""
    program = Path(sys.executable).parent / "nigari"
    ours, theirs = pty.openpty()
    settings = Path(place, ".settings")
    settings.touch()
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("TF_")},
        "COLUMNS": str(_COLUMNS),
        "LINES": "50",
        "TERM": "xterm-256color",
        "TF_CLI_CONFIG_FILE": str(settings),
    }
    environ.pop("NO_COLOR", None)
    process = subprocess.Popen(
        ["/bin/sh", "-c", command.replace("nigari", shlex.quote(str(program)), 1)],
        cwd=place,
        env=environ,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    data = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:
            break
        if not more:
            break
        data += more
    os.close(ours)
    process.wait()
    return data.decode().replace("\r\n", "\n").strip("\n") + "\n"


def _svg(text: str) -> str:
    rows = list(_rows(text))
    width = int(_COLUMNS * _CHARACTER + 2 * _MARGIN)
    height = len(rows) * _LINE + 2 * _MARGIN
    font = 'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="14"'
    size = f'width="{width}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font} fill="#c9d1d9">',
        f'<rect {size} rx="8" fill="#0d1117"/>',
    ]
    for number, row in enumerate(rows):
        baseline = _MARGIN + (number + 1) * _LINE - 5
        parts = [
            f'<tspan x="{_MARGIN + column * _CHARACTER:.1f}"{_look(codes)}>{escape(part)}</tspan>'
            for column, part, codes in row
            if part.strip()
        ]
        if parts:
            lines.append(f'<text y="{baseline}" xml:space="preserve">{"".join(parts)}</text>')
    return "\n".join([*lines, "</svg>\n"])


_Row = list[tuple[int, str, frozenset[str]]]
"""The column, the text and the look of each part of a row."""


def _rows(text: str) -> Iterator[_Row]:
    """The rows of a terminal, on which long lines go on."""
    style: set[str] = set()
    for line in text.split("\n"):
        row: _Row = []
        column = 0
        for part, codes in _runs(line, style):
            rest = part
            while rest:
                fits = rest[: _COLUMNS - column]
                row.append((column, fits, codes))
                column += len(fits)
                rest = rest[len(fits) :]
                if rest:
                    yield row
                    row, column = [], 0
        yield row


def _runs(line: str, style: set[str]) -> Iterator[tuple[str, frozenset[str]]]:
    """The parts of a line that look alike; `style` goes on from line to line."""
    end = 0
    for match in _ESCAPE.finditer(line):
        if match.start() > end:
            yield line[end : match.start()], frozenset(style)
        end = match.end()
        if match[2] != "m":
            continue
        for code in (match[1] or "0").split(";"):
            if code in ("", "0"):
                style.clear()
            elif code in ("22", "39", "24"):
                style.difference_update({"1", "2"} if code == "22" else _COLORS)
            else:
                style.add(code)
    if end < len(line):
        yield line[end:], frozenset(style)


def _look(codes: frozenset[str]) -> str:
    look = ""
    color = next((_COLORS[code] for code in sorted(codes) if code in _COLORS), "")
    if color:
        look += f' fill="{color}"'
    if "1" in codes:
        look += ' font-weight="bold"'
    if "4" in codes:
        look += ' text-decoration="underline"'
    return look


def main() -> None:
    """Draw all pictures."""
    PLACE.mkdir(exist_ok=True)
    for picture in PICTURES:
        (PLACE / f"{picture.name}.svg").write_text(drawn(picture))


if __name__ == "__main__":
    main()
