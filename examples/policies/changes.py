"""Policies for what a plan may do: run them with `nigari lint -rules=policies -plan=FILE`."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatch

import nigari
from nigari.lint import Violation, plan_rule

PROTECTED = ("aws_db_instance.*", "aws_s3_bucket.*", "*.database", '*.database["*')
PROVIDERS = (
    "terraform.io/builtin/terraform",
    "registry.opentofu.org/hashicorp/aws",
    "registry.opentofu.org/hashicorp/random",
)
MOST_DESTROYED = 3


@plan_rule("acme:protected-objects", "Protected object would be destroyed")
def protected_objects(plan: nigari.Plan) -> Iterator[Violation]:
    for change in plan.changes:
        if change.destroys and any(fnmatch(change.address, each) for each in PROTECTED):
            why = f" ({change.why})" if change.why else ""
            text = f"The plan would {change.action} {change.address}{why}. Ask the data team."
            yield Violation(text, address=change.address)


@plan_rule("acme:many-destroys", "Plan that destroys a lot")
def many_destroys(plan: nigari.Plan) -> Iterator[Violation]:
    if plan.summary.destroy > MOST_DESTROYED and plan.mode != "destroy":
        count = plan.summary.destroy
        yield Violation(f"The plan destroys {count} objects, more than {MOST_DESTROYED}.")


@plan_rule("acme:known-providers", "Provider that is not allowed")
def known_providers(plan: nigari.Plan) -> Iterator[Violation]:
    for change in plan.changes:
        if not any(f'"{each}"' in change.provider for each in PROVIDERS):
            text = f"{change.address} belongs to {change.provider}, which nobody has reviewed."
            yield Violation(text, address=change.address)


@plan_rule("acme:nothing-deferred", "Plan that leaves something for later", severity="warning")
def nothing_deferred(plan: nigari.Plan) -> Iterator[Violation]:
    for each in plan.deferred:
        text = f"{each.address} waits for {', '.join(each.waits_for)}."
        yield Violation(text, address=each.address)


@plan_rule("acme:stable-outputs", "Output that would disappear")
def stable_outputs(plan: nigari.Plan) -> Iterator[Violation]:
    for name, value in plan.outputs.items():
        if value.is_null and plan.mode != "destroy":
            yield Violation(f"The output {name} would be null, and others may read it.")
