"""Object storages of Tencent Cloud and Alibaba Cloud in memory, which check signatures.

Each has one bucket. Lists come in pages of two.
"""

import base64
import hashlib
import hmac
import json
import threading
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from tests.net_world.server import Answer, Asked, Server, json_answer
from tests.net_world.world import World

BUCKET: Final = "states-125"
REGION: Final = "ap-guangzhou"
SECRET: Final = "the-secret"
_PAGE: Final = 2


class Objects:
    """The objects of a bucket, with the headers that are stored with them."""

    def __init__(self, own: str) -> None:
        self._own = own
        self.contents: dict[str, tuple[bytes, dict[str, str]]] = {}
        self.guard = threading.Lock()

    def answer(self, asked: Asked, key: str, query: dict[str, str]) -> Answer:
        with self.guard:
            if not key:
                return self._listed(query)
            found = self.contents.get(key)
            if asked.method == "PUT":
                if found and asked.headers.get(f"{self._own}forbid-overwrite") == "true":
                    return error(409, "FileAlreadyExists")
                kept = {n: v for n, v in asked.headers.items() if n.startswith(self._own)}
                self.contents[key] = (asked.body, kept)
                checksum = {f"{self._own}hash-crc64ecma": str(_crc64(asked.body))}
                return Answer(200, b"", {"etag": _tag(asked.body), **checksum})
            if asked.method == "DELETE":
                self.contents.pop(key, None)
                return Answer(204)
            if found is None:
                return error(404, "NoSuchKey")
            data, headers = found
            return Answer(200, data, {**headers, "etag": _tag(data)})

    def _listed(self, query: dict[str, str]) -> Answer:
        keys = [
            key
            for key in sorted(self.contents)
            if key.startswith(query.get("prefix", "")) and key > query.get("marker", "")
        ]
        page, more = keys[:_PAGE], len(keys) > _PAGE
        text = "".join(f"<Contents><Key>{escape(key)}</Key></Contents>" for key in page)
        text += f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>"
        text += f"<NextMarker>{escape(page[-1])}</NextMarker>" if more else ""
        body = f"<ListBucketResult>{text}</ListBucketResult>".encode()
        return Answer(200, body, {"content-type": "application/xml"})


class FakeTencent:
    """A bucket, tags and roles of Tencent Cloud under their own names, behind a proxy."""

    def __init__(self, directory: Path) -> None:
        self.objects = Objects("x-cos-")
        self.tags: set[tuple[str, str]] = set()
        self.actions: list[str] = []
        self._secrets = {"id": SECRET}
        self.world = World(directory / "tencent")
        for host in ("cos.ap-guangzhou", "cos.accelerate"):
            self.world.serve(f"{BUCKET}.{host}.myqcloud.com", self._storage)
        for service in ("tag", "sts"):
            self.world.serve(f"{service}.tencentcloudapi.com", self._service)
        self.environ = {
            **self.world.environment,
            "TENCENTCLOUD_SECRET_ID": "id",
            "TENCENTCLOUD_SECRET_KEY": SECRET,
            "TENCENTCLOUD_REGION": REGION,
        }

    def __enter__(self) -> "FakeTencent":
        return self

    def __exit__(self, *_: object) -> None:
        self.world.close()

    def block(self, **more: str) -> str:
        lines = {"bucket": BUCKET, "region": REGION, "prefix": "a/b", **more}
        body = "".join(f'    {name} = "{value}"\n' for name, value in lines.items())
        return f'terraform {{\n  backend "cos" {{\n{body}  }}\n}}\n'

    def _storage(self, asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        if not self._is_signed(asked, unquote(parts.path), query):
            return error(403, "SignatureDoesNotMatch")
        return self.objects.answer(asked, unquote(parts.path).lstrip("/"), query)

    def _is_signed(self, asked: Asked, path: str, query: dict[str, str]) -> bool:
        given = dict(each.partition("=")[::2] for each in asked.headers["authorization"].split("&"))
        headers = {n: asked.headers[n] for n in given["q-header-list"].split(";") if n}
        names = {n: query[n] for n in given["q-url-param-list"].split(";") if n}
        if set(names) != set(query) or "host" not in headers:
            return False

        def listed(pairs: dict[str, str]) -> str:
            return "&".join(
                f"{quote(n, safe='')}={quote(pairs[n], safe='')}" for n in sorted(pairs)
            )

        request = f"{asked.method.lower()}\n{path}\n{listed(names)}\n{listed(headers)}\n"
        digest = hashlib.sha1(request.encode()).hexdigest()
        secret = self._secrets.get(given["q-ak"], "")
        key = hmac.digest(secret.encode(), given["q-key-time"].encode(), "sha1").hex()
        text = f"sha1\n{given['q-sign-time']}\n{digest}\n"
        expected = hmac.digest(key.encode(), text.encode(), "sha1").hex()
        return given["q-signature"] == expected

    def _service(self, asked: Asked) -> Answer:
        action = asked.headers["x-tc-action"]
        self.actions.append(action)
        if not self._is_called(asked):
            return _refused("AuthFailure.SignatureFailure")
        given = json.loads(asked.body)
        if action == "AssumeRole":
            self._secrets["temporary"] = "another-secret"
            found = {"TmpSecretId": "temporary", "TmpSecretKey": "another-secret", "Token": "t"}
            return json_answer({"Response": {"Credentials": found}})
        tag = (given["TagKey"], given["TagValue"])
        with self.objects.guard:
            if action == "CreateTag":
                if tag in self.tags:
                    return _refused("ResourceInUse.TagDuplicate")
                self.tags.add(tag)
            elif action == "DeleteTag":
                if tag not in self.tags:
                    return _refused("ResourceNotFound.TagNonExist")
                self.tags.remove(tag)
            shown = [{"TagKey": tag[0], "TagValue": tag[1]}] if tag in self.tags else []
        return json_answer({"Response": {"RequestId": "r", "Tags": shown}})

    def _is_called(self, asked: Asked) -> bool:
        algorithm, _, rest = asked.headers["authorization"].partition(" ")
        given = dict(each.strip().partition("=")[::2] for each in rest.split(","))
        ak, _, scope = given["Credential"].partition("/")
        names = given["SignedHeaders"].split(";")
        headers = "".join(f"{name}:{asked.headers[name]}\n" for name in names)
        digest = hashlib.sha256(asked.body).hexdigest()
        request = f"POST\n/\n\n{headers}\n{given['SignedHeaders']}\n{digest}"
        hashed = hashlib.sha256(request.encode()).hexdigest()
        text = "\n".join((algorithm, asked.headers["x-tc-timestamp"], scope, hashed))
        key = f"TC3{self._secrets.get(ak, '')}".encode()
        for part in scope.split("/"):
            key = hmac.digest(key, part.encode(), "sha256")
        return given["Signature"] == hmac.digest(key, text.encode(), "sha256").hex()


class FakeAlibaba:
    """A bucket of Alibaba Cloud on loopback, where buckets are paths, and its roles."""

    def __init__(self) -> None:
        self.objects = Objects("x-oss-")
        self._secrets = {"id": SECRET}
        self.server = Server(self._answer)
        self.environ = {
            "ALICLOUD_ACCESS_KEY": "id",
            "ALICLOUD_SECRET_KEY": SECRET,
            "ALICLOUD_REGION": "cn-beijing",
            "ALICLOUD_OSS_ENDPOINT": self.server.url,
        }

    def __enter__(self) -> "FakeAlibaba":
        return self

    def __exit__(self, *_: object) -> None:
        self.server.close()

    def block(self, **more: str) -> str:
        lines = {"bucket": BUCKET, "key": "k/state", **more}
        body = "".join(f'    {name} = "{value}"\n' for name, value in lines.items())
        return f'terraform {{\n  backend "oss" {{\n{body}  }}\n}}\n'

    def _answer(self, asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        if asked.body.startswith(b"Action=AssumeRole"):
            return self._assumed(dict(parse_qsl(asked.body.decode())))
        if not self._is_signed(asked, unquote(parts.path), query):
            return error(403, "SignatureDoesNotMatch")
        key = unquote(parts.path).removeprefix(f"/{BUCKET}").lstrip("/")
        return self.objects.answer(asked, key, query)

    def _is_signed(self, asked: Asked, resource: str, query: dict[str, str]) -> bool:
        scheme, _, rest = asked.headers["authorization"].partition(" ")
        ak, _, given = rest.partition(":")
        own = sorted(name for name in asked.headers if name.startswith("x-oss-"))
        headers = "".join(f"{name}:{asked.headers[name]}\n" for name in own)
        part = "?objectMeta" if "objectMeta" in query else ""
        fixed = (asked.headers.get(name, "") for name in ("content-md5", "content-type", "date"))
        text = "\n".join((asked.method, *fixed, f"{headers}{resource}{part}"))
        expected = hmac.digest(self._secrets.get(ak, "").encode(), text.encode(), "sha1")
        return scheme == "OSS" and given == base64.b64encode(expected).decode()

    def _assumed(self, given: dict[str, str]) -> Answer:
        signature = given.pop("Signature")
        query = "&".join(f"{quote(n, safe='')}={quote(given[n], safe='')}" for n in sorted(given))
        text = f"POST&%2F&{quote(query, safe='')}"
        key = f"{self._secrets[given['AccessKeyId']]}&".encode()
        if signature != base64.b64encode(hmac.digest(key, text.encode(), "sha1")).decode():
            return json_answer({"Code": "SignatureDoesNotMatch"}, 400)
        self._secrets["temporary"] = "another-secret"
        found = {"AccessKeyId": "temporary", "AccessKeySecret": "another-secret"}
        return json_answer({"Credentials": {**found, "SecurityToken": "t"}})


def error(status: int, code: str) -> Answer:
    body = f"<Error><Code>{code}</Code><Message>no</Message></Error>".encode()
    return Answer(status, body, {"content-type": "application/xml"})


def _refused(code: str) -> Answer:
    return json_answer({"Response": {"Error": {"Code": code, "Message": "no"}, "RequestId": "r"}})


def _crc64(data: bytes) -> int:
    """The checksum that Tencent's own library looks at; of large data, which only we send, none."""
    register = _ALL
    for byte in data if len(data) < 100_000 else b"":
        register ^= byte
        for _ in range(8):
            register = (register >> 1) ^ (0xC96C5795D7870F42 if register & 1 else 0)
    return register ^ _ALL


_ALL: Final = (1 << 64) - 1


def _tag(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'
