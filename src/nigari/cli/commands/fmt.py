"""`nigari fmt`: bring configuration files into the standard form.

Which files there are, and how each is replaced, is decided here; the form itself is `hcl`'s.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from nigari.cli.command import FLAG_SWITCH, Command, Example, Flag, Invocation
from nigari.cli.views.diagnostics import NO_COLOR_FLAG, show_diagnostics
from nigari.diagnostics import Diagnostics
from nigari.diagnostics.render import no_context
from nigari.hcl.binary import without_binary
from nigari.hcl.formatter import format_body
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source
from nigari.lang.files import DiskFiles

EXTENSIONS = (
    ".tf",
    ".tofu",
    ".tfvars",
    ".tftest.hcl",
    ".tofutest.hcl",
    ".tfquery.hcl",
    ".tofuquery.hcl",
    ".sym.hcl",
)
OWN_FILES = frozenset(("environments.hcl", "fleet.hcl"))
"""Files of this program, which have the same layout."""

_STDIN = "-"
_STDIN_NAME = "<stdin>"
_EXIT_ERRORS = 2
_EXIT_UNFORMATTED = 3


def _is_formatted(name: str) -> bool:
    return name.endswith(EXTENSIONS) or name in OWN_FILES


class _Formatter:
    """One run: what to do with each file, and what was found so far."""

    def __init__(self, invocation: Invocation) -> None:
        self.terminal = invocation.terminal
        self.reads_input = invocation.arguments[:1] == [_STDIN]
        self.check = invocation.switch("check")
        self.diff = invocation.switch("diff")
        self.list = invocation.switch("list") and not self.reads_input
        self.write = invocation.switch("write") and not self.check and not self.reads_input
        self.recursive = invocation.switch("recursive")
        self.no_color = invocation.switch("no-color")
        self.prints_result = not (self.check or self.diff or self.list or self.write)
        self.diags = Diagnostics()
        self.sources: dict[str, bytes] = {}
        self.is_changed = False

    def run(self, paths: list[str]) -> int:
        if self.reads_input:
            self._format(_STDIN_NAME, self.terminal.read_all())
        else:
            for path in paths or ["."]:
                self._path(os.path.normpath(path))
        show_diagnostics(
            self.terminal, self.diags, self.sources, no_context, no_color=self.no_color
        )
        if self.diags.has_errors:
            return _EXIT_ERRORS
        return _EXIT_UNFORMATTED if self.check and self.is_changed else 0

    def _path(self, path: str) -> None:
        if os.path.isdir(path):
            for name in self._files_in(path):
                self._file(name)
        elif not os.path.exists(path):
            self.diags.error("No such file or directory", f"There is nothing at {path}.")
        elif _is_formatted(os.path.basename(path)):
            self._file(path)
        else:
            self.diags.error(
                "Unsupported file",
                f"Cannot format {path}: the name of a file in the native syntax must end in "
                f"{', '.join(EXTENSIONS[:-1])} or {EXTENSIONS[-1]}.",
            )

    def _files_in(self, directory: str) -> Iterator[str]:
        pending = [directory]
        while pending:
            path = pending.pop()
            if path != directory and not os.path.isdir(path):
                yield path
                continue
            try:
                with os.scandir(path) as found:
                    entries = sorted(found, key=lambda entry: entry.name, reverse=True)
            except OSError as error:
                self.diags.error("Cannot read directory", f"{path}: {error.strerror}.")
                continue
            for entry in entries:
                if _is_ignored(entry.name):
                    continue
                is_directory = entry.is_dir(follow_symlinks=False)
                if self.recursive if is_directory else _is_formatted(entry.name):
                    pending.append(os.path.normpath(entry.path))

    def _file(self, path: str) -> None:
        try:
            data = DiskFiles().read(path)
        except OSError as error:
            self.diags.error("Cannot read file", f"{path}: {error.strerror}.")
            return
        self._format(path, data)

    def _format(self, path: str, data: bytes) -> None:
        errors = self.diags.error_count
        source = without_binary(Source.from_bytes(path, data), self.diags)
        body = parse_body(source, self.diags)
        if self.diags.error_count > errors:
            # Laying out what is not understood could bury the mistake.
            self.sources[path] = data
            return
        text = format_body(body, source.text)
        result = text.encode("utf-8", "surrogateescape")
        if result != data:
            self.is_changed = True
            if self.list:
                self.terminal.out(path)
            if self.write:
                self._replace(path, result)
            if self.diff:
                self.terminal.stdout.write(unified_diff(data.decode("utf-8"), text, path))
        if self.prints_result:
            self.terminal.stdout.write(text)

    def _replace(self, path: str, data: bytes) -> None:
        try:
            replace_file(path, data)
        except OSError as error:
            self.diags.error("Cannot write file", f"{path}: {error.strerror}.")


def replace_file(path: str, data: bytes) -> None:
    """Give a file new contents all at once; its mode, and links to it, stay."""
    from nigari.packages.content.whole_file import write_whole

    target = os.path.realpath(path)
    mode = stat.S_IMODE(os.stat(target).st_mode)
    try:
        write_whole(target, data, mode, sync=False)
    except PermissionError:
        # The directory takes no new files, but the file itself may be writable.
        with open(target, "wb") as file:
            file.write(data)


def unified_diff(old: str, new: str, path: str) -> str:
    """The difference as `diff -u` shows it."""
    import difflib

    lines = difflib.unified_diff(
        _lines(old),
        _lines(new),
        f"old/{path}",
        f"new/{path}",
    )
    ended = [
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    ]
    return "".join(ended)


def _lines(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _is_ignored(name: str) -> bool:
    """Return whether a file is hidden or belongs to an editor."""
    return name.startswith(".") or name.endswith("~") or (name[0] == "#" and name[-1] == "#")


def run(invocation: Invocation) -> int:
    """Format the files and tell which were not formatted."""
    return _Formatter(invocation).run(invocation.arguments)


COMMAND = Command(
    "fmt",
    "Rewrites configuration files in the standard format: layout, quoted labels, and expressions "
    "without unnecessary quotes. For a directory, this applies to the files in it that end in "
    ".tf, .tofu, .tfvars, .tftest.hcl, .tofutest.hcl, .tfquery.hcl, .tofuquery.hcl or .sym.hcl, and to environments.hcl and fleet.hcl; the "
    "default is the working directory. A dash formats standard input to standard output. JSON files are left alone.",
    run,
    flags=(
        Flag("list", FLAG_SWITCH, "Do not list the files that change", default="true"),
        Flag("write", FLAG_SWITCH, "Do not write to the files", default="true"),
        Flag("diff", FLAG_SWITCH, "Show what changes"),
        Flag("check", FLAG_SWITCH, "Write nothing; exit with status 3 if any file would change"),
        Flag("recursive", FLAG_SWITCH, "Also format the files in subdirectories"),
        NO_COLOR_FLAG,
    ),
    arguments="[FILE-OR-DIR ... | -]",
    most_arguments=-1,
    examples=(
        Example("nigari fmt -recursive", "formats everything in and below the working directory"),
        Example("nigari fmt -check -diff", "in continuous integration"),
    ),
)
