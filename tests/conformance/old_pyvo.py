"""Uses a service as users of an old pyvo do: a program, run in the environment of an old astropy."""

import io
import sys
from collections.abc import Callable

import numpy as np
import pyvo
from pyvo.dal import DALQueryError, SCSService, TAPService
from pyvo.dal.adhoc import DatalinkResults

#: texts of limited length, and NULLs
UPLOAD = """<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE>
<FIELD name="n" datatype="int"/><FIELD name="code" datatype="char" arraysize="8*"/>
<FIELD name="name" datatype="unicodeChar" arraysize="9*"/><FIELD name="v" datatype="double" arraysize="*"/>
<FIELD name="at" datatype="char" arraysize="*" xtype="timestamp"/>
<FIELD name="p" datatype="double" arraysize="2" xtype="point"/><DATA><TABLEDATA>
<TR><TD>1</TD><TD>ab</TD><TD>é𝄞</TD><TD>1 2.5</TD><TD>2000-01-02T03:04:05</TD><TD>10 -20</TD></TR>
<TR><TD>2</TD><TD></TD><TD></TD><TD></TD><TD></TD><TD></TD></TR>
<TR><TD>3</TD><TD>Z</TD><TD>Høg</TD><TD>3</TD><TD>2000-01-02T03:04:05.25</TD><TD>0 90</TD></TR>
</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>"""
QUERY = "SELECT mine.*, CIRCLE(p, 1) AS c FROM TAP_UPLOAD.mine ORDER BY n"
FORMATS = ("", "votable/b2", "votable/b", "votable/td", "text/xml", "votable;version=1.5", "votable;content=mivot")


def check_upload(rows: pyvo.dal.DALResults) -> None:
    assert [int(n) for n in rows["n"]] == [1, 2, 3]
    assert [text or None for text in rows["code"].tolist()] == ["ab", None, "Z"]
    assert [text or None for text in rows["name"].tolist()] == ["é𝄞", None, "Høg"]
    assert [list(map(float, rows["v"][row])) for row in (0, 2)] == [[1, 2.5], [3]]
    assert [str(rows["at"][row]) for row in (0, 2)] == ["2000-01-02T03:04:05", "2000-01-02T03:04:05.25"]
    assert rows["p"][2].tolist() == [0, 90]
    assert np.all(np.ma.getmaskarray(rows["p"][1]) | np.isnan(np.ma.getdata(rows["p"][1])))
    assert rows["c"][0].tolist() == [10, -20, 1]


def check_error(message: str, ask: Callable[..., object], *arguments: object, **options: object) -> None:
    said = ""
    try:
        ask(*arguments, **options)
    except DALQueryError as error:
        said = str(error)
    assert message in said


def use_service(url: str) -> None:
    tap = TAPService(url)
    assert "tycho2.bright" in tap.tables.keys()  # noqa: SIM118 - this pyvo has no membership
    assert tap.maxrec > 0
    assert tap.examples

    rows = tap.search("SELECT TOP 3 * FROM tycho2.bright")
    assert (len(rows), rows.votable.version) == (3, "1.4")
    rows = tap.search("SELECT * FROM tycho2.bright", maxrec=5)
    assert (len(rows), rows.query_status) == (5, "OVERFLOW")
    assert len(tap.search("SELECT * FROM tycho2.bright WHERE 1 = 0")) == 0

    for form in FORMATS:
        options = {"RESPONSEFORMAT": form} if form else {}
        check_upload(tap.search(QUERY, uploads={"mine": io.BytesIO(UPLOAD.encode())}, **options))
    check_upload(tap.run_async(QUERY, uploads={"mine": io.BytesIO(UPLOAD.encode())}))

    cone = SCSService(url.replace("/tap", "/scs/tycho2.bright?"))
    assert len(cone.search(pos=(56.75, 24.12), radius=1.0, verbosity=3).to_table()) > 20
    assert len(cone.search(pos=(56.75, 24.12), radius=1e-5)) == 0

    check_error("there is no column nothing", tap.search, "SELECT nothing FROM tycho2.bright")
    check_error("there is no column nothing", tap.run_async, "SELECT nothing FROM tycho2.bright")
    check_error("SR=-1.0 is out of range", cone.search, pos=(56.75, 24.12), radius=-1.0)

    links = DatalinkResults.from_result_url(f"{url}/datalink/links?ID=ivo://example.org/x")
    assert links.votable.version == "1.4"
    assert "NotFoundError" in links["error_message"][0]


if __name__ == "__main__":
    use_service(sys.argv[1])
