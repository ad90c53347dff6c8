"""Pages of the documents that help with a diagnostic, by its summary.

Only diagnostics whose remedy takes more than their detail can say have one. The same mistake has the
same summary everywhere, so the summary is the key; a test checks that summaries, pages and anchors
exist. All other messages are in the reference (`docs/reference/messages`).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

SITE: Final = "https://nigari.github.io/nigari/latest/"

_STATIC: Final = "concepts/static-evaluation#what-is-static"
_DEFERRED: Final = "concepts/rounds#what-is-deferred"
_INTERRUPTED: Final = "concepts/planning#interrupted-and-failed-applies"
_LOCK_FILE: Final = "reference/providers#the-lock-file"

HELP_PAGES: Final = {
    "Apply may be incomplete": _INTERRUPTED,
    "Backend configuration has changed": "troubleshooting#backend-configuration-has-changed",
    "Backend not set up": "troubleshooting#backend-not-set-up",
    "Cannot apply the plan": "troubleshooting#cannot-apply-the-plan",
    "Cannot install a module": "troubleshooting#nigari-init-cant-download-something",
    "Cannot install a provider": "troubleshooting#nigari-init-cant-download-something",
    "Checksums for one platform only": "troubleshooting#checksums-for-one-platform-only",
    "Decryption failed": "troubleshooting#decryption-failed",
    "Encrypted data without an encryption block": "guides/secrets#encrypt-states-and-plans",
    "Ephemeral value before planning": _STATIC,
    "Error acquiring the state lock": "troubleshooting#error-acquiring-the-state-lock",
    "Import without configuration": "guides/import#let-nigari-write-the-resource",
    "Location of the plan is not set up": "guides/saved-plans#what-makes-a-plan-stale",
    "Lock file out of date": _LOCK_FILE,
    "Locked provider version not allowed": _LOCK_FILE,
    "Move is blocked": "guides/refactoring#rename",
    "Moved object of another provider": "concepts/provider-iteration#objects-that-move-between-providers",
    "No such environment": "troubleshooting#no-such-environment",
    "Null before planning": _STATIC,
    "Object will be forgotten": "guides/refactoring#stop-managing-an-object",
    "Provider instance without its secrets": "concepts/provider-iteration#remove-a-key",
    "Provider not installed": "troubleshooting#provider-not-installed",
    "Provider source is not a literal": "troubleshooting#provider-source-is-not-a-literal",
    "Rounds without progress": "concepts/rounds#what-apply-does",
    "Sensitive value before planning": _STATIC,
    "State lost": "concepts/fleets#interrupted-applies",
    "State not kept in any file": _INTERRUPTED,
    "State written to a file instead": _INTERRUPTED,
    "Unencrypted data": "guides/secrets#encrypt-states-and-plans",
    "Units depend on each other": "concepts/fleets#dependencies",
    "Units that are no longer declared": "concepts/fleets#units-that-are-no-longer-declared",
    "Unknown count argument": _DEFERRED,
    "Unknown for_each argument": _DEFERRED,
    "Value contradicts the plan": "troubleshooting#value-contradicts-the-plan",
    "Value is not static": _STATIC,
    "Value not known before planning": _STATIC,
    "Wrong checksum of a provider package": "reference/providers#verification",
}


def help_address(summary: str) -> str:
    """The address of the page that helps; empty if there is none."""
    page, _, anchor = HELP_PAGES.get(summary, "").partition("#")
    return f"{SITE}{page}.html#{anchor}" if page else ""
