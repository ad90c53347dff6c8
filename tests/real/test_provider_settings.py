"""Settings for providers: where both programs look for them, and what they make of them.

Files of the CLI configuration and how they are merged, several mirrors, the shared cache and its
locks, and `providers lock` with its sources.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nigari.packages.content.platforms import current_platform
from nigari.packages.providers.checksums import matching
from tests.net_world.server import Answer, Asked, Handler, Script, Server, json_answer
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

THING = f"{HOST}/acme/thing"
TOKEN = f'credentials "{HOST}" {{\n  token = "s3cret"\n}}\n'
WRONG = TOKEN.replace("s3cret", "no")


def forget(stage: Stage) -> None:
    """Remove what is installed."""
    for name in ("theirs", "ours"):
        shutil.rmtree(stage.base / name / ".terraform", ignore_errors=True)


# -- files of the CLI configuration ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "environ", "works"),
    [
        ({".tofurc": TOKEN}, {}, True),
        ({".terraformrc": TOKEN}, {}, True),
        ({".tofurc": "", ".terraformrc": TOKEN}, {}, False),
        ({".config/opentofu/tofurc": TOKEN}, {"XDG_CONFIG_HOME": "HOME/.config"}, True),
        ({".config/opentofu/tofurc": TOKEN}, {}, False),
        ({".terraform.d/x.tfrc": TOKEN}, {}, True),
        (
            {".terraform.d/x.tfrc.json": json.dumps({"credentials": {HOST: {"token": "s3cret"}}})},
            {},
            True,
        ),
        ({".terraform.d/x.tf": TOKEN}, {}, False),
        ({".tofurc": WRONG, ".terraform.d/x.tfrc": TOKEN}, {}, True),
        ({".tofurc": TOKEN, ".terraform.d/x.tfrc": WRONG}, {}, False),
        ({".config/opentofu/x.tfrc": TOKEN}, {"XDG_CONFIG_HOME": "HOME/.config"}, True),
        (
            {".terraform.d/y": "", ".config/opentofu/x.tfrc": TOKEN},
            {"XDG_CONFIG_HOME": "HOME/.config"},
            False,
        ),
        ({"mine": TOKEN}, {"TF_CLI_CONFIG_FILE": "HOME/mine"}, True),
        ({"mine": TOKEN}, {"TERRAFORM_CONFIG": "HOME/mine"}, True),
        (
            {"mine": TOKEN, "other": ""},
            {"TF_CLI_CONFIG_FILE": "HOME/other", "TERRAFORM_CONFIG": "HOME/mine"},
            False,
        ),
        (
            {"mine": "", ".terraform.d/x.tfrc": TOKEN},
            {"TF_CLI_CONFIG_FILE": "HOME/mine"},
            False,
        ),
        ({".tofurc": TOKEN}, {"TF_CLI_CONFIG_FILE": "HOME/missing"}, False),
        ({".tofurc": f'{TOKEN}disable_checkpoint = true\nwhatever = "x"\n'}, {}, True),
    ],
)
def test_files(stage: Stage, files: dict[str, str], environ: dict[str, str], works: bool) -> None:
    signed()(stage)
    stage.host.token = "s3cret"
    home = stage.world.home
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    stage.more = {name: value.replace("HOME", str(home)) for name, value in environ.items()}
    stage.write(main_file(THING))
    alike(stage, "init", status=0 if works else 1)


# -- mirrors ---------------------------------------------------------------------------------------


def test_several_templates(stage: Stage) -> None:
    """Each mirror has a part of the providers, and a template needs only what is not fixed."""
    in_oci()(stage)
    archives = unsigned(stage).archives
    stage.oci.repository("public/thing").publish_provider("3.0.0", archives)
    stage.world.configure(
        "provider_installation {\n"
        f'  oci_mirror {{\n    repository_template = "{OCI}/copies/${{hostname}}/${{namespace}}/'
        f'${{type}}"\n    include = ["{HOST}/*/*"]\n  }}\n'
        f'  oci_mirror {{\n    repository_template = "{OCI}/public/${{type}}"\n'
        '    include = ["acme/*"]\n  }\n}\n'
    )
    stage.write(main_file(THING).replace("thing = {", "first = {", 1))
    alike(stage, "init", status=0)
    stage.write(main_file("acme/thing"))
    alike(stage, "init", status=0)


@pytest.mark.parametrize(
    ("template", "include", "works"),
    [
        ("copies/${type}", "", False),
        ("copies/${nope}", "", False),
        ("copies/${hostname}/${namespace}/${type}", "", True),
        (f"copies/{HOST}/acme/${{type}}", f'include = ["{HOST}/acme/*"]', True),
        (f"copies/{HOST}/acme/thing", f'include = ["{HOST}/acme/thing"]', True),
        (f"copies/{HOST}/acme/thing", f'include = ["{HOST}/acme/*"]', False),
        ("Copies/${hostname}/${namespace}/${type}", "", False),
    ],
)
def test_templates(stage: Stage, template: str, include: str, works: bool) -> None:
    in_oci()(stage)
    stage.world.configure(
        f'provider_installation {{\n  oci_mirror {{\n    repository_template = "{OCI}/{template}"\n'
        f"    {include}\n  }}\n}}\n"
    )
    stage.write(main_file(THING))
    theirs, ours = stage.run("init")
    about = f"{theirs.text}\n---\n{ours.text}"
    # Mistakes in settings are told by both; `tofu` then does without the settings.
    assert ours.status == (0 if works else 1), about
    if works:
        assert (theirs.status, theirs.lock) == (0, ours.lock), about
    else:
        assert "template" in theirs.text + ours.text, about


@pytest.mark.parametrize("is_special", [True, False])
def test_an_oci_package_for_one_version_of_a_system(stage: Stage, is_special: bool) -> None:
    archives = signed()(stage).archives
    repository = stage.oci.repository(f"copies/{HOST}/acme/thing")
    repository.publish_provider("0.9.0", archives)
    listed = json.loads(repository.manifests[repository.tags["0.9.0"]][1])["manifests"]
    special = [{**each, "platform": {**each["platform"], "os.version": "10"}} for each in listed]
    repository.publish_provider(
        "1.0.0", archives, manifests=special if is_special else [*special, *listed]
    )
    stage.world.configure(oci_mirror())
    stage.write(main_file(f"{THING} 1.0.0"))
    alike(stage, "init", status=1 if is_special else 0)


def test_a_mirror_without_this_platform(stage: Stage) -> None:
    stage.host.publish("acme", "thing", "1.0.0", _KEY, ["plan9_arm"])
    stage.world.configure(network_mirror())
    stage.write(main_file(THING))
    _, ours = alike(stage, "init", status=1)
    assert current_platform() in ours.text


@pytest.mark.parametrize(
    ("hashes", "works"),
    [([], True), (["zh:RIGHT"], True), (["zh:" + "0" * 64], False), (["x1:abc"], False)],
)
def test_checksums_of_a_mirror(stage: Stage, hashes: list[str], works: bool) -> None:
    mirrored(stage)
    release = stage.host.providers["acme", "thing"]["1.0.0"]
    right = release.digest(current_platform())
    archive = {
        "url": release.name(current_platform()),
        "hashes": [each.replace("RIGHT", right) for each in hashes],
    }
    path = f"/mirror/{HOST}/acme/thing/1.0.0.json"
    stage.mirror.answers[path] = json_answer({"archives": {current_platform(): archive}})
    stage.world.configure(network_mirror())
    stage.write(main_file(THING))
    alike(stage, "init", status=0 if works else 1)


def test_a_mirror_with_credentials(stage: Stage) -> None:
    mirrored(stage)
    stage.mirror.token = "s3cret"
    archive = f"/mirror/{HOST}/acme/thing/{ZIP}"
    stage.mirror.answers[archive] = Answer(
        200, stage.host.providers["acme", "thing"]["1.0.0"].archives[current_platform()]
    )
    stage.world.configure(network_mirror())
    stage.write(main_file(THING))
    alike(stage, "init", status=1)
    stage.more = {"TF_TOKEN_mirror_example_com": "s3cret"}
    alike(stage, "init", status=0)


@pytest.mark.parametrize(
    ("methods", "works"),
    [
        ('direct {\n    include = ["*/*/*"]\n  }', True),
        (f'direct {{\n    include = ["{HOST}/*/*"]\n  }}', True),
        (f'direct {{\n    include = ["{HOST}/acme/*"]\n  }}', True),
        (f'direct {{\n    include = ["{THING}"]\n  }}', True),
        ('direct {\n    include = ["acme/thing"]\n  }', False),
        ('direct {\n    include = ["*/*"]\n  }', False),
        (f'direct {{\n    include = ["{HOST}/other/*"]\n  }}', False),
        (f'direct {{\n    include = ["{THING}"]\n    exclude = ["{HOST}/acme/*"]\n  }}', False),
        (f'direct {{\n    exclude = ["{HOST}/other/*", "acme/thing"]\n  }}', True),
        (f'direct {{\n    exclude = ["{THING}"]\n  }}\n  direct {{\n  }}', True),
        (
            (
                f'network_mirror {{\n    url = "https://{MIRROR}/mirror/"\n    exclude = ["{THING}"]\n'
                "  }\n  direct {\n  }"
            ),
            True,
        ),
    ],
)
def test_methods_for_some_providers(stage: Stage, methods: str, works: bool) -> None:
    signed()(stage)
    stage.world.configure(f"provider_installation {{\n  {methods}\n}}\n")
    stage.write(main_file(THING))
    alike(stage, "init", status=0 if works else 1)


@pytest.mark.parametrize(
    ("method", "environ", "times", "works"),
    [
        ("direct {\n  }", {}, 2, True),
        ("direct {\n  }", {"TF_PROVIDER_DOWNLOAD_RETRY": "1"}, 2, False),
        ("direct {\n    download_retry_count = 1\n  }", {}, 1, True),
        ("direct {\n    download_retry_count = 1\n  }", {}, 2, False),
        (
            (
                f'network_mirror {{\n    url = "https://{MIRROR}/mirror/"\n'
                "    download_retry_count = 1\n  }"
            ),
            {},
            2,
            False,
        ),
    ],
)
def test_patience_with_downloads(
    stage: Stage, method: str, environ: dict[str, str], times: int, works: bool
) -> None:
    """A package that does not come so many times."""
    signed()(stage)
    for host in (HOST, MIRROR):
        server = stage.world.servers[host]
        server.handler = _failing(server, times)
    stage.more = environ
    stage.world.configure(f"provider_installation {{\n  {method}\n}}\n")
    stage.write(main_file(THING))
    alike(stage, "init", status=0 if works else 1)


def _failing(server: Server, times: int) -> Handler:
    usual = server.handler

    def handle(asked: Asked) -> Answer | Script:
        # The log is emptied between the programs.
        often = sum(each.path == asked.path for each in server.log)
        is_late = asked.path.endswith(".zip") and often <= times
        return Answer(503, b"", {"retry-after": "1"}) if is_late else usual(asked)

    return handle


# -- versions --------------------------------------------------------------------------------------


def test_warnings_of_a_registry(stage: Stage) -> None:
    signed()(stage)
    stage.host.warnings["acme", "thing"] = ["use another one"]
    stage.write(main_file(THING))
    theirs, ours = alike(stage, "init", status=0)
    assert "use another one" in theirs.text
    assert "use another one" in ours.text


@pytest.mark.parametrize(
    ("source", "works"),
    [
        ("terraform.io/builtin/terraform", True),
        ("terraform.io/builtin/terraform 1.0.0", False),
        ("terraform.io/builtin/nope", False),
    ],
)
def test_built_in(stage: Stage, source: str, works: bool) -> None:
    stage.write(main_file(source))
    alike(stage, "init", status=0 if works else 1)


def test_versions_that_are_gone(stage: Stage) -> None:
    several("1.0.0", "1.1.0")(stage)
    stage.write(main_file(f"{THING} 1.0.0"))
    alike(stage, "init", status=0)
    del stage.host.providers["acme", "thing"]["1.0.0"]
    stage.write(main_file(THING))
    forget(stage)
    alike(stage, "init", status=1)
    alike(stage, "init", "-upgrade", status=0)


def test_a_changed_constraint(stage: Stage) -> None:
    several("1.0.0", "1.1.0")(stage)
    stage.write(main_file(f"{THING} 1.0.0"))
    alike(stage, "init", status=0)
    stage.write(main_file(f"{THING} > 1.0.0"))
    alike(stage, "init", status=1)
    alike(stage, "init", "-upgrade", status=0)


def test_a_version_that_is_none(stage: Stage) -> None:
    several("0.0.0")(stage)
    stage.write(main_file(THING))
    alike(stage, "init", status=1)


def test_checksums_of_packed_files_for_unpacked_ones(stage: Stage) -> None:
    """They say nothing about files that are unpacked already."""
    signed()(stage)
    stage.write(main_file(THING))
    alike(stage, "init", status=0)
    lock = (stage.base / "ours" / ".terraform.lock.hcl").read_text()
    packed = "".join(line for line in lock.splitlines(True) if '"h1:' not in line)
    for name in ("theirs", "ours"):
        base = stage.base / name
        (base / ".terraform/providers").rename(base / "unpacked")
        (base / ".terraform.lock.hcl").write_text(packed)
    forget(stage)
    alike(stage, "init", "-plugin-dir=unpacked", status=0)
    for name in ("theirs", "ours"):
        directory = stage.base / name / "unpacked" / THING / "1.0.0" / current_platform()
        (directory / "LICENSE").write_text("changed")
    forget(stage)
    alike(stage, "init", "-plugin-dir=unpacked", status=1)


def test_entries_that_nobody_needs_go(stage: Stage) -> None:
    signed()(stage)
    unsigned(stage)
    stage.write(main_file(THING, "acme/other").replace("acme/other", "acme/thing"))
    alike(stage, "init", status=0)
    stage.write(main_file("acme/thing"))
    _, ours = alike(stage, "init", status=0)
    assert HOST not in ours.lock


# -- the shared cache ------------------------------------------------------------------------------


def test_a_cache_that_is_not_there(stage: Stage) -> None:
    signed()(stage)
    stage.write(main_file(THING))
    stage.more = {"TF_PLUGIN_CACHE_DIR": f"{stage.base}/none"}
    alike(stage, "init", status=0)


@pytest.mark.parametrize("value", ["", "0", "1", "yes"])
def test_a_cache_that_may_break_the_lock_file(stage: Stage, value: str) -> None:
    signed()(stage)
    stage.write(main_file(THING))
    for name in ("theirs", "ours"):
        (stage.base / f"cache-{name}").mkdir()
    stage.more = {
        "TF_PLUGIN_CACHE_DIR": f"{stage.base}/cache-WHO",
        "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE": value,
    }
    assert [each.status for each in stage.run("init")] == [0, 0]
    forget(stage)
    for name in ("theirs", "ours"):
        (stage.base / name / ".terraform.lock.hcl").unlink()
    theirs, ours = stage.run("init")
    about = f"{theirs.text}\n---\n{ours.text}"
    assert (ours.status, ours.lock) == (theirs.status, theirs.lock) == (0, theirs.lock), about
    downloads = [any(".zip" in each for each in done.requests) for done in (theirs, ours)]
    assert downloads[0] == downloads[1] == (value in ("", "0")), about


@contextlib.contextmanager
def held(path: Path, seconds: float) -> Iterator[None]:
    """Lock a file for some time, as another program would."""
    path.parent.mkdir(parents=True, exist_ok=True)
    script = (
        "import fcntl, sys, time\n"
        "file = open(sys.argv[1], 'w')\n"
        "fcntl.lockf(file, fcntl.LOCK_EX)\n"
        "print('locked', flush=True)\n"
        "time.sleep(float(sys.argv[2]))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, path, str(seconds)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield


@pytest.mark.parametrize("seconds", [1.0, 8.0])
def test_waiting_for_another_program(stage: Stage, seconds: float) -> None:
    """Who waits for more than five seconds is told why."""
    signed()(stage)
    stage.write(main_file(THING))
    cache = stage.base / "cache"
    cache.mkdir()
    stage.more = {"TF_PLUGIN_CACHE_DIR": str(cache)}
    lock = cache / HOST / "acme/thing/1.0.0" / f"{current_platform()}.lock"
    told = {}
    for name in ("theirs", "ours"):
        with held(lock, seconds):
            begin = time.monotonic()
            done = stage.run_as(name, "init")
            assert done.status == 0, done.text
            assert time.monotonic() - begin > seconds - 0.5
        told[name] = [line for line in done.text.splitlines() if "ait" in line]
        shutil.rmtree(cache / HOST)
    assert bool(told["ours"]) is bool(told["theirs"]) is (seconds > 5), told


# -- providers lock and mirror ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "works"),
    [
        (("-platform=plan9_arm",), True),
        ((f"-platform={current_platform()}", "-platform=plan9_arm", THING), True),
        (("-platform=windows_386",), False),
        (("-platform=nope",), False),
        ((f"{HOST}/acme/other",), False),
        (("acme",), False),
        (("a/b/c/d",), False),
        (("-fs-mirror=copy",), True),
        (("-fs-mirror=copy", "-platform=plan9_arm"), True),
        (("-fs-mirror=none",), False),
        (("-fs-mirror=copy", f"-net-mirror=https://{MIRROR}/mirror/"), False),
        ((f"-net-mirror=https://{MIRROR}/mirror/",), True),
        ((f"-net-mirror=https://{MIRROR}/nowhere/",), False),
        (("-net-mirror=nope",), False),
    ],
)
def test_locking(stage: Stage, options: tuple[str, ...], works: bool) -> None:
    signed()(stage)
    stage.write(main_file(THING))
    platforms = [f"-platform={each}" for each in PLATFORMS]
    alike(stage, "providers", "mirror", *platforms, "copy", status=0)
    alike(stage, "providers", "lock", *options, status=0 if works else 1)


@pytest.mark.parametrize(
    ("template", "works"),
    [
        (f"{OCI}/copies/{{hostname}}/{{namespace}}/{{type}}", True),
        (f"{OCI}/copies/{HOST}/acme/{{type}}", True),
        (f"{OCI}/copies/{HOST}/acme/thing", True),
        (f"{OCI}/nowhere/{{hostname}}/{{namespace}}/{{type}}", False),
        (f"{OCI}/copies/${{hostname}}/${{namespace}}/${{type}}", False),
        (f"{OCI}/copies/{{+hostname}}", False),
        (f"{OCI}/copies/{{hostname,type}}", False),
        (f"{OCI}/copies/{{hostname", False),
        (f"{OCI}/copies/{{}}", False),
        (f"{OCI}/copies/%zz", False),
        ("{hostname}", False),
    ],
)
def test_locking_from_oci(stage: Stage, template: str, works: bool) -> None:
    """`-oci-mirror` of OpenTofu 1.13."""
    stage.peer = "tofu-1.13"
    in_oci()(stage)
    stage.write(main_file(THING))
    platforms = [f"-platform={each}" for each in PLATFORMS]
    theirs, ours = stage.run("providers", "lock", f"-oci-mirror={template}", *platforms)
    both = f"{theirs.text}\n--- ours\n{ours.text}"
    assert theirs.status == ours.status == (0 if works else 1), both
    assert ours.lock == theirs.lock, both
    # OpenTofu 1.13 asks each repository how to log in, where 1.12 and we ask the registry.
    pinged = [each for each in ours.requests if not each.endswith(f"{OCI}/v2/")]
    assert not works or set(pinged) <= set(theirs.requests), both


def test_locking_from_two_mirrors(stage: Stage) -> None:
    stage.peer = "tofu-1.13"
    stage.write(main_file(THING))
    alike(stage, "providers", "lock", "-oci-mirror=x.example.com/a", "-fs-mirror=x", status=1)


def test_locking_again(stage: Stage) -> None:
    several("1.0.0", "1.1.0")(stage)
    stage.write(main_file(f"{THING} 1.0.0"))
    alike(stage, "providers", "lock", "-platform=plan9_arm", status=0)
    stage.write(main_file(THING))
    alike(stage, "providers", "lock", status=0)
    stage.write(main_file(f"{THING} 1.1.0"))
    alike(stage, "providers", "lock", status=1)
    alike(stage, "init", "-upgrade", status=0)


def test_mirroring_again(stage: Stage) -> None:
    """`tofu` writes the checksums of the new version for those that were there before, too."""
    several("1.0.0", "1.1.0")(stage)
    stage.write(main_file(f"{THING} 1.0.0"))
    alike(stage, "providers", "mirror", "copy", status=0)
    stage.write(main_file(f"{THING} 1.1.0"))
    alike(stage, "providers", "mirror", "-platform=plan9_arm", "copy", status=0)
    theirs, ours = stage.run("providers", "mirror", "copy")
    older = f"copy/{THING}/1.0.0.json"
    assert [key for key in ours.files if ours.files[key] != theirs.files.get(key)] == [older]
    for name, works in (("theirs", False), ("ours", True)):
        document = json.loads((stage.base / name / older).read_text())
        checksums = document["archives"][current_platform()]["hashes"]
        assert bool(matching(stage.base / name / "copy" / THING / ZIP, checksums)) is works


def test_a_mirror_of_descriptions(stage: Stage) -> None:
    described(stage)
    stage.write(main_file("acme/thing"))
    alike(stage, "providers", "mirror", "-platform=plan9_arm", "copy", status=0)


def test_a_lock_file_with_conflicts(stage: Stage) -> None:
    signed()(stage)
    stage.write(main_file(THING))
    alike(stage, "init", status=0)
    lock = (stage.base / "ours" / ".terraform.lock.hcl").read_text()
    for text in (
        f"<<<<<<< ours\n{lock}=======\n>>>>>>> theirs\n",
        lock.replace('"1.0.0"', '"1.0"'),
        lock.replace("hashes = [", "hashes = {"),
        lock + lock[lock.index("provider ") :],
        lock.replace(f'"{THING}"', '"acme"'),
    ):
        stage.write(text, ".terraform.lock.hcl")
        alike(stage, "init", status=1, about=text)
