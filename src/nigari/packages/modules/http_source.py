"""Packages from web servers: archives, and pages that redirect to the package.

The URL of a page is requested with `terraform-get=1`; the response has the package address in a
header or in a `meta` element. Only complete addresses are accepted there.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

from nigari.addrs.detection import SourceError, parse_forced_getter
from nigari.addrs.module_source import RemoteSource, split_subdir
from nigari.diagnostics.secret_urls import carries_secret, hidden_url
from nigari.net.client import Client, Policy
from nigari.net.failures import NetFailure, StatusRefused
from nigari.net.response import Response
from nigari.net.urls import user_of
from nigari.packages.content.module_fetch import FetchError, Progress
from nigari.packages.content.unpacking import form_of_content
from nigari.packages.modules.fetching import Fetching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_MOST_HOPS: Final = 10
_HEADER: Final = "x-terraform-get"
_PAGES: Final = Policy(limit=1 << 20)
ARCHIVES: Final = Policy(timeout=None, limit=1 << 30)
# A web server must not lead on to an OCI registry.
_NEVER_NAMED: Final = frozenset(("oci",))
_HOPS: ContextVar[int] = ContextVar("hops", default=0)


class HttpGetter:
    """Fetches packages over http and https."""

    def __init__(self, client: Client, environ: Mapping[str, str], fetching: Fetching) -> None:
        self._client = client
        self._environ = environ
        self._fetching = fetching

    async def revision(self, url: str, is_file: bool) -> str:
        """Return the entity tag of an archive, or the revision of the package that a page names."""
        if not is_file:
            source, _ = await self._followed(url)
            token = _HOPS.set(_HOPS.get() + 1)
            try:
                inner = await self._fetching.revision(source)
            finally:
                _HOPS.reset(token)
            return f"{hidden_url(source.package)} {inner}" if inner else ""
        try:
            answer = await self._client.request("HEAD", url, credentials=self._credentials(url))
        except NetFailure:
            # The download will report the failure.
            return ""
        return answer.headers.get("etag", "") if answer.status == 200 else ""

    def pinned(self, url: str, revision: str) -> str:
        """Return the URL unchanged: a server only has its current content."""
        return url

    async def get_directory(self, url: str, directory: Path, progress: Progress) -> str:
        """Fetch the package that a page names."""
        source, subdir = await self._followed(url)
        token = _HOPS.set(_HOPS.get() + 1)
        try:
            if not subdir:
                inner = await self._fetching.fetch(source, directory, progress)
            else:
                inner = await self._fetching.fetch_subdir(source, subdir, directory, progress)
        finally:
            _HOPS.reset(token)
        return f"{hidden_url(source.package)} {inner}" if inner else ""

    async def get_file(self, url: str, path: Path, progress: Progress) -> str:
        """Download an archive."""
        try:
            done = await self._client.download(
                url, path, credentials=self._credentials(url), policy=ARCHIVES, progress=progress
            )
        except NetFailure as failure:
            raise FetchError(self._refusal(url, failure)) from failure
        if done.headers.get("content-type", "").startswith("text/html") and not form_of_content(
            path
        ):
            raise FetchError(
                f"{hidden_url(url)} returned a web page instead of an archive. If this network asks "
                "you to log in on a web page first, do that and try again; otherwise check the "
                "URL."
            )
        return done.headers.get("etag", "")

    async def _followed(self, url: str) -> tuple[RemoteSource, str]:
        """Return the package that a page names, and the directory in it."""
        # A page may name another page, and two may name each other.
        if _HOPS.get() >= _MOST_HOPS:
            raise FetchError(
                f"The address leads on to other addresses more than {_MOST_HOPS} times."
            )
        # The argument is appended, so that the rest of the query stays exactly as written.
        asked = f"{url}{'&' if '?' in url else '?'}terraform-get=1"
        try:
            answer = await self._client.get(
                asked, credentials=self._credentials(url), policy=_PAGES
            )
            answer.require()
        except NetFailure as failure:
            raise FetchError(self._refusal(url, failure)) from failure
        # go-getter: the header takes precedence over the page.
        text = answer.headers.get(_HEADER, "") or named_in_page(answer)
        if not text:
            raise FetchError(
                f"{hidden_url(url)} does not say where the package is, neither in a header "
                "X-Terraform-Get nor in a meta element. If it is an archive, add its form to the "
                "address, as in ?archive=zip."
            )
        return self._named(url, text)

    def _named(self, url: str, text: str) -> tuple[RemoteSource, str]:
        try:
            package, subdir = split_subdir(text)
        except SourceError as error:
            raise FetchError(f"{hidden_url(url)} names a package. {error.reason}") from None
        source = RemoteSource(package)
        forced, inner = parse_forced_getter(package)
        # OpenTofu accepts no relative or abbreviated addresses here, since the server does not know
        # the module that calls.
        is_complete = bool(forced) or bool(urlsplit(inner).scheme)
        known = set(self._fetching.kinds) - _NEVER_NAMED
        if not is_complete or source.getter not in known:
            raise FetchError(
                f'{hidden_url(url)} says that the package is at "{source.display}", which is not a '
                "complete address of a known kind."
            )
        return source, subdir

    def _credentials(self, url: str) -> Mapping[str, str]:
        """Return the credentials for a host from the netrc file, unless the URL has a user."""
        user = user_of(url)
        if user is not None and user[0]:
            return {}
        # go-getter: the netrc file applies unless the address has a user.
        return netrc_header(urlsplit(url).netloc.rpartition("@")[2], self._environ)

    def _refusal(self, url: str, failure: NetFailure) -> str:
        if not isinstance(failure, StatusRefused) or failure.status not in (401, 403, 404):
            return failure.text
        if user_of(url) is not None:
            used = "The user and password in the address were sent."
        elif carries_secret(url):
            used = "The token or signature in the address was sent, and may have expired."
        elif self._credentials(url):
            used = f"The credentials in {netrc_path(self._environ)} were sent."
        else:
            host = urlsplit(url).netloc
            used = (
                f"No credentials for {host} were found in the address or in "
                f"{netrc_path(self._environ) or 'a netrc file'}."
            )
        if failure.status == 404:
            return f"{failure.text} Check the address. {used}"
        return f"{failure.text} {used}"


def netrc_path(environ: Mapping[str, str]) -> str:
    """Return the path of the user's netrc file, even if it does not exist."""
    home = environ.get("HOME", "")
    return environ.get("NETRC", "") or (f"{home}/.netrc" if home else "")


def netrc_header(host: str, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Build the header with a host's credentials from a netrc file."""
    import netrc
    from base64 import b64encode

    path = netrc_path(environ)
    if not path or not Path(path).is_file():
        return {}
    try:
        found = netrc.netrc(path).authenticators(host)
    except (OSError, UnicodeError) as error:
        raise FetchError(f"{path} cannot be read: {error}.") from error
    except netrc.NetrcParseError as error:
        raise FetchError(f"{path} is not a valid netrc file: line {error.lineno}.") from None
    if found is None:
        return {}
    login, _, password = found
    return {"authorization": "Basic " + b64encode(f"{login}:{password}".encode()).decode()}


def named_in_page(answer: Response) -> str:
    """Return the address in the first matching `meta` element of a page's head."""
    page = _Page()
    page.feed(answer.body.decode(errors="replace"))
    return page.found


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found = ""
        self._is_over = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        # go-getter reads the head of a page only, where authors of the body cannot add anything.
        if tag == "body":
            self._is_over = True
        elif tag == "meta" and given.get("name") == "terraform-get" and not self._is_over:
            self.found = self.found or given.get("content") or ""

    def handle_endtag(self, tag: str) -> None:
        self._is_over = self._is_over or tag == "head"
