"""Fetching packages with Mercurial, and what an address may and may not say."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from nigari.packages.content.module_fetch import FetchError, no_progress
from nigari.packages.modules.mercurial import MercurialAddress, MercurialGetter, mercurial_address
from tests.packages.mercurial import hg

needs_hg = pytest.mark.skipif(shutil.which("hg") is None, reason="the program hg is not here")


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://example.com/net", MercurialAddress("https://example.com/net")),
        ("https://example.com/net?rev=v1", MercurialAddress("https://example.com/net", "v1")),
        ("ssh://hg@example.com/net?x=y", MercurialAddress("ssh://hg@example.com/net?x=y")),
    ],
)
def test_addresses(url: str, address: MercurialAddress) -> None:
    assert mercurial_address(url) == address


@pytest.mark.parametrize(
    "url",
    [
        "ssh://-oProxyCommand=x/net",
        "ssh://-x@example.com/net",
        "https://example.com/net?rev=--config=x",
        "https://example.com/net?rev=a%0Ab",
        "ext::x",
        "bundle:x",
    ],
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(FetchError):
        mercurial_address(url)


def test_a_program_that_is_missing_is_told(tmp_path: Path) -> None:
    getter = MercurialGetter({"PATH": str(tmp_path)})
    with pytest.raises(FetchError, match='The program "hg" is required'):
        asyncio.run(getter.get_directory("https://example.com/net", tmp_path, no_progress))


@needs_hg
@pytest.mark.parametrize("rev", ["", "v1", "{node}", "side"])
def test_revisions_of_every_kind(rev: str, tmp_path: Path) -> None:
    path = tmp_path / "repository"
    path.mkdir()
    hg(path, "init")
    (path / "main.tf").write_text("# one\n")
    hg(path, "commit", "--addremove", "--message=one")
    node = hg(path, "log", "--rev=.", "--template={node}")
    hg(path, "tag", "v1")
    hg(path, "bookmark", "side", "--rev", node)
    (path / "main.tf").write_text("# two\n")
    hg(path, "commit", "--message=two")
    wanted = rev.format(node=node)
    url = f"file://{path}" + (f"?rev={wanted}" if wanted else "")
    getter = MercurialGetter(os.environ)
    target = tmp_path / "target"
    target.mkdir()
    found = asyncio.run(getter.get_directory(url, target, no_progress))
    assert (target / "main.tf").read_text() == ("# one\n" if rev else "# two\n")
    assert not (target / ".hg").exists()
    assert asyncio.run(getter.revision(url, False)) == found
    assert getter.pinned(url, found) == f"file://{path}?rev={found}"


@needs_hg
def test_what_hg_says_is_told(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    url = f"file://{tmp_path}/none"
    with pytest.raises(FetchError, match="hg said"):
        asyncio.run(MercurialGetter(os.environ).get_directory(url, target, no_progress))
