"""VOSI 1.1 capabilities with TAPRegExt 1.0 (erratum 1), or with the limits per mode of the draft of TAPRegExt 1.1.

The limits per mode are left out by default: STILTS 3.5 and TOPCAT 4.10 know only TAPRegExt 1.0, and refuse ``forMode``.
"""

from __future__ import annotations

from collections.abc import Sequence

from tap_service.constants import LINKS_STANDARD
from tap_service.documents.service_description import FeatureList, Limit, ServiceDescription
from tap_service.serializers import FORMATS, Format
from tap_service.xml_text import DECLARATION, Markup, element, join_lines, optional_element, tag

#: namespaces of the types in ``capability_elements``
CAPABILITY_NAMESPACES = {
    "xmlns:vr": "http://www.ivoa.net/xml/VOResource/v1.0",
    "xmlns:vs": "http://www.ivoa.net/xml/VODataService/v1.1",
    "xmlns:tr": "http://www.ivoa.net/xml/TAPRegExt/v1.0",
    "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
}
#: namespaces of a document of capabilities
SERVICE_NAMESPACES = {"xmlns:vosi": "http://www.ivoa.net/xml/VOSICapabilities/v1.0", **CAPABILITY_NAMESPACES}
_TAP = "ivo://ivoa.net/std/TAP"
_TAPREGEXT = "ivo://ivoa.net/std/TAPRegExt"
#: feature types in the case of the standard that defines them: some clients compare case-sensitively
_OF_TAPREGEXT = ("udf", "adqlgeo")
_FEATURES_OF_ADQL = "ivo://ivoa.net/std/tapregext#features-"

ADQL_VERSIONS = ("2.0", "2.1")

_NOTHING = Markup("")


def capabilities_document(service: ServiceDescription, formats: Sequence[Format] = FORMATS) -> bytes:
    """Return the XML document of /capabilities.

    Parameters
    ----------
    service : ServiceDescription
        The service.
    formats : Sequence[Format]
        The output formats to list.
    """
    document = tag("vosi:capabilities", SERVICE_NAMESPACES, capability_elements(service, formats))
    return (DECLARATION + document + "\n").encode()


def capability_elements(service: ServiceDescription, formats: Sequence[Format] = FORMATS) -> Markup:
    """Return the capabilities as elements of a document that declares CAPABILITY_NAMESPACES; parameters as above."""
    base = service.base_url
    security = security_methods(service)
    return join_lines(
        _table_access_element(service, formats),
        resource_element("ivo://ivoa.net/std/VOSI#capabilities", f"{base}/capabilities"),
        resource_element("ivo://ivoa.net/std/VOSI#availability", f"{base}/availability"),
        resource_element("ivo://ivoa.net/std/VOSI#tables-1.1", f"{base}/tables", version="1.1", security=security),
        resource_element(
            "ivo://ivoa.net/std/DALI#examples", f"{base}/examples", kind="vr:WebBrowser", security=security
        ),
        _links_element(service.links_url, security) if service.links_url else "",
    )


def _links_element(url: str, security: Markup) -> Markup:
    """Return the capability of {links} (DataLink 1.1, section 2.2).

    It has no queryType and param, about which pyvo warns.
    """
    media_type = element("resultType", "application/x-votable+xml;content=datalink")
    children = join_lines(element("accessURL", url, use="base"), security, media_type)
    interface = tag("interface", {"xsi:type": "vs:ParamHTTP", "role": "std"}, children)
    return element("capability", interface, standardID=LINKS_STANDARD)


def resource_element(
    standard: str, url: str, kind: str = "vs:ParamHTTP", version: str = "", security: Markup = _NOTHING
) -> Markup:
    """Return the capability of a resource that is described by its URL alone.

    Parameters
    ----------
    standard : str
        The standard id of the resource.
    url : str
        The URL.
    kind : str
        The xsi:type of the interface.
    version : str
        The version of the interface, '' for none.
    security : Markup
        The login methods (``security_methods``), empty for a public resource.
    """
    return element("capability", _interface_element(url, "full", kind, version, security), standardID=standard)


def _interface_element(url: str, use: str, kind: str, version: str, security: Markup) -> Markup:
    role = "" if kind == "vr:WebBrowser" else "std"
    children = join_lines(element("accessURL", url, use=use), security)
    return tag("interface", {"xsi:type": kind, "role": role, "version": version}, children)


def security_methods(service: ServiceDescription) -> Markup:
    """Return the elements of the login methods. Clients treat interfaces without them as anonymous.

    A method without an id stands for anonymous access. A service without users has no methods.
    """
    if not service.security_methods:
        return _NOTHING
    anonymous = (tag("securityMethod", {}),) if service.anonymous else ()
    return join_lines(*anonymous, *(tag("securityMethod", {"standardID": ident}) for ident in service.security_methods))


def _table_access_element(service: ServiceDescription, formats: Sequence[Format]) -> Markup:
    children = join_lines(
        optional_element("description", service.description),
        _interface_element(service.base_url, "base", "vs:ParamHTTP", "1.1", security_methods(service)),
        *(tag("dataModel", {"ivo-id": ident}, name) for name, ident in service.data_models),
        _language_element(service.features),
        *(_output_format_element(entry) for entry in formats),
        *(tag("uploadMethod", {"ivo-id": f"{_TAPREGEXT}#upload-{word}"}) for word in service.upload_methods),
        _limit_element("retentionPeriod", service.retention_period),
        _limit_element("executionDuration", service.execution_duration),
        _limit_element("executionDuration", service.sync_duration, "sync") if service.has_mode_limits else "",
        _limit_element("outputLimit", service.output_limit, unit="row"),
        _limit_element("outputLimit", service.job_output_limit, "async", "row") if service.has_mode_limits else "",
        _limit_element("uploadLimit", service.upload_limit, unit="byte") if service.upload_methods else "",
    )
    return tag("capability", {"standardID": _TAP, "xsi:type": "tr:TableAccess"}, children)


def _language_element(features: Sequence[FeatureList]) -> Markup:
    versions = [tag("version", {"ivo-id": f"ivo://ivoa.net/std/ADQL#v{number}"}, number) for number in ADQL_VERSIONS]
    return element(
        "language",
        join_lines(
            element("name", "ADQL"),
            *versions,
            element("description", "Astronomical Data Query Language"),
            *(_feature_list_element(entry) for entry in features),
        ),
    )


def _feature_list_element(entry: FeatureList) -> Markup:
    features = (
        element("feature", element("form", feature.form), optional_element("description", feature.description))
        for feature in entry.features
    )
    return element("languageFeatures", join_lines(*features), type=_feature_type(entry.kind))


def _feature_type(kind: str) -> str:
    if kind.startswith("ivo:"):
        return kind
    return f"{_TAPREGEXT}#features-{kind}" if kind in _OF_TAPREGEXT else _FEATURES_OF_ADQL + kind


def _output_format_element(entry: Format) -> Markup:
    aliases = (element("alias", alias) for alias in entry.aliases)
    return tag("outputFormat", {"ivo-id": entry.ivo_id}, element("mime", entry.mime), *aliases)


def _limit_element(name: str, limit: Limit | None, mode: str = "", unit: str = "") -> Markup:
    """Return the element of a limit for both modes, or for one ``mode`` (sync or async), for which it wins."""
    if limit is None:
        return _NOTHING
    values = {"default": limit.default, "hard": limit.hard}
    known = {key: str(value) for key, value in values.items() if value is not None}
    return element(name, *(element(key, value, unit=unit) for key, value in known.items()), forMode=mode)
