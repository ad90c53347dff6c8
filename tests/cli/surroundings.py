"""Working directories and the environment, as a configuration sees them."""

from __future__ import annotations

from pathlib import Path

WORKING_DIRECTORIES = (
    ("{0}/link", ".", "{0}/link", "{0}/link"),
    ("{0}/real", ".", "{0}/real", "{0}/real"),
    ("{0}/link/../link/.", ".", "{0}/link", "{0}/link"),
    ("link", ".", "{0}/real", "{0}/real"),
    ("{0}", ".", "{0}/real", "{0}/real"),
    ("{0}/nowhere", ".", "{0}/real", "{0}/real"),
    ("", ".", "{0}/real", "{0}/real"),
    ("{0}/link", "sub", "{0}/link", "{0}/real/sub"),
    ("{0}/link/sub", "sub", "{0}/real", "{0}/link/sub"),
)


"""`$PWD`, what `-chdir` names, `path.cwd`, and `abspath(".")`, in a linked directory."""


SEEN = 'path.cwd\nabspath(path.root)\nabspath("../x")\npath.root\n'


def linked_directory(tmp_path: Path) -> Path:
    """A symbolic link to a directory with a directory in it."""
    (tmp_path / "real" / "sub").mkdir(parents=True)
    for directory in ("real", "real/sub"):
        (tmp_path / directory / "main.tf").write_text("")
    (tmp_path / "link").symlink_to("real")
    return tmp_path / "link"
