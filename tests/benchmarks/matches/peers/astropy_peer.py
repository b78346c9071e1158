"""astropy: search_around_sky for pairs, match_to_catalog_sky for the nearest, both on one core."""

from __future__ import annotations

import pyarrow as pa
from astropy import units
from astropy.coordinates import SkyCoord, search_around_sky

from tests.benchmarks.matches.match_kinds import ARCSEC
from tests.benchmarks.matches.peers.array_peer import ArrayPeer, Pairs

_RADIUS = ARCSEC * units.arcsec


class AstropyPeer(ArrayPeer[SkyCoord]):
    def make_positions(self, table: pa.Table) -> SkyCoord:
        return SkyCoord(table["ra"].to_numpy(), table["dec"].to_numpy(), unit="deg")

    def find_pairs(self, left: SkyCoord, right: SkyCoord) -> Pairs:
        left_indices, right_indices, _, _ = search_around_sky(left, right, _RADIUS)
        return left_indices, right_indices

    def find_nearest(self, left: SkyCoord, right: SkyCoord) -> Pairs:
        nearest, apart, _ = left.match_to_catalog_sky(right)
        (left_indices,) = (apart <= _RADIUS).nonzero()
        return left_indices, nearest[left_indices]
