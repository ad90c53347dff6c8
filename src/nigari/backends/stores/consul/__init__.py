"""The backend `consul`: a state per key of Consul's key-value store, locked by a session."""

from __future__ import annotations

from nigari.backends.backend_spec import AddressArgument, BackendSpec, attributes, store_of
from nigari.schema.block import Block

SPEC: BackendSpec = BackendSpec(
    block=Block(
        attributes(
            strings=(
                "access_token address ca_file cert_file datacenter http_auth key_file path scheme"
            ),
            flags="gzip lock",
            required="path",
        )
    ),
    open=store_of(__name__),
    shown="address ca_file cert_file datacenter gzip key_file lock path scheme",
    address=(
        AddressArgument("address", variables=("CONSUL_HTTP_ADDR",), default="127.0.0.1:8500"),
        AddressArgument("datacenter"),
        AddressArgument("path", is_required=True),
    ),
)
