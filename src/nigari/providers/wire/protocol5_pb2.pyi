# mypy: ignore-errors
from nigari.providers.wire import protocol6_pb2 as _protocol6_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Schema(_message.Message):
    __slots__ = ("version", "block")
    class Block(_message.Message):
        __slots__ = ("version", "attributes", "block_types", "description", "description_kind", "deprecated", "deprecation_message")
        VERSION_FIELD_NUMBER: _ClassVar[int]
        ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
        BLOCK_TYPES_FIELD_NUMBER: _ClassVar[int]
        DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
        DESCRIPTION_KIND_FIELD_NUMBER: _ClassVar[int]
        DEPRECATED_FIELD_NUMBER: _ClassVar[int]
        DEPRECATION_MESSAGE_FIELD_NUMBER: _ClassVar[int]
        version: int
        attributes: _containers.RepeatedCompositeFieldContainer[Schema.Attribute]
        block_types: _containers.RepeatedCompositeFieldContainer[Schema.NestedBlock]
        description: str
        description_kind: _protocol6_pb2.StringKind
        deprecated: bool
        deprecation_message: str
        def __init__(self, version: _Optional[int] = ..., attributes: _Optional[_Iterable[_Union[Schema.Attribute, _Mapping[str, object]]]] = ..., block_types: _Optional[_Iterable[_Union[Schema.NestedBlock, _Mapping[str, object]]]] = ..., description: _Optional[str] = ..., description_kind: _Optional[_Union[_protocol6_pb2.StringKind, str]] = ..., deprecated: _Optional[bool] = ..., deprecation_message: _Optional[str] = ...) -> None: ...
    class Attribute(_message.Message):
        __slots__ = ("name", "type", "description", "required", "optional", "computed", "sensitive", "description_kind", "deprecated", "write_only", "deprecation_message")
        NAME_FIELD_NUMBER: _ClassVar[int]
        TYPE_FIELD_NUMBER: _ClassVar[int]
        DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
        REQUIRED_FIELD_NUMBER: _ClassVar[int]
        OPTIONAL_FIELD_NUMBER: _ClassVar[int]
        COMPUTED_FIELD_NUMBER: _ClassVar[int]
        SENSITIVE_FIELD_NUMBER: _ClassVar[int]
        DESCRIPTION_KIND_FIELD_NUMBER: _ClassVar[int]
        DEPRECATED_FIELD_NUMBER: _ClassVar[int]
        WRITE_ONLY_FIELD_NUMBER: _ClassVar[int]
        DEPRECATION_MESSAGE_FIELD_NUMBER: _ClassVar[int]
        name: str
        type: bytes
        description: str
        required: bool
        optional: bool
        computed: bool
        sensitive: bool
        description_kind: _protocol6_pb2.StringKind
        deprecated: bool
        write_only: bool
        deprecation_message: str
        def __init__(self, name: _Optional[str] = ..., type: _Optional[bytes] = ..., description: _Optional[str] = ..., required: _Optional[bool] = ..., optional: _Optional[bool] = ..., computed: _Optional[bool] = ..., sensitive: _Optional[bool] = ..., description_kind: _Optional[_Union[_protocol6_pb2.StringKind, str]] = ..., deprecated: _Optional[bool] = ..., write_only: _Optional[bool] = ..., deprecation_message: _Optional[str] = ...) -> None: ...
    class NestedBlock(_message.Message):
        __slots__ = ("type_name", "block", "nesting", "min_items", "max_items")
        TYPE_NAME_FIELD_NUMBER: _ClassVar[int]
        BLOCK_FIELD_NUMBER: _ClassVar[int]
        NESTING_FIELD_NUMBER: _ClassVar[int]
        MIN_ITEMS_FIELD_NUMBER: _ClassVar[int]
        MAX_ITEMS_FIELD_NUMBER: _ClassVar[int]
        type_name: str
        block: Schema.Block
        nesting: _protocol6_pb2.Schema.NestedBlock.NestingMode
        min_items: int
        max_items: int
        def __init__(self, type_name: _Optional[str] = ..., block: _Optional[_Union[Schema.Block, _Mapping[str, object]]] = ..., nesting: _Optional[_Union[_protocol6_pb2.Schema.NestedBlock.NestingMode, str]] = ..., min_items: _Optional[int] = ..., max_items: _Optional[int] = ...) -> None: ...
    VERSION_FIELD_NUMBER: _ClassVar[int]
    BLOCK_FIELD_NUMBER: _ClassVar[int]
    version: int
    block: Schema.Block
    def __init__(self, version: _Optional[int] = ..., block: _Optional[_Union[Schema.Block, _Mapping[str, object]]] = ...) -> None: ...

class ActionSchema(_message.Message):
    __slots__ = ("schema",)
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    schema: Schema
    def __init__(self, schema: _Optional[_Union[Schema, _Mapping[str, object]]] = ...) -> None: ...

class GetProviderSchema(_message.Message):
    __slots__ = ()
    class Response(_message.Message):
        __slots__ = ("provider", "resource_schemas", "data_source_schemas", "diagnostics", "provider_meta", "server_capabilities", "functions", "ephemeral_resource_schemas", "list_resource_schemas", "action_schemas")
        class ResourceSchemasEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: Schema
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Schema, _Mapping[str, object]]] = ...) -> None: ...
        class DataSourceSchemasEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: Schema
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Schema, _Mapping[str, object]]] = ...) -> None: ...
        class FunctionsEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: _protocol6_pb2.Function
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[_protocol6_pb2.Function, _Mapping[str, object]]] = ...) -> None: ...
        class EphemeralResourceSchemasEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: Schema
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Schema, _Mapping[str, object]]] = ...) -> None: ...
        class ListResourceSchemasEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: Schema
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Schema, _Mapping[str, object]]] = ...) -> None: ...
        class ActionSchemasEntry(_message.Message):
            __slots__ = ("key", "value")
            KEY_FIELD_NUMBER: _ClassVar[int]
            VALUE_FIELD_NUMBER: _ClassVar[int]
            key: str
            value: ActionSchema
            def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[ActionSchema, _Mapping[str, object]]] = ...) -> None: ...
        PROVIDER_FIELD_NUMBER: _ClassVar[int]
        RESOURCE_SCHEMAS_FIELD_NUMBER: _ClassVar[int]
        DATA_SOURCE_SCHEMAS_FIELD_NUMBER: _ClassVar[int]
        DIAGNOSTICS_FIELD_NUMBER: _ClassVar[int]
        PROVIDER_META_FIELD_NUMBER: _ClassVar[int]
        SERVER_CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
        FUNCTIONS_FIELD_NUMBER: _ClassVar[int]
        EPHEMERAL_RESOURCE_SCHEMAS_FIELD_NUMBER: _ClassVar[int]
        LIST_RESOURCE_SCHEMAS_FIELD_NUMBER: _ClassVar[int]
        ACTION_SCHEMAS_FIELD_NUMBER: _ClassVar[int]
        provider: Schema
        resource_schemas: _containers.MessageMap[str, Schema]
        data_source_schemas: _containers.MessageMap[str, Schema]
        diagnostics: _containers.RepeatedCompositeFieldContainer[_protocol6_pb2.Diagnostic]
        provider_meta: Schema
        server_capabilities: _protocol6_pb2.ServerCapabilities
        functions: _containers.MessageMap[str, _protocol6_pb2.Function]
        ephemeral_resource_schemas: _containers.MessageMap[str, Schema]
        list_resource_schemas: _containers.MessageMap[str, Schema]
        action_schemas: _containers.MessageMap[str, ActionSchema]
        def __init__(self, provider: _Optional[_Union[Schema, _Mapping[str, object]]] = ..., resource_schemas: _Optional[_Mapping[str, Schema]] = ..., data_source_schemas: _Optional[_Mapping[str, Schema]] = ..., diagnostics: _Optional[_Iterable[_Union[_protocol6_pb2.Diagnostic, _Mapping[str, object]]]] = ..., provider_meta: _Optional[_Union[Schema, _Mapping[str, object]]] = ..., server_capabilities: _Optional[_Union[_protocol6_pb2.ServerCapabilities, _Mapping[str, object]]] = ..., functions: _Optional[_Mapping[str, _protocol6_pb2.Function]] = ..., ephemeral_resource_schemas: _Optional[_Mapping[str, Schema]] = ..., list_resource_schemas: _Optional[_Mapping[str, Schema]] = ..., action_schemas: _Optional[_Mapping[str, ActionSchema]] = ...) -> None: ...
    def __init__(self) -> None: ...
