"""Framework for providers written in Python.

A resource type is a dataclass: its fields are the attributes, its methods do the work. Register it
with a `Provider`, which can be used in this process or served as a plugin to any program that
supports plugin protocol 6.
"""

from nigari.providers.python.attempt import Deferred, ProviderError, warn
from nigari.providers.python.lists import Listed
from nigari.providers.python.markers import (
    BLOCK,
    COMPUTED,
    IDENTITY,
    KEEP,
    REPLACE,
    SENSITIVE,
    UNKNOWN,
    WRITE_ONLY,
    Blocks,
    Computed,
    Text,
)
from nigari.providers.python.provider import Provider
from nigari.providers.python.timeouts import Timeouts

__all__ = [
    "BLOCK",
    "COMPUTED",
    "IDENTITY",
    "KEEP",
    "REPLACE",
    "SENSITIVE",
    "UNKNOWN",
    "WRITE_ONLY",
    "Blocks",
    "Computed",
    "Deferred",
    "Listed",
    "Provider",
    "ProviderError",
    "Text",
    "Timeouts",
    "warn",
]


def __dir__() -> list[str]:
    return __all__
