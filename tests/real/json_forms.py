"""What the JSON of two programs may differ in; everything else must be equal.

Each function takes what one program printed and gives what is compared of it. Whatever is left out
or put in order here has its reason beside it: this is the only list of such exceptions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from tests.real.alike import RECOGNISABLE, Tree, without_chance

_TEXTS: Final = ("summary", "detail")
"""Wording is ours."""
_OVERRIDES: Final = ("Provider development overrides are in effect", "Providers under development")
"""OpenTofu warns of all providers under development, we of those that are used."""
_ONLY_OURS: Final = (
    ("warning", "Nothing to replace"),
    ("warning", "Provisioner local-exec failed"),
)
"""We warn of an address to replace that nothing has, and of a failure that does not matter."""
_PROTECTION: Final = ("Resource instance cannot be destroyed", "Destroying is prevented")
"""OpenTofu reports it at the resource, we at `prevent_destroy` and with the address."""
_OF_SNIPPETS: Final = ("context",)
"""How many lines are quoted, and with which values, is ours to choose; in which block, is not."""
_UNORDERED: Final = (
    "resource_drift",
    "planned_change",
    "refresh_start",
    "refresh_complete",
    "apply_start",
    "apply_progress",
    "apply_complete",
    "apply_errored",
    "provision_start",
    "provision_progress",
    "provision_complete",
    "provision_errored",
    "ephemeral_action_started",
    "ephemeral_action_complete",
    "diagnostic",
)
"""Events of what happens, or is planned, at the same time come in any order."""


def plan_document(shown: str) -> Tree:
    """What is compared of a plan."""
    data = _parsed(shown)
    data["timestamp"] = "<moment>"
    _forget_chance(data)
    root = _dict(_dict(data["planned_values"])["root_module"])
    _sort_modules(root)
    for change in map(_dict, _list(data.get("resource_changes", []))):
        _forget_secrets(change, root)
    if "prior_state" in data:
        prior = _state(_dict(data["prior_state"]))
        _forget_dependencies(prior)
        data["prior_state"] = prior
    if "checks" in data:
        data["checks"] = _checks(data["checks"])
    # OpenTofu finds them by walking maps of Go, so their order is another one each time.
    if "relevant_attributes" in data:
        data["relevant_attributes"] = _sorted(data["relevant_attributes"])
    return data


def state_document(shown: str) -> Tree:
    """What is compared of a state."""
    return _state(_parsed(shown))


def _state(data: dict[str, Tree]) -> dict[str, Tree]:
    if "checks" in data:
        data["checks"] = _checks(data["checks"])
    return data


def _forget_chance(tree: Tree) -> None:
    """A destroy reads less data, as we promise, and this data is another each time it is read."""
    if isinstance(tree, dict):
        if tree.get("type") == "null_data_source" and "values" in tree:
            _dict(tree["values"])["random"] = "<random>"
        for part in tree.values():
            _forget_chance(part)
    elif isinstance(tree, list):
        for part in tree:
            _forget_chance(part)


def _forget_secrets(change: dict[str, Tree], root: dict[str, Tree]) -> None:
    """OpenTofu forgets what schemas call sensitive in objects that are replaced or read later,
    and we promise not to.
    """
    details = _dict(change["change"])
    actions = _list(details["actions"])
    if "read" in actions or ("create" in actions and len(actions) > 1):
        del details["after_sensitive"]
        for each in _resources(root):
            if each["address"] == change["address"]:
                del each["sensitive_values"]


def _forget_dependencies(prior: dict[str, Tree]) -> None:
    """OpenTofu notes new dependencies already while planning: a promise of ours."""
    values = _dict(prior.get("values", {}))
    for each in _resources(_dict(values.get("root_module", {}))):
        each.pop("depends_on", None)


def _resources(module: dict[str, Tree]) -> Iterator[dict[str, Tree]]:
    yield from map(_dict, _list(module.get("resources", [])))
    for child in _list(module.get("child_modules", [])):
        yield from _resources(_dict(child))


def _sort_modules(module: dict[str, Tree]) -> None:
    """Put modules in modules in an order: OpenTofu sorts only those of the root module."""
    for child in map(_dict, _list(module.get("child_modules", []))):
        if "child_modules" in child:
            child["child_modules"] = sorted(
                _list(child["child_modules"]), key=lambda each: str(_dict(each)["address"])
            )
        _sort_modules(child)


def _checks(checks: Tree) -> Tree:
    """Checks with their instances in an order: OpenTofu takes them from maps of Go."""
    found = [_dict(each) for each in _list(checks)]
    for each in found:
        if "instances" in each:
            each["instances"] = _sorted(each["instances"])
    return _sorted([dict(each) for each in found])


def plain_document(shown: str) -> Tree:
    """A document of which everything is compared."""
    return _parsed(shown)


def versions(shown: str) -> Tree:
    """What is compared of `version -json`."""
    data = _parsed(shown)
    # Programs that want to know that it is not OpenTofu can see that it is not.
    data.pop("nigari_version", None)
    return data


def functions(shown: str) -> Tree:
    """What is compared of the functions; that something is described, not in which words."""
    data = _parsed(shown)
    signatures = _dict(data["function_signatures"])
    # We have functions of a later version of OpenTofu.
    for name in [name for name in signatures if _is_later(name)]:
        del signatures[name]
    _describe_alike(signatures)
    return data


def schemas(shown: str) -> Tree:
    """What is compared of schemas: the descriptions of the built-in provider are ours."""
    data = _parsed(shown)
    providers = _dict(data["provider_schemas"])
    for each in providers.values():
        _dict(each).pop("action_schemas", None)  # OpenTofu 1.12 has no actions
    builtin = _dict(providers["terraform.io/builtin/terraform"])
    block = _dict(_dict(_dict(builtin["resource_schemas"])["terraform_data"])["block"])
    block.pop("block_types", None)  # OpenTofu has no block `store`
    _describe_alike(builtin)
    return data


def _describe_alike(tree: Tree) -> None:
    if isinstance(tree, dict):
        for name, part in tree.items():
            if name in ("description", "summary") and isinstance(part, str):
                tree[name] = "described"
            _describe_alike(part)
    elif isinstance(tree, list):
        for part in tree:
            _describe_alike(part)


def _is_later(name: str) -> bool:
    # contains() finds null since OpenTofu 1.13.
    return name.removeprefix("core::") in ("contains", "convert") or "assume" in name


def failure(told: str) -> Tree:
    """What is compared of a command that fails: what it says is wrong.

    What else had begun by then is chance, and we tell as much of a plan as could be made.
    """
    data = _dict(events(told))
    return [each for each in _list(data["work"]) if _dict(each)["type"] == "diagnostic"]


def started(told: str) -> Tree:
    """What is compared of `init -json`: the form of its events, and what is wrong."""
    lines = [_dict(json.loads(line)) for line in told.splitlines()]
    # Sentences have no type. Ours also name the provider that they are about.
    typed = [each for each in lines if "type" in each]
    # Errors are announced by a sentence of their own in OpenTofu.
    assert all(each["@level"] in ("info", "error") for each in lines if each not in typed)
    return events("\n".join(json.dumps(each) for each in typed))


def events(told: str) -> Tree:
    """The events of a command: those of its work in an order, then the others as they came.

    Forgetting an object asks no provider, so that it is not read either.
    """
    parsed = [_dict(json.loads(line)) for line in told.splitlines()]
    found = [
        _event(each)
        for each in parsed
        if "diagnostic" not in each or _is_worth_comparing(_dict(each["diagnostic"]))
    ]
    forgotten = [_subject(each) for each in found if _is_forgetting(each)]
    work = [
        each
        for each in found
        if each["type"] in _UNORDERED and not (_is_refresh(each) and _subject(each) in forgotten)
    ]
    others = [each for each in found if each["type"] not in _UNORDERED]
    once: list[Tree] = []
    for each in work:
        # A mistake is told once; OpenTofu repeats some warnings.
        if each["type"] != "diagnostic" or each not in once:
            once.append(dict(each))
    return {"work": _sorted(once), "others": [dict(each) for each in others]}


def without_repetitions(told: Tree, earlier: Tree) -> Tree:
    """Events of an apply without diagnostics that its plan has told already, as it need not."""
    if not isinstance(told, dict) or not isinstance(earlier, dict):
        return told
    known = [each for each in _list(earlier["work"]) if _is_told(each)]
    work = [
        each
        for each in _list(told["work"])
        if not (_is_told(each) and any(_says_less(one, each) for one in known))
    ]
    return {**told, "work": work}


def events_of_destroy(told: str) -> Tree:
    """The events of a destroy that is planned: it reads no data and opens nothing, as we promise."""
    return _without(told, ("apply_", "ephemeral_"))


def events_of_partial_destroy(told: str) -> Tree:
    """The same for a part, of which only what is destroyed is refreshed, as we promise."""
    return _without(told, ("apply_", "ephemeral_", "refresh_"))


def _without(told: str, kinds: tuple[str, ...]) -> Tree:
    data = _dict(events(told))
    work = _list(data["work"])
    data["work"] = [each for each in work if not str(_dict(each)["type"]).startswith(kinds)]
    return data


def with_their_places(ours: Tree, theirs: Tree) -> Tree:
    """What we say, without the places and addresses of what OpenTofu gives none for: a promise.

    What is said of several objects is one diagnostic of theirs where it names none of them.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return {name: with_their_places(part, theirs.get(name)) for name, part in ours.items()}
    if not isinstance(ours, list) or not isinstance(theirs, list):
        return ours
    open_theirs = [each for each in theirs if each not in ours and _is_told(each)]
    result: list[Tree] = []
    for each in ours:
        same = None
        if each not in theirs and _is_told(each):
            same = next((one for one in open_theirs if _says_less(one, each)), None)
        if same is None:
            result.append(each)
        elif same not in result:
            result.append(same)
    return result if result == ours else _sorted(result)


def _is_told(tree: Tree) -> bool:
    return isinstance(tree, dict) and ("diagnostic" in tree or "severity" in tree)


def _says_less(one: Tree, other: Tree) -> bool:
    """Whether a diagnostic is another one without its place, its address or both."""
    less, more = _dict(one), _dict(other)
    if "diagnostic" in less and "diagnostic" in more:
        return _says_less(less["diagnostic"], more["diagnostic"])
    return all(
        more.get(name) == part or (name == "range" and _is_start_of_body(part, more.get(name)))
        for name, part in less.items()
    )


def _is_start_of_body(theirs: Tree, ours: Tree) -> bool:
    """Whether a range is the point where the body of the block begins whose header the other is.

    OpenTofu says there what is wrong with a whole block, which has no range of its own there.
    """
    if not isinstance(theirs, dict) or not isinstance(ours, dict):
        return False
    (begin, end), (_, header) = (
        (_dict(each["start"]), _dict(each["end"])) for each in (theirs, ours)
    )
    is_point = int(str(end["byte"])) == int(str(begin["byte"])) + 1
    follows = int(str(begin["byte"])) > int(str(header["byte"]))
    return is_point and follows and begin["line"] == header["line"]


def _subject(event: dict[str, Tree]) -> str:
    about = _dict(event.get("hook") or event.get("change") or {})
    return str(_dict(about.get("resource", {})).get("addr"))


def _is_forgetting(event: dict[str, Tree]) -> bool:
    is_planned = event["type"] == "planned_change"
    return is_planned and _dict(event["change"])["action"] == "remove"


def _is_refresh(event: dict[str, Tree]) -> bool:
    return str(event["type"]).startswith("refresh_")


def _event(event: dict[str, Tree]) -> dict[str, Tree]:
    del event["@timestamp"], event["@message"]
    # Programs that want to know that it is not OpenTofu can see that it is not.
    event.pop("nigari", None)
    if "hook" in event:
        hook = _dict(event["hook"])
        if "elapsed_seconds" in hook:
            hook["elapsed_seconds"] = 0
        # What chance has chosen cannot be recognised elsewhere if it is short.
        if len(str(hook.get("id_value", ""))) < RECOGNISABLE:
            hook.pop("id_value", None)
        # It repeats the message.
        hook.pop("Msg", None)
        # How a command line is told is ours.
        if str(hook.get("output")).startswith("Executing: "):
            hook["output"] = "Executing"
    if event["type"] == "change_summary" and _dict(event["changes"])["operation"] == "apply":
        # OpenTofu does not count what is forgotten once there is another object in its place.
        del _dict(event["changes"])["forget"]
    if "diagnostic" in event:
        event["diagnostic"] = _diagnostic(_dict(event["diagnostic"]))
    return event


def validation(told: str) -> Tree:
    """What `validate -json` says."""
    data = _parsed(told)
    diagnostics = [_dict(each) for each in _list(data["diagnostics"])]
    for severity in ("error", "warning"):
        # The numbers are right, and then they are those of what is compared.
        counted = sum(each["severity"] == severity for each in diagnostics)
        assert data.pop(f"{severity}_count") == counted
    diagnostics = [each for each in diagnostics if _is_worth_comparing(each)]
    data["diagnostics"] = _sorted([dict(_diagnostic(each)) for each in diagnostics])
    return data


def _diagnostic(diagnostic: dict[str, Tree]) -> dict[str, Tree]:
    told = {key: part for key, part in diagnostic.items() if key not in _TEXTS}
    if diagnostic["summary"] in _PROTECTION:
        file = _dict(told["range"])["filename"]
        return {"severity": told["severity"], "range": {"filename": file}, "snippet": "protection"}
    if isinstance(told.get("snippet"), dict):
        snippet = _dict(told["snippet"])
        told["snippet"] = {key: snippet[key] for key in _OF_SNIPPETS}
    # That goes with the values.
    told.pop("difference", None)
    return told


def _is_worth_comparing(diagnostic: dict[str, Tree]) -> bool:
    if (diagnostic["severity"], diagnostic["summary"]) in _ONLY_OURS:
        return False
    return diagnostic["summary"] not in _OVERRIDES


def _parsed(text: str) -> dict[str, Tree]:
    return _dict(json.loads(without_chance(text)))


def _sorted(trees: Tree) -> list[Tree]:
    return sorted(_list(trees), key=lambda each: json.dumps(each, sort_keys=True))


def _dict(tree: Tree) -> dict[str, Tree]:
    assert isinstance(tree, dict)
    return tree


def _list(tree: Tree) -> list[Tree]:
    assert isinstance(tree, list)
    return tree
