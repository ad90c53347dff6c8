"""What the environment says about proxies and user agents."""

import pytest

from nigari.net.failures import InvalidSettings
from nigari.net.settings import Settings, proxy_for, read_settings
from nigari.net.urls import origin_of, with_query

PROXY = "http://proxy.example.com:3128"


@pytest.mark.parametrize(
    ("url", "no_proxy", "is_proxied"),
    [
        ("https://a.example.com/", "", True),
        ("https://localhost:8443/", "", False),
        ("https://127.0.0.2/", "", False),
        ("https://[::1]/", "", False),
        ("https://a.example.com/", "example.com", False),
        ("https://example.com/", "example.com", False),
        ("https://example.com/", ".example.com", True),
        ("https://a.example.com/", ".example.com", False),
        ("https://a.example.com/", "*.example.com", False),
        ("https://notexample.com/", "example.com", True),
        ("https://a.example.com/", "other.com, A.example.com", False),
        ("https://a.example.com/", "*", False),
        ("https://a.example.com:8443/", "a.example.com:8443", False),
        ("https://a.example.com/", "a.example.com:8443", True),
        ("https://10.1.2.3/", "10.0.0.0/8", False),
        ("https://11.1.2.3/", "10.0.0.0/8", True),
        ("https://10.1.2.3/", "10.1.2.3", False),
        ("https://10.1.2.3/", "10.1.2.3/x", True),
    ],
)
def test_who_is_reached_through_a_proxy(url: str, no_proxy: str, is_proxied: bool) -> None:
    settings = Settings(https_proxy=PROXY, no_proxy=no_proxy)
    assert proxy_for(origin_of(url), settings) == (PROXY if is_proxied else "")


@pytest.mark.parametrize(
    ("environment", "url", "proxy"),
    [
        ({"HTTPS_PROXY": "p:1"}, "https://a.b/", "http://p:1"),
        ({"https_proxy": "socks5://p:1"}, "https://a.b/", "socks5://p:1"),
        ({"HTTPS_PROXY": "p:1"}, "http://a.b/", ""),
        ({"HTTP_PROXY": "p:1"}, "http://a.b/", "http://p:1"),
        ({"HTTP_PROXY": "p:1", "REQUEST_METHOD": "GET"}, "http://a.b/", ""),
        ({"HTTPS_PROXY": "p:1", "no_proxy": "a.b"}, "https://a.b/", ""),
    ],
)
def test_proxies_of_an_environment(environment: dict[str, str], url: str, proxy: str) -> None:
    assert proxy_for(origin_of(url), read_settings(environment)) == proxy


def test_a_proxy_that_is_none() -> None:
    settings = read_settings({"HTTPS_PROXY": "ftp://me:secret@p:1"})
    with pytest.raises(InvalidSettings) as caught:
        proxy_for(origin_of("https://a.b/"), settings)
    assert "secret" not in caught.value.text


def test_the_user_agent_can_be_extended() -> None:
    assert read_settings({"TF_APPEND_USER_AGENT": " ci/7 "}).user_agent.endswith(" ci/7")


def test_arguments_are_added_to_a_query() -> None:
    assert with_query("https://a.b/c?x=1&y=", {"x": "2 3"}) == "https://a.b/c?y=&x=2%203"
