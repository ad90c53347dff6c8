"""Backend arguments that may be shown."""

import pytest

from nigari.backends.harmless import (
    NOT_SHOWN,
    is_harmless,
    shown_argument,
    without_credentials,
)
from nigari.backends.known_backends import OURS, our_backend
from nigari.schema.block import Attribute
from nigari.workspace.context.secret_literals import is_secret_name

_SHOWN_THOUGH_SECRET_BY_NAME = {"kms_encryption_key", "use_azuread_auth"}
_OF_IDENTITIES = {("remote", "workspace")}
"""What no block has, but how an identity names one."""


@pytest.mark.parametrize("backend", OURS)
def test_what_is_harmless_exists_and_is_not_called_a_secret(backend: str) -> None:
    spec = our_backend(backend)
    assert spec is not None
    assert spec.shown
    block = spec.block
    names = {*block.attributes, *block.blocks}
    shown = set(spec.shown.split())
    unknown = {each for each in shown - names if (backend, each) not in _OF_IDENTITIES}
    assert unknown == set()
    for name in shown:
        attribute = block.attributes.get(name, Attribute())
        assert not attribute.sensitive
        assert not is_secret_name(name) or name in _SHOWN_THOUGH_SECRET_BY_NAME


def test_others_are_not_shown() -> None:
    assert shown_argument("pg", "conn_str", "postgres://h") == NOT_SHOWN
    assert shown_argument("s3", "bucket", '"b"') == '"b"'
    assert shown_argument("http", "address", '"http://u:p@h/x?token=t&a=1"') == (
        '"http://REDACTED@h/x?token=REDACTED&a=1"'
    )
    # Nobody has said what the arguments of other people's backends are.
    assert not is_harmless("ours", "bucket")


def test_data_is_cleaned_where_it_is_text() -> None:
    data = {"a": ["https://u:p@h/\\", 1, None, True], "b": {"c": "x"}}
    assert without_credentials(data) == {
        "a": ["https://REDACTED@h/\\", 1, None, True],
        "b": {"c": "x"},
    }
