"""Reads a collection with LSDB, as its users do, and prints what it finds as JSON: python lsdb_reader.py URL"""

import json
import sys
import warnings

warnings.simplefilter("ignore")

import lsdb  # noqa: E402 (it warns when it is imported)
from hats import read_hats  # noqa: E402

if __name__ == "__main__":
    url = sys.argv[1]
    stars = lsdb.open_catalog(url)
    rows = stars.compute().sort_values("id")
    bright = lsdb.open_catalog(url, columns=["mag"], filters=[("mag", "<", 5)]).compute()
    found = {
        "total": read_hats(url).main_catalog.catalog_info.total_rows,
        "rows": {name: rows[name].tolist() for name in ("id", "ra", "dec", "mag", "name")},
        "cone": sorted(stars.cone_search(ra=10.0, dec=20.0, radius_arcsec=3.9 * 3600).compute()["id"].tolist()),
        "named": stars.id_search({"id": 4242}).compute()["name"].tolist(),
        "bright": {"columns": bright.columns.tolist(), "mags": sorted({*bright["mag"].tolist()})},
    }
    print(json.dumps(found))
