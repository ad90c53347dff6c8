"""A working directory with a state, for tests of commands that work on it."""

import json
from pathlib import Path

LINEAGE = "8f3c7a4e-0000-4000-8000-000000000000"
BUILTIN = 'provider["terraform.io/builtin/terraform"]'


def instance(key: object = None, **more: object) -> dict[str, object]:
    """A `terraform_data` object whose id tells its key."""
    attributes = {
        "id": f"id-{key}",
        "input": {"value": "x", "type": "string"},
        "output": {"value": "x", "type": "string"},
        "triggers_replace": None,
    }
    members: dict[str, object] = {} if key is None else {"index_key": key}
    return {**members, "schema_version": 0, "attributes": attributes, **more}


def resource(
    name: str, *instances: dict[str, object], module: str = "", provider: str = BUILTIN
) -> dict[str, object]:
    """A managed `terraform_data` resource."""
    members: dict[str, object] = {"module": module} if module else {}
    return {
        **members,
        "mode": "managed",
        "type": "terraform_data",
        "name": name,
        "provider": provider,
        "instances": list(instances) or [instance()],
    }


def write_state(
    path: Path,
    *resources: dict[str, object],
    outputs: dict[str, object] | None = None,
    serial: int = 3,
    lineage: str = LINEAGE,
) -> None:
    """Write a state file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "version": 4,
        "terraform_version": "1.12.6",
        "serial": serial,
        "lineage": lineage,
        "outputs": outputs or {},
        "resources": list(resources),
        "check_results": None,
    }
    path.write_text(json.dumps(document))


def usual_state(path: Path = Path("terraform.tfstate")) -> None:
    """A state with one of everything."""
    write_state(
        path,
        resource("a"),
        resource("c", instance(0), instance(1)),
        resource("e", instance("k v"), instance("z")),
        resource("inner", module='module.m["p"]'),
        outputs={
            "list": {"value": [True, None], "type": ["tuple", ["bool", "dynamic"]]},
            "number": {"value": 5, "type": "number"},
            "secret": {"value": "hidden", "type": "string", "sensitive": True},
            "text": {"value": "hello", "type": "string"},
        },
    )


def stored(path: Path = Path("terraform.tfstate")) -> dict[str, object]:
    """What a state file says."""
    content = json.loads(path.read_text())
    assert isinstance(content, dict)
    return content
