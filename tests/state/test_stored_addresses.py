"""Plain addresses are read without the parser, and mean what the parser says."""

import pytest

from nigari.addrs.parse import parse_provider_instance
from nigari.diagnostics import Diagnostics
from nigari.state.stored_addresses import StoredAddresses

RANDOM = "registry.opentofu.org/hashicorp/random"


@pytest.mark.parametrize(
    "text",
    [
        f'provider["{RANDOM}"]',
        f'provider["{RANDOM}"].west',
        f'provider["{RANDOM}"].west[0]',
        f'provider["{RANDOM}"].west["eu"]',
        f'provider["{RANDOM}"]["eu"]',
        f'module.a.module.b.provider["{RANDOM}"].west',
        f'module.provider.provider["{RANDOM}"]',
        'provider["Example.COM/Acme/Thing"]',
        'provider["example.com:8080/acme/thing"]',
        'provider["registry.terraform.io/-/aws"]',
        'provider["terraform.io/builtin/terraform"]',
        'provider["hashicorp/aws"]',
        'provider["aws"]',
    ],
)
def test_providers(text: str) -> None:
    wrong = Diagnostics()
    wanted = parse_provider_instance(text, Diagnostics())
    assert StoredAddresses(wrong).provider(text, "a.b") == wanted
    assert wrong.has_errors == (wanted is None)


@pytest.mark.parametrize("text", ['provider["a/b/c/d"]', 'provider["-/-"]', "provider[0]", "x"])
def test_what_is_no_provider_is_reported(text: str) -> None:
    wrong = Diagnostics()
    assert StoredAddresses(wrong).provider(text, "a.b") is None
    (told,) = wrong
    assert "The provider of a.b is " in told.detail
    assert text.partition('"')[0] in told.detail
