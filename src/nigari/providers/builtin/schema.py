"""Schema of the built-in provider, separate from its implementation.

Commands that only show objects need no more than the schema.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari import cty
from nigari.record import replace
from nigari.schema.block import Attribute, Block, NestedBlock, Nesting
from nigari.schema.provider import FunctionParameter, FunctionSignature, ProviderSchema, Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


TERRAFORM_DATA_NAME: Final = "terraform_data"
REMOTE_STATE_NAME: Final = "terraform_remote_state"

_DATA_ATTRIBUTES: Final = {
    "input": Attribute(cty.DYNAMIC, optional=True),
    "output": Attribute(cty.DYNAMIC, computed=True),
    "triggers_replace": Attribute(cty.DYNAMIC, optional=True),
    "id": Attribute(cty.STRING, computed=True),
}

PLAIN_TERRAFORM_DATA: Final = Schema(Block(_DATA_ATTRIBUTES))
"""What `terraform_data` has in OpenTofu."""

STORE: Final = "store"

_STORE: Final = Block(
    {
        "input": Attribute(
            cty.DYNAMIC,
            optional=True,
            write_only=True,
            description="The value to store, which may be ephemeral or sensitive.",
        ),
        "output": Attribute(cty.DYNAMIC, computed=True, description="The stored value."),
        "sensitive_output": Attribute(
            cty.DYNAMIC,
            computed=True,
            sensitive=True,
            description="The stored value, if `sensitive` is true.",
        ),
        "version": Attribute(
            cty.DYNAMIC,
            optional=True,
            description="The value is stored again when this changes. Without it, whenever `input` differs.",
        ),
        "sensitive": Attribute(
            cty.BOOL, optional=True, description="Whether the stored value is sensitive."
        ),
        "replace": Attribute(
            cty.BOOL, optional=True, description="Whether a new value replaces the object."
        ),
    }
)

TERRAFORM_DATA: Final = Schema(
    Block(
        _DATA_ATTRIBUTES,
        {STORE: NestedBlock(_STORE, Nesting.SINGLE, is_stored_if_null=False)},
    )
)
"""The same with the block of Terraform 1.16, of which OpenTofu accepts nothing, not even a null."""


def _attribute(
    type_: cty.Type,
    description: str,
    *,
    required: bool = False,
    optional: bool = False,
    computed: bool = False,
) -> Attribute:
    return Attribute(
        type_,
        required=required,
        optional=optional,
        computed=computed,
        description=description,
        markdown=True,
    )


REMOTE_STATE: Final = Schema(
    Block(
        {
            "backend": _attribute(
                cty.STRING, "The type of the backend to read from.", required=True
            ),
            "config": _attribute(
                cty.DYNAMIC,
                "The backend's arguments, as its `backend` block would have them.",
                optional=True,
            ),
            "defaults": _attribute(
                cty.DYNAMIC, "Values for outputs that the state does not have.", optional=True
            ),
            "outputs": _attribute(
                cty.DYNAMIC, "All output values of the root module.", computed=True
            ),
            "workspace": _attribute(
                cty.STRING, "The workspace to read, if not the default.", optional=True
            ),
        }
    )
)

FUNCTIONS: Final[Mapping[str, FunctionSignature]] = {
    "decode_tfvars": FunctionSignature(
        (FunctionParameter("content", cty.STRING, description="The text of a tfvars file."),),
        cty.DYNAMIC,
        summary="Read the values in the text of a tfvars file",
        description="Returns an object with the value of each variable that the text sets.",
    ),
    "encode_tfvars": FunctionSignature(
        (
            FunctionParameter(
                "input", cty.DYNAMIC, description="An object with a value for each variable."
            ),
        ),
        cty.STRING,
        summary="Write values as the text of a tfvars file",
        description="Returns a text that sets one variable for each attribute of the object.",
    ),
    "encode_expr": FunctionSignature(
        (FunctionParameter("expr", cty.DYNAMIC, description="Any value."),),
        cty.STRING,
        summary="Write a value as an expression",
        description="Returns the source text of an expression that has this value.",
    ),
}

SCHEMA: Final = ProviderSchema(
    provider=Schema(Block()),
    resources={TERRAFORM_DATA_NAME: TERRAFORM_DATA},
    data_sources={REMOTE_STATE_NAME: REMOTE_STATE},
    functions=FUNCTIONS,
    plans_destroy=True,
    moves_state=True,
    schema_call_optional=True,
    is_configurable=False,
)
"""The whole schema, known without starting the provider."""

PLAIN_SCHEMA: Final = replace(SCHEMA, resources={TERRAFORM_DATA_NAME: PLAIN_TERRAFORM_DATA})
"""The schema where nothing has a `store`: objects have only the attributes that they have in OpenTofu."""
