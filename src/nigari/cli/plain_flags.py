"""The options of commands that write plain configurations."""

from __future__ import annotations

from nigari.cli.args import UsageError
from nigari.cli.command import FLAG_SWITCH, FLAG_TEXT, Flag, Invocation
from nigari.plain.target import DEFAULT_TARGET, Target, parse_target

PLAIN_FLAGS = (
    Flag("plain", FLAG_SWITCH, "Write a configuration that OpenTofu or Terraform can run"),
    Flag("out", FLAG_TEXT, "The directory to write to, which must be empty or new", "DIR"),
    Flag(
        "for",
        FLAG_TEXT,
        "The program to write for: opentofu (the default) or terraform, perhaps with a version, "
        "such as opentofu-1.9",
        "PROGRAM",
    ),
    Flag("partial", FLAG_SWITCH, "Write what can be expressed, and only warn of what cannot be"),
)


def plain_target(invocation: Invocation) -> Target:
    """The program that -for names."""
    text = invocation.text("for")
    target = parse_target(text) if text else DEFAULT_TARGET
    if target is None:
        raise UsageError(
            f'The option -for cannot be "{text}". It is opentofu or terraform, perhaps with a '
            "version, such as opentofu-1.9 (from 1.6 on) or terraform-1.9 (from 1.3 on)."
        )
    return target
