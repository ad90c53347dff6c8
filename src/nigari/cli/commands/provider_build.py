"""`nigari provider build`: packages of a provider that is written in Python."""

from __future__ import annotations

from pathlib import Path

from nigari.addrs.provider import Provider, parse_provider
from nigari.cli.args import UsageError
from nigari.cli.command import (
    FLAG_LIST,
    FLAG_SWITCH,
    FLAG_TEXT,
    Command,
    Example,
    Flag,
    Invocation,
)
from nigari.cli.commands.providers_lock import platforms_of
from nigari.cli.presenter import Presenter, run_command
from nigari.cli.state_flags import SAYING_FLAGS
from nigari.lang.versions import Version, parse_exact_version
from nigari.packages.content.platforms import current_platform
from nigari.packages.providers.provider_build import MIRROR, BuildError, build_packages, find_code
from nigari.packages.providers.provider_package import executable, unpacked_path


async def _build(presenter: Presenter) -> bool:
    invocation = presenter.invocation
    if len(invocation.arguments) != 2:
        raise UsageError("The command needs the source of the provider and the path of its code.")
    source, path = invocation.arguments
    provider = presenter.address(parse_provider, source)
    version = parse_exact_version(invocation.text("version"))
    if version is None:
        raise UsageError(f'"{invocation.text("version")}" is not a version such as 1.2.0.')
    platforms = platforms_of(invocation)
    for each in platforms:
        if each.startswith("windows_"):
            raise UsageError("The launcher is a shell script, which Windows does not run.")
    if provider is None:
        return False
    target = Path(invocation.text("out"))
    try:
        code = find_code(Path(path))
        written = build_packages(
            code, provider, version, platforms, target, invocation.text("python")
        )
    except BuildError as error:
        presenter.diags.error("Provider cannot be built", str(error))
        return False
    except OSError as error:
        presenter.diags.error(
            "Provider cannot be built", f"{error.filename or path}: {error.strerror or error}."
        )
        return False
    for made in written:
        presenter.say(f"- Wrote {made}", f"Wrote {made}")
    if current_platform() in platforms and invocation.switch("check"):
        return await _start(presenter, target, provider, version)
    return True


async def _start(presenter: Presenter, target: Path, provider: Provider, version: Version) -> bool:
    """Start what was built, as `tofu` will, and see whether it answers."""
    import asyncio

    from nigari.providers.client import PluginProvider
    from nigari.providers.launch import launch
    from nigari.providers.start import LaunchError

    directory = unpacked_path(target / MIRROR, provider, version, current_platform())
    program = executable(directory.resolve(), provider.type)
    assert program is not None
    advice = (
        "\n\nThe option -python names the Python that runs the provider. nigari, and whatever else "
        "the provider needs, must be installed there."
    )
    # From here on an event loop is needed.
    await asyncio.sleep(0)
    try:
        plugin = await launch([program], provider.type, presenter.terminal.environ)
    except LaunchError as error:
        diagnostic = error.diagnostic
        presenter.diags.error("The provider does not start", diagnostic.detail + advice)
        return False
    client = PluginProvider(plugin)
    try:
        answer = await client.schema()
    finally:
        await client.close()
    if answer.schema is None:
        for each in answer.diagnostics:
            presenter.diags.error(each.summary, each.detail)
        return False
    count = len(answer.schema.resources)
    kinds = f"{count} resource {'type' if count == 1 else 'types'}"
    presenter.say(f"The provider starts, and offers {kinds}.")
    return True


def run(invocation: Invocation) -> int:
    """Build the packages."""
    return run_command(invocation, _build)


COMMAND = Command(
    "provider build",
    "Builds packages of a provider that is written in Python: unpacked ones in a filesystem "
    "mirror, and archives with checksums, as registries publish them. PATH is a script that "
    "serves the provider, or a directory with a __main__.py that does.",
    run,
    flags=(
        Flag("version", FLAG_TEXT, "The version of the provider", "VERSION", "0.1.0"),
        Flag("out", FLAG_TEXT, "The directory to write to", "DIR", "dist"),
        Flag(
            "platform",
            FLAG_LIST,
            "A platform to build for; can be repeated. The default is this one",
            "OS_ARCH",
        ),
        Flag(
            "python",
            FLAG_TEXT,
            "The Python that runs the provider, by name or path",
            "PYTHON",
            "python3",
        ),
        Flag(
            "check",
            FLAG_SWITCH,
            "Do not start the provider to see whether it works",
            default="true",
        ),
        *SAYING_FLAGS,
    ),
    arguments="SOURCE PATH",
    most_arguments=2,
    examples=(Example("nigari provider build -version=1.2.0 example.com/demo/files files.py", ""),),
)
