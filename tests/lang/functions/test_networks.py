import pytest

from nigari.lang.functions.ip_addresses import parse_address, parse_network
from tests.lang.functions.evaluation import failure_of, python_of


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("010.000.0.1", "10.0.0.1"),
        ("::", "::"),
        ("::1", "::1"),
        ("1::", "1::"),
        ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
        ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
        ("00001:2::", "1:2::"),
        ("::1.2.3.4", "::102:304"),
        ("::ffff:1.2.3.4", "1.2.3.4"),
        ("FE80::A", "fe80::a"),
    ],
)
def test_address(text: str, wanted: str) -> None:
    assert str(parse_address(text)) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "10.0.0",
        "10.0.0.256",
        "10.0.0.0.0",
        " 10.0.0.1",
        "1٠.0.0.1",
        ":",
        ":::",
        "1:2",
        "1::2::3",
        "1:2:3:4:5:6:7:8::",
        "12345::",
        "::g",
        "1.2.3.4::",
        "::1.2.3",
        "1:",
        ":1",
    ],
)
def test_no_address(text: str) -> None:
    assert parse_address(text) is None


@pytest.mark.parametrize(
    "text", ["10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "::/129", "10.0.0.0/+8", "10.0.0.0/8/8", "/8"]
)
def test_no_network(text: str) -> None:
    assert parse_network(text) is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('cidrhost("10.12.112.0/20", 16)', "10.12.112.16"),
        ('cidrhost("10.0.0.0/8", -1)', "10.255.255.255"),
        ('cidrhost("10.0.0.0/32", 0)', "10.0.0.0"),
        ('cidrhost("fd00::/64", 18446744073709551615)', "fd00::ffff:ffff:ffff:ffff"),
        ('cidrnetmask("172.16.0.0/12")', "255.240.0.0"),
        ('cidrnetmask("10.0.0.0/0")', "0.0.0.0"),
        ('cidrsubnet("172.16.0.0/12", 4, 2)', "172.18.0.0/16"),
        ('cidrsubnet("10.0.0.1/8", 0, 0)', "10.0.0.0/8"),
        ('cidrsubnets("10.1.0.0/16", 4, 4, 8, 4)[2]', "10.1.32.0/24"),
        ('cidrsubnets("10.1.0.0/16")', []),
        ('cidrsubnets("2001:db8::/16", 64, 64)[1]', "2001::1:0:0:0/80"),
        ('cidrsubnets("10.0.0.0/8", 24, 3, 1)[1]', "10.32.0.0/11"),
        ('cidrcontains("10.0.0.0/8", "10.1.0.0/16")', True),
        ('cidrcontains("10.1.0.0/16", "10.0.0.0/8")', False),
        ('cidrcontains("fd00::/8", "fd00::1")', True),
        ('cidrcontains("10.0.0.0/8", "::ffff:10.0.0.1")', True),
    ],
)
def test_call(text: str, wanted: object) -> None:
    assert python_of(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        'cidrhost("10.0.0.0/8", 16777216)',
        'cidrhost("10.0.0.0/8", -16777217)',
        'cidrhost("10.0.0.0/8", 1.5)',
        'cidrhost("nope", 1)',
        'cidrnetmask("fd00::/8")',
        'cidrsubnet("10.0.0.0/8", 25, 0)',
        'cidrsubnet("10.0.0.0/8", 8, 256)',
        'cidrsubnet("10.0.0.0/8", -9, 0)',
        'cidrsubnets("10.0.0.0/8", 0)',
        'cidrsubnets("fd00::/8", 121)',
        'cidrsubnets("10.0.0.0/8", 25)',
        'cidrsubnets("10.0.0.0/30", 1, 1, 1)',
        'cidrcontains("10.0.0.0/8", "fd00::1")',
        'cidrcontains("10.0.0.0/8", "x")',
    ],
)
def test_failing_call(text: str) -> None:
    assert failure_of(text)
