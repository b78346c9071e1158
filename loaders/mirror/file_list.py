"""Lists the files of an origin: from patterns, from pages with links, or from a file of checksums."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from html.parser import HTMLParser
from itertools import product
from urllib.parse import quote, unquote, urljoin, urlsplit

from loaders.load_error import LoadError
from loaders.mirror.recipe import RowOrigin
from loaders.origin.origin_client import OriginAnswer, OriginClient, check_address

#: Maximum number of files of one mirror: the numbers of their chunks must be below 2^32
MAX_FILES = 500_000
_MAX_LIST_BYTES = 256 << 20

_RANGE = re.compile(r"\{([0-9]+)\.\.([0-9]+)\}|\{([a-z])\.\.([a-z])\}")

#: The lines of md5sum and similar programs, and of BSD's programs
_SUM_LINE = re.compile(r"([0-9a-fA-F]+)\s+\*?(\S.*)")
_BSD_LINE = re.compile(r"[A-Z0-9-]+ ?\((.+)\) ?= ?([0-9a-fA-F]+)")

#: The algorithm of a checksum by its number of hexadecimal digits
_ALGORITHMS = {32: "md5", 40: "sha1", 64: "sha256", 128: "sha512"}


@dataclass(frozen=True, slots=True)
class OriginFile:
    """A file. ``checksum``: hexadecimal, '' if the origin publishes none; ``algorithm``: as in hashlib."""

    address: str
    checksum: str = ""

    @property
    def name(self) -> str:
        return unquote(urlsplit(self.address).path.rpartition("/")[2])

    @property
    def algorithm(self) -> str:
        return _ALGORITHMS[len(self.checksum)] if self.checksum else ""


def list_origin_files(origin: RowOrigin, client: OriginClient) -> list[OriginFile]:
    """Return the files in the order in which they are loaded. Raises ``LoadError``."""
    sums = _read_sums(origin.checksums, client) if origin.checksums else {}
    if origin.files:
        addresses = _expand_patterns(origin.files)
    else:
        pages = _expand_patterns(origin.pages)
        listed = [(page, name) for page in pages for name in read_links(client.get(page, _read_text))]
        listed += [(origin.checksums, name) for name in sums] if not pages else []
        wanted = [each for each in listed if fnmatchcase(each[1].rpartition("/")[2], origin.match or "*")]
        addresses = sorted({_join_name(page, name) for page, name in wanted})
        if not addresses:
            source = pages[0] if pages else origin.checksums
            raise LoadError(f"{source} names no file like {origin.match or '*'}: correct match in the recipe")
    if len(addresses) > MAX_FILES:
        raise LoadError(f"the recipe names {len(addresses):,} files; the limit is {MAX_FILES:,}")
    by_name = {name.rpartition("/")[2]: found for name, found in sums.items()}
    files = [OriginFile(address, by_name.get(OriginFile(address).name, "")) for address in addresses]
    for file in files:
        check_address(file.address)
        if sums and not file.checksum:
            raise LoadError(
                f"{origin.checksums} has no checksum of {file.name}: correct files or checksums in the recipe"
            )
    return files


def expand_pattern(pattern: str) -> list[str]:
    """Return the addresses that match a pattern, in order; the last range varies fastest. Raises ``LoadError``."""
    texts = _RANGE.split(pattern)
    fixed, ranges = texts[::5], [texts[i + 1 : i + 5] for i in range(0, len(texts) - 1, 5)]
    if "{" in "".join(fixed) or "}" in "".join(fixed):
        raise LoadError(f"{pattern} has braces that are not a range: write {{00..48}} or {{a..z}}")
    choices = [_expand_range(pattern, *found) for found in ranges]
    count = 1
    for choice in choices:
        count *= len(choice)
    if count > MAX_FILES:
        raise LoadError(f"{pattern} stands for {count:,} files; the limit is {MAX_FILES:,}")
    heads = product(*choices)
    return [fixed[0] + "".join(a + b for a, b in zip(found, fixed[1:], strict=True)) for found in heads]


def _expand_range(pattern: str, first: str | None, last: str | None, a: str | None, z: str | None) -> list[str]:
    if first is None or last is None:
        found = [chr(letter) for letter in range(ord(a or "a"), ord(z or "z") + 1)]
    else:
        if int(last) - int(first) > MAX_FILES:
            raise LoadError(f"{pattern} stands for more than {MAX_FILES:,} files")
        found = [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
    if not found:
        raise LoadError(f"{pattern} has a range that ends before it starts")
    return found


def _expand_patterns(patterns: Sequence[str]) -> list[str]:
    return [address for pattern in patterns for address in expand_pattern(pattern)]


def _read_text(answer: OriginAnswer) -> str:
    return b"".join(answer.read_pieces(_MAX_LIST_BYTES)).decode("utf-8", "replace")


def read_links(page: str) -> list[str]:
    """Return the relative links to files in a page of HTML; links to other folders are left out."""
    found: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            link = dict(attrs).get("href") if tag == "a" else None
            if link and not re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:|/|\?|#|\.\.", link) and not link.endswith("/"):
                found.append(unquote(link))

    Reader().feed(page)
    return list(dict.fromkeys(found))


def _read_sums(address: str, client: OriginClient) -> dict[str, str]:
    """Return the checksums by the names in the file."""

    sums: dict[str, str] = {}
    for number, line in enumerate(client.get(address, _read_text).splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, checksum = _split_sum_line(line.strip())
        if len(checksum) not in _ALGORITHMS:
            raise LoadError(f"{address}:{number}: {line[:100]!r} has no MD5 or SHA sum and the name of a file")
        sums[name.removeprefix("./")] = checksum.lower()
    return sums


def _split_sum_line(line: str) -> tuple[str, str]:
    if found := _BSD_LINE.fullmatch(line):
        return found[1], found[2]
    found = _SUM_LINE.fullmatch(line)
    return (found[2], found[1]) if found else (line, "")


def _join_name(address: str, name: str) -> str:
    """Return the address of a file that a list names. Raises ``LoadError`` if it is not below the list's folder."""
    folder = address.rpartition("/")[0] + "/"
    joined = urljoin(folder, quote(name))
    if not joined.startswith(folder) or ".." in name.split("/"):
        raise LoadError(f"{address} names {name[:200]!r}, which is outside its folder")
    return joined
