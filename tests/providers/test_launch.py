"""Plugins that fail in every way there is: one clear diagnostic, no process left, no hanging."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from nigari import cty
from nigari.providers import api
from nigari.providers.client import PluginProvider
from nigari.providers.handshake import PluginAddress
from nigari.providers.launch import Reattach, attach, launch, parse_reattach
from nigari.providers.start import LaunchError
from nigari.schema.block import Attribute, Block
from nigari.schema.provider import ProviderSchema, Schema
from tests.providers.launching import environment, script

SERVED = """
    import os, signal, sys, time
    from dataclasses import dataclass
    from nigari.providers.python import Computed, Provider

    provider = Provider("demo")

    @provider.resource("thing")
    @dataclass
    class Thing:
        mode: str
        pid: Computed[int] = 0

        def create(self, config):
            if self.mode == "crash":
                print("about to crash", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGSEGV)
            if self.mode == "exit":
                print("panic: no more", file=sys.stderr, flush=True)
                os._exit(3)
            if self.mode == "hang":
                time.sleep(600)
            if self.mode == "print":
                print("words on the wrong output", flush=True)
            self.pid = os.getpid()

        def delete(self, config):
            pass

    provider.serve()
"""


def shell(text: str) -> list[str]:
    return ["/bin/sh", "-c", text]


def launch_failure(command: list[str], within: float = 10) -> api.ProviderDiagnostic:
    async def run() -> api.ProviderDiagnostic:
        with pytest.raises(LaunchError) as caught:
            await launch(command, "demo", environment(), within)
        return caught.value.diagnostic

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("command", "part"),
    [
        (["/nonexistent/program"], "does not exist or is not executable"),
        (shell("echo hello"), "'hello' instead of its connection details"),
        (shell("head -c 300000 /dev/zero"), "line without end"),
        (shell("echo why >&2; exit 7"), "exited with status 7 before it printed anything"),
        (shell("kill -SEGV $$"), "was killed by SIGSEGV before"),
        (shell("exec 1>&-; sleep 60"), "closed its output"),
        (shell("echo '1|4|unix|/x|grpc|'"), "protocol '4'"),
        (shell("echo '1|6|unix|/x|netrpc|'"), "gRPC"),
    ],
)
def test_a_plugin_that_does_not_start(command: list[str], part: str) -> None:
    diagnostic = launch_failure(command)
    assert part in diagnostic.detail
    assert diagnostic.about_provider


def test_the_end_of_the_log_is_shown() -> None:
    assert "The end of its log:\nwhy" in launch_failure(shell("echo why >&2; exit 7")).detail


@pytest.mark.parametrize(
    "text", ["printf why >&2; exec 1>&-; sleep 60", "printf why >&2; echo rubbish; sleep 60"]
)
def test_a_line_that_the_plugin_has_not_finished_is_shown(text: str) -> None:
    assert "The end of its log:\nwhy" in launch_failure(shell(text)).detail


def test_a_start_that_never_ends_is_given_up() -> None:
    begun = time.monotonic()
    diagnostic = launch_failure(shell("echo starting >&2; sleep 60"), within=1)
    assert "within 1 seconds" in diagnostic.detail
    assert "starting" in diagnostic.detail
    assert time.monotonic() - begun < 10


def test_a_file_that_cannot_be_run(tmp_path: Path) -> None:
    (tmp_path / "plugin").write_bytes(b"\x7fELF rubbish")
    (tmp_path / "plugin").chmod(0o755)
    assert "demo" in launch_failure([str(tmp_path / "plugin")]).detail


def create(mode: str) -> api.ApplyRequest:
    type_ = cty.ObjectType({"mode": cty.STRING, "pid": cty.NUMBER})
    planned = cty.object_value({"mode": cty.string(mode), "pid": cty.unknown(cty.NUMBER)})
    config = cty.object_value({"mode": cty.string(mode), "pid": cty.null(cty.NUMBER)})
    return api.ApplyRequest("demo_thing", cty.null(type_), planned, config)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until_gone(pid: int) -> bool:
    for _ in range(600):
        if not is_running(pid):
            return True
        time.sleep(0.05)
    return False


async def served(tmp_path: Path) -> PluginProvider:
    return PluginProvider(await launch(script(tmp_path, SERVED), "demo", environment()))


def socket_directory(provider: PluginProvider) -> Path:
    process = provider._plugin._process
    assert process is not None
    return Path(process.directory)


def is_private(directory: Path) -> bool:
    return directory.stat().st_mode & 0o777 == 0o700


async def running_pid(provider: PluginProvider) -> int:
    made = await provider.apply(create("fine"))
    assert made.diagnostics == ()
    pid = made.state.attribute("pid").to_python()
    assert isinstance(pid, int)
    return pid


def test_closing_ends_the_process_and_removes_its_directory(tmp_path: Path) -> None:
    async def run() -> tuple[int, Path]:
        provider = await served(tmp_path)
        directory = socket_directory(provider)
        assert is_private(directory)
        pid = await running_pid(provider)
        await provider.close()
        await provider.close()
        return pid, directory

    pid, directory = asyncio.run(run())
    assert wait_until_gone(pid)
    assert not directory.exists()


@pytest.mark.parametrize(
    ("mode", "how", "log"),
    [
        ("crash", "was killed by SIGSEGV", "about to crash"),
        ("exit", "exited with status 3", "panic"),
    ],
)
def test_a_crash_in_the_middle_of_calls_is_told_once(
    tmp_path: Path, mode: str, how: str, log: str
) -> None:
    async def run() -> list[api.ApplyResponse]:
        provider = await served(tmp_path)
        await provider.schema()
        hanging = asyncio.create_task(provider.apply(create("hang")))
        await asyncio.sleep(0.3)
        answers = [await provider.apply(create(mode)), await hanging]
        answers.append(await provider.apply(create("fine")))
        await provider.close()
        return answers

    answers = asyncio.run(run())
    told = {answer.diagnostics for answer in answers}
    assert len(told) == 1
    ((diagnostic,),) = told
    assert how in diagnostic.detail
    assert log in diagnostic.detail
    assert diagnostic.about_provider
    assert all(answer.state.is_null for answer in answers)


def test_a_plugin_killed_from_outside(tmp_path: Path) -> None:
    async def run() -> api.ApplyResponse:
        provider = await served(tmp_path)
        pid = await running_pid(provider)
        hanging = asyncio.create_task(provider.apply(create("hang")))
        await asyncio.sleep(0.3)
        os.kill(pid, signal.SIGKILL)
        answer = await hanging
        await provider.close()
        return answer

    (diagnostic,) = asyncio.run(run()).diagnostics
    assert "SIGKILL" in diagnostic.detail


def test_a_hanging_plugin_can_be_closed(tmp_path: Path) -> None:
    async def run() -> int:
        provider = await served(tmp_path)
        pid = await running_pid(provider)
        hanging = asyncio.create_task(provider.apply(create("hang")))
        await asyncio.sleep(0.3)
        await provider.close()
        hanging.cancel()
        return pid

    begun = time.monotonic()
    pid = asyncio.run(run())
    assert wait_until_gone(pid)
    assert time.monotonic() - begun < 15


def test_a_plugin_that_prints_keeps_working(tmp_path: Path) -> None:
    async def run() -> api.ApplyResponse:
        provider = await served(tmp_path)
        answer = await provider.apply(create("print"))
        await provider.close()
        return answer

    assert asyncio.run(run()).diagnostics == ()


RUBBISH = """
    import os, socket, sys
    path = os.environ["PLUGIN_UNIX_SOCKET_DIR"] + "/p"
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen()
    print(f"1|6|unix|{path}|grpc|", flush=True)
    while True:
        connection, _ = server.accept()
        connection.sendall(b"HTTP/1.1 418 I am a teapot\\r\\n\\r\\n" * 100)
        connection.close()
"""


def test_messages_may_be_large(tmp_path: Path) -> None:
    """Schemas of some providers go beyond what gRPC allows by itself."""

    async def run() -> None:
        provider = await served(tmp_path)
        mode = "x" * (6 << 20)
        made = await provider.apply(create(mode))
        assert made.diagnostics == ()
        assert made.state.attribute("mode") == cty.string(mode)
        await provider.close()

    asyncio.run(run())


def test_a_plugin_that_talks_rubbish(tmp_path: Path) -> None:
    async def run() -> api.SchemaResponse:
        provider = PluginProvider(await launch(script(tmp_path, RUBBISH), "demo", environment()))
        answer = await provider.schema()
        await provider.close()
        return answer

    begun = time.monotonic()
    answer = asyncio.run(run())
    assert answer.schema is None
    assert "was lost" in answer.diagnostics[0].detail
    assert time.monotonic() - begun < 15


def test_a_plugin_whose_values_do_not_fit_its_schema(tmp_path: Path) -> None:
    other = Schema(Block({"other": Attribute(cty.NUMBER, required=True)}))
    believed = ProviderSchema(
        Schema(Block()), resources={"demo_thing": other}, schema_call_optional=True
    )

    async def run() -> api.UpgradeResponse:
        plugin = await launch(script(tmp_path, SERVED), "demo", environment())
        provider = PluginProvider(plugin, believed)
        stored = b'{"mode": "fine", "pid": 1}'
        answer = await provider.upgrade(api.UpgradeRequest("demo_thing", 0, stored))
        await provider.close()
        return answer

    (diagnostic,) = asyncio.run(run()).diagnostics
    assert "received from" in diagnostic.detail


def test_the_log_goes_where_the_user_wants_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"

    async def run() -> None:
        wanted = {**environment(), "TF_LOG": "DEBUG", "TF_LOG_PATH": str(log)}
        provider = PluginProvider(await launch(script(tmp_path, SERVED), "demo", wanted))
        await provider.apply(create("print"))
        await provider.apply(create("exit"))
        await provider.close()

    asyncio.run(run())
    text = log.read_text()
    assert ": words on the wrong output\n" in text
    assert "[DEBUG] provider." in text
    assert ": panic: no more\n" in text
    assert capfd.readouterr() == ("", "")


def test_a_second_process_need_not_tell_its_schema_again(tmp_path: Path) -> None:
    async def run() -> None:
        first = await served(tmp_path)
        schema = (await first.schema()).schema
        second = PluginProvider(
            await launch(script(tmp_path, SERVED), "demo", environment()), schema
        )
        assert (await second.schema()).schema is schema
        await running_pid(second)
        await first.close()
        await second.close()

    asyncio.run(run())


PARENT = """
    import asyncio, os, sys
    sys.path[:0] = [{root!r}]
    from tests.providers.test_launch import running_pid, served
    from pathlib import Path

    async def run():
        provider = await served(Path({directory!r}))
        process = provider._plugin._process
        print(await running_pid(provider), process.directory, flush=True)
        {ending}

    asyncio.run(run())
"""


@pytest.mark.parametrize(
    ("ending", "sent"),
    [
        ("return", None),
        ("raise RuntimeError('boom')", None),
        ("os._exit(1)", None),
        ("await asyncio.sleep(60)", signal.SIGINT),
        ("await asyncio.sleep(60)", signal.SIGTERM),
        ("await asyncio.sleep(60)", signal.SIGKILL),
        ("os.kill(os.getpid(), 11)", None),
    ],
)
def test_a_plugin_never_outlives_its_caller(
    tmp_path: Path, ending: str, sent: signal.Signals | None
) -> None:
    root = str(Path(__file__).parents[2])
    code = textwrap.dedent(PARENT).format(root=root, directory=str(tmp_path), ending=ending)
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    ) as caller:
        assert caller.stdout is not None
        pid, _, directory = caller.stdout.readline().strip().partition(" ")
        assert is_running(int(pid)) or sent is None
        if sent is not None:
            caller.send_signal(sent)
        caller.wait(30)
    assert wait_until_gone(int(pid))
    for _ in range(40):
        if not Path(directory).exists():
            break
        time.sleep(0.05)
    assert not Path(directory).exists()


GOOD_ENTRY = (
    '{"Protocol":"grpc","ProtocolVersion":6,"Pid":1,"Test":true,'
    '"Addr":{"Network":"unix","String":"/tmp/p"}}'
)


def test_reattach_is_read() -> None:
    socket = PluginAddress("unix", "/tmp/p")
    assert parse_reattach("") == {}
    assert parse_reattach(f'{{"a/b/c": {GOOD_ENTRY}}}') == {"a/b/c": Reattach(6, socket)}
    without = GOOD_ENTRY.replace('"ProtocolVersion":6,', "")
    assert parse_reattach(f'{{"a/b/c": {without}}}') == {"a/b/c": Reattach(5, socket)}


@pytest.mark.parametrize(
    "text", ["x", "[]", '{"a": 1}', '{"a": {"Protocol": "netrpc"}}', GOOD_ENTRY.join(["[", "]"])]
)
def test_reattach_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not|does not"):
        parse_reattach(text)


def plugin_socket(directory: Path) -> str:
    (socket,) = directory.glob("*/plugin")
    return str(socket)


def test_a_plugin_that_was_joined_is_left_running(tmp_path: Path) -> None:
    async def run() -> None:
        owner = await served(tmp_path)
        reattach = Reattach(6, PluginAddress("unix", plugin_socket(socket_directory(owner))))
        guest = PluginProvider(await attach(reattach, "demo", environment()))
        assert (await guest.schema()).schema is not None
        await guest.close()
        await running_pid(owner)
        await owner.close()

    asyncio.run(run())


def test_a_plugin_to_join_that_is_not_there(tmp_path: Path) -> None:
    async def run() -> api.SchemaResponse:
        reattach = Reattach(6, PluginAddress("unix", str(tmp_path / "nothing")))
        guest = PluginProvider(await attach(reattach, "demo", environment()))
        answer = await guest.schema()
        await guest.close()
        return answer

    (diagnostic,) = asyncio.run(run()).diagnostics
    assert "was lost" in diagnostic.detail
