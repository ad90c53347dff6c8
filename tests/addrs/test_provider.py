"""Provider sources and hostnames."""

from __future__ import annotations

import pytest

from nigari.addrs import (
    builtin_provider,
    default_provider,
    hostname_for_network,
    implied_provider,
    legacy_provider,
    normalize_hostname,
    parse_provider,
)
from nigari.diagnostics import Diagnostics


@pytest.mark.parametrize(
    ("text", "wanted", "display"),
    [
        ("aws", "registry.opentofu.org/hashicorp/aws", "hashicorp/aws"),
        ("hashicorp/aws", "registry.opentofu.org/hashicorp/aws", "hashicorp/aws"),
        ("HashiCorp/AWS", "registry.opentofu.org/hashicorp/aws", "hashicorp/aws"),
        ("Example.com/a/b", "example.com/a/b", "example.com/a/b"),
        ("example.com:443/a/b", "example.com/a/b", "example.com/a/b"),
        ("example.com:8080/a/b", "example.com:8080/a/b", "example.com:8080/a/b"),
        ("localhost/a/b", "localhost/a/b", "localhost/a/b"),
        ("Испытание.com/a/b", "испытание.com/a/b", "испытание.com/a/b"),
        ("-/aws", "registry.opentofu.org/-/aws", "-/aws"),
        ("terraform.io/builtin/terraform",) * 2 + ("terraform.io/builtin/terraform",),
    ],
)
def test_provider_sources(text: str, wanted: str, display: str) -> None:
    diags = Diagnostics()
    provider = parse_provider(text, diags)
    assert not list(diags)
    assert provider is not None
    assert (str(provider), provider.display) == (wanted, display)
    assert parse_provider(str(provider), diags) == provider


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", ""),
        ("a//b", "a//b"),
        ("a/b/c/d", "a/b/c/d"),
        ("a/b_c", "b_c"),
        ("a/b--c", "b--c"),
        ("a.b/c", "a.b"),
        ("a/-b", "-b"),
        ("a b/c/d", "a b"),
        ("xn--80akhbyknj4f.com/a/b", "xn--80akhbyknj4f.com"),
        ("example.com/-/aws", "-"),
        ("hashicorp/terraform-provider-aws", "terraform-provider-aws"),
        ("x/opentofu-y", "opentofu-y"),
    ],
)
def test_mistakes_in_provider_sources(text: str, wrong: str) -> None:
    diags = Diagnostics()
    assert parse_provider(text, diags) is None
    (diagnostic,) = diags
    assert diagnostic.subject is not None
    assert text[diagnostic.subject.start.byte : diagnostic.subject.end.byte] == wrong


def test_the_repository_name_of_a_provider_gets_a_suggestion() -> None:
    diags = Diagnostics()
    parse_provider("hashicorp/terraform-provider-aws", diags)
    assert '"hashicorp/aws"' in diags[0].detail


def test_kinds_of_providers() -> None:
    assert implied_provider("aws") == default_provider("aws")
    assert implied_provider("terraform") == builtin_provider()
    assert default_provider("aws").is_default
    assert builtin_provider().is_builtin
    assert legacy_provider("aws").is_legacy
    assert not legacy_provider("aws").is_default


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Example.COM", "example.com"),
        ("example.com:0443", "example.com"),
        ("münchen.de:81", "münchen.de:81"),
        ("mu\u0308nchen.de", "münchen.de"),
        ("Example.com.", "example.com."),
        ("example.com.:80", "example.com.:80"),
        (".", None),
        ("example.com:99999", None),
        ("example.com:x", None),
        ("https://example.com", None),
        ("a..b", None),
        ("", None),
        ("---.com", None),
        ("a_b.com", None),
    ],
)
def test_hostnames(text: str, wanted: str | None) -> None:
    assert normalize_hostname(text) == wanted


def test_hostname_for_the_network() -> None:
    assert hostname_for_network("münchen.de:81") == "xn--mnchen-3ya.de:81"
    assert hostname_for_network("example.com") == "example.com"
