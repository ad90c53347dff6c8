"""A quick look at configuration files: whether they can have a say in something at all.

Most configurations have neither a backend nor encryption, and then a command that looks at a state
need not evaluate them.
"""

from __future__ import annotations

import os

from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


ENCRYPTION_VARIABLE: Final = "TF_ENCRYPTION"
_OPENTOFU_SUFFIXES: Final = (".tofu", ".tofu.json")
_CONFIGURATION_SUFFIXES: Final = (".tf", ".tf.json", *_OPENTOFU_SUFFIXES)


def may_be_encrypted(where: WorkingDirectory) -> bool:
    """Return whether the configuration must be read to learn how states are encrypted."""
    named = where.environ.get(ENCRYPTION_VARIABLE, "").strip()
    return bool(named) or mentions(where, b"encryption")


def may_ask_for_version(where: WorkingDirectory) -> bool:
    """Return whether the configuration may ask for a version of this program.

    Only `compatible_with`, and `required_version` in files named for OpenTofu, are about its versions.
    """
    return mentions(where, b"compatible_with") or mentions(
        where, b"required_version", suffixes=_OPENTOFU_SUFFIXES
    )


def mentions(
    where: WorkingDirectory, *words: bytes, suffixes: tuple[str, ...] = _CONFIGURATION_SUFFIXES
) -> bool:
    """Return whether any configuration file contains one of the words. Most contain none."""
    try:
        with os.scandir(where.path) as entries:
            found = [each for each in entries if each.name.endswith(suffixes)]
        for entry in found:
            if not entry.is_file():
                return True
            with open(entry.path, "rb") as file:
                text = file.read()
            # In JSON any letter may be written by its number.
            if any(word in text for word in words) or (
                entry.name.endswith(".json") and b"\\u" in text
            ):
                return True
    except OSError:
        return True
    return False
