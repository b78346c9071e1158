"""VOSI 1.1 capabilities of a cone search, with the type of SimpleDALRegExt 1.2 (ConeSearch 1.0)."""

from __future__ import annotations

from tap_service.documents.capabilities_document import (
    SERVICE_NAMESPACES,
    resource_element,
    security_methods,
)
from tap_service.documents.service_description import ConeSearch, ServiceDescription
from tap_service.xml_text import DECLARATION, Markup, element, join_lines, tag

STANDARD_ID = "ivo://ivoa.net/std/ConeSearch"
NAMESPACE = {"xmlns:cs": "http://www.ivoa.net/xml/ConeSearch/v1.0"}

#: in degrees: no cone is too large
_MAX_RADIUS = "180"
#: radius in degrees of the test query, whose centre is the position of a row
_TEST_RADIUS = "0.001"

#: name, type, unit, UCD, whether it is required, and description of each parameter
_PARAMETERS = (
    ("RA", "real", "deg", "pos.eq.ra", True, "Right ascension of the centre (ICRS)"),
    ("DEC", "real", "deg", "pos.eq.dec", True, "Declination of the centre (ICRS)"),
    ("SR", "real", "deg", "pos.angDistance", True, "Radius; 0 for the columns without rows"),
    ("VERB", "integer", "", "meta.code", False, "Which columns to return: 1 the fewest, 2 the main columns, 3 all"),
    ("MAXREC", "integer", "", "meta.number", False, "Maximum number of rows; 0 for the columns without rows"),
    ("RESPONSEFORMAT", "string", "", "meta.code.mime", False, "Format of the answer, as in TAP; VOTable by default"),
)


def cone_search_document(cone: ConeSearch, service: ServiceDescription) -> bytes:
    """Return the XML document of the capabilities of a cone search.

    Parameters
    ----------
    cone : ConeSearch
        The cone search of a table.
    service : ServiceDescription
        The service, with its URLs and login methods.
    """
    content = cone_search_elements(cone, service)
    document = tag("vosi:capabilities", {**SERVICE_NAMESPACES, **NAMESPACE}, content)
    return (DECLARATION + document + "\n").encode()


def cone_search_elements(cone: ConeSearch, service: ServiceDescription) -> Markup:
    """Return the capabilities as elements of a document that declares CAPABILITY_NAMESPACES and NAMESPACE."""
    return join_lines(
        _cone_search_element(cone, service),
        resource_element("ivo://ivoa.net/std/VOSI#capabilities", f"{cone.url}/capabilities"),
        resource_element("ivo://ivoa.net/std/VOSI#availability", f"{service.base_url}/availability"),
    )


def _cone_search_element(cone: ConeSearch, service: ServiceDescription) -> Markup:
    interface = tag(
        "interface",
        {"xsi:type": "vs:ParamHTTP", "role": "std", "version": "1.03"},
        join_lines(
            element("accessURL", f"{cone.url}?", use="base"),
            security_methods(service),
            element("queryType", "GET"),
            element("queryType", "POST"),
            element("resultType", "text/xml"),
            *(_parameter_element(*parameter) for parameter in _PARAMETERS),
        ),
    )
    children = join_lines(
        element("description", f"Rows of {cone.table} within a cone on the sky"),
        interface,
        element("maxSR", _MAX_RADIUS),
        _max_records_element(service),
        element("verbosity", "true"),
        _test_query_element(cone),
    )
    return tag("capability", {"standardID": STANDARD_ID, "xsi:type": "cs:ConeSearch"}, children)


def _parameter_element(name: str, kind: str, unit: str, ucd: str, is_required: bool, description: str) -> Markup:
    children = (
        element("name", name),
        element("description", description),
        element("unit", unit) if unit else "",
        element("ucd", ucd),
        tag("dataType", {"xsi:type": "vs:SimpleDataType"}, kind),
    )
    return element("param", join_lines(*children), std="true", use="required" if is_required else "optional")


def _max_records_element(service: ServiceDescription) -> Markup:
    hard = service.output_limit.hard if service.output_limit else None
    return element("maxRecords", str(hard)) if hard else Markup("")


def _test_query_element(cone: ConeSearch) -> Markup:
    if cone.test_position is None:
        return Markup("")
    ra, dec = cone.test_position
    return element(
        "testQuery",
        element("ra", repr(ra)),
        element("dec", repr(dec)),
        element("sr", _TEST_RADIUS),
        element("verb", "1"),
    )
