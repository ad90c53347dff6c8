"""AWS in memory: the server of moto, which answers for S3, DynamoDB, STS and KMS."""

import contextlib
import itertools
import json
import sys
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path

from tests.net_world.programs import free_port, serving

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "eu-west-1"}
_NUMBERS = itertools.count(1)


class Moto:
    """A running server."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}"

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> bytes:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        signed = {
            "authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/eu-west-1/s3/aws4_request",
            **(headers or {}),
        }
        connection.request(method, path, body, signed)
        response = connection.getresponse()
        found = response.read()
        assert response.status < 300, (method, path, response.status, found)
        connection.close()
        return found

    def bucket(self) -> str:
        """The name of a new bucket."""
        name = f"states-{next(_NUMBERS)}"
        self.ask("PUT", f"/{name}", _CREATE)
        return name

    def table(self) -> str:
        """The name of a new table for locks."""
        name = f"locks-{next(_NUMBERS)}"
        self.call(
            "DynamoDB_20120810.CreateTable",
            {
                "TableName": name,
                "KeySchema": [{"AttributeName": "LockID", "KeyType": "HASH"}],
                "AttributeDefinitions": [{"AttributeName": "LockID", "AttributeType": "S"}],
                "BillingMode": "PAY_PER_REQUEST",
            },
        )
        return name

    def call(self, target: str, arguments: object) -> Mapping[str, object]:
        service = "dynamodb" if target.startswith("DynamoDB") else "kms"
        headers = {
            "x-amz-target": target,
            "content-type": "application/x-amz-json-1.0",
            "authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/eu-west-1/"
            f"{service}/aws4_request, SignedHeaders=host, Signature=x",
        }
        found = self.ask("POST", "/", json.dumps(arguments).encode(), headers)
        answer: Mapping[str, object] = json.loads(found or b"{}")
        return answer

    def block(self, bucket: str, **more: object) -> str:
        """A configuration whose state is in a bucket."""
        lines = {"bucket": bucket, "key": "a/state", "region": "eu-west-1", **more}
        body = "".join(f"    {name} = {json.dumps(value)}\n" for name, value in lines.items())
        urls = f'endpoints = {{ s3 = "{self.url}", dynamodb = "{self.url}", sts = "{self.url}" }}'
        return (
            f'terraform {{\n  backend "s3" {{\n{body}    {urls}\n    use_path_style = true\n'
            "    skip_credentials_validation = true\n    skip_requesting_account_id = true\n"
            "    skip_metadata_api_check = true\n  }\n}\n"
        )


_CREATE = (
    b'<CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    b"<LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>"
)


@contextlib.contextmanager
def running() -> Iterator[Moto]:
    """A server of its own, without anything in it."""
    port = free_port()
    program = str(Path(__file__).with_name("serve_moto.py"))
    # Modules beside it have names of libraries.
    command = [sys.executable, "-P", program, "-H", "127.0.0.1", "-p", str(port)]
    with serving(command, port):
        yield Moto(port)
