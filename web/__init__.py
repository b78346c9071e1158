"""The portal: Svelte sources, and the build of them that the service shows."""

from __future__ import annotations

from pathlib import Path

#: what `make portal` builds
DIST = Path(__file__).parent / "dist"
