"""Markers: lines of text output that other programs look for, and who reads them.

They are an interface: they are printed exactly so, on a line of their own, with and without colour.
Every other sentence is in our own words. Which name a program expects before a version is here, too
(`program_name`). What is printed around them, and when, is decided where it is printed.

`docs/guides/other-tools.md` shows the table.
"""

from __future__ import annotations

from collections.abc import Mapping

from nigari.record import record
from nigari.version import OPENTOFU_VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

COMPATIBLE: Final = "NIGARI_COMPATIBLE"
"""The environment variable: `1`, or the name of the program that `version` answers as."""
_PROGRAMS: Final = {"terraform": "Terraform"}
_OFF: Final = ("", "0", "false")

ACTIONS: Final = "OpenTofu will perform the following actions:"
NO_CHANGES: Final = "No changes. Your infrastructure matches the configuration."
NO_DRIFT: Final = "No changes. Your infrastructure still matches the configuration."
OUTPUTS: Final = "Changes to Outputs:"
ONLY_OUTPUTS: Final = (
    "You can apply this plan to save these new output values to the OpenTofu\n"
    "state, without changing any real infrastructure."
)
CHANGED_OUTSIDE: Final = "Note: Objects have changed outside of OpenTofu"
CHANGED_OUTSIDE_END: Final = "Unless you have made equivalent changes to your configuration"
SAVED_PLAN: Final = "Saved the plan to: {path}"
PLAN: Final = "Plan: {add} to add, {change} to change, {destroy} to destroy."
APPLIED: Final = "Apply complete! Resources: {add} added, {change} changed, {destroy} destroyed."
DESTROYED: Final = "Destroy complete! Resources: {destroy} destroyed."
STATE_LOCK: Final = "Error acquiring the state lock"
LOCK_INFO: Final = "Lock Info:"
VALID: Final = "Success! The configuration is valid."
VERSION: Final = f"OpenTofu v{OPENTOFU_VERSION}"


@record
class Reader:
    """A program that looks for a line, and the pattern that it uses, in Python's notation."""

    program: str
    pattern: str


MARKERS: Final[Mapping[str, tuple[Reader, ...]]] = {
    ACTIONS: (Reader("tfcmt", r"(?m)^OpenTofu will perform the following actions:$"),),
    NO_CHANGES: (
        Reader(
            "Atlantis",
            r"No changes. (Infrastructure is up-to-date|Your infrastructure matches the "
            r"configuration).",
        ),
        Reader(
            "Terratest",
            r"No changes\. (Infrastructure is up-to-date)|(Your infrastructure matches the "
            r"configuration)\.",
        ),
        Reader(
            "tfcmt", r"(?m)^(No changes\.|Plan: (\d+ to import, )?0 to add, 0 to change, 0 to )"
        ),
        Reader("tfnotify", r"(?m)^((Plan: \d|No changes.)|(Changes to Outputs:))"),
    ),
    NO_DRIFT: (Reader("tfcmt", r"(?m)^No changes\."),),
    OUTPUTS: (
        Reader("tfcmt", r"(?m)^Changes to Outputs:$"),
        Reader("tfnotify", r"(?m)^((Plan: \d|No changes.)|(Changes to Outputs:))"),
    ),
    ONLY_OUTPUTS: (
        Reader(
            "Terratest", r"(?s)You can apply this plan.+without changing any real infrastructure"
        ),
    ),
    CHANGED_OUTSIDE: (Reader("tfcmt", r"(?m)^Note: Objects have changed outside of OpenTofu$"),),
    CHANGED_OUTSIDE_END: (
        # tfcmt ends with a crash where the first line is there and this one is not.
        Reader("tfcmt", r"(?m)^Unless you have made equivalent changes to your configuration"),
    ),
    SAVED_PLAN: (Reader("Terratest", r"Saved the plan to:\s\S"),),
    PLAN: (
        Reader(
            "Atlantis",
            r"Plan: (?:(\d+) to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy"
            r"(?:, (\d+) to forget)?\.",
        ),
        Reader(
            "Terratest",
            r"(\033\[1m)?Plan:(\033\[0m)? (\d+) to add, (\d+) to change, (\d+) to destroy\.",
        ),
        Reader("tfcmt", r"(?m)^(Plan: \d|No changes.)"),
        Reader("tfnotify", r"(?m)^((Plan: \d|No changes.)|(Changes to Outputs:))"),
    ),
    APPLIED: (
        Reader(
            "Terratest",
            r"Apply complete! Resources: (\d+) added, (\d+) changed, (\d+) destroyed\.",
        ),
        Reader("tfcmt", r"(?m)^(Apply complete!)"),
        Reader("tfnotify", r"(?m)^(Apply complete!)"),
    ),
    DESTROYED: (Reader("Terratest", r"Destroy complete! Resources: (\d+) destroyed\."),),
    STATE_LOCK: (
        Reader("terraform-exec", r"Error acquiring the state lock"),
        Reader("tfcmt", r"(?m)^([│|] )?(Error: )"),
    ),
    LOCK_INFO: (
        Reader(
            "terraform-exec",
            r"Lock Info:\n\s*ID:\s*([^\n]+)\n\s*Path:\s*([^\n]+)\n\s*Operation:\s*([^\n]+)\n"
            r"\s*Who:\s*([^\n]+)\n\s*Version:\s*([^\n]+)\n\s*Created:\s*([^\n]+)\n",
        ),
    ),
    VALID: (Reader("Terratest", r"The configuration is valid"),),
    VERSION: (
        Reader("Terragrunt", r"^(\S+)\s(v?\d+\.\d+\.\d+)"),
        Reader("tfmigrate", r"^(Terraform|OpenTofu) v(.+)\s*\n"),
        Reader("Atlantis", "(?:Terraform|OpenTofu) v(.*?)(\\s.*)?\n"),
    ),
}
"""Every marker with its readers; braces stand for what differs from run to run."""


def program_name(environ: Mapping[str, str]) -> str:
    """The program that `version` answers as: ours, unless the environment asks for another."""
    wanted = environ.get(COMPATIBLE, "").lower()
    return "Nigari" if wanted in _OFF else _PROGRAMS.get(wanted, "OpenTofu")
