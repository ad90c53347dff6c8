"""Detection of remote module packages by the form of their address.

Shorthands such as `github.com/owner/name` are expanded to the full address with the name of its
getter: `git::https://github.com/owner/name.git`. URLs, with or without such a prefix, stay
unchanged.
"""

from __future__ import annotations

import re

from nigari.hcl.quoting import quoted

# Patterns are stored as texts and compiled on first use.
_FORCED = r"(?s)([A-Za-z0-9]+)::(.+)"
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]*:"
_BAD_ESCAPE = r"%(?![0-9A-Fa-f]{2})"
_SCP = r"(?s)(?:([^@]+)@)?([^:]+):/?(.+)"
_AUTHORITY = r"//([^/?#]*)"
_HOST = r"""(?:[^\x00-\x20#%/?@\\^`{|}\x7f:]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?"""
_PATH_AS_WRITTEN = r"[A-Za-z0-9._~!$&'()*+,;=:@/\[\]%-]*"
_PATH_SAFE = "/$&+,:;=@"
_HOST_SAFE = "!$&'()*+,;=:[]<>\""


class SourceError(Exception):
    """Reason why a text is not the kind of source it was parsed as; never leaves the source parser."""

    def __init__(
        self,
        reason: str,
        start: int = 0,
        end: int | None = None,
        *,
        is_likely: bool = False,
        is_guess: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.start = start
        self.end = end
        self.is_likely = is_likely
        """The text has the form of that kind of source, so this reason is the one to report."""
        self.is_guess = is_guess
        """No form matched, so a more specific reason takes precedence."""


def parse_forced_getter(text: str) -> tuple[str, str]:
    """Split off the getter before `::`, if there is one."""
    match = re.fullmatch(_FORCED, text)
    return (match[1], match[2]) if match else ("", text)


def detect_package(text: str) -> str:
    """Expand a shorthand to the full package address; raise `SourceError` if none matches."""
    forced, address = parse_forced_getter(text)
    scheme = re.match(_SCHEME, address)
    if scheme is not None:
        _check_url(address, scheme.end(), len(text) - len(address))
        return text
    detected = (
        _detect_github(address)
        or _detect_scp(address)
        or _detect_bitbucket(address)
        or _detect_gcs(address)
        or _detect_s3(address)
        or _detect_path(address)
    )
    implied, url = parse_forced_getter(detected)
    getter = forced or implied
    return f"{getter}::{url}" if getter else url


def _check_url(url: str, scheme_end: int, offset: int) -> None:
    """Reject a URL that no getter could handle; it begins at `offset` of its text."""
    if not url.startswith("/", scheme_end):
        return
    path_start = scheme_end
    authority = re.compile(_AUTHORITY).match(url, scheme_end)
    if authority is not None:
        host_start = authority.start(1) + authority[1].rfind("@") + 1
        path_start = authority.end()
        if re.compile(_HOST).fullmatch(url, host_start, path_start) is None:
            # The host is not quoted: it may be the rest of a password that contains a slash.
            raise SourceError(
                "Its host is not a hostname with an optional port number.",
                offset + host_start,
                offset + path_start,
            )
    _check_escapes(url, path_start, offset)


def _check_escapes(url: str, path_start: int, offset: int = 0) -> None:
    query = url.find("?", path_start)
    escape = re.compile(_BAD_ESCAPE).search(url, path_start, len(url) if query < 0 else query)
    if escape is not None:
        start = offset + escape.start()
        raise SourceError(
            "A % in a URL must be followed by two hexadecimal digits.", start, start + 1
        )


def _detect_github(address: str) -> str:
    return _detect_repository(address, "github.com")


def _detect_bitbucket(address: str) -> str:
    return _detect_repository(address, "bitbucket.org")


def _detect_repository(address: str, host: str) -> str:
    """Parse `host/owner/name[/directory]`; the rest after the name is a directory in the
    repository.
    """
    if not address.startswith(f"{host}/"):
        return ""
    path, _, query = address.partition("?")
    parts = path.split("/")
    if len(parts) < 3:
        raise SourceError(f"Write a repository there as {host}/OWNER/NAME.")
    repository, hash_, fragment = f"{parts[1]}/{parts[2]}".partition("#")
    if not repository.endswith(".git"):
        repository += ".git"
    _check_escapes(address, 0)
    inner = "/".join(parts[3:])
    url = f"git::https://{host}/{_escape_path(_unescape(repository))}"
    url = f"{url}//{inner}" if inner else url
    return (f"{url}?{query}" if query else url) + hash_ + fragment


def _detect_scp(address: str) -> str:
    """Parse `git@host:path`, the form of git and ssh; only for the user `git`."""
    from urllib.parse import parse_qsl, quote, urlencode

    match = re.fullmatch(_SCP, address)
    if match is None or match[1] != "git":
        return ""
    path, question, query = match[3].partition("?")
    url = f"git::ssh://git@{quote(match[2], safe=_HOST_SAFE)}/{_escape_path(path)}"
    if not question or not query:
        return url
    if ";" in query:
        raise SourceError(
            "The query contains a semicolon. Separate its arguments with &, and write a "
            "semicolon inside an argument as %3B.",
            start=address.index(";"),
            end=address.index(";") + 1,
        )
    arguments = parse_qsl(query, keep_blank_values=True)
    return f"{url}?{urlencode(sorted(arguments, key=lambda argument: argument[0]))}"


def _detect_gcs(address: str) -> str:
    """Parse `www.googleapis.com/storage/VERSION/BUCKET/OBJECT`."""
    if ".googleapis.com/" not in address:
        return ""
    parts = address.split("/")
    if len(parts) < 5:
        raise SourceError(
            "Write an object in Google Cloud Storage as www.googleapis.com/storage/v1/BUCKET/PATH."
        )
    return f"gcs::https://www.googleapis.com/storage/{_escape_url('/'.join(parts[2:]))}"


def _detect_s3(address: str) -> str:
    """Parse `s3-REGION.amazonaws.com/BUCKET/KEY`, or the form with the bucket in the hostname."""
    if ".amazonaws.com/" not in address:
        return ""
    host, _, path = address.partition("/")
    labels = host.split(".")
    if len(labels) == 3:
        url = f"{labels[0]}.amazonaws.com/{path}"
    elif len(labels) == 4:
        url = f"{labels[1]}.amazonaws.com/{labels[0]}/{path}"
    elif len(labels) == 5 and labels[1] == "s3":
        url = f"s3.{labels[2]}.amazonaws.com/{labels[0]}/{path}"
    else:
        raise SourceError("Write an object in S3 as s3-REGION.amazonaws.com/BUCKET/KEY.")
    return f"s3::https://{_escape_url(url)}"


def _detect_path(address: str) -> str:
    if address.startswith("/"):
        return f"file://{address}"
    hint = f" For a directory next to the calling module, write {quoted('./' + address)}."
    raise SourceError(
        "It is neither a registry address, NAMESPACE/NAME/SYSTEM, nor a URL or one of its "
        "shorthands." + (hint if address else ""),
        is_guess=True,
    )


def _escape_url(url: str) -> str:
    _check_escapes(url, 0)
    path, question, query = url.partition("?")
    if re.fullmatch(_PATH_AS_WRITTEN, path) is None:
        path = _escape_path(_unescape(path))
    return path + question + query


def _escape_path(path: str) -> str:
    from urllib.parse import quote

    return quote(path, safe=_PATH_SAFE)


def _unescape(path: str) -> str:
    from urllib.parse import unquote

    return unquote(path)
