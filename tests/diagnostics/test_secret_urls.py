"""Secrets in URLs: one list, in values, in what programs say, in source texts."""

import time

import pytest

from nigari.diagnostics.secret_urls import hidden_url, hidden_urls, secret_spans


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://a.b/c?x=1#f", "https://a.b/c?x=1#f"),
        ("https://u:p@a.b/c", "https://REDACTED@a.b/c"),
        # What stands alone before a web server is a token; for ssh it is an account.
        ("https://token@a.b/c", "https://REDACTED@a.b/c"),
        ("git::ssh://git@a.b/c.git", "git::ssh://git@a.b/c.git"),
        ("ssh://me:word@a.b/c.git", "ssh://REDACTED@a.b/c.git"),
        ("postgres://me:word@a.b/c", "postgres://REDACTED@a.b/c"),
        # A slash in a password should have been escaped.
        ("https://u:pa/ss@a.b/c", "https://REDACTED@a.b/c"),
        ("https://a.b:8443/c@d", "https://a.b:8443/c@d"),
        ("http://[::1]:80/c@d", "http://[::1]:80/c@d"),
        (
            "https://a.b/?X-Amz-Signature=1&X-Amz-Date=2&x-amz-security-token=3",
            "https://a.b/?X-Amz-Signature=REDACTED&X-Amz-Date=2&x-amz-security-token=REDACTED",
        ),
        ("https://a.b/?sshkey=1&ref=v1", "https://a.b/?sshkey=REDACTED&ref=v1"),
        ("https://a.b/?aws_access_key_id=1", "https://a.b/?aws_access_key_id=REDACTED"),
        ("https://a.b/?AWSAccessKeyId=1", "https://a.b/?AWSAccessKeyId=REDACTED"),
        ("https://a.b/?private_token=1", "https://a.b/?private_token=REDACTED"),
        ("https://a.b/?sv=1&sig=a%2Fb", "https://a.b/?sv=1&sig=REDACTED"),
        ("https://a.b/?design=1&keyboard=2", "https://a.b/?design=1&keyboard=2"),
        ("https://a.b/#access_token=x", "https://a.b/#access_token=REDACTED"),
        ("https://a.b/?t%6Fken=x", "https://a.b/?t%6Fken=REDACTED"),
        ("https://a.b/?access_token", "https://a.b/?access_token"),
        ("bucket.s3.amazonaws.com/x?aws_access_token=1", None),
        ("git@a.b:c/d.git?sshkey=AA==", "git@a.b:c/d.git?sshkey=REDACTED"),
        ("https://[a/", "https://[a/"),
    ],
)
def test_values(url: str, text: str | None) -> None:
    wanted = "bucket.s3.amazonaws.com/x?aws_access_token=REDACTED" if text is None else text
    assert hidden_url(url) == wanted
    assert hidden_url(wanted) == wanted
    assert hidden_urls(f'got "{url}", then') == f'got "{wanted}", then'


def test_a_value_may_have_any_character() -> None:
    assert hidden_url("https://a.b/?token=x'y z;w&b=1") == "https://a.b/?token=REDACTED&b=1"


@pytest.mark.parametrize(
    ("source", "masked"),
    [
        ('"git::https://u:p@h/x?ref=1&token=t"', ["u:p", "t"]),
        ('"https://me:${var.token}@h?sig=${local.s}"', []),
        ('"https://${var.a}x@h?sig=a${local.s}b"', ["x", "a", "b"]),
        (r'"https://h?a=1\u0026token=t\u0026b=1"', ["t"]),
        ("x ? y : z", []),
    ],
)
def test_source_texts(source: str, masked: list[str]) -> None:
    assert [source[start:end] for start, end in secret_spans(source)] == masked


@pytest.mark.parametrize(
    "text", ["://a:b" * 10_000, "?token=a" * 20_000, "a" * 300_000 + "://", "&x=" * 100_000]
)
def test_hostile_texts_take_no_time(text: str) -> None:
    begin = time.perf_counter()
    hidden_urls(text)
    assert time.perf_counter() - begin < 5
