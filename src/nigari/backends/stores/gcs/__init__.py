"""The backend `gcs`: a state and a lock per workspace as objects of a bucket of Google Cloud Storage."""

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
                "access_token bucket credentials encryption_key impersonate_service_account "
                "kms_encryption_key prefix storage_custom_endpoint universe_domain"
            ),
            lists="impersonate_service_account_delegates",
            required="bucket",
        )
    ),
    open=store_of(__name__),
    shown=(
        "bucket impersonate_service_account impersonate_service_account_delegates "
        "kms_encryption_key prefix storage_custom_endpoint universe_domain"
    ),
    address=(
        AddressArgument("bucket", is_required=True),
        AddressArgument("prefix", is_required=True),
        AddressArgument(
            "storage_custom_endpoint",
            variables=("GOOGLE_BACKEND_STORAGE_CUSTOM_ENDPOINT", "GOOGLE_STORAGE_CUSTOM_ENDPOINT"),
        ),
    ),
    exclusive=(("encryption_key", "kms_encryption_key"),),
)
