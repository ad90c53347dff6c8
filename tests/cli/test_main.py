"""The shell of the program: global options, help, exit codes, and what happens when it breaks."""

import json
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pytest

from nigari.cli.args import parse
from nigari.cli.main import COMMANDS, load, main
from nigari.version import OPENTOFU_VERSION, VERSION
from tests.cli.process import command, environment, inside, nigari


@pytest.mark.parametrize("args", [["version"], ["-version"], ["--version"], ["-v"]])
def test_version(args: list[str]) -> None:
    done = nigari(*args)
    assert (done.code, done.err) == (0, "")
    assert f"v{VERSION}" in done.out
    assert f"OpenTofu v{OPENTOFU_VERSION}" in done.out


def test_version_for_programs() -> None:
    document = json.loads(inside("version", "-json").out)
    assert document["terraform_version"] == OPENTOFU_VERSION
    assert document["nigari_version"] == VERSION
    assert document["provider_selections"] == {}


@pytest.mark.parametrize(
    ("args", "code", "out", "err"),
    [
        ([], 127, "Usage: nigari", ""),
        (["-help"], 0, "Usage: nigari", ""),
        (["help"], 0, "Usage: nigari", ""),
        (["-help", "version"], 0, "Usage: nigari version", ""),
        (["help", "version"], 0, "Usage: nigari version", ""),
        (["version", "-help"], 0, "Usage: nigari version", ""),
        (["versoin"], 1, "", 'Did you mean "version"?'),
        (["qwertyuiop"], 1, "", 'no command "qwertyuiop"'),
        (["-nonsense"], 127, "Usage: nigari", "no option -nonsense"),
        (["-nonsense", "version"], 1, "Usage: nigari version", "no option -nonsense"),
        (["version", "-jsno"], 1, "", "Did you mean -json?"),
        (["version", "x"], 0, "Nigari", ""),
        (["plan", "x"], 1, "", "takes no arguments"),
        (["plan", "-version"], 0, "Nigari", ""),
        (["--version"], 0, "Nigari", ""),
        (["vers"], 1, "", 'no command "vers"'),
        (["test"], 0, "Success! 0 passed, 0 failed.", ""),
        (["test", "-parallelism=0"], 1, "", "a number greater than 0"),
        (["test", "-filter=a.tftest.hcl"], 1, "", "Test file not found"),
        (["logout", "a", "b"], 1, "", "takes at most 1 argument"),
        (["eval"], 1, "", "needs an expression"),
        (["explain"], 1, "", "needs something to explain"),
        (["config"], 1, "", "one of the options -json and -plain"),
        (["state", "lis"], 1, "Usage: nigari state", 'no command "state lis"'),
        (["plan", "-json", "-json-into=f"], 1, "cannot be used together", ""),
        (["-chdir", "version"], 1, "", "-chdir=DIR"),
        (["-chdir=/no/such/place", "version"], 1, "", "Cannot work in /no/such/place"),
    ],
)
def test_exit_codes(args: list[str], code: int, out: str, err: str) -> None:
    done = inside(*args)
    assert done.code == code
    assert out in done.out
    assert err in done.err
    assert bool(out) == bool(done.out)
    assert bool(err) == bool(done.err)


@pytest.mark.parametrize(
    "args",
    [
        ["plan", "-json", "-nonsense"],
        ["plan", "-json=true", "x"],
        ["apply", "-json", "-destroy", "-refresh-only"],
        ["state", "replace-provider", "-json", "a/b", "a/c"],
    ],
)
def test_programs_are_told_of_a_wrong_command_line(args: list[str]) -> None:
    done = inside(*args)
    assert (done.code, done.err) == (1, "")
    version, refusal = [json.loads(line) for line in done.out.splitlines()]
    assert version["type"] == "version"
    assert refusal["diagnostic"]["summary"] == "Invalid command line"


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_are_command_lines(name: str) -> None:
    found, start = load(name), ["nigari", *name.split()]
    for example in found.examples:
        parts: list[list[str]] = [[]]
        for word in shlex.split(example.command):
            if word in ("|", ">"):
                parts.append([])
            else:
                parts[-1].append(word)
        (own,) = [part for part in parts if part[: len(start)] == start]
        parse(found, own[len(start) :])


def test_who_else_gives_arguments_is_told() -> None:
    done = nigari("state", "list", settings={"TF_CLI_ARGS_state_list": "-nonsense"})
    assert done.code == 1
    assert "no option -nonsense" in done.err
    assert "the environment variable TF_CLI_ARGS_state_list." in done.err


def test_a_document_is_no_place_for_events() -> None:
    done = inside("output", "-json", "-nonsense")
    assert (done.code, done.out) == (1, "")
    assert "no option -nonsense" in done.err


@pytest.mark.parametrize("name", COMMANDS)
def test_help_after_arguments(name: str) -> None:
    done = inside(*name.split(), "x", "y", "-help")
    assert (done.code, done.out.split()[:2]) == (0, ["Usage:", "nigari"]), done.err


def test_every_command_has_help() -> None:
    for name in COMMANDS:
        done = load(name)
        assert done.name == name
        assert done.description.endswith(".")
        assert done.examples
        for flag in done.flags:
            assert flag.help
            assert not flag.help.endswith(".")


def test_chdir(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.txt").write_text("here")
    done = nigari("-chdir=inner", "console", cwd=tmp_path, stdin='file("a.txt")')
    assert (done.code, done.out) == (0, '"here"\n')


@pytest.mark.parametrize(
    ("settings", "args"),
    [
        ({"TF_CLI_ARGS": "-json"}, []),
        ({"TF_CLI_ARGS_version": "'-json'"}, []),
        # what is typed counts more than the environment, and that in general more than for one
        ({"TF_CLI_ARGS": "-json=false"}, ["-json"]),
        ({"TF_CLI_ARGS": "-json", "TF_CLI_ARGS_version": "-json=false"}, []),
    ],
)
def test_arguments_from_the_environment(settings: dict[str, str], args: list[str]) -> None:
    json.loads(inside("version", *args, settings=settings).out)


def test_arguments_from_the_environment_that_make_no_sense() -> None:
    done = inside("version", settings={"TF_CLI_ARGS": "'a"})
    assert done.code == 1
    assert "TF_CLI_ARGS" in done.err


def test_arguments_of_other_commands_do_not_count() -> None:
    assert inside("version", settings={"TF_CLI_ARGS_plan": "-nonsense"}).code == 0


def test_a_bug_is_admitted_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise ValueError("the secret is s3cret")

    for name in ("NIGARI_DEBUG", "TF_LOG", "COMP_LINE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(load("version"), "run", fail)
    assert main(["version"]) == 11
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert "s3cret" not in err
    assert "ValueError" in err
    assert VERSION in err
    monkeypatch.setenv("NIGARI_DEBUG", "1")
    assert main(["version"]) == 11
    assert "s3cret" in capsys.readouterr().err


def test_output_is_utf8_whatever_the_locale() -> None:
    settings = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "latin-1"}
    done = nigari("console", stdin='"é\\n日本"', settings=settings)
    assert (done.code, done.out) == (0, "<<EOT\né\n日本\nEOT\n")


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    typed = tmp_path / "typed"
    typed.write_text("".join(f'"{"x" * 500}{number}"\n' for number in range(2000)))
    with (
        typed.open() as given,
        subprocess.Popen(
            command("console"),
            env=environment(),
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1000)
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == (b"", 1)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_no_room_for_the_output() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command("version"),
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr.count("No space left")) == (1, 1)


def test_missing_streams() -> None:
    line = shlex.join(command("version")) + " >&- 2>&- <&-"
    assert subprocess.run(["sh", "-c", line], env=environment(), check=False).returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_interruption() -> None:
    process = subprocess.Popen(
        command("console"),
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(b"1\n")
    process.stdin.flush()
    assert process.stdout.readline() == b"1\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert err == b"\nInterrupted.\n"


def test_a_working_directory_that_was_deleted(tmp_path: Path) -> None:
    gone = shlex.quote(str(tmp_path / "gone"))
    line = f"mkdir {gone} && cd {gone} && rmdir {gone} && {shlex.join(command('validate'))}"
    done = subprocess.run(
        ["sh", "-c", line], env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "The working directory cannot be used: No such file or directory." in done.stderr
