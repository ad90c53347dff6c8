"""Message classes, built from the descriptors that scripts/generate_wire.py writes.

The descriptors are independent of the protobuf version, as is the method by which modules generated
by protoc build their classes. Deliberately unknown here: the meaning of messages.
"""

from __future__ import annotations

from google.protobuf.descriptor_pool import Default
from google.protobuf.internal.builder import (
    BuildMessageAndEnumDescriptors,
    BuildTopDescriptorsAndMessages,
)


def define(name: str, description: bytes, module: dict[str, object]) -> None:
    """Add the messages and enumerations of a described file to the module of that name."""
    file = Default().AddSerializedFile(description)
    BuildMessageAndEnumDescriptors(file, module)
    BuildTopDescriptorsAndMessages(file, name, module)
