"""Fetching packages with git, and what an address may and may not say."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from nigari.addrs.module_source import RemoteSource, parse_module_source
from nigari.diagnostics import Diagnostics
from nigari.packages.content.module_fetch import FetchError, no_progress
from nigari.packages.modules.git import GitAddress, GitGetter, git_address
from tests.packages.repositories import Repository, needs_git


def remote(text: str) -> RemoteSource:
    source = parse_module_source(text, Diagnostics())
    assert isinstance(source, RemoteSource)
    return source


def fetch(source: str, target: Path, environ: Mapping[str, str] = os.environ) -> str:
    target.mkdir(exist_ok=True)
    url = RemoteSource(source).url
    return asyncio.run(GitGetter(environ).get_directory(url, target, no_progress))


def revision(source: str) -> str:
    return asyncio.run(GitGetter(os.environ).revision(RemoteSource(source).url, False))


@pytest.mark.parametrize(
    ("text", "url", "ref"),
    [
        ("git::https://example.com/net.git", "https://example.com/net.git", ""),
        ("git::https://example.com/net.git?ref=v1", "https://example.com/net.git", "v1"),
        ("git::https://example.com/net.git//sub?ref=v1", "https://example.com/net.git", "v1"),
        ("git::https://example.com/net.git?ref=a;b", "https://example.com/net.git", "a;b"),
        ("git::https://example.com/net.git?ref=a&ref=b", "https://example.com/net.git", "a"),
        ("git::https://example.com/net.git?ref=v1&x=y", "https://example.com/net.git?x=y", "v1"),
        ("git::https://example.com/net.git?depth=1&ref=v", "https://example.com/net.git", "v"),
        ("git::https://example.com/net.git?depth=x", "https://example.com/net.git", ""),
        ("git::ssh://git@example.com/net.git", "ssh://git@example.com/net.git", ""),
        ("git@github.com:o/r.git?ref=v1", "ssh://git@github.com/o/r.git", "v1"),
        ("github.com/o/r", "https://github.com/o/r.git", ""),
        ("github.com/o/r//sub?ref=v1", "https://github.com/o/r.git", "v1"),
        ("bitbucket.org/o/r", "https://bitbucket.org/o/r.git", ""),
    ],
)
def test_git_addresses(text: str, url: str, ref: str) -> None:
    assert git_address(remote(text).url) == GitAddress(url, ref)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("git::https://example.com/net.git?ref=--upload-pack=touch%20x", "not a valid name"),
        ("git::https://example.com/net.git?ref=-x", "not a valid name"),
        ("git::https://example.com/net.git?ref=a%0Ab", "not a valid name"),
        ("git::ssh://-oProxyCommand=x/net.git", "begins with a dash"),
        ("git::ssh://-oProxyCommand=x@example.com/net.git", "begins with a dash"),
        ("git::ext::sh -c touch%20x", "cannot be fetched with"),
        ("git::fd::17", "cannot be fetched with"),
        ("git::https://example.com/net.git?sshkey=!", "not valid Base64"),
    ],
)
def test_addresses_that_are_refused(text: str, said: str) -> None:
    with pytest.raises(FetchError, match=said):
        git_address(RemoteSource(text).url)


@needs_git
@pytest.mark.parametrize(
    "ref", ["v1", "HEAD~1", "side", "odd;name", "refs/tags/v1", "{sha}", "{short}"]
)
def test_refs_of_every_kind(ref: str, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    wanted = repository.commit({"main.tf": "# wanted\n"}, tag="v1")
    repository.git("branch", "side")
    repository.git("branch", "odd;name")
    repository.commit({"main.tf": "# newer\n"})
    ref = ref.format(sha=wanted, short=wanted[:9])
    target = tmp_path / "target"
    assert fetch(f"{repository.source}?ref={ref}", target) == wanted
    assert (target / "main.tf").read_text() == "# wanted\n"
    assert not (target / ".git").exists()


@needs_git
def test_without_a_ref_the_repository_decides(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.commit({"main.tf": "# trunk\n"})
    repository.git("checkout", "--quiet", "-b", "trunk")
    target = tmp_path / "target"
    fetch(repository.source, target)
    assert (target / "main.tf").read_text() == "# trunk\n"


@needs_git
def test_submodules_come_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = Repository(tmp_path / "inner")
    inner.commit({"inner.tf": "# inner\n"})
    outer = Repository(tmp_path / "outer")
    outer.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../inner", "sub")
    outer.commit({"main.tf": ""})
    target = tmp_path / "target"
    environ = {
        **os.environ,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "protocol.file.allow",
        "GIT_CONFIG_VALUE_0": "always",
    }
    fetch(outer.source, target, environ)
    assert (target / "sub" / "inner.tf").read_text() == "# inner\n"
    assert not (target / "sub" / ".git").exists()


@needs_git
def test_what_git_says_is_told(tmp_path: Path) -> None:
    target = tmp_path / "target"
    with pytest.raises(FetchError, match="git said"):
        fetch(f"git::file://{tmp_path}/none", target)


@needs_git
def test_a_ref_that_is_not_there(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.commit({"main.tf": ""})
    target = tmp_path / "target"
    with pytest.raises(FetchError, match='no branch, tag or commit "nope"'):
        fetch(f"{repository.source}?ref=nope", target)


@needs_git
def test_other_repositories_around_do_not_matter(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.commit({"main.tf": "# it\n"})
    other = Repository(tmp_path / "other")
    target = tmp_path / "target"
    environ = {**os.environ, "GIT_DIR": str(other.path / ".git"), "GIT_WORK_TREE": str(other.path)}
    fetch(repository.source, target, environ)
    assert (target / "main.tf").read_text() == "# it\n"
    assert not (other.path / "main.tf").exists()


@needs_git
@pytest.mark.parametrize("ref", ["v1", "side", "both", "refs/tags/v1", "noted", "{sha}", ""])
def test_revisions_are_those_that_are_fetched(ref: str, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    wanted = repository.commit({"main.tf": "# wanted\n"}, tag="v1")
    repository.git("branch", "side")
    repository.git("tag", "both")
    repository.git("tag", "--annotate", "--message=x", "noted")
    repository.git("branch", "other/side", "HEAD")
    repository.commit({"main.tf": "# newer\n"})
    repository.git("branch", "both")
    source = repository.source
    if ref:
        source += f"?ref={ref.format(sha=wanted)}"
    assert revision(source) == fetch(source, tmp_path / "target")


@needs_git
@pytest.mark.parametrize("ref", ["HEAD~1", "nope"])
def test_revisions_that_only_fetching_tells(ref: str, tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    repository.commit({"main.tf": ""})
    assert revision(f"{repository.source}?ref={ref}") == ""


@needs_git
def test_a_file_of_a_repository(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    commit = repository.commit({"a.txt": "content"})
    url = f"{RemoteSource(repository.source).url}/a.txt"
    got = asyncio.run(GitGetter(os.environ).get_file(url, tmp_path / "file", no_progress))
    assert got == commit
    assert (tmp_path / "file").read_text() == "content"


def test_an_address_of_one_commit() -> None:
    pinned = GitGetter({}).pinned("https://example.com/net.git?x=y&ref=main&depth=1", "abc")
    assert pinned == "https://example.com/net.git?x=y&ref=abc"


@needs_git
def test_a_repository_without_a_choice_of_its_own(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "repository")
    wanted = repository.commit({"main.tf": "# wanted\n"})
    repository.commit({"main.tf": "# newer\n"})
    repository.git("symbolic-ref", "HEAD", "refs/heads/none")
    assert fetch(f"{repository.source}?ref={wanted[:9]}", tmp_path / "target") == wanted
    with pytest.raises(FetchError, match="git said"):
        fetch(repository.source, tmp_path / "other")
