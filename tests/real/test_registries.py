"""Both programs in the same world of registries and mirrors: the same verdicts, files and locks.

Each story is a list of steps. After each step both exit with the same status (or only ours is more
careful, where that is said), have the same lock file and the same files, and have asked the hosts
for the same things, or we for fewer.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from nigari.packages.content.platforms import current_platform
from tests.net_world.registry import Key, zip_of
from tests.net_world.server import Answer, json_answer, redirect
from tests.real.registries import (
    _KEY,
    HOST,
    MIRROR,
    OCI,
    PLATFORMS,
    ZIP,
    Stage,
    alike,
    described,
    files_in,
    in_oci,
    main_file,
    mirrored,
    network_mirror,
    oci_mirror,
    several,
    signed,
    stage,
    unsigned,
)

__all__ = ["stage"]

pytestmark = pytest.mark.real


@dataclass(frozen=True)
class Story:
    """What there is, what is done with it, and whether it works."""

    name: str
    publish: Callable[[Stage], object]
    providers: tuple[str, ...] = (f"{HOST}/acme/thing",)
    settings: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    works: bool = True
    commands: tuple[tuple[str, ...], ...] = (("init",),)
    is_early: bool = False
    """Whether we ask for something at the same time as for what turns out to be missing."""


def answering(path: str, answer: Answer, host: str = HOST) -> Callable[[Stage], object]:
    def publish(stage: Stage) -> None:
        signed()(stage)
        stage.world.registries[host].answers[path] = answer

    return publish


def with_token(stage: Stage) -> None:
    signed()(stage)
    stage.host.token = "s3cret"


def unusable(stage: Stage, files: dict[str, bytes]) -> None:
    release = signed()(stage)
    release.archives[current_platform()] = zip_of(files)
    release.signature = None


def mirror_as_text(stage: Stage) -> None:
    mirrored(stage)
    path = f"/mirror/{HOST}/acme/thing/index.json"
    stage.mirror.answers[path] = Answer(200, b"{}")


def two_hosts(stage: Stage) -> None:
    signed()(stage)
    release = stage.default.publish("acme", "other", "1.0.0", _KEY, PLATFORMS)
    release.packages = {
        each: {
            "hashes": [f"zh:{release.digest(each)}", f"h1:{each}="],
            "package_size": len(release.archives[each]),
        }
        for each in PLATFORMS
    }


def expired(stage: Stage) -> None:
    short = Key(seconds=62)
    release = stage.host.publish("acme", "thing", "1.0.0", short, PLATFORMS)
    release.signature = release.signature_bytes()
    time.sleep(3)


def tampered(stage: Stage) -> None:
    in_oci()(stage)
    for digest in stage.oci.repository(f"copies/{HOST}/acme/thing").blobs:
        stage.oci.tampered[digest] = b"x"


def oci_login(arguments: str) -> str:
    return f'oci_credentials "{OCI}" {{\n  {arguments}\n}}\n'


DISCOVERY = "/.well-known/terraform.json"
VERSIONS = "/v1/providers/acme/thing/versions"
DOWNLOAD = f"/v1/providers/acme/thing/1.0.0/download/{current_platform().replace('_', '/')}"
OURS = ("acme/thing",)
AGAIN = (("init",), ("init",), ("init", "-upgrade"))

STORIES = [
    Story("signed", signed(), commands=AGAIN),
    Story(
        "newest", several("1.0.0", "1.5.0", "2.0.0", "1.9.0-rc1"), (f"{HOST}/acme/thing ~> 1.0",)
    ),
    Story("prerelease", several("1.0.0", "1.9.0-rc1"), (f"{HOST}/acme/thing 1.9.0-rc1",)),
    Story("none fits", several("1.0.0"), (f"{HOST}/acme/thing > 1.0",), works=False),
    Story("unknown", lambda stage: None, works=False),
    Story("unknown default", lambda stage: None, ("hashicorp/thing",), works=False),
    Story("default host without keys", unsigned, OURS, commands=AGAIN),
    Story(
        "default host without keys, enforced",
        unsigned,
        OURS,
        environment={"OPENTOFU_ENFORCE_GPG_VALIDATION": "true"},
        works=False,
    ),
    Story(
        "other host without keys",
        lambda stage: stage.host.publish("acme", "thing", "1.0.0", None, PLATFORMS),
        works=False,
    ),
    Story("described", described, OURS, commands=AGAIN),
    Story(
        "described, enforced",
        described,
        OURS,
        environment={"OPENTOFU_ENFORCE_GPG_VALIDATION": "true"},
    ),
    Story(
        "described with another size",
        lambda stage: described(
            stage, **{current_platform(): {"hashes": ["zh:" + "0" * 64], "package_size": 3}}
        ),
        OURS,
        works=False,
    ),
    Story(
        "described without this platform",
        lambda stage: setattr(
            release := described(stage),
            "packages",
            {"plan9_arm": (release.packages or {})["plan9_arm"]},
        ),
        OURS,
        works=False,
    ),
    Story("key of somebody else", signed(keys=[Key().public]), works=False),
    Story("several keys", signed(keys=[Key().public, _KEY.public])),
    Story("unreadable key", signed(keys=["x"]), works=False),
    Story("unreadable signature", signed(signature=b"x"), works=False),
    Story("other checksums", signed(sums=b"0" * 64 + b"  " + ZIP.encode() + b"\n"), works=False),
    Story("no checksums", signed(sums=b""), works=False),
    Story("expired", expired),
    Story(
        "expired, enforced",
        expired,
        environment={"OPENTOFU_ENFORCE_GPG_EXPIRATION": "true"},
        works=False,
    ),
    Story("old protocol", signed(protocols=["4.0"]), works=False),
    Story("both protocols", signed(protocols=["4.0", "6.1"])),
    Story("no protocols", signed(protocols=[])),
    Story("other platform", signed(changes={"os": "plan9", "arch": "arm"}), works=False),
    Story("bad checksum", signed(changes={"shasum": "0"}), works=False),
    Story("odd scheme", signed(changes={"download_url": "ftp://x/y"}), works=False),
    Story("missing archive", signed(changes={"download_url": "/none"}), works=False),
    Story(
        "missing checksums",
        signed(changes={"shasums_url": "/none"}),
        works=False,
        is_early=True,
    ),
    Story(
        "missing signature",
        signed(changes={"shasums_signature_url": "/none"}),
        works=False,
        is_early=True,
    ),
    Story(
        "not for this platform",
        lambda stage: stage.host.publish("acme", "thing", "1.0.0", _KEY, ["plan9_arm"]),
        works=False,
    ),
    Story(
        "bad version",
        answering(VERSIONS, json_answer({"versions": [{"version": "x"}]})),
        works=False,
    ),
    Story("no versions", answering(VERSIONS, json_answer({"versions": []})), works=False),
    Story(
        "html",
        answering(VERSIONS, Answer(200, b"<html>", {"content-type": "text/html"})),
        works=False,
    ),
    Story("forbidden", answering(VERSIONS, json_answer({}, 403)), works=False),
    Story(
        "redirected",
        answering(VERSIONS, redirect("/v1/providers/acme/other/versions")),
        works=False,
    ),
    Story("loop", answering(VERSIONS, redirect(VERSIONS)), works=False),
    Story(
        "download redirected",
        answering("/files/acme/thing/1.0.0/" + ZIP, redirect("/none")),
        works=False,
    ),
    Story("no services", answering(DISCOVERY, json_answer({})), works=False),
    Story("no discovery", answering(DISCOVERY, Answer(404)), works=False),
    Story(
        "other service version",
        answering(DISCOVERY, json_answer({"providers.v2": "/x/"})),
        works=False,
    ),
    Story(
        "discovery as text",
        answering(DISCOVERY, Answer(200, b"{}")),
        works=False,
    ),
    Story(
        "service elsewhere",
        answering(DISCOVERY, json_answer({"providers.v1": f"https://{HOST}/v1/providers/"})),
    ),
    Story(
        "service without slash",
        answering(DISCOVERY, json_answer({"providers.v1": "/v1/providers"})),
        works=False,
    ),
    Story("token missing", with_token, works=False),
    Story("token", with_token, environment={"TF_TOKEN_registry_example_com": "s3cret"}),
    Story(
        "token in a file", with_token, settings=f'credentials "{HOST}" {{\n  token = "s3cret"\n}}\n'
    ),
    Story(
        "host block",
        signed(),
        ("fake.example.com/acme/thing",),
        settings=f'host "fake.example.com" {{\n  services = {{\n    "providers.v1" = "https://{HOST}/v1/providers/"\n  }}\n}}\n',
    ),
    Story("no program", lambda stage: unusable(stage, {"README": b"x"}), works=False),
    Story(
        "zip slip",
        lambda stage: unusable(stage, {"../x": b"", "terraform-provider-thing": b""}),
        works=False,
    ),
    Story("network mirror", mirrored, settings=network_mirror(), commands=AGAIN),
    Story("network mirror, default host", mirrored, OURS, settings=network_mirror()),
    Story("trusted mirror", mirrored, OURS, settings=network_mirror("trust_all_hashes = true")),
    Story(
        "trusted mirror, other host", mirrored, settings=network_mirror("trust_all_hashes = true")
    ),
    Story("mirror without it", lambda stage: None, settings=network_mirror(), works=False),
    Story(
        "mirror without slash",
        mirrored,
        settings=network_mirror().replace("/mirror/", "/mirror"),
        works=False,
    ),
    Story("mirror as text", mirror_as_text, settings=network_mirror(), works=False),
    Story(
        "excluded from direct",
        signed(),
        settings=f'provider_installation {{\n  direct {{\n    exclude = ["{HOST}/*/*"]\n  }}\n}}\n',
        works=False,
    ),
    Story("oci", in_oci(), settings=oci_mirror(), commands=AGAIN),
    Story("oci of another type", in_oci(artifactType="x"), settings=oci_mirror(), works=False),
    Story("oci without packages", in_oci(manifests=[]), settings=oci_mirror(), works=False),
    Story("oci without the repository", signed(), settings=oci_mirror(), works=False),
    Story("oci tampered with", tampered, settings=oci_mirror(), works=False),
    Story(
        "oci basic",
        in_oci("basic"),
        settings=oci_mirror(oci_login('username = "me"\n  password = "s3cret"')),
    ),
    Story(
        "oci bearer",
        in_oci("bearer"),
        settings=oci_mirror(oci_login('username = "me"\n  password = "s3cret"')),
    ),
    Story(
        "oci tokens",
        in_oci("bearer"),
        settings=oci_mirror(oci_login('access_token = "direct"\n  refresh_token = "refresh"')),
    ),
    Story(
        "oci wrong password",
        in_oci("basic"),
        settings=oci_mirror(oci_login('username = "me"\n  password = "x"')),
        works=False,
    ),
    Story("oci without credentials", in_oci("bearer"), settings=oci_mirror(), works=False),
    Story("lock", signed(), commands=(("providers", "lock"), ("init",))),
    Story(
        "lock platforms",
        signed(),
        commands=(
            ("providers", "lock", *(f"-platform={each}" for each in PLATFORMS)),
            ("providers", "lock", *(f"-platform={each}" for each in PLATFORMS)),
        ),
    ),
    Story(
        "lock from a mirror",
        mirrored,
        OURS,
        commands=(
            ("providers", "lock", f"-net-mirror=https://{MIRROR}/mirror/", "-platform=plan9_arm"),
            ("providers", "lock"),
        ),
    ),
    Story(
        "lock ignores mirrors",
        mirrored,
        OURS,
        settings=network_mirror().replace("  }\n}\n", "  }\n  direct {\n  }\n}\n"),
        commands=(("providers", "lock"),),
    ),
    Story(
        "lock from http",
        mirrored,
        commands=(("providers", "lock", f"-net-mirror=http://{MIRROR}/mirror/"),),
        works=False,
    ),
    Story("mirror", signed(), commands=(("providers", "mirror", "copy"),)),
    Story(
        "mirror several",
        two_hosts,
        ("acme/other", f"{HOST}/acme/thing"),
        commands=(("providers", "mirror", *(f"-platform={each}" for each in PLATFORMS), "copy"),),
    ),
    Story(
        "mirror of a platform that is missing",
        signed(),
        commands=(("providers", "mirror", "-platform=windows_386", "copy"),),
        works=False,
    ),
    Story(
        "mirror described",
        described,
        OURS,
        commands=(
            ("init",),
            ("providers", "mirror", *(f"-platform={each}" for each in PLATFORMS), "copy"),
        ),
    ),
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.name)
def test_stories(stage: Stage, story: Story) -> None:
    story.publish(stage)
    stage.world.configure(story.settings)
    stage.more = {"TF_PROVIDER_DOWNLOAD_RETRY": "0", **story.environment}
    stage.write(main_file(*story.providers))
    for number, command in enumerate(story.commands):
        status, about = 0 if story.works else 1, f"{number}: {command}"
        alike(stage, *command, status=status, about=about, is_early=story.is_early)


KINDS = {
    "version": (r"OpenTofu 1", r"Nigari 0"),
    "backend": (r"Initializing the backend", r"Initializing the backend"),
    "modules": (r"(Initializing|Upgrading) modules", r"(Initializing|Upgrading) modules"),
    "download of a module": (r"Downloading \S+ .*for ", r"Downloading \S+ .*for "),
    "module": (r"installing \S+ in ", r"installing \S+ (\S+ )?in "),
    "providers": (r"Initializing provider plugins", r"Initializing provider plugins"),
    "locked version": (r"Reusing previous version of", r"Reusing version \S+ of"),
    "versions": (r"Finding \S+ versions matching", r"Finding versions of \S+ that match"),
    "latest version": (r"Finding latest version of", r"Finding the latest version of"),
    "built in": (r"\S+ is built in", r"\S+ is built in"),
    "there": (r"Using previously-installed", r"\S+ v\S+ is already installed"),
    "installation": (r"Installing \S+ v", r"(Downloading|Installing) \S+ v\S+"),
    "installed": (r"Installed \S+ v", r"\S+ v\S+ is installed"),
    "signatures": (r"Providers are signed by", r"Providers are signed by"),
    "lock file": (r"OpenTofu has (created|made some changes)", r"The lock file "),
    "success": (r"OpenTofu has been successfully", r"The working directory is initialized"),
    "next": (r"You may now begin", r"The next step"),
    "error": (r"Error: ", r"Error: "),
    "warning": (r"Warning: ", r"Warning: "),
}
"""How the two programs say the same thing in events."""


def told(text: str, is_ours: bool) -> Counter[tuple[str, ...]]:
    """The events of an init: what is told, how urgently, and of which provider or module."""
    found: Counter[tuple[str, ...]] = Counter()
    for line in text.splitlines():
        if line.startswith("[WARN] Provider "):
            continue  # what `tofu` prints between its events, we have as a diagnostic
        event = json.loads(line)
        message = event["@message"]
        kinds = [kind for kind, both in KINDS.items() if re.match(both[is_ours], message)]
        assert kinds, message
        about = re.search(r"\S*acme/\w+( v\d\S*)?|in \.terraform\S+|for \w+\.\.\.", message)
        if kinds[0] in ("installed", "error", "warning"):
            assert ("diagnostic" in event) is (kinds[0] != "installed")
        subject = about[0] if about and kinds[0] != "locked version" else ""
        found[kinds[0], event["@level"], subject.split(" v")[0]] += 1
    return found


CALLS = f"""
module "a" {{
  source = "{HOST}/ns/name/sys//sub"
}}
module "b" {{
  source = "./local"
}}
"""


def with_modules(publish: Callable[[Stage], object]) -> Callable[[Stage], None]:
    def prepare(stage: Stage) -> None:
        publish(stage)
        stage.host.modules["ns", "name", "sys"] = {"1.0.0": f"https://{HOST}/pkg.zip"}
        stage.host.answers["/pkg.zip"] = Answer(200, zip_of({"sub/main.tf": b""}))
        for name in ("theirs", "ours"):
            (stage.base / name / "local").mkdir()
        stage.write("", "local/main.tf")

    return prepare


def without_modules(stage: Stage) -> None:
    with_modules(signed())(stage)
    stage.host.modules.clear()


BUILT_IN = "terraform.io/builtin/terraform"
INIT = ("init", "-json")
TOLD = [
    Story("all", with_modules(signed()), (f"{HOST}/acme/thing ~> 1.0", BUILT_IN), commands=(INIT,)),
    Story("again", with_modules(signed()), commands=(INIT, INIT, INIT)),
    Story("upgrade", with_modules(signed()), commands=((*INIT, "-upgrade"),) * 2),
    Story("unsigned", with_modules(mirrored), OURS, commands=(INIT,)),
    Story("expired", with_modules(expired), commands=(INIT,)),
    Story("mirror", with_modules(mirrored), settings=network_mirror(), commands=(INIT,)),
    Story("no module", without_modules, works=False, commands=(INIT,)),
    Story(
        "no provider",
        with_modules(signed()),
        (f"{HOST}/acme/none", f"{HOST}/acme/thing"),
        works=False,
        commands=(INIT,),
    ),
    Story(
        "no version",
        with_modules(signed()),
        (f"{HOST}/acme/thing > 1.0",),
        works=False,
        commands=(INIT,),
    ),
    Story(
        "wrong checksum",
        with_modules(signed(sums=b"0" * 64 + b"  " + ZIP.encode() + b"\n")),
        works=False,
        commands=(INIT,),
    ),
]


@pytest.mark.parametrize("story", TOLD, ids=lambda story: story.name)
def test_events(stage: Stage, story: Story) -> None:
    """The same kinds of events about the same things, however they are worded."""
    cache = str(stage.base / "packages")
    stage.more = {"TF_PROVIDER_DOWNLOAD_RETRY": "0", "NIGARI_CACHE_DIR": cache}
    story.publish(stage)
    stage.world.configure(story.settings)
    stage.write(main_file(*story.providers) + CALLS)
    for command in story.commands:
        theirs, ours = alike(stage, *command, status=0 if story.works else 1)
        mine, other = told(ours.text, True), told(theirs.text, False)
        # Modules are found before the backend is opened: what is wrong with one stops the other.
        for kind in ("backend", "providers"):
            del mine[kind, "info", ""], other[kind, "info", ""]
        if story.name == "expired":
            assert mine.pop(("warning", "warn", "")) == 1
        if not story.works:
            # Who fails leaves nothing, and does not say otherwise.
            undone = ("module", "installed", "signatures")
            other = Counter({key: n for key, n in other.items() if key[0] not in undone})
            mine = Counter({key: n for key, n in mine.items() if key[0] not in undone})
        assert mine == other, f"{mine - other}\n{other - mine}\n{ours.text}"


def test_a_shared_cache(stage: Stage) -> None:
    signed()(stage)
    stage.write(main_file(f"{HOST}/acme/thing"))
    for name in ("theirs", "ours"):
        (stage.base / f"cache-{name}").mkdir()
    stage.more = {"TF_PLUGIN_CACHE_DIR": f"{stage.base}/cache-WHO"}
    theirs, ours = stage.run("init")
    assert (ours.status, ours.lock) == (theirs.status, theirs.lock) == (0, theirs.lock)
    caches = [files_in(stage.base / f"cache-{name}") for name in ("theirs", "ours")]
    assert caches[0] == caches[1]
    # What the lock file vouches for is not downloaded again.
    for name in ("theirs", "ours"):
        os.rename(stage.base / name / ".terraform", stage.base / f"old-{name}")
    theirs, ours = stage.run("init")
    assert (ours.status, ours.requests) == (theirs.status, theirs.requests) == (0, [])


def test_content_that_changed_under_a_locked_version(stage: Stage) -> None:
    signed()(stage)
    stage.write(main_file(f"{HOST}/acme/thing"))
    alike(stage, "init", status=0)
    stage.host.publish("acme", "thing", "1.0.0", _KEY, PLATFORMS, b"changed")
    for name in ("theirs", "ours"):
        os.rename(stage.base / name / ".terraform", stage.base / f"old-{name}")
    alike(stage, "init", status=1)


def test_a_read_only_lock_file(stage: Stage) -> None:
    signed()(stage)
    stage.write(main_file(f"{HOST}/acme/thing"))
    alike(stage, "init", "-lockfile=readonly", status=1)
    alike(stage, "init", status=0)
    alike(stage, "init", "-lockfile=readonly", status=0)
    lock = (stage.base / "ours" / ".terraform.lock.hcl").read_text()
    short = "\n".join(line for line in lock.splitlines() if '"zh:' not in line) + "\n"
    stage.write(short, ".terraform.lock.hcl")
    for name in ("theirs", "ours"):
        os.rename(stage.base / name / ".terraform", stage.base / f"old-{name}")
    alike(stage, "init", "-lockfile=readonly", status=0)
    theirs, ours = stage.run("init", "-upgrade", "-lockfile=readonly")
    assert [bool(theirs.status), bool(ours.status)] == [True, True]
    assert theirs.requests == ours.requests == []


def test_locks_that_terraform_wrote(stage: Stage) -> None:
    for version in ("1.0.0", "2.0.0"):
        stage.default.publish("hashicorp", "thing", version, _KEY, PLATFORMS)
    stage.write(main_file("hashicorp/thing"))
    stage.write(
        'provider "registry.terraform.io/hashicorp/thing" {\n  version = "1.0.0"\n'
        '  hashes = [\n    "h1:x=",\n  ]\n}\n',
        ".terraform.lock.hcl",
    )
    _, ours = alike(stage, "init", status=0)
    assert '"1.0.0"' in ours.lock


def test_each_others_directories(stage: Stage) -> None:
    signed()(stage)
    stage.write(main_file(f"{HOST}/acme/thing"))
    alike(stage, "init", status=0)
    os.rename(stage.base / "ours", stage.base / "swap")
    os.rename(stage.base / "theirs", stage.base / "ours")
    os.rename(stage.base / "swap", stage.base / "theirs")
    theirs, ours = alike(stage, "init", status=0)
    assert ours.requests == []
    assert len(theirs.requests) <= 2


def test_a_mirror_need_not_have_what_the_registry_has(stage: Stage) -> None:
    """OpenTofu asks a mirror for the package of a version that only the registry has listed."""
    signed()(stage)
    stage.mirror.mirrored.clear()
    stage.write(main_file(f"{HOST}/acme/thing"))
    stage.world.configure(network_mirror().replace("  }\n}\n", "  }\n  direct {\n  }\n}\n"))
    theirs, ours = stage.run("init")
    assert (theirs.status, ours.status) == (1, 0)


def test_a_mirror_keeps_to_the_lock_file(stage: Stage) -> None:
    several("1.0.0", "2.0.0")(stage)
    stage.default.publish("acme", "other", "1.0.0", _KEY, PLATFORMS)
    stage.write(main_file(f"{HOST}/acme/thing 1.0.0"))
    alike(stage, "init", status=0)
    stage.write(main_file(f"{HOST}/acme/thing"))
    alike(stage, "providers", "mirror", "copy", status=0)
    stage.write(main_file(f"{HOST}/acme/thing", "acme/other"))
    alike(stage, "providers", "mirror", "second", status=1)
