"""The repositories that were fetched, as trees of files in which every module is local.

Owns where the snapshots are, unpacking them (at their newest commit, and at the tags that module
versions ask for), and rewriting module sources to the trees beside. Every tree lies at
`ROOT/owner/name` or `ROOT/owner/name@tag`. Deliberately unknown: what the modules are used for.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from nigari import hcl
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Attribute
from nigari.hcl.native_body import NativeBody
from nigari.hcl.scope import Scope
from nigari.lang.versions import Version, parse_module_constraints, parse_version

NAMES: Final = Path(__file__).parent / "repositories.txt"
_REGISTRY = re.compile(
    r"(?:registry\.(?:terraform\.io|opentofu\.org)/)?([\w-]+)/([\w-]+)/([\w-]+)(?://(.*))?"
)
_GITHUB = re.compile(
    r"(?:git::)?(?:(?:https|ssh)://(?:git@)?|git@)?github\.com[/:]([\w-]+)/([\w.-]+?)(?:\.git)?"
    r"(?://([^?]*))?(?:\?ref=([^&]*))?"
)
_LINK: Final = "120000"
_NOT_NEEDED: Final = (".go", ".cassette.yaml", ".gif")
_LEFT_BEHIND: Final = (".terraform.lock.hcl", ".terraform", "terraform.tfstate")


def names() -> list[str]:
    """The repositories of the set, `owner/name` each."""
    lines = (line.partition("#")[0].strip() for line in NAMES.read_text().splitlines())
    return [line for line in lines if line]


def snapshots() -> Path:
    """Where the snapshots are: a git directory or a checkout at `owner+name` for each name."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "nigari-outside"
    return Path(os.environ.get("NIGARI_OUTSIDE", default))


def git_directory(name: str) -> Path | None:
    """The git directory of a repository that was fetched."""
    folder = snapshots() / name.replace("/", "+")
    for found in (folder, folder / "repo", folder / ".git"):
        if (found / "HEAD").is_file():
            return found
    return None


class Trees:
    """The unpacked trees. A tree is unpacked and rewritten once; what it needs follows."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._set = {name for name in names() if git_directory(name) is not None}

    def unpack(self, name: str, tag: str = "HEAD") -> Path:
        """The tree of a repository, with its sources and those of what it calls rewritten."""
        wanted = [(name, tag)]
        first = self._path(name, tag)
        while wanted:
            each, ref = wanted.pop()
            target = self._path(each, ref)
            if not target.exists():
                self._archive(each, ref, target)
                wanted += self._rewrite(target)
        return first

    def _path(self, name: str, tag: str) -> Path:
        return self.root / (name if tag == "HEAD" else f"{name}@{tag.replace('/', '_')}")

    def _archive(self, name: str, tag: str, target: Path) -> None:
        partial = target.with_name(f".{target.name}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        _export(name, tag, partial)
        for left in _LEFT_BEHIND:
            for found in list(partial.rglob(left)):
                shutil.rmtree(found) if found.is_dir() else found.unlink()
        partial.rename(target)

    def _rewrite(self, tree: Path) -> Iterator[tuple[str, str]]:
        for file in sorted((*tree.rglob("*.tf"), *tree.rglob("*.tofu"))):
            if file.is_file():
                yield from self._rewrite_file(file)

    def _rewrite_file(self, file: Path) -> Iterator[tuple[str, str]]:
        """Lead the calls of a file to trees of the set; gives the trees that they need.

        A version goes, since a local source has none; the lines stay where they are.
        """
        text = file.read_bytes().decode(errors="surrogateescape")
        body = hcl.parse(text, file.name).body
        assert isinstance(body, NativeBody)
        edits: list[tuple[int, int, str]] = []
        for block in body.blocks:
            if block.type != "module" or not isinstance(block.body, NativeBody):
                continue
            source, version = (block.body.attributes.get(n) for n in ("source", "version"))
            found = self._resolve(literal(source), literal(version))
            if source is None or found is None:
                continue
            name, folder, tag = found
            yield name, tag
            to = os.path.relpath(self._path(name, tag) / folder, file.parent)
            edits.append((source.expr.start, source.expr.end, f'"{_local(to)}"'))
            if version is not None:
                edits.append((version.start, version.end, ""))
        for start, end, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[end:]
        if edits:
            file.write_bytes(text.encode(errors="surrogateescape"))

    def _resolve(self, source: str, version: str) -> tuple[str, str, str] | None:
        """The repository, the folder in it and the tag that a remote source means."""
        if registry := _REGISTRY.fullmatch(source):
            owner, module, provider, folder = registry.groups()
            name, ref = f"{owner}/terraform-{provider}-{module}", None
        elif github := _GITHUB.fullmatch(source):
            owner, repository, folder, ref = github.groups()
            name = f"{owner}/{repository}"
        else:
            return None
        if name not in self._set:
            return None
        tag = newest_tag(name, version) if ref is None else ref if has_ref(name, ref) else None
        return (name, folder or "", tag or "HEAD")


def _export(name: str, tag: str, target: Path) -> None:
    """Write the files of a commit, without those that the snapshot lacks."""
    git = ["git", f"--git-dir={git_directory(name)}"]
    listed = subprocess.run(
        [*git, "ls-tree", "-rz", tag], capture_output=True, text=True, check=True
    ).stdout
    entries = [line.split("\t", 1) for line in listed.split("\0") if line]
    with subprocess.Popen(
        [*git, "cat-file", "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as objects:
        assert objects.stdin is not None
        assert objects.stdout is not None
        for head, path in entries:
            mode, kind, identity = head.split()
            if kind != "blob" or path.endswith(_NOT_NEEDED):
                continue
            objects.stdin.write(f"{identity}\n".encode())
            objects.stdin.flush()
            *_, answer = objects.stdout.readline().split()
            if answer != b"missing":
                _write(target / path, mode, objects.stdout.read(int(answer) + 1)[:-1])


def _write(path: Path, mode: str, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode == _LINK:
        path.symlink_to(content.decode())
        return
    path.write_bytes(content)
    path.chmod(int(mode[-3:], 8))


def _local(path: str) -> str:
    return path if path.startswith("..") else f"./{path}"


def literal(attribute: Attribute | None) -> str:
    """The text of an argument that is written out; nothing if it is not."""
    if attribute is None:
        return ""
    value = attribute.expr.value(Scope(), Diagnostics())
    found = value.to_python() if value.is_known and not value.is_null else ""
    return found if isinstance(found, str) else ""


@cache
def _tags(name: str) -> dict[str, Version]:
    command = ["git", f"--git-dir={git_directory(name)}", "tag"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    versions = ((tag, parse_version(tag.removeprefix("v"))) for tag in listed)
    return {tag: version for tag, version in versions if version is not None}


def newest_tag(name: str, constraint: str) -> str | None:
    """The newest release that a module version allows."""
    if not constraint:
        return None
    constraints = parse_module_constraints(constraint, Diagnostics())
    tags = {version: tag for tag, version in _tags(name).items()}
    newest = None if constraints is None else constraints.newest(tags)
    return None if newest is None else tags[newest]


@cache
def has_ref(name: str, ref: str) -> bool:
    """Whether a snapshot has a tag or commit."""
    command = ["git", f"--git-dir={git_directory(name)}", "cat-file", "-e", f"{ref}^{{commit}}"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def directories(tree: Path) -> list[Path]:
    """Every folder of a tree that holds a module."""
    found = {
        file.parent
        for pattern in ("*.tf", "*.tofu", "*.tf.json")
        for file in tree.rglob(pattern)
        if file.is_file() and not file.is_symlink()
    }
    return sorted(found)
