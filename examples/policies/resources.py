"""Policies for what resources may look like, over the values that a configuration evaluates to.

Every instance of a resource is looked at with its own values, wherever they come from: variables,
locals, arguments of modules, keys of `for_each`. A value that only a provider knows is left alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import nigari
from nigari.lint import Violation, configuration_rule

TAGS = ("owner", "cost-centre")
TAGGED = ("aws_instance", "aws_s3_bucket", "aws_db_instance", "aws_ebs_volume")
INSTANCE_TYPES = ("t3.micro", "t3.small", "m7g.large")
EVERYBODY = ("0.0.0.0/0", "::/0")
ADMIN_PORTS = (22, 3389)
SHORTEST_RETENTION = 30


def instances(configuration: nigari.Configuration, *types: str) -> Iterator[nigari.ResourceView]:
    """Every instance of resources of some types, over all modules."""
    for module in configuration.modules():
        for resource in module.resources.values():
            if resource.type in types and resource.mode == "resource":
                yield from resource.instances.values()


def argument(resource: nigari.ResourceView | nigari.BlockView, name: str) -> object:
    """The value of an argument as Python data; None if it is missing, unknown or sensitive."""
    found = resource.arguments.get(name)
    if found is None or not found.is_known or found.value.contains_marked:
        return None
    return found.to_python()


def is_undecided(resource: nigari.ResourceView, name: str) -> bool:
    """Whether an argument has a value that is not known before the plan."""
    found = resource.arguments.get(name)
    return found is not None and (not found.is_known or found.value.contains_marked)


@configuration_rule("acme:required-tags", "Missing tags")
def required_tags(configuration: nigari.Configuration) -> Iterator[Violation]:
    for resource in instances(configuration, *TAGGED):
        tags = argument(resource, "tags") or {}
        missing = [each for each in TAGS if isinstance(tags, dict) and not tags.get(each)]
        if missing and not is_undecided(resource, "tags"):
            text = f"{resource.address} lacks the tags {', '.join(missing)}."
            yield Violation(text, resource.range)


@configuration_rule("acme:public-bucket", "Public bucket", severity="error")
def public_bucket(configuration: nigari.Configuration) -> Iterator[Violation]:
    for resource in instances(configuration, "aws_s3_bucket_acl", "aws_s3_bucket"):
        if str(argument(resource, "acl")).startswith("public-"):
            yield Violation(f"{resource.address} can be read by everybody.", resource.range)


@configuration_rule("acme:open-admin-port", "Admin port open to everybody", severity="error")
def open_admin_port(configuration: nigari.Configuration) -> Iterator[Violation]:
    for resource in instances(configuration, "aws_security_group"):
        for block in resource.blocks:
            if block.type == "ingress" and _is_open(block):
                yield Violation(f"{resource.address} opens SSH or RDP to everybody.", block.range)
    for resource in instances(configuration, "aws_security_group_rule"):
        if argument(resource, "type") == "ingress" and _is_open(resource):
            yield Violation(f"{resource.address} opens SSH or RDP to everybody.", resource.range)


def _is_open(rule: nigari.ResourceView | nigari.BlockView) -> bool:
    first, last = argument(rule, "from_port"), argument(rule, "to_port")
    if not isinstance(first, int) or not isinstance(last, int):
        return False
    sources = (argument(rule, "cidr_blocks"), argument(rule, "ipv6_cidr_blocks"))
    networks = [each for found in sources if isinstance(found, list) for each in found]
    is_admin = any(first <= port <= last for port in ADMIN_PORTS)
    return is_admin and any(each in EVERYBODY for each in networks)


@configuration_rule("acme:unencrypted-storage", "Storage without encryption", severity="error")
def unencrypted_storage(configuration: nigari.Configuration) -> Iterator[Violation]:
    switches = {
        "aws_ebs_volume": "encrypted",
        "aws_db_instance": "storage_encrypted",
        "aws_efs_file_system": "encrypted",
    }
    for resource in instances(configuration, *switches):
        name = switches[resource.type]
        if argument(resource, name) is not True and not is_undecided(resource, name):
            yield Violation(f"{resource.address} needs {name} = true.", resource.range)


@configuration_rule("acme:public-database", "Database on the internet", severity="error")
def public_database(configuration: nigari.Configuration) -> Iterator[Violation]:
    for resource in instances(configuration, "aws_db_instance"):
        if argument(resource, "publicly_accessible") is True:
            yield Violation(f"{resource.address} is on the internet.", resource.range)


@configuration_rule("acme:deletion-protection", "Database without deletion protection")
def deletion_protection(configuration: nigari.Configuration) -> Iterator[Violation]:
    for resource in instances(configuration, "aws_db_instance", "aws_rds_cluster"):
        name = "deletion_protection"
        if argument(resource, name) is not True and not is_undecided(resource, name):
            yield Violation(f"{resource.address} can be deleted by mistake.", resource.range)


@configuration_rule("acme:instance-type", "Instance type that is not allowed")
def instance_type(configuration: nigari.Configuration) -> Iterator[Violation]:
    for resource in instances(configuration, "aws_instance"):
        found = argument(resource, "instance_type")
        if found is not None and found not in INSTANCE_TYPES:
            allowed = ", ".join(INSTANCE_TYPES)
            text = f"{resource.address} is a {found}. Allowed are {allowed}."
            yield Violation(text, resource.arguments["instance_type"].range)


@configuration_rule("acme:metadata-tokens", "Instance metadata without tokens")
def metadata_tokens(configuration: nigari.Configuration) -> Iterator[Violation]:
    for resource in instances(configuration, "aws_instance"):
        options = [each for each in resource.blocks if each.type == "metadata_options"]
        if not any(argument(each, "http_tokens") == "required" for each in options):
            text = f'{resource.address} needs http_tokens = "required" in metadata_options.'
            yield Violation(text, resource.range)


@configuration_rule("acme:log-retention", "Logs that are deleted too early")
def log_retention(configuration: nigari.Configuration) -> Iterator[Violation]:
    for resource in instances(configuration, "aws_cloudwatch_log_group"):
        days = argument(resource, "retention_in_days")
        if isinstance(days, int) and 0 < days < SHORTEST_RETENTION:
            text = f"{resource.address} retains logs for {days} days."
            yield Violation(text, resource.range)


@configuration_rule("acme:wildcard-policy", "IAM policy that allows everything", severity="error")
def wildcard_policy(configuration: nigari.Configuration) -> Iterator[Violation]:
    for resource in instances(configuration, "aws_iam_policy", "aws_iam_role_policy"):
        text = argument(resource, "policy")
        statements = json.loads(text).get("Statement", []) if isinstance(text, str) else []
        for each in [statements] if isinstance(statements, dict) else statements:
            if each.get("Effect") == "Allow" and each.get("Action") in ("*", ["*"]):
                yield Violation(f"{resource.address} allows every action.", resource.range)


@configuration_rule("acme:image-tag", "Image that is not pinned")
def image_tag(configuration: nigari.Configuration) -> Iterator[Violation]:
    for resource in instances(configuration, "docker_image", "docker_container"):
        for name in ("name", "image"):
            image = argument(resource, name)
            is_image = resource.type == "docker_image" or name == "image"
            if is_image and isinstance(image, str) and image.endswith(":latest"):
                yield Violation(f"{resource.address} uses {image}.", resource.range)
