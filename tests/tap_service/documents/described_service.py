"""A described service with its tables, jobs and documents."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from clickhouse_schema.catalogue import Catalogue
from clickhouse_schema.column_links import InputParam, Service
from clickhouse_schema.schema_model import Column, ForeignKey, Layout, Schema, Table
from clickhouse_schema.tap_schema import TAP_SCHEMA
from tap_service.documents.availability_document import availability_document
from tap_service.documents.capabilities_document import capabilities_document
from tap_service.documents.error_document import error_document
from tap_service.documents.examples_document import examples_document
from tap_service.documents.service_description import (
    Availability,
    Example,
    Feature,
    FeatureList,
    Limit,
    ServiceDescription,
)
from tap_service.documents.tableset_document import table_document, tableset_document
from tap_service.documents.uws_documents import job_document, job_list, parameters_document, results_document
from tap_service.models.uws_job import ExecutionPhase, Job, JobError, JobReference, JobResult


def column(name: str, datatype: str, **keys: Any) -> Column:
    return Column.model_validate({"name": name, "datatype": datatype, **keys})


STARS = Table(
    name="stars",
    description="Stars & <other> things,\nsome bright",
    columns=(
        column("id", "long", nullable=False, description="Identifier", **{"ivoa:ucd": "meta.id;meta.main"}),
        column("ra", "double", std=True, **{"ivoa:unit": "deg", "ivoa:ucd": "pos.eq.ra;meta.main"}),
        column("dec", "double", **{"ivoa:unit": "deg", "votable:utype": "obscore:Char.SpatialAxis"}),
        column("position", "double", **{"votable:arraysize": "2", "votable:xtype": "point"}),
        column("size", "float"),
        column("two words", "unicode"),
        column("seen", "timestamp"),
        column("code", "char", **{"votable:arraysize": "4", "skyhouse:links": ({"href": "http://a/${code}"},)}),
        column("good", "boolean"),
    ),
    primary_key=("id",),
    layout=Layout(position=("ra", "dec"), id=("id",)),
    services=(Service(name="links", access_url="http://a", input_params=(InputParam(name="ID", ref="id"),)),),
)

SPECTRA = Table(
    name="spectra",
    columns=(column("star", "long"), column("flux", "float", **{"votable:arraysize": "*"})),
    keys=(
        ForeignKey(
            name="spectra_stars",
            columns=("star",),
            referenced_table="survey.stars",
            referenced_columns=("id",),
            description="The star",
        ),
    ),
)

CATALOGUE = Catalogue((TAP_SCHEMA, Schema(name="survey", description="A survey", tables=(STARS, SPECTRA))))

CREATED = datetime(2026, 11, 21, 2, 30, 15, 40_000, tzinfo=UTC)

PENDING = Job("0a", None, CREATED, CREATED, 0)

COMPLETED = Job(
    "0b",
    "kepler & co",
    CREATED,
    CREATED,
    600,
    ExecutionPhase.COMPLETED,
    parameters=(("QUERY", "SELECT '<\x00>'"), ("UPLOAD", "a,b"), ("UPLOAD", "c,d"), ("MAXREC", "")),
    run_id="run <1>",
    note="line <1>\n& line 2",
    quote=CREATED,
    start_time=CREATED,
    end_time=CREATED,
    result=JobResult("0b-1", 12345678901, "text/csv;charset=utf-8", "csv", "0b-1"),
    info={"rowsRead": 10**12, "percent": 100, "seconds": 0.25, "plan": "a <b> & c"},
    attempt=1,
)

FAILED = replace(
    COMPLETED, job_id="0c", phase=ExecutionPhase.ERROR, result=None, error=JobError("no <column> \x00", transient=True)
)

CONE = "SELECT *\nFROM survey.stars\nWHERE ra < 1"


def describe_service(base_url: str) -> ServiceDescription:
    return ServiceDescription(
        base_url=base_url,
        title="Sky & more",
        description="A TAP service",
        features=(
            FeatureList("udf", (Feature("ivo_twice(x INTEGER) -> INTEGER", "Twice <x> & more"),)),
            FeatureList("adqlgeo", (Feature("CONTAINS"), Feature("POINT"))),
            FeatureList("adql-offset", (Feature("OFFSET"),)),
        ),
        upload_methods=("inline", "http"),
        data_models=(("ObsCore-1.1", "ivo://ivoa.net/std/ObsCore#core-1.1"),),
        retention_period=Limit(172800, 604800),
        execution_duration=Limit(600, None),
        output_limit=Limit(20000, 1000000),
        upload_limit=Limit(None, 10**8),
        links_url="http://localhost/tap/datalink/links",
    )


def reference(job: Job) -> JobReference:
    return JobReference(job.job_id, job.phase, job.run_id, job.owner, job.creation_time)


def make_documents(base_url: str) -> dict[str, bytes]:
    """Return bytes by path below the base URL."""
    start = datetime(2026, 11, 21, 2, 30, 15, tzinfo=UTC)
    return {
        "availability": availability_document(Availability(True, start, ("Fine & <well>",))),
        "capabilities": capabilities_document(describe_service(base_url)),
        "tables": tableset_document(CATALOGUE.entries),
        "tables-min": tableset_document(CATALOGUE.entries, detail=False),
        **{f"tables/{entry.qualified_name}": table_document(entry) for entry in CATALOGUE.entries},
        "job-pending": job_document(PENDING, f"{base_url}/async/0a"),
        "job-completed": job_document(COMPLETED, f"{base_url}/async/0b"),
        "job-failed": job_document(FAILED, f"{base_url}/async/0c"),
        "jobs": b"".join(job_list([reference(job) for job in (PENDING, COMPLETED, FAILED)], f"{base_url}/async")),
        "results": results_document(COMPLETED, f"{base_url}/async/0b"),
        "parameters": parameters_document(COMPLETED),
        "error": error_document("no <such> column & \x00", "SELECT \x01 x"),
        "examples": examples_document(
            [
                Example("cone", "Cone around <M 45>", CONE, "Stars", ("survey.stars",)),
                Example("all", "Count", "SELECT COUNT(*) FROM survey.stars WHERE \"two words\" = '&'"),
            ],
            "Examples of Sky & more",
        ),
    }
