"""Find words that the project does not use, and print the word to use instead.

    python tools/lint_words.py [PATH ...] [--count]

Reads Python, TypeScript, Svelte and Markdown: names, comments, docstrings, texts. Prints a line
``file:line: word -> replacement`` for each finding, or with ``--count`` the number of findings of each word. The exit
status is 1 if there are findings.

The vocabulary is in docs/glossary.md; a word of its last column is here if a program can tell the two meanings apart.
"""

from __future__ import annotations

import argparse
import io
import re
import subprocess
import sys
import tokenize
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: files that are read without arguments, as patterns of git
SCOPE = (
    *(f"{package}/**/*.py" for package in ("adql", "clickhouse_schema", "loaders", "tap_service", "workers")),
    "tests/**/*.py",
    "tools/**/*.py",
    "web/**/*.py",
    "web/src/**/*.ts",
    "web/src/**/*.svelte",
    "web/README.md",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/**/*.md",
)

#: words of names and of texts: ``fault`` is in ``fault``, ``find_faults`` and ``FaultList``, not in ``default``
WORDS = {
    "fault": "error (raised or sent), problem (found by a check), failure (of a part)",
    "faults": "errors (raised or sent), problems (found by a check), failures (of parts)",
    "faulty": "invalid, failing",
    "trouble": "problem",
    "troubles": "problems",
    "wish": "request",
    "wishes": "requests",
    "wished": "requested",
    "anew": "again",
    "beside": "next to, together with, side by side",
    "heed": "obey, respond to",
    "heeds": "obeys, responds to",
    "heeded": "obeyed",
    "reckon": "compute, count",
    "reckoned": "computed, counted",
    "hereby": "(leave out)",
    "thereof": "of it",
}

#: words of names only; texts may have them as a verb, or in a phrase such as "in place"
NAME_WORDS = {
    "place": "QueuedJob, LaneSlot, index, path, url, location, endpoint, position",
    "places": "slots, indexes, paths, urls, locations, endpoints, positions",
}

_BEFORE_A_NOUN = (
    r"(?:an?|the|this|that|these|those|each|every|one|its|their|his|her|your|our|other|another|same|such|which|whose|what"
    r"|first|second|third|last|next|no|any|some|all|both|two|three|four|many|several|few|free|hard|of|at|from|by|for|with"
    r"|between)"
)

#: words after which "of its own" has no noun: a folder "of its own, which", but the rows "of its own tables"
_NO_NOUN = (
    r"(?:and|or|but|nor|in|for|with|without|that|which|who|whose|to|from|by|as|on|at|of|is|are|was|were|has|have|had|can|may"
    r"|must|if|when|where|while|so|than|then|there|here|also|only|too|beside|after|before|because|since|until|unless|it|they)"
)

#: patterns of texts, in which a space is any white space, also a line break of a comment
PHRASES = {
    r"those of": "repeat the noun",
    r"that of": "repeat the noun",
    r"so many(?!(?: [\w'-]+){1,5} that\b)": "maximum number of, number of",
    r"so often(?! that\b)": "number of times",
    r"once more": "again",
    r"(?:is|are|was|were|be|been|goes|went) away": "unavailable, unreachable",
    r"as a whole": "complete, entire, entirely",
    rf"of (?:its|their|his|her|your|our|my|one's|(?:the |an? )?\w+'s|(?:the )?\w+s') own(?! (?!{_NO_NOUN}\b)[\w`*])": (
        "its own, separate"
    ),
    r"thr(?:ow|ows|ew|own|owing) away": "delete, discard",
    r"in place of": "instead of",
    r"for ever": "forever, without end, permanently",
    rf"{_BEFORE_A_NOUN} (?:[\w-]+ )?places?": "position, location, index, path, slot",
    r"(?:process|job|worker|service|server|thread)(?:es|s)? (?:begins?|began|has begun|have begun)": "starts, started",
    r"match joins?": "cross-match",
    r"resolved trees?": "bound query",
    r"row caches?": "row store",
    r"(?:composite|secondary) index(?:es)?": "index",
    r"(?:full-text|inverted) index(?:es)?": "text index",
    r"reference tables?": "whole table",
    r"neighbou?r tables?": "kept match",
    r"chunk quer(?:y|ies)": "piece",
    r"forecasts?": "estimate",
    r"initiators?": "connected server",
    r"cut-offs?": "row limit",
    r"(?<!-)data (?:path|folder)s?": "data directory",
}


@dataclass(frozen=True)
class Use:
    """A use of a word that is right: in the files that ``files`` matches, within a match of ``text``."""

    files: str
    text: str
    reason: str


#: uses that are right, each with its reason
ALLOWED = (
    Use("tools/lint_words.py", r"(?s).+", "the table itself"),
    Use("*", r"\b[Pp]age faults?\b", "the kernel's term"),
    Use("*", r"\bDefaultFault\b", "an error of DataLink 1.1"),
    Use("*", r"[Dd]ecimal places?", "the term for digits after the point"),
    Use("*", r"\b(?:take|takes|took|taken|taking) (?:the )?place\b", "an idiom"),
    Use("*", r"place-(?:items|content|self)", "properties of CSS"),
    Use("docs/decisions/distributed-joins.md", r"Qserv's secondary index", "the term of Qserv"),
    Use("tests/web/test_build.py", r"hereby granted", "the text of a licence"),
    Use("web/src/editor/tabStore.ts", r"\bplace\b", "a key of tabs in users' browsers"),
    Use("web/src/plots/table/*.ts", r"\bplaces:", "a key of chosen rows in shares and in users' browsers"),
    Use("web/src/samp/hubConnection.ts", r"\bfaultString\b", "a key of XML-RPC"),
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_ROOTS = re.compile("|".join({word.rstrip("s")[:4] for word in (*WORDS, *NAME_WORDS)}), re.IGNORECASE)
#: what may follow the noun in a name that begins with it: placeOf, place_settings; place_tables(...) is a verb
_AFTER_NOUN = {"of", "at", "in", "on", "top", "after", "for", "count", "settings"}
_SPACE = r"\s+"
_PHRASES = [
    (re.compile(rf"\b{pattern.replace(' ', _SPACE)}\b(?!-)"), replacement) for pattern, replacement in PHRASES.items()
]
_SCRIPT_TEXT = re.compile(r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`", re.DOTALL)
_SVELTE_CODE = re.compile(r"(?<=<script lang=\"ts\">).*?(?=</script>)|(?<=<script>).*?(?=</script>)", re.DOTALL)
_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)
#: what is between the words of a text that continues on the next line
_MARKS = re.compile(r"(?<=\n)[ \t]*(?:#:?|//|\*(?!\*)|>)|[\"`]|(?<![A-Za-z])'|'(?![A-Za-z])")
#: stands for code between texts, so that no phrase reaches over it
_GAP = "\0"


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    word: str
    replacement: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.word} -> {self.replacement}"


def lint_file(path: Path) -> Iterator[Finding]:
    """Find the words of a file that the project does not use.

    Parameters
    ----------
    path
        A file in Python, TypeScript, Svelte or Markdown.

    Yields
    ------
    Finding
        In the order of the file.
    """
    path = path.resolve()
    name = (path.relative_to(ROOT) if path.is_relative_to(ROOT) else path).as_posix()
    source = path.read_text(encoding="utf-8")
    if name == "docs/glossary.md":
        source = re.sub(r"\|[^|\n]*\|(?=\n)", "||", source)
    allowed = [match.span() for use in ALLOWED if fnmatch(name, use.files) for match in re.finditer(use.text, source)]
    starts = [0, *(match.end() for match in re.finditer("\n", source))]
    for begin, word, replacement in sorted(_find_words(mask_code(source, path.suffix), source)):
        if not any(first < begin + len(word) and begin < last for first, last in allowed):
            yield Finding(name, bisect_right(starts, begin), " ".join(word.split()), replacement)


def mask_code(source: str, suffix: str) -> str:
    """Return the texts of a source at their positions: code is one character that no phrase has, marks are spaces."""
    if suffix == ".py":
        spans = list(_list_python_texts(source))
    elif suffix == ".ts":
        spans = [match.span() for match in _SCRIPT_TEXT.finditer(source)]
    elif suffix == ".svelte":
        spans = list(_list_svelte_texts(source))
    else:
        spans = [(0, len(source))]
    masked, end = [], 0
    for first, last in spans:
        between = source[end:first]
        masked += [between if not between.strip() else re.sub(r"[^\n]", _GAP, between)]
        masked += [source[first:last]]
        end = last
    masked.append(re.sub(r"[^\n]", _GAP, source[end:]))
    return _MARKS.sub(lambda match: " " * len(match[0]), "".join(masked))


def _list_python_texts(source: str) -> Iterator[tuple[int, int]]:
    starts = [0, *(match.end() for match in re.finditer("\n", source))]
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            yield starts[token.start[0] - 1] + token.start[1], starts[token.end[0] - 1] + token.end[1]


def _list_svelte_texts(source: str) -> Iterator[tuple[int, int]]:
    """Comments and strings of the script, and the markup with its expressions; no styles."""
    end = 0
    for match in [*_SVELTE_CODE.finditer(source), *_STYLE.finditer(source)]:
        yield end, match.start()
        if not match[0].startswith("<style"):
            yield from (
                (match.start() + text.start(), match.start() + text.end()) for text in _SCRIPT_TEXT.finditer(match[0])
            )
        end = match.end()
    yield end, len(source)


def _find_words(texts: str, source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the position in the source, the word and its replacement."""
    for name in _NAME.finditer(source):
        if not _ROOTS.search(name[0]):
            continue
        parts = [part[0].lower() for part in _PART.finditer(name[0])]
        for number, part in enumerate(parts):
            if part in WORDS:
                yield name.start(), name[0], WORDS[part]
            elif part in NAME_WORDS and _is_noun(parts, number, texts[name.start()], source[name.end() :][:1]):
                yield name.start(), name[0], NAME_WORDS[part]
    texts = texts.lower()
    for pattern, replacement in _PHRASES:
        for match in pattern.finditer(texts):
            yield match.start(), source[match.start() : match.end()], replacement


def _is_noun(parts: list[str], number: int, text: str, follows: str) -> bool:
    """Return whether a part of a name is a noun; the only part of a name is one in code alone."""
    if len(parts) == 1:
        return text == _GAP
    is_verb = number == 0 and parts[0] == "place" and parts[1] not in _AFTER_NOUN and follows == "("
    return not is_verb


def list_files(paths: list[str]) -> list[Path]:
    """Return the files of a scope: of these files and folders, or of the project."""
    files = subprocess.check_output(
        ["git", "ls-files", "-z", "--", *map(":(glob){}".format, SCOPE)], cwd=ROOT, text=True
    )
    found = [ROOT / name for name in files.split("\0") if name]
    if not paths:
        return found
    asked = [Path(path).resolve() for path in paths]
    return [file for file in found if any(file == path or path in file.parents for path in asked)]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="Find words that the project does not use.")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files or folders; default: the project")
    parser.add_argument("--count", action="store_true", help="print the number of findings of each word")
    options = parser.parse_args(arguments)
    findings = [finding for path in list_files(options.paths) for finding in lint_file(path)]
    if options.count:
        for replacement, number in Counter(finding.replacement for finding in findings).most_common():
            print(f"{number:6} -> {replacement}")
        print(f"{len(findings):6} findings in {len({finding.path for finding in findings})} files")
    else:
        print(*findings, sep="\n", end="\n" * bool(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
