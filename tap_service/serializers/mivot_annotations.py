"""MIVOT 1.0 blocks: the columns of a VOTable as the attributes of model instances.

A row becomes a ``mango:MangoObject`` with a ``mango:EpochPosition``, from the UCDs and the coordinate system of its
columns, and a ``mango:Brightness`` for each column whose photometric system is known. MANGO is a working draft; the
roles are those that pyvo 1.9 reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from clickhouse_schema.datatypes import CoordinateSystem, Field, PhotometricSystem, TimeSystem
from tap_service.xml_text import Markup, element, join_lines, tag

_MODELS = {
    "ivoa": "https://www.ivoa.net/xml/VODML/IVOA-v1.vo-dml.xml",
    "coords": "https://ivoa.net/xml/VODML/Coords-v1.vo-dml.xml",
    "Phot": "https://ivoa.net/xml/VODML/Phot-v1.vodml.xml",
    "mango": "https://raw.githubusercontent.com/ivoa-std/MANGO/refs/heads/wd-v1.0/vo-dml/mango.vo-dml.xml",
}
_REAL = "ivoa:RealQuantity"
_POSITION = "mango:EpochPosition"
_ERRORS = "mango:EpochPositionErrors"

_IDENTIFIER = "meta.id;meta.main"
_LONGITUDE, _LATITUDE = "pos.eq.ra;meta.main", "pos.eq.dec;meta.main"
#: UCDs of answers of Simple Cone Search, and their present names
_CONE_UCDS = {"id_main": _IDENTIFIER, "pos_eq_ra_main": _LONGITUDE, "pos_eq_dec_main": _LATITUDE}
_PM_LONGITUDE, _PM_LATITUDE = "pos.pm;pos.eq.ra", "pos.pm;pos.eq.dec"
_PARALLAX = ("pos.parallax", "pos.parallax.trig")
_RADIAL_VELOCITY = ("spect.dopplerveloc", "spect.dopplerveloc.opt", "spect.dopplerveloc;pos.heliocentric")
#: the errors of an EpochPosition, and the roles to which they belong
_ERROR_ROLES = {
    "position": ("longitude", "latitude"),
    "properMotion": ("pmLongitude", "pmLatitude"),
    "parallax": ("parallax",),
    "radialVelocity": ("radialVelocity",),
}
_EPOCH = ("time.epoch", "meta.ref;time.epoch", "time.epoch;meta.main", "time.epoch;obs", "time.epoch;obs;stat.mean")


def write_annotations(fields: Sequence[Field], ids: Sequence[str], source_rows: Sequence[int | None] = ()) -> Markup:
    """Return the RESOURCE with the MIVOT block of a table.

    A quantity is annotated if exactly one column has its UCD. All annotations are about one object: the only table row
    with a position, or else the only one with photometry.

    Parameters
    ----------
    fields : Sequence[Field]
        The columns of the table.
    ids : Sequence[str]
        Their XML IDs.
    source_rows : Sequence[int | None]
        For each field the number of the table row from which it comes, None for a computed one. By default all fields
        come from one row.
    """
    block = _Block(fields, ids, source_rows or [0] * len(fields))
    properties = [*block.write_position(), *block.write_brightnesses()]
    if properties:
        models = (element("MODEL", name=name, url=url) for name, url in _MODELS.items())
        templates = element("TEMPLATES", join_lines(block.write_object(properties)))
        content = [element("REPORT", status="OK"), *models, element("GLOBALS", join_lines(*block.frames)), templates]
    else:
        reason = (
            f"no table row, or more than one, has the columns {_LONGITUDE} and {_LATITUDE} unchanged, and no row, or "
            "more than one, has columns of a known photometric system"
        )
        content = [element("REPORT", reason, status="FAILED")]
    return element(
        "RESOURCE",
        join_lines(tag("VODML", {"xmlns": "http://www.ivoa.net/xml/mivot"}, join_lines(*content))),
        type="meta",
    )


class _Block:
    """The annotations of one table. ``frames`` are the systems to which they refer."""

    def __init__(self, fields: Sequence[Field], ids: Sequence[str], source_rows: Sequence[int | None]) -> None:
        self._fields = fields
        self._ids = ids
        ucds = [field.ucd.lower() for field in fields]
        self._ucds = [_CONE_UCDS.get(ucd, ucd) for ucd in ucds]
        self._indexes = self._choose_row(source_rows)
        self.frames: list[Markup] = []

    def _choose_row(self, source_rows: Sequence[int | None]) -> Sequence[int]:
        """Return the indexes of the columns of the object's row; none if there are several such rows."""
        rows: dict[int, list[int]] = {}
        for index, row in enumerate(source_rows):
            if row is not None:
                rows.setdefault(row, []).append(index)
        for is_described in (self._has_position, self._has_photometry):
            if found := [indexes for indexes in rows.values() if is_described(indexes)]:
                return found[0] if len(found) == 1 else ()
        return ()

    def _has_position(self, indexes: Sequence[int]) -> bool:
        return {self._ucds[index] for index in indexes} >= {_LONGITUDE, _LATITUDE}

    def _has_photometry(self, indexes: Sequence[int]) -> bool:
        return any(self._fields[index].photometry is not None for index in indexes)

    def write_object(self, properties: Sequence[Markup]) -> Markup:
        identifier = self._find_column(_IDENTIFIER, is_number=False)
        name = (
            []
            if identifier is None
            else [_attribute("ivoa:string", "mango:MangoObject.identifier", ref=self._ids[identifier])]
        )
        dock = tag("COLLECTION", {"dmrole": "mango:MangoObject.propertyDock"}, join_lines(*properties))
        return _instance("mango:MangoObject", *name, dock)

    # --- position

    def write_position(self) -> Iterator[Markup]:
        """Yield the EpochPosition, if there is a position."""
        longitude, latitude = self._find_column(_LONGITUDE), self._find_column(_LATITUDE)
        if longitude is None or latitude is None:
            return
        system = self._fields[longitude].coordinate_system
        if system != self._fields[latitude].coordinate_system:
            return
        columns = {"longitude": longitude, "latitude": latitude}
        motion = {"pmLongitude": self._find_column(_PM_LONGITUDE), "pmLatitude": self._find_column(_PM_LATITUDE)}
        others = {"parallax": self._find_column(*_PARALLAX), "radialVelocity": self._find_column(*_RADIAL_VELOCITY)}
        columns |= {role: index for role, index in (motion | others).items() if index is not None}
        if len(columns.keys() & motion) == 1:  # a motion needs both directions
            columns = {role: index for role, index in columns.items() if role not in motion}
        yield _instance(
            _POSITION,
            *_describe("Position", "astronomical-location", "Astronomical location"),
            *(self._write_quantity(f"{_POSITION}.{role}", index) for role, index in columns.items()),
            *self._write_epoch(system),
            *self._write_errors(columns),
            *([] if system is None else [self._refer_to_space(system)]),
        )

    def _write_epoch(self, system: CoordinateSystem | None) -> Iterator[Markup]:
        """Yield the epoch of the positions: a column, or the epoch of the coordinate system."""
        role = f"{_POSITION}.obsDate"
        index = self._find_column(*_EPOCH, is_number=False)
        if index is not None and (kind := _epoch_type(self._fields[index])):
            yield _attribute(kind, role, ref=self._ids[index])
            if times := self._fields[index].time_system:
                yield self._refer_to_time(times)
        elif system is not None and system.epoch:
            kind = "mango:BesselianEpoch" if system.epoch[0] == "B" else "mango:JulianEpoch"
            yield _attribute(kind, role, value=system.epoch)

    def _write_errors(self, columns: Mapping[str, int]) -> Iterator[Markup]:
        """Yield the errors of the quantities in ``columns``."""
        errors = [
            error
            for name, roles in _ERROR_ROLES.items()
            if (indexes := self._find_errors([columns.get(role) for role in roles]))
            for error in [self._write_symmetric_error(f"{_ERRORS}.{name}", indexes)]
        ]
        if errors:
            yield _instance(_ERRORS, *errors, role=f"{_POSITION}.errors")

    def _find_errors(self, indexes: Sequence[int | None]) -> list[int]:
        """Return the error column of each of these columns; [] unless each has its own."""
        found = [self._find_error(index) for index in indexes if index is not None]
        errors = [index for index in found if index is not None]
        return errors if len(errors) == len(indexes) else []

    def _find_error(self, index: int) -> int | None:
        """Return the index of a column's error column, if no other column has the same quantity."""
        quantities = [self._ucds[other].removesuffix(";meta.main") for other in self._indexes]
        quantity = self._ucds[index].removesuffix(";meta.main")
        return self._find_column(f"stat.error;{quantity}") if quantities.count(quantity) == 1 else None

    def _write_symmetric_error(self, role: str, indexes: Sequence[int]) -> Markup:
        kind = f"mango:error.PErrorSym{len(indexes)}D"
        sigmas = ["sigma"] if len(indexes) == 1 else ["sigma1", "sigma2"]
        quantities = (
            self._write_quantity(f"{kind}.{sigma}", index) for sigma, index in zip(sigmas, indexes, strict=True)
        )
        return _instance(kind, *quantities, role=role)

    # --- photometry

    def write_brightnesses(self) -> Iterator[Markup]:
        """Yield a Brightness for each column with a photometric system."""
        systems = {index: self._fields[index].photometry for index in self._indexes}
        known = {system for system in systems.values() if system is not None}
        calibrations = {system: f"_photcal_{number}" for number, system in enumerate(sorted(known, key=str), 1)}
        self.frames += [_write_calibration(system, ident) for system, ident in calibrations.items()]
        for index, system in systems.items():
            if system is None:
                continue
            field, errors = self._fields[index], self._find_errors([index])
            role = "mango:PhotometricProperty"
            yield _instance(
                "mango:Brightness",
                *_describe(field.description or field.name, "magnitude", "Magnitude"),
                self._write_quantity(f"{role}.value", index),
                *([self._write_symmetric_error(f"{role}.error", errors)] if errors else []),
                _reference("mango:Brightness.photCal", calibrations[system]),
            )

    # --- columns and frames

    def _find_column(self, *ucds: str, is_number: bool = True) -> int | None:
        """Return the index of the object's only column with one of these UCDs (in lower case)."""
        found = [
            index
            for index in self._indexes
            if self._ucds[index] in ucds and (self._fields[index].type.is_numeric or not is_number)
        ]
        return found[0] if len(found) == 1 else None

    def _write_quantity(self, role: str, index: int) -> Markup:
        return _attribute(_REAL, role, unit=self._fields[index].unit, ref=self._ids[index])

    def _refer_to_space(self, system: CoordinateSystem) -> Markup:
        frame = "coords:SpaceFrame"
        parts = [_attribute("ivoa:string", f"{frame}.spaceRefFrame", value=system.system)]
        if system.equinox:
            parts.append(_attribute("coords:Epoch", f"{frame}.equinox", value=system.equinox))
        if system.refposition:
            parts.append(_write_location(frame, system.refposition))
        return self._add_frame("space", frame, parts)

    def _refer_to_time(self, times: TimeSystem) -> Markup:
        frame = "coords:TimeFrame"
        scale = _attribute("ivoa:string", f"{frame}.timescale", value=times.timescale)
        return self._add_frame("time", frame, [scale, _write_location(frame, times.refposition)])

    def _add_frame(self, axis: str, frame: str, parts: Sequence[Markup]) -> Markup:
        """Add a frame to the GLOBALS; return the position's reference to it."""
        inner = _instance(frame, *parts, role="coords:PhysicalCoordSys.frame")
        self.frames.append(_instance(f"coords:{axis.title()}Sys", inner, ident=f"_{axis}sys"))
        return _reference(f"{_POSITION}.{axis}Sys", f"_{axis}sys")


def _epoch_type(field: Field) -> str:
    """Return MANGO's type of the values of an epoch column, '' if it has none."""
    if field.type.is_timestamp:
        return "mango:iso"
    if not field.type.is_numeric:
        return ""
    if field.unit in ("yr", "a"):
        return "mango:JulianEpoch"
    origin = field.time_system.timeorigin if field.time_system else ""
    return {"MJD-origin": "mango:mjd", "JD-origin": "mango:jd"}.get(origin, "") if field.unit == "d" else ""


def _write_location(frame: str, position: str) -> Markup:
    location = "coords:StdRefLocation"
    return _instance(
        location, _attribute("ivoa:string", f"{location}.position", value=position), role=f"{frame}.refPosition"
    )


def _write_calibration(system: PhotometricSystem, ident: str) -> Markup:
    """Write the PhotCal of a filter and a magnitude system (PhotDM 1.1)."""
    parts = [
        _attribute("ivoa:string", "Phot:PhotCal.identifier", value=f"{system.filter}/{system.system}"),
        _instance(
            "Phot:MagnitudeSystem",
            _attribute("Phot:TypeOfMagSystem", "Phot:MagnitudeSystem.type", value=system.system),
            role="Phot:PhotCal.magnitudeSystem",
        ),
        _instance(
            "Phot:PhotometryFilter",
            _attribute("ivoa:string", "Phot:PhotometryFilter.fpsIdentifier", value="ivo://svo/fps"),
            _attribute("ivoa:string", "Phot:PhotometryFilter.identifier", value=system.filter),
            role="Phot:PhotCal.photometryFilter",
        ),
    ]
    if system.zero_point is not None:
        parts.append(_write_zero_point(system.zero_point))
    return _instance("Phot:PhotCal", *parts, ident=ident)


def _write_zero_point(jansky: float) -> Markup:
    flux = _instance(
        "Phot:Flux",
        _attribute("Phot:UCD", "Phot:Flux.ucd", value="phot.flux.density"),
        _attribute("ivoa:Unit", "Phot:Flux.unitexpression", value="Jy"),
        _attribute("ivoa:real", "Phot:Flux.value", value=repr(jansky)),
        role="Phot:ZeroPoint.flux",
    )
    magnitude = _attribute("ivoa:real", "Phot:ZeroPoint.referenceMagnitudeValue", value="0")
    return _instance("Phot:ZeroPoint", magnitude, flux, role="Phot:PhotCal.zeroPoint")


def _describe(text: str, term: str, label: str) -> tuple[Markup, Markup]:
    """Write a property's description and its term in the Unified Astronomy Thesaurus."""
    kind = "mango:VocabularyTerm"
    semantics = _instance(
        kind,
        _attribute("ivoa:string", f"{kind}.uri", value=f"http://www.ivoa.net/rdf/uat#{term}"),
        _attribute("ivoa:string", f"{kind}.label", value=label),
        role="mango:Property.semantics",
    )
    return _attribute("ivoa:string", "mango:Property.description", value=text), semantics


def _instance(kind: str, *children: Markup, role: str = "", ident: str = "") -> Markup:
    return tag("INSTANCE", {"dmtype": kind, "dmrole": role, "dmid": ident}, join_lines(*children))


def _attribute(kind: str, role: str, *, value: str = "", unit: str = "", ref: str = "") -> Markup:
    """Write an ATTRIBUTE, without characters that astropy (8.0) reads as markup once it has resolved references."""
    value, unit = re.sub('[&<>"]', " ", value), re.sub('[&<>"]', " ", unit)
    return element("ATTRIBUTE", dmtype=kind, dmrole=role, value=value, unit=unit, ref=ref)


def _reference(role: str, ident: str) -> Markup:
    return element("REFERENCE", dmrole=role, dmref=ident)
