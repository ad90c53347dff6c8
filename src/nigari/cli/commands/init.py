"""`nigari init`: makes a working directory ready for all other commands.

Reads the flags, shows what is installed while that goes on, and says what to do next. The
work itself, and whether there is anything to do at all, is in `nigari.workspace.setup`.
"""

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
from nigari.cli.presenter import Presenter
from nigari.cli.prompt import INPUT_FLAG, Person
from nigari.cli.state_flags import (
    JSON_FLAG,
    JSON_INTO_FLAG,
    LOCK_FLAGS,
    REMOTE_VERSION_FLAG,
    lock_options,
    open_session,
)
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.cli.views.init import InitProgress
from nigari.workspace.setup.init_options import BackendOptions, InitOptions, ProviderOptions

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
    person = Person(invocation.terminal, _may_ask(invocation))
    presenter = Presenter(invocation, session=open_session(invocation, prompter=person))
    if invocation.switch("show"):
        return _show(presenter)
    if invocation.switch("forget"):
        return _forget(presenter)
    source = invocation.text("from-module")
    if source:
        from nigari.workspace.setup.from_module import copy_module, shown_source

        presenter.say(f"Copying the configuration from {shown_source(source)}...")
        if not copy_module(
            source, ".", presenter.terminal.environ, person.is_at_terminal, presenter.diags
        ):
            return presenter.end(False)
    if not presenter.session.has_configuration:
        presenter.say(presenter.prose(_NOTHING), _NOTHING)
        return presenter.end()
    done = presenter.session.initialize(options, InitProgress(presenter, options.upgrade))
    if done:
        presenter.say(f"\n{_READY}", _READY)
        if not presenter.terminal.environ.get("TF_IN_AUTOMATION"):
            presenter.say(presenter.prose(_NEXT), _NEXT)
    return presenter.end(done)


def _show(presenter: Presenter) -> int:
    """Show what is remembered for the selected workspace, and the locations of states."""
    from nigari.lang.render import value_display
    from nigari.workspace.context.remembered_variables import load_remembered

    session = presenter.session
    selected = session.selected
    values = load_remembered(session.where.data_directory, selected, presenter.diags)
    for name, given in values.items():
        if given.value is not None:
            presenter.say(f"{name} = {value_display(given.value)}")
    if not values:
        presenter.say(f'Nothing is remembered for the workspace "{selected}".')
    locations = session.locations
    if locations:
        presenter.say("Locations that are set up:")
    for each in locations:
        within = f" ({', '.join(each.workspaces)})" if each.workspaces else ""
        presenter.say(f"- {each.text}{within}")
    return presenter.end()


def _forget(presenter: Presenter) -> int:
    """Forget what is remembered for the selected workspace."""
    from nigari.workspace.context.remembered_variables import forget

    selected = presenter.session.selected
    try:
        is_forgotten = forget(presenter.session.where.data_directory, selected)
    except OSError as error:
        presenter.diags.error(
            "Cannot forget remembered values",
            f"Cannot write {error.filename}: {error.strerror}.",
        )
        return presenter.end(False)
    what = "The values remembered" if is_forgotten else "Nothing was remembered"
    ending = " are forgotten." if is_forgotten else "."
    presenter.say(f'{what} for the workspace "{selected}"{ending}')
    return presenter.end()


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
            tuple(invocation.texts("backend-config")),
            invocation.switch("reconfigure"),
            migrates,
            invocation.switch("force-copy"),
            lock_options(invocation),
        ),
        providers=ProviderOptions(
            upgrade, tuple(invocation.texts("plugin-dir")), lockfile == "readonly"
        ),
        lock_modules=invocation.switch("lock-modules"),
        readonly=lockfile == "readonly",
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
        Flag(
            "reconfigure", FLAG_SWITCH, "Set up a further location and leave the state where it is"
        ),
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
        Flag("lockfile", FLAG_TEXT, "Do not change the lock files", "readonly"),
        Flag(
            "lock-modules",
            FLAG_SWITCH,
            "Record the packages of modules in .nigari.lock.hcl, and keep to them from then on",
        ),
        Flag("test-directory", FLAG_TEXT, "The directory with test files", "DIR", "tests"),
        Flag(
            "remember",
            FLAG_SWITCH,
            "Remember the values of variables that sources, the backend and similar arguments "
            "use, so that they do not have to be given again; never secrets",
        ),
        Flag(
            "show", FLAG_SWITCH, "Show the remembered values and the locations of states, and exit"
        ),
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
