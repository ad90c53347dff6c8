"""Credentials for OCI registries, from the CLI configuration and from files of other programs.

The most specific ones win: for a repository, then for its registry, then for all. Among equals the
order is blocks of the CLI configuration, its default helper, files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from nigari.hcl.evaluation import as_sentence
from nigari.packages.hosts.cli_config import OciCredentials, OciDefaults, OciSecret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_HELPER_WITHIN: Final = 60.0
_ALIASES: Final = {"index.docker.io/v1": "docker.io", "index.docker.io": "docker.io"}


class OciCredentialsError(Exception):
    """Credentials that cannot be read; the text is a full sentence."""


class OciCredentialsStore:
    """All credentials of a user for OCI registries."""

    def __init__(
        self,
        configured: Sequence[OciCredentials],
        defaults: OciDefaults,
        environment: Mapping[str, str],
    ) -> None:
        self._environment = environment
        self._configured = configured
        self._defaults = defaults
        self._all: list[OciCredentials] | None = None
        self.files: tuple[str, ...] = _files(defaults, environment)

    async def find(self, domain: str, repository: str) -> OciSecret | None:
        """Find the best credentials for a repository, if there are any."""
        best: OciCredentials | None = None
        rank = -1
        for each in self._candidates():
            value = _rank(each, domain, repository)
            if value > rank:
                best, rank = each, value
        if best is None:
            return None
        return best.secret if best.secret is not None else await self._ask(best.helper, domain)

    def _candidates(self) -> list[OciCredentials]:
        if self._all is None:
            found = list(self._configured)
            if self._defaults.helper:
                found.append(OciCredentials("", helper=self._defaults.helper))
            for path in self.files:
                found += _read(path, is_needed=self._defaults.files is not None)
            self._all = found
        return self._all

    async def _ask(self, helper: str, domain: str) -> OciSecret | None:
        import json

        from nigari.programs import run_program

        program = f"docker-credential-{helper}"
        given = f"https://{domain}".encode()
        try:
            done = await run_program(
                [program, "get"], self._environment, given=given, within=_HELPER_WITHIN
            )
        except TimeoutError:
            raise OciCredentialsError(
                f"The credentials helper {program} did not answer within "
                f"{_HELPER_WITHIN:g} seconds."
            ) from None
        except OSError as error:
            raise OciCredentialsError(
                f"The credentials helper {program} cannot be started: {error.strerror}."
            ) from error
        said = done.output.decode(errors="replace").strip().rstrip(".") or done.error_text
        if done.status:
            # docker-credential-helpers: this text is the protocol for an unknown server.
            if "credentials not found" in said:
                return None
            raise OciCredentialsError(
                f"The credentials helper {program} failed: {as_sentence(said)}"
            )
        try:
            answer: object = json.loads(done.output)
        except ValueError:
            answer = None
        match answer:
            # docker-credential-helpers: the secret is an identity token, which needs another flow.
            case {"Username": "<token>"}:
                raise OciCredentialsError(
                    f"The credentials helper {program} returned a kind of token that is not "
                    "supported."
                )
            case {"Username": str(user), "Secret": str(word)}:
                return OciSecret(user, word)
        raise OciCredentialsError(
            f"The credentials helper {program} returned something other than credentials."
        )


def _rank(credentials: OciCredentials, domain: str, repository: str) -> int:
    if not credentials.domain:
        return 0
    # containers-auth.json(5): the longest matching prefix of the repository wins.
    if credentials.domain != domain:
        return -1
    if not credentials.path:
        return 1
    wanted, given = repository.split("/"), credentials.path.split("/")
    return 1 + len(given) if wanted[: len(given)] == given else -1


def _files(defaults: OciDefaults, environment: Mapping[str, str]) -> tuple[str, ...]:
    if defaults.files is not None:
        return defaults.files
    if not defaults.discovers:
        return ()
    home = environment.get("HOME", "")
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    config = environment.get("XDG_CONFIG_HOME", "") or (f"{home}/.config" if home else "")
    found = []
    if sys.platform in ("darwin", "win32"):
        found += [f"{home}/.config/containers/auth.json"] if home else []
    elif runtime:
        found.append(f"{runtime}/containers/auth.json")
    found += [f"{config}/containers/auth.json"] if config else []
    found += [f"{home}/.docker/config.json", f"{home}/.dockercfg"] if home else []
    return tuple(dict.fromkeys(found))


def _read(path: str, is_needed: bool) -> list[OciCredentials]:
    import json

    try:
        with open(path, encoding="utf-8") as file:
            document: object = json.load(file)
    except (OSError, ValueError) as error:
        if is_needed:
            raise OciCredentialsError(f"{path} cannot be read: {error}.") from error
        return []
    if not isinstance(document, dict):
        return []
    if os.path.basename(path) == ".dockercfg" and "auths" not in document:
        # Docker's legacy file has the registries at its top level.
        document = {"auths": document}
    found: list[OciCredentials] = []
    for key, value in _members(document, "auths"):
        secret = _decoded(value.get("auth")) if isinstance(value, dict) else None
        if secret is not None:
            domain, _, name = _plain(key).partition("/")
            found.append(OciCredentials(domain, name, secret))
    found += [
        OciCredentials(_plain(key), helper=value)
        for key, value in _members(document, "credHelpers")
        if isinstance(value, str)
    ]
    # Docker: credHelpers are for single registries, credsStore for all others.
    store = document.get("credsStore")
    if isinstance(store, str) and store:
        found.append(OciCredentials("", helper=store))
    return found


def _members(document: Mapping[str, object], name: str) -> list[tuple[str, object]]:
    value = document.get(name)
    return list(value.items()) if isinstance(value, dict) else []


def _plain(key: str) -> str:
    text = key.removeprefix("https://").removeprefix("http://").rstrip("/")
    return _ALIASES.get(text, text)


def _decoded(auth: object) -> OciSecret | None:
    import base64

    if not isinstance(auth, str) or not auth:
        return None
    try:
        user, colon, word = base64.b64decode(auth).decode().partition(":")
    except ValueError:
        return None
    return OciSecret(user, word) if colon else None
