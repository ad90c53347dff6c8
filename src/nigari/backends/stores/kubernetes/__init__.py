"""The backend `kubernetes`: a Secret per workspace, locked by a Lease."""

from __future__ import annotations

from nigari.backends.backend_spec import (
    STRING_LIST,
    STRING_MAP,
    AddressArgument,
    BackendSpec,
    attributes,
    store_of,
)
from nigari.cty.types import BOOL, STRING
from nigari.schema.block import Block, NestedBlock, Nesting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


SPEC: Final = BackendSpec(
    block=Block(
        attributes(
            {
                STRING: (
                    "client_certificate client_key cluster_ca_certificate config_context "
                    "config_context_auth_info config_context_cluster config_path host "
                    "namespace password secret_suffix token username"
                ),
                BOOL: "in_cluster_config insecure load_config_file",
                STRING_LIST: "config_paths",
                STRING_MAP: "labels",
            },
            required="secret_suffix",
        ),
        {
            "exec": NestedBlock(
                Block(
                    attributes(
                        {
                            STRING: "api_version command",
                            STRING_LIST: "args",
                            STRING_MAP: "env",
                        },
                        required="api_version command",
                    )
                ),
                Nesting.LIST,
                max_items=1,
            ),
        },
    ),
    open=store_of(__name__),
    shown=(
        "config_context config_context_auth_info config_context_cluster config_path "
        "config_paths host in_cluster_config insecure labels load_config_file namespace "
        "secret_suffix"
    ),
    address=(
        AddressArgument("host", variables=("KUBE_HOST",)),
        AddressArgument("config_context", variables=("KUBE_CTX",)),
        AddressArgument("namespace", variables=("KUBE_NAMESPACE",), default="default"),
        AddressArgument("secret_suffix", is_required=True),
    ),
)
