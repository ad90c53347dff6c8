"""Message classes, made of the descriptions of messages that scripts/generate_wire.py writes.

A description is the same for every version of protobuf, and so is the way in which the modules that
protoc writes turn it into classes. What messages mean is not known here.
"""

from __future__ import annotations

from google.protobuf.descriptor_pool import Default
from google.protobuf.internal.builder import (
    BuildMessageAndEnumDescriptors,
    BuildTopDescriptorsAndMessages,
)


def define(name: str, description: bytes, module: dict[str, object]) -> None:
    """Put the messages and enumerations of a described file into the module of that name."""
    file = Default().AddSerializedFile(description)
    BuildMessageAndEnumDescriptors(file, module)
    BuildTopDescriptorsAndMessages(file, name, module)
