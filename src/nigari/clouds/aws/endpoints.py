"""Endpoints of AWS services."""

from __future__ import annotations

from typing import Final

from nigari.clouds.failures import CloudFailure
from nigari.lazy import lazy_pattern
from nigari.record import record

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
