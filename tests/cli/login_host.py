"""A host to log in to."""

import base64
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.net_world.certificates import Authority
from tests.net_world.server import NOT_FOUND, Answer, Asked, Proxy, Server, json_answer, redirect

HOST = "app.example.com"


PASSWORD_HOST = "app.terraform.io"


"""The only host that may ask for passwords."""


BY_PASSWORD = {
    "login.v1": {
        "client": "tofu",
        "grant_types": ["password"],
        "token": "/oauth/token",
        "scopes": ["read", "write"],
    }
}


class OAuthServer:
    """Gives a code to whoever comes, and a token for the code with the right proof."""

    def __init__(self) -> None:
        self.challenges: dict[str, str] = {}
        self.services: dict[str, object] = {
            "login.v1": {
                "client": "tofu",
                "grant_types": ["authz_code"],
                "authz": "/oauth/authorize?tenant=1",
                "token": "/oauth/token",
                "ports": [20000, 20100],
                "scopes": ["read", "write"],
            }
        }
        self.token_answer = json_answer({"access_token": "s3cret", "token_type": "bearer"})
        self.asked: list[dict[str, str]] = []

    def answer(self, asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        if parts.path == "/.well-known/terraform.json":
            return json_answer(self.services)
        if parts.path == "/oauth/authorize":
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            self.asked.append(query)
            self.challenges["the-code"] = query["code_challenge"]
            back = urlencode({"code": "the-code", "state": query["state"]})
            return redirect(f"{query['redirect_uri']}?{back}")
        if parts.path == "/oauth/token":
            form = {n: v[0] for n, v in parse_qs(asked.body.decode()).items()}
            self.asked.append(form)
            if form["grant_type"] == "password":
                is_known = (form["username"], form["password"]) == ("mona", "pass & word")
                wrong = json_answer({"error": "invalid_grant"}, 401)
                return self.token_answer if is_known else wrong
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            assert self.challenges.pop(form["code"]) == challenge
            return self.token_answer
        if parts.path == "/api/account/details":
            if asked.headers.get("authorization") != "Bearer by-hand":
                return json_answer({"errors": [{"status": "401", "title": "unauthorized"}]}, 401)
            return json_answer({"data": {"attributes": {"username": "mona"}}})
        return NOT_FOUND


class Login:
    """A user at a machine with a browser."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.oauth = OAuthServer()
        authority = Authority(home)
        self.server = Server(self.oauth.answer, authority.certificate([HOST, PASSWORD_HOST]))
        self.proxy = Proxy({HOST: self.server.port, PASSWORD_HOST: self.server.port})
        self.environ = {
            **{n: v for n, v in os.environ.items() if not n.startswith(("TF_", "XDG_"))},
            "PYTHONPATH": os.pathsep.join(sys.path),
            "HOME": str(home),
            "HTTPS_PROXY": self.proxy.url,
            "NO_PROXY": "",
            "SSL_CERT_FILE": str(authority.path),
            "BROWSER": "test-browser",
            "PATH": f"{home}{os.pathsep}{os.environ['PATH']}",
        }
        browser = home / "test-browser"
        browser.write_text(
            f"#!{sys.executable}\nimport sys, urllib.request\n"
            "urllib.request.urlopen(sys.argv[1]).read()\n"
        )
        browser.chmod(0o755)
        self.file = home / ".terraform.d" / "credentials.tfrc.json"

    def run(self, *command: str, typed: str = "") -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "nigari", *command],
            env=self.environ,
            cwd=self.home,
            input=typed,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def stored(self) -> object:
        return json.loads(self.file.read_text())["credentials"] if self.file.exists() else None
