"""Network failures: a small closed set, so that callers can distinguish them.

A failure describes the problem and a remedy in sentences; the caller adds the purpose of the
request. URLs in failures never contain secrets.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from nigari.diagnostics.secret_urls import hidden_url


class NetFailure(Exception):
    """A request that failed."""

    is_worth_retrying = False
    """True if the same request may succeed a moment later."""

    def __init__(self, url: str, what: str, advice: str = "") -> None:
        self.url: str = hidden_url(url)
        self.what = what
        self.advice = advice
        self.attempts = 1
        """Number of attempts, all of which failed."""
        super().__init__(url, what, advice)

    def __str__(self) -> str:
        return self.text

    @property
    def text(self) -> str:
        """The problem and its remedy."""
        times = "twice" if self.attempts == 2 else f"{self.attempts} times"
        often = f"This was tried {times}." if self.attempts > 1 else ""
        return " ".join(part for part in (self.what, often, self.advice) if part)


class InvalidUrl(NetFailure):
    """A text that is not a URL of a web server."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, f"{hidden_url(url)} is not a valid URL: {reason}.")


class InvalidSettings(NetFailure):
    """A proxy or certificates in the environment that cannot be used."""


class InvalidHeader(NetFailure):
    """A header that cannot be sent, most often because its secret contains a line end."""

    def __init__(self, url: str, name: str) -> None:
        is_secret = name == "authorization"
        what = "credentials" if is_secret else f"header {name}"
        super().__init__(
            url,
            f"The {what} for {_host(url)} cannot be sent, because of a control character, such as "
            "the end of a line.",
            "Set the token or password again, without a line end." if is_secret else "",
        )


class NameNotFound(NetFailure):
    """A host name that cannot be resolved. A resolver that is temporarily down reports the same."""

    is_worth_retrying = True

    def __init__(self, url: str, host: str) -> None:
        super().__init__(
            url,
            f"The host name {host} cannot be resolved.",
            "Check its spelling, and that this machine can look up names (DNS, VPN).",
        )
        self.host = host


class ConnectionFailed(NetFailure):
    """A server that does not respond, or a broken connection."""

    is_worth_retrying = True

    def __init__(self, url: str, reason: str, is_refused: bool = False) -> None:
        what = f"{_host(url)} refuses connections." if is_refused else f"{reason}."
        super().__init__(
            url, what, "Check that the server is running and that no firewall is in the way."
        )
        self.is_refused = is_refused


class ProxyFailed(NetFailure):
    """A proxy that refuses the connection or cannot be reached."""

    is_worth_retrying = True

    def __init__(self, url: str, reason: str, unreachable: str = "") -> None:
        """Create the failure; `unreachable` is the URL of a proxy that cannot be reached."""
        if unreachable:
            what = f"The proxy {hidden_url(unreachable)} for {_host(url)} cannot be reached"
            advice = "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and that the proxy is running."
        else:
            what = f"The proxy refuses to connect to {_host(url)}"
            advice = "Check the host name, and the proxy that HTTPS_PROXY or HTTP_PROXY names."
        super().__init__(url, f"{what}: {reason}.", advice)


class CertificateRefused(NetFailure):
    """A server whose certificate does not prove its identity."""

    def __init__(self, url: str, reason: str, advice: str) -> None:
        super().__init__(url, f"The certificate of {_host(url)} is not valid: {reason}.", advice)
        self.reason = reason


class TlsFailed(NetFailure):
    """A TLS handshake without agreement on the encryption."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            url,
            f"No encrypted connection to {_host(url)} is possible: {reason}.",
            "Check that the server speaks HTTPS on this port.",
        )


class TimedOut(NetFailure):
    """No response, or no progress, in time."""

    is_worth_retrying = True

    def __init__(self, url: str, what: str) -> None:
        super().__init__(url, what, "Check the connection, or try again later.")


class StatusRefused(NetFailure):
    """A response with an unexpected status."""

    def __init__(self, url: str, status: int, said: str = "", retry_after: str = "") -> None:
        more = f", saying: {said.rstrip('.')}" if said else ""
        super().__init__(
            url,
            f"{hidden_url(url)} answered with status {status}{more}.",
            _status_advice(status, retry_after),
        )
        self.status = status
        self.said = said
        self.retry_after = retry_after
        self.is_worth_retrying: bool = status == 429 or (status >= 500 and status != 501)


class RedirectRefused(NetFailure):
    """A redirect beyond the limit, or to a forbidden URL."""


class Truncated(NetFailure):
    """A response shorter than announced."""

    is_worth_retrying = True

    def __init__(self, url: str, received: int, announced: int | None) -> None:
        of = f" of {announced}" if announced is not None else ""
        super().__init__(
            url,
            f"The download from {_host(url)} ended early, after {received}{of} bytes.",
            "Try again; if it happens again, the file on the server or a proxy may be broken.",
        )


class TooLarge(NetFailure):
    """A response that exceeds the limit."""

    def __init__(self, url: str, limit: int) -> None:
        super().__init__(url, f"The answer of {_host(url)} is larger than {limit} bytes.")
        self.limit = limit


class WrongContent(NetFailure):
    """Content that does not match its expected size or digest."""


class NotJson(NetFailure):
    """Content other than the expected JSON document."""

    def __init__(self, url: str, what: str, is_html: bool) -> None:
        advice = (
            "If this network asks you to log in on a web page first, do that and try again; "
            "otherwise check the URL."
            if is_html
            else "Check that the URL is right."
        )
        super().__init__(url, what, advice)
        self.is_html = is_html


def _host(url: str) -> str:
    return urlsplit(url).netloc.rpartition("@")[2] or "the server"


def _status_advice(status: int, retry_after: str) -> str:
    if status in (429, 503) and retry_after:
        return f"The server asks clients to wait (Retry-After: {retry_after}). Try again later."
    if status == 407:
        return "The proxy requires a user name and password: put them into the URL of the proxy."
    if status == 429 or status >= 500:
        return "Try again later."
    return ""
