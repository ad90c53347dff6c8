"""The backend `kubernetes`: a Secret per workspace, locked by a Lease."""

from __future__ import annotations

from nigari.backends.backend_spec import (
    AddressArgument,
    BackendSpec,
    attributes,
    store_of,
)
from nigari.schema.block import Block, NestedBlock, Nesting

SPEC: BackendSpec = BackendSpec(
    block=Block(
        attributes(
            strings=(
                "client_certificate client_key cluster_ca_certificate config_context "
                "config_context_auth_info config_context_cluster config_path host namespace "
                "password secret_suffix token username"
            ),
            flags="in_cluster_config insecure load_config_file",
            lists="config_paths",
            maps="labels",
            required="secret_suffix",
        ),
        {
            "exec": NestedBlock(
                Block(
                    attributes(
                        strings="api_version command",
                        lists="args",
                        maps="env",
                        required="api_version command",
                    )
                ),
                Nesting.LIST,
                max_items=1,
            )
        },
    ),
    open=store_of(__name__),
    shown=(
        "config_context config_context_auth_info config_context_cluster config_path config_paths "
        "host in_cluster_config insecure labels load_config_file namespace secret_suffix"
    ),
    address=(
        AddressArgument("host", variables=("KUBE_HOST",)),
        AddressArgument("config_context", variables=("KUBE_CTX",)),
        AddressArgument("namespace", variables=("KUBE_NAMESPACE",), default="default"),
        AddressArgument("secret_suffix", is_required=True),
    ),
)
