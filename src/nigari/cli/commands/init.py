"""`nigari init`: makes a working directory ready for all other commands."""

from __future__ import annotations

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
from nigari.cli.configuration import read_variables, selected_name
from nigari.cli.prompt import INPUT_FLAG, Person
from nigari.cli.stored_state import (
    JSON_FLAG,
    JSON_INTO_FLAG,
    LOCK_FLAGS,
    REMOTE_VERSION_FLAG,
    OpenState,
)
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.cli.views.init import InitProgress
from nigari.workspace import Workspace
from nigari.workspace.backend_setup import BackendOptions
from nigari.workspace.data_directory import data_directory
from nigari.workspace.initialize import Initialization, InitOptions
from nigari.workspace.provider_install import ProviderOptions

_READY = "The working directory is initialized."
_NEXT = (
    'The next step is usually "nigari plan", which shows what would change. If modules, '
    "providers or the backend change, run init again: other commands say when it is needed."
)
_NOTHING = (
    "There is no configuration in this directory, so there is nothing to initialize. Add .tf or "
    ".tofu files, or copy a module with -from-module, and run init again."
)


def run(invocation: Invocation) -> int:
    """Make the working directory ready."""
    options = _options(invocation)
    state = OpenState(invocation)
    if invocation.switch("show"):
        return _show(state)
    if invocation.switch("forget"):
        return _forget(state)
    source = invocation.text("from-module")
    person = Person(state.terminal, _may_ask(invocation))
    if source:
        from nigari.workspace.from_module import copy_module

        state.say(f"Copying the configuration from {source}...")
        if not copy_module(source, ".", state.terminal.environ, person.is_at_terminal, state.diags):
            return state.end(False)
    if not Workspace(".").loader.has_module("."):
        state.say(state.prose(_NOTHING), _NOTHING)
        return state.end()
    done = begin(state, person, InitProgress(state, options.upgrade), options)
    if done:
        state.say(f"\n{_READY}", _READY)
        if not state.terminal.environ.get("TF_IN_AUTOMATION"):
            state.text(state.prose(_NEXT))
    return state.end(done)


def _show(state: OpenState) -> int:
    """Show what is remembered for the selected workspace."""
    from nigari.lang.render import value_display
    from nigari.workspace.remembered import load_remembered

    selected = selected_name(state.invocation, ".", state.diags)
    data = data_directory(".", state.terminal.environ)
    values = load_remembered(data, selected, state.diags)
    for name, given in values.items():
        if given.value is not None:
            state.say(f"{name} = {value_display(given.value)}")
    if not values:
        state.say(f'Nothing is remembered for the workspace "{selected}".')
    return state.end()


def _forget(state: OpenState) -> int:
    """Forget what is remembered for the selected workspace."""
    from nigari.workspace.remembered import forget

    selected = selected_name(state.invocation, ".", state.diags)
    try:
        is_forgotten = forget(data_directory(".", state.terminal.environ), selected)
    except OSError as error:
        state.diags.error(
            "Cannot forget remembered values",
            f"Cannot write {error.filename}: {error.strerror}.",
        )
        return state.end(False)
    what = "The values remembered" if is_forgotten else "Nothing was remembered"
    ending = " are forgotten." if is_forgotten else "."
    state.say(f'{what} for the workspace "{selected}"{ending}')
    return state.end()


def begin(state: OpenState, person: Person, progress: InitProgress, options: InitOptions) -> bool:
    """Do what the options ask for, with the variables of the command line; whether all is well."""
    environ, started_in = state.terminal.environ, state.terminal.started_in
    work = Initialization(".", environ, options, person, progress, started_in)
    selected = selected_name(state.invocation, ".", state.diags)
    files = work.workspace.files
    reader = read_variables(state.invocation, files, ".", selected, state.diags)
    work.workspace.sources.update(reader.sources)
    state.workspace = work.workspace
    if state.diags.has_errors:
        return False
    try:
        return work.begin(reader.inputs, selected)
    finally:
        state.workspace = work.workspace
        state.diags.extend(work.diags)


def _may_ask(invocation: Invocation) -> bool:
    return invocation.switch("input") and not invocation.switch("json")


def _options(invocation: Invocation) -> InitOptions:
    lockfile = invocation.text("lockfile")
    if lockfile not in ("", "readonly"):
        raise UsageError(f'The option -lockfile must be "readonly", not "{lockfile}".')
    if invocation.is_given("backend") and invocation.is_given("cloud"):
        raise UsageError("The options -backend and -cloud mean the same: use only one of them.")
    migrates = invocation.switch("migrate-state") or invocation.switch("force-copy")
    if invocation.switch("reconfigure") and invocation.switch("migrate-state"):
        raise UsageError(
            "The option -reconfigure leaves the state where it is, and -migrate-state moves it: "
            "use only one of them."
        )
    if migrates and invocation.switch("json"):
        raise UsageError(
            "Moving the state may require answers, so -migrate-state cannot be used with -json."
        )
    upgrade = invocation.switch("upgrade")
    if upgrade and lockfile:
        raise UsageError(
            "The option -upgrade changes the lock file, and -lockfile=readonly forbids that."
        )
    return InitOptions(
        upgrade=upgrade,
        tests=invocation.text("test-directory"),
        remember=invocation.switch("remember"),
        get_modules=invocation.switch("get"),
        backend=BackendOptions(
            invocation.switch("backend") and invocation.switch("cloud"),
            invocation.texts("backend-config"),
            invocation.switch("reconfigure"),
            migrates,
            invocation.switch("force-copy"),
            OpenState(invocation, tells_events=False).lock_options,
        ),
        providers=ProviderOptions(upgrade, invocation.texts("plugin-dir"), lockfile == "readonly"),
    )


COMMAND = Command(
    "init",
    "Initializes the working directory: installs the modules and providers that the "
    "configuration requires, and sets up the backend. It is safe to run any number of times. If "
    "something is wrong, nothing is changed.",
    run,
    flags=(
        Flag("backend", FLAG_SWITCH, "Leave the backend as it is", default="true"),
        Flag("cloud", FLAG_SWITCH, "The same as -backend", default="true"),
        Flag(
            "backend-config",
            FLAG_LIST,
            "A backend setting, or a file with settings; can be repeated",
            "NAME=VALUE|FILE",
        ),
        Flag("reconfigure", FLAG_SWITCH, "Configure the backend again and leave the state behind"),
        Flag("migrate-state", FLAG_SWITCH, "Move the state to the configured backend"),
        Flag("force-copy", FLAG_SWITCH, "Move the state without asking"),
        Flag("from-module", FLAG_TEXT, "Copy a module into this empty directory first", "SOURCE"),
        Flag("get", FLAG_SWITCH, "Install no modules", default="true"),
        Flag(
            "upgrade",
            FLAG_SWITCH,
            "Install the newest modules and providers that the constraints allow",
        ),
        Flag(
            "plugin-dir",
            FLAG_LIST,
            "Look for providers in this directory only; can be repeated",
            "DIR",
        ),
        Flag("lockfile", FLAG_TEXT, "Do not change the lock file", "readonly"),
        Flag("test-directory", FLAG_TEXT, "The directory with test files", "DIR", "tests"),
        Flag(
            "remember",
            FLAG_SWITCH,
            "Remember the values of variables that sources, the backend and similar arguments "
            "use, so that they need not be given again; never secrets",
        ),
        Flag("show", FLAG_SWITCH, "Show the remembered values and exit"),
        Flag("forget", FLAG_SWITCH, "Forget the remembered values and exit"),
        INPUT_FLAG,
        *LOCK_FLAGS,
        REMOTE_VERSION_FLAG,
        JSON_FLAG,
        JSON_INTO_FLAG,
        NO_COLOR_FLAG,
        COMPACT_WARNINGS_FLAG,
        *VARIABLE_FLAGS,
    ),
    examples=(
        Example("nigari init -var env=prod", "where a source or the backend depends on a variable"),
        Example(
            "nigari init -var env=prod -remember", "the same, without having to repeat it later"
        ),
        Example("nigari init -upgrade", "installs newer versions of modules and providers"),
        Example("nigari init -migrate-state", "after the backend has changed"),
    ),
)
