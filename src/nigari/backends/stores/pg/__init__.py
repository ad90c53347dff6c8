"""The backend `pg`: a row per workspace in a table of PostgreSQL, locked by advisory locks."""

from __future__ import annotations

from nigari.backends.backend_spec import AddressArgument, BackendSpec, attributes, store_of
from nigari.schema.block import Block

SPEC: BackendSpec = BackendSpec(
    block=Block(
        attributes(
            strings="conn_str index_name schema_name table_name",
            flags="skip_index_creation skip_schema_creation skip_table_creation",
        )
    ),
    open=store_of(__name__),
    shown=(
        "index_name schema_name skip_index_creation skip_schema_creation skip_table_creation "
        "table_name"
    ),
    address=(
        AddressArgument("conn_str", variables=("PG_CONN_STR",), is_required=True),
        AddressArgument(
            "schema_name", variables=("PG_SCHEMA_NAME",), default="terraform_remote_state"
        ),
        AddressArgument("table_name", variables=("PG_TABLE_NAME",), default="states"),
    ),
)
