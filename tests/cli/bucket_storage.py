"""Storage for module packages in buckets."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from urllib.parse import parse_qs, unquote, urlsplit

from tests.net_world.server import NOT_FOUND, Answer, Asked, json_answer
from tests.packages.archives import files, packed
from tests.packages.module_world import MODULE

OBJECTS = {
    "a/x.zip": packed("zip", files({"main.tf": MODULE % "zip", "sub/main.tf": MODULE % "sub"})),
    "mod/main.tf": (MODULE % "one").encode(),
    "mod/deep/b c+d.txt": b"odd",
    "mod/folder/": b"",
    "module/main.tf": (MODULE % "neighbour").encode(),
    "evil/../../x": b"1",
}


def etag(content: bytes) -> str:
    return f'"{hashlib.md5(content).hexdigest()}"'


class Storage:
    """Both kinds of storage; pages of a listing have two objects."""

    def __init__(self) -> None:
        self.objects = dict(OBJECTS)
        self.generations: dict[str, dict[str, bytes]] = {}
        """What there was under a name, by number."""
        self.key = ""
        """The access key or token that is wanted."""

    def s3(self, asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        if self.key and f"Credential={self.key}/" not in asked.headers.get("authorization", ""):
            body = b"<Error><Code>AccessDenied</Code><Message>Not yours</Message></Error>"
            return Answer(403, body, {"content-type": "application/xml"})
        if parts.path == "/bucket":
            return self._s3_listing(parse_qs(parts.query))
        content = self.objects.get(unquote(parts.path.removeprefix("/bucket/")))
        return NOT_FOUND if content is None else Answer(200, content, {"etag": etag(content)})

    def _s3_listing(self, query: dict[str, list[str]]) -> Answer:
        names = sorted(each for each in self.objects if each.startswith(query["prefix"][0]))
        start = int(query.get("continuation-token", ["0"])[0])
        page = "".join(
            f"<Contents><Key>{name}</Key><ETag>{etag(self.objects[name])}</ETag>"
            f"<Size>{len(self.objects[name])}</Size></Contents>"
            for name in names[start : start + 2]
        )
        if start + 2 < len(names):
            page += "<IsTruncated>true</IsTruncated>"
            page += f"<NextContinuationToken>{start + 2}</NextContinuationToken>"
        namespace = "http://s3.amazonaws.com/doc/2006-03-01/"
        return Answer(
            200, f'<ListBucketResult xmlns="{namespace}">{page}</ListBucketResult>'.encode()
        )

    def gcs(self, asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        query = parse_qs(parts.query)
        base = "/storage/v1/b/bucket/o"
        if parts.path == base:
            prefix = query.get("prefix", [""])[0]
            names = sorted(each for each in self.objects if each.startswith(prefix))
            start = int(query.get("pageToken", ["0"])[0])
            more = {"nextPageToken": str(start + 2)} if start + 2 < len(names) else {}
            items = [self._document(name) for name in names[start : start + 2]]
            return json_answer({"items": items, **more})
        name = unquote(parts.path.removeprefix(f"{base}/"))
        content = self.content(name, query)
        if content is None:
            return NOT_FOUND
        if query.get("alt") == ["media"]:
            return Answer(200, content)
        return json_answer(self._document(name))

    def content(self, name: str, query: Mapping[str, list[str]]) -> bytes | None:
        """An object, or what it was at some time."""
        if "generation" in query:
            return self.generations.get(name, {}).get(query["generation"][0])
        return self.objects.get(name)

    def _document(self, name: str) -> dict[str, str]:
        content = self.objects[name]
        return {"name": name, "md5Hash": etag(content), "size": str(len(content))}
