"""The backend `http`: one state at a URL, with locks where the server has them."""

from __future__ import annotations

from nigari.backends.backend_spec import (
    AddressArgument,
    BackendSpec,
    attributes,
    store_of,
)
from nigari.schema.block import Block

SPEC: BackendSpec = BackendSpec(
    block=Block(
        attributes(
            strings=(
                "address client_ca_certificate_pem client_certificate_pem "
                "client_private_key_pem lock_address lock_method password unlock_address "
                "unlock_method update_method username"
            ),
            numbers="retry_max retry_wait_max retry_wait_min",
            flags="skip_cert_verification",
            maps="headers",
            required="address",
        )
    ),
    open=store_of(__name__),
    shown=(
        "address lock_address lock_method retry_max retry_wait_max retry_wait_min "
        "skip_cert_verification unlock_address unlock_method update_method"
    ),
    address=(AddressArgument("address", variables=("TF_HTTP_ADDRESS",), is_required=True),),
)
