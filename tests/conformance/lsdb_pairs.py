"""Cross-matches two collections with LSDB, as its users do, and prints the pairs: python lsdb_pairs.py LEFT RIGHT ARCSEC"""

import json
import sys
import warnings

warnings.simplefilter("ignore")

import lsdb  # noqa: E402 (it warns when it is imported)

if __name__ == "__main__":
    left, right, arcsec = lsdb.open_catalog(sys.argv[1]), lsdb.open_catalog(sys.argv[2]), float(sys.argv[3])
    matched = left.crossmatch(
        right, radius_arcsec=arcsec, n_neighbors=20, suffixes=("_left", "_right"), suffix_method="all_columns"
    ).compute()
    print(json.dumps(sorted(zip(matched["name_left"], matched["tyc_id_right"], strict=True))))
