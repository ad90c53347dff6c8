"""Module sources: which kind a text means, and the one spelling it gets."""

from __future__ import annotations

import pytest

from nigari.addrs import (
    LocalSource,
    ModuleSource,
    RegistrySource,
    RemoteSource,
    parse_module_source,
    parse_registry_source,
)
from nigari.diagnostics import Diagnostics


def source(text: str) -> ModuleSource:
    diags = Diagnostics()
    parsed = parse_module_source(text, diags)
    assert parsed is not None, list(diags)
    return parsed


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("./child", "./child"),
        ("./nope/../child", "./child"),
        ("../sibling", "../sibling"),
        ("./nope/../../sibling", "../sibling"),
        (".\\nope\\..\\child", "./child"),
        ("./nope\\nope/why\\./please\\don't", "./nope/nope/why/please/don't"),
        ("./a//b", "./a/b"),
        ("./", "./."),
        ("../../x/", "../../x"),
    ],
)
def test_local(text: str, path: str) -> None:
    parsed = source(text)
    assert isinstance(parsed, LocalSource)
    assert parsed.path == str(parsed) == path


@pytest.mark.parametrize(
    ("text", "wanted", "display"),
    [
        ("a/b/c", "registry.opentofu.org/a/b/c", "a/b/c"),
        ("registry.opentofu.org/a/b/c", "registry.opentofu.org/a/b/c", "a/b/c"),
        ("a/b/c//x/../y", "registry.opentofu.org/a/b/c//y", "a/b/c//y"),
        ("Example.com:8443/A/b-b/c1//z", "example.com:8443/A/b-b/c1//z",
         "example.com:8443/A/b-b/c1//z"),
    ],
)  # fmt: skip
def test_registry(text: str, wanted: str, display: str) -> None:
    parsed = source(text)
    assert isinstance(parsed, RegistrySource)
    assert (str(parsed), parsed.display) == (wanted, display)
    assert source(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("text", "package", "subdir"),
    [
        ("github.com/a/b", "git::https://github.com/a/b.git", ""),
        ("github.com/a/b.git", "git::https://github.com/a/b.git", ""),
        ("github.com/a/b//c/d", "git::https://github.com/a/b.git", "c/d"),
        ("github.com/a/b/c/d", "git::https://github.com/a/b.git", "c/d"),
        ("github.com/a/b/c//d", "git::https://github.com/a/b.git", "c/d"),
        ("github.com/a/b//c?ref=x/y", "git::https://github.com/a/b.git?ref=x/y", "c"),
        ("github.com/a/b#x", "git::https://github.com/a/b.git#x", ""),
        ("github.com/a/b?ref=x", "git::https://github.com/a/b.git?ref=x", ""),
        ("github.com/a/b//c?", "git::https://github.com/a/b.git", "c"),
        ("git::github.com/a/b", "git::https://github.com/a/b.git", ""),
        ("bitbucket.org/a/b", "git::https://bitbucket.org/a/b.git", ""),
        ("git@github.com:a/b.git", "git::ssh://git@github.com/a/b.git", ""),
        ("git@github.com:a/b.git//c?ref=v1", "git::ssh://git@github.com/a/b.git?ref=v1", "c"),
        ("git::git@h.com:a/b.git//c", "git::ssh://git@h.com/a/b.git", "c"),
        ("git@h.com:a/b?z=1&ref=x/y", "git::ssh://git@h.com/a/b?ref=x%2Fy&z=1", ""),
        ("git://h.com/a.git//b", "git://h.com/a.git", "b"),
        ("git::https://h.com/a.git//b?ref=1", "git::https://h.com/a.git?ref=1", "b"),
        ("git::ssh://git@h.com/a.git//b", "git::ssh://git@h.com/a.git", "b"),
        ("hg::http://h.com/a.hg", "hg::http://h.com/a.hg", ""),
        ("https://h.com/a.zip//b", "https://h.com/a.zip", "b"),
        ("https://h.com/a?archive=tar&checksum=x", "https://h.com/a?archive=tar&checksum=x", ""),
        ("www.googleapis.com/storage/v1/B/p/m.zip",
         "gcs::https://www.googleapis.com/storage/v1/B/p/m.zip", ""),
        ("s3-eu-west-1.amazonaws.com/b/vpc.zip",
         "s3::https://s3-eu-west-1.amazonaws.com/b/vpc.zip", ""),
        ("b.s3-eu-west-1.amazonaws.com/vpc.zip",
         "s3::https://s3-eu-west-1.amazonaws.com/b/vpc.zip", ""),
        ("b.s3.eu-west-1.amazonaws.com/vpc.zip",
         "s3::https://s3.eu-west-1.amazonaws.com/b/vpc.zip", ""),
        ("s3::https://s3.amazonaws.com/b/k", "s3::https://s3.amazonaws.com/b/k", ""),
        ("oci://h.com/a/b//c?tag=1", "oci://h.com/a/b?tag=1", "c"),
        ("oci::h.com/x:y", "oci::h.com/x:y", None),
        ("/abs/path//sub", "file:///abs/path", "sub"),
        ("/abs/path", "file:///abs/path", ""),
        ("file:///abs//sub", "file:///abs", "sub"),
        ("dfgd:dgfh/dfgh", "dfgd:dgfh/dfgh", ""),
        ("git::https://h.com/a.git///etc", "git::https://h.com/a.git", "etc"),
    ],
)  # fmt: skip
def test_remote(text: str, package: str, subdir: str | None) -> None:
    if subdir is None:
        assert parse_module_source(text, Diagnostics()) is None
        return
    parsed = source(text)
    assert isinstance(parsed, RemoteSource)
    assert (parsed.package, parsed.subdir) == (package, subdir)
    assert source(str(parsed)) == parsed


@pytest.mark.parametrize(
    ("text", "getter", "url"),
    [
        ("github.com/a/b", "git", "https://github.com/a/b.git"),
        ("https://h.com/a", "https", "https://h.com/a"),
        ("HTTP://h.com/a", "http", "HTTP://h.com/a"),
        ("/a", "file", "file:///a"),
    ],
)
def test_getter_and_url(text: str, getter: str, url: str) -> None:
    parsed = source(text)
    assert isinstance(parsed, RemoteSource)
    assert (parsed.getter, parsed.url) == (getter, url)


def test_display_hides_secrets() -> None:
    text = "git::https://me:secret@h.com/a.git//b?ref=v1&sshkey=abc"
    parsed = source(text)
    assert parsed.display == "git::https://REDACTED@h.com/a.git//b?ref=v1&sshkey=REDACTED"
    assert str(parsed) == text


@pytest.mark.parametrize(
    ("text", "wrong", "advice"),
    [
        ("boop/bloop", "boop/bloop", '"./boop/bloop"'),
        ("", "", "registry"),
        (".", ".", '"./."'),
        ("a/b/c//../d", "../d", "outside the package"),
        ("a/b/c//..", "..", "outside the package"),
        ("/tmp/foo//a/../../b", "a/../../b", "outside the package"),
        ("a/b/c?ref=v1", "?ref=v1", "version argument"),
        ("a/b/C", "C", "target system"),
        ("a/b!/c", "b!", "module name"),
        ("foo/a/b/c", "foo", "dot"),
        ("foo.com/a/b", "foo.com/a/b", "three parts"),
        ("github.com/a", "github.com/a", "OWNER/NAME"),
        ("git@h.com:a?ref=x;y", ";", "semicolon"),
        ("https://h.com/%zz", "%", "hex"),
        ("x.y.z.w.v.amazonaws.com/k", "x.y.z.w.v.amazonaws.com/k", "S3"),
    ],
)
def test_mistakes_are_reported(text: str, wrong: str, advice: str) -> None:
    diags = Diagnostics()
    assert parse_module_source(text, diags) is None
    (diagnostic,) = diags
    assert diagnostic.subject is not None
    assert text[diagnostic.subject.start.byte : diagnostic.subject.end.byte] == wrong
    assert advice in diagnostic.detail


def test_only_a_registry_will_do() -> None:
    diags = Diagnostics()
    assert parse_registry_source("./a", diags) is None
    assert parse_registry_source("github.com/a/b/c", diags) is None
    assert len(diags) == 2
