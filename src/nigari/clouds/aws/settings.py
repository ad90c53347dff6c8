"""Common AWS arguments: regions, endpoints, proxies, credentials."""

from __future__ import annotations

from typing import Final

from nigari.clouds.arguments import Arguments
from nigari.clouds.aws.credentials import Sources, WebIdentity
from nigari.clouds.aws.roles import Role
from nigari.clouds.aws.signing import Credentials
from nigari.clouds.failures import CloudFailure
from nigari.lazy import lazy_pattern
from nigari.net.settings import Settings, read_settings
from nigari.record import record, replace

_OLD_ENDPOINTS: Final = {
    "s3": ("endpoint", "AWS_ENDPOINT_URL_S3", "AWS_S3_ENDPOINT"),
    "iam": ("iam_endpoint", "AWS_ENDPOINT_URL_IAM", "AWS_IAM_ENDPOINT"),
    "sts": ("sts_endpoint", "AWS_ENDPOINT_URL_STS", "AWS_STS_ENDPOINT"),
    "kms": ("", "AWS_ENDPOINT_URL_KMS", "AWS_ENDPOINT_URL"),
    "dynamodb": ("dynamodb_endpoint", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_DYNAMODB_ENDPOINT"),
}


def aws_region(arguments: Arguments) -> str:
    """Return the region; its form is checked unless skip_region_validation is set."""
    region = arguments.text("region", "AWS_REGION", "AWS_DEFAULT_REGION")
    if not arguments.flag("skip_region_validation"):
        check_region(region)
    return region


def aws_endpoint(arguments: Arguments, service: str, region: str) -> str:
    """Return the URL of a service."""
    old, *variables = _OLD_ENDPOINTS[service]
    block = arguments.block("endpoints")
    given = "" if block is None else block.text(service)
    if given and old and arguments.text(old):
        raise CloudFailure(f"Only one of endpoints.{service} and {old} can be set.")
    given = given or arguments.text(old, *variables)
    if given:
        return with_scheme(given)
    return endpoint(
        service,
        region,
        Variants(
            arguments.flag("use_fips_endpoint", "AWS_USE_FIPS_ENDPOINT"),
            arguments.flag("use_dualstack_endpoint", "AWS_USE_DUALSTACK_ENDPOINT"),
        ),
    )


def aws_network(arguments: Arguments) -> Settings:
    """Build network settings with the proxies and certificates of the arguments."""
    settings = read_settings(arguments.environ)
    return replace(
        settings,
        http_proxy=arguments.text("http_proxy") or settings.http_proxy,
        https_proxy=arguments.text("https_proxy") or settings.https_proxy,
        no_proxy=arguments.text("no_proxy") or settings.no_proxy,
        certificate_file=arguments.text("custom_ca_bundle", "AWS_CA_BUNDLE")
        or settings.certificate_file,
        checks_certificates=not arguments.flag("insecure"),
    )


def aws_sources(arguments: Arguments) -> Sources:
    """Collect the credential sources."""
    key, secret = arguments.text("access_key"), arguments.text("secret_key")
    static = Credentials(key, secret, arguments.text("token")) if key and secret else None
    checks = arguments.config.get("skip_metadata_api_check")
    mode = arguments.text(
        "ec2_metadata_service_endpoint_mode", "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE"
    )
    usual = "http://[fd00:ec2::254]" if mode.lower() == "ipv6" else ""
    return Sources(
        environ=arguments.environ,
        static=static,
        profile=arguments.text("profile"),
        credentials_files=_files(
            arguments, "shared_credentials_file", "AWS_SHARED_CREDENTIALS_FILE"
        ),
        config_files=_files(arguments, "shared_config_file", "AWS_SHARED_CONFIG_FILE"),
        role=_role(arguments),
        web_identity=_web_identity(arguments),
        queries_machine=None if checks is None else checks is not True,
        machine_endpoint=arguments.text(
            "ec2_metadata_service_endpoint", "AWS_EC2_METADATA_SERVICE_ENDPOINT"
        )
        or usual,
    )


def _files(arguments: Arguments, name: str, variable: str) -> tuple[str, ...]:
    several = arguments.texts(f"{name}s")
    one = arguments.text(name, variable)
    return tuple(several) if several else ((one,) if one else ())


def _role(arguments: Arguments) -> Role | None:
    block = arguments.block("assume_role")
    if block is not None:
        return Role(
            arn=block.required("role_arn"),
            session_name=block.text("session_name"),
            duration=block.text("duration"),
            external_id=block.text("external_id"),
            policy=block.text("policy"),
            policy_arns=tuple(block.texts("policy_arns")),
            tags=block.mapping("tags"),
            transitive_tag_keys=tuple(block.texts("transitive_tag_keys")),
        )
    if not arguments.text("role_arn"):
        return None
    seconds = arguments.number("assume_role_duration_seconds", default=0)
    return Role(
        arn=arguments.text("role_arn"),
        session_name=arguments.text("session_name"),
        duration=f"{seconds}s" if seconds else "",
        external_id=arguments.text("external_id"),
        policy=arguments.text("assume_role_policy"),
        policy_arns=tuple(arguments.texts("assume_role_policy_arns")),
        tags=arguments.mapping("assume_role_tags"),
        transitive_tag_keys=tuple(arguments.texts("assume_role_transitive_tag_keys")),
    )


def _web_identity(arguments: Arguments) -> WebIdentity | None:
    block = arguments.block("assume_role_with_web_identity")
    if block is None:
        return None
    role = Role(
        block.required("role_arn", "AWS_ROLE_ARN"),
        block.text("session_name", "AWS_ROLE_SESSION_NAME"),
        block.text("duration"),
        policy=block.text("policy"),
        policy_arns=tuple(block.texts("policy_arns")),
    )
    token = block.text("web_identity_token", "AWS_WEB_IDENTITY_TOKEN")
    file = block.text("web_identity_token_file", "AWS_WEB_IDENTITY_TOKEN_FILE")
    if not token and not file:
        raise CloudFailure(
            "assume_role_with_web_identity needs web_identity_token or web_identity_token_file."
        )
    return WebIdentity(role, token, "" if token else file)


_PARTITIONS: Final = (
    ("cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"),
    ("us-isob-", "sc2s.sgov.gov", ""),
    ("us-isof-", "csp.hci.ic.gov", ""),
    ("us-iso-", "c2s.ic.gov", ""),
    ("eu-isoe-", "cloud.adc-e.uk", ""),
    ("eusc-", "amazonaws.eu", ""),
    ("", "amazonaws.com", "api.aws"),
)
_REGION: Final = lazy_pattern(r"(af|ap|ca|cn|eu|eusc|il|me|mx|sa|us)(-[a-z]+)+-\d+")


@record
class Variants:
    """Endpoint variants: FIPS and dual-stack."""

    is_fips: bool = False
    is_dual_stack: bool = False


def check_region(region: str) -> None:
    """Raise an error for a text that is not a region name."""
    if not _REGION.fullmatch(region):
        raise CloudFailure(
            f'"{region}" is not the name of an AWS region. For a service that is only compatible '
            "with AWS, set skip_region_validation = true."
        )


def endpoint(service: str, region: str, variants: Variants) -> str:
    """Return the URL of a service in a region."""
    _, suffix, dual = next(each for each in _PARTITIONS if region.startswith(each[0]))
    name = f"{service}-fips" if variants.is_fips else service
    if not variants.is_dual_stack:
        return f"https://{name}.{region}.{suffix}"
    if service == "s3":
        return f"https://{name}.dualstack.{region}.{suffix}"
    return f"https://{name}.{region}.{dual or suffix}"


def with_scheme(url: str) -> str:
    """Add the scheme that an endpoint from the user may lack."""
    return (url if "://" in url else f"https://{url}").rstrip("/")
