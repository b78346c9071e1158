"""The part of PromQL that the dashboard and the alerts use: parsed, and evaluated over recorded scrapes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

Labels = tuple[tuple[str, str], ...]
Vector = dict[Labels, float]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?(?![\w.]))|(?P<name>[A-Za-z_:][\w:]*)|(?P<string>\"[^\"]*\")"
    r"|(?P<range>\[(?:\d+[smhd]|\$__rate_interval)\])|(?P<sign>=~|!~|!=|==|>=|<=|[-+*/<>(){},=]))"
)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_AGGREGATES: dict[str, Callable[[list[float]], float]] = {"sum": sum, "max": max, "min": min}
_FUNCTIONS = ("rate", "increase", "histogram_quantile", "predict_linear")
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else float("nan"),
}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


@dataclass
class Selector:
    name: str
    matchers: list[tuple[str, str, str]] = field(default_factory=list)
    #: of the range, if there is one
    seconds: float | None = None

    def is_match(self, labels: dict[str, str]) -> bool:
        return all(_matches(labels.get(label, ""), sign, wanted) for label, sign, wanted in self.matchers)


@dataclass
class Call:
    """An aggregation has ``by`` (its labels); any other function has None."""

    function: str
    arguments: list[Any]
    by: list[str] | None = None


@dataclass
class Operation:
    sign: str
    left: Any
    right: Any


class PromqlError(Exception):
    pass


def parse(text: str) -> Any:
    """Return the tree of an expression. Raise PromqlError."""
    return _Parser(text).parse()


def walk(tree: Any) -> Iterator[Any]:
    yield tree
    if isinstance(tree, Call):
        for argument in tree.arguments:
            yield from walk(argument)
    if isinstance(tree, Operation):
        yield from walk(tree.left)
        yield from walk(tree.right)


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            match = _TOKEN.match(text, at)
            if match is None or match.lastgroup is None:
                raise PromqlError(f"{text!r}: not understood from {text[at:]!r} on")
            self._tokens.append((match.lastgroup, match[match.lastgroup]))
            at = match.end()
        self._text = text

    def parse(self) -> Any:
        tree = self._parse_level(0)
        if self._tokens:
            raise PromqlError(f"{self._text!r}: unexpected {self._tokens[0][1]!r}")
        return tree

    _LEVELS = (("and",), ("==", "!=", ">", "<", ">=", "<="), ("+", "-"), ("*", "/"))

    def _parse_level(self, level: int) -> Any:
        if level == len(self._LEVELS):
            return self._parse_operand()
        tree = self._parse_level(level + 1)
        while self._peek() in self._LEVELS[level]:
            tree = Operation(self._take()[1], tree, self._parse_level(level + 1))
        return tree

    def _parse_operand(self) -> Any:
        kind, text = self._take()
        if kind == "number":
            return float(text)
        if text == "(":
            tree = self._parse_level(0)
            self._expect(")")
            return tree
        if kind != "name":
            raise PromqlError(f"{self._text!r}: unexpected {text!r}")
        if text in _AGGREGATES:
            by = self._parse_names() if self._peek() == "by" and self._take() else []
            return Call(text, self._parse_arguments(), by)
        if text in _FUNCTIONS:
            return Call(text, self._parse_arguments())
        return self._parse_selector(text)

    def _parse_selector(self, name: str) -> Selector:
        found = Selector(name)
        if self._peek() == "{":
            self._take()
            while self._peek() != "}":
                label, sign, wanted = self._take()[1], self._take()[1], self._take()[1]
                if sign not in ("=", "!=", "=~", "!~"):
                    raise PromqlError(f"{self._text!r}: {sign!r} in a selector")
                found.matchers.append((label, sign, wanted.strip('"')))
                if self._peek() == ",":
                    self._take()
            self._take()
        if self._tokens and self._tokens[0][0] == "range":
            text = self._take()[1].strip("[]")
            found.seconds = 60.0 if text.startswith("$") else float(text[:-1]) * _SECONDS[text[-1]]
        return found

    def _parse_arguments(self) -> list[Any]:
        self._expect("(")
        found = [self._parse_level(0)]
        while self._peek() == ",":
            self._take()
            found.append(self._parse_level(0))
        self._expect(")")
        return found

    def _parse_names(self) -> list[str]:
        self._expect("(")
        names = [self._take()[1]]
        while self._peek() == ",":
            self._take()
            names.append(self._take()[1])
        self._expect(")")
        return names

    def _peek(self) -> str:
        return self._tokens[0][1] if self._tokens else ""

    def _take(self) -> tuple[str, str]:
        if not self._tokens:
            raise PromqlError(f"{self._text!r} ends too early")
        return self._tokens.pop(0)

    def _expect(self, sign: str) -> None:
        if (found := self._take()[1]) != sign:
            raise PromqlError(f"{self._text!r}: {found!r} instead of {sign!r}")


def _matches(value: str, sign: str, wanted: str) -> bool:
    if sign in ("=~", "!~"):
        return (re.fullmatch(wanted, value) is not None) == (sign == "=~")
    return (value == wanted) == (sign == "=")


#: the samples of one scrape: its time, and a value by the name and labels of a series
Scrape = tuple[float, dict[tuple[str, Labels], float]]


def evaluate(tree: Any, scrapes: list[Scrape], at: float) -> Vector:
    """Return the value of each series at a time."""
    if isinstance(tree, float):
        return {(): tree}
    if isinstance(tree, Selector):
        _, samples = [scrape for scrape in scrapes if scrape[0] <= at][-1]
        return {
            labels: value
            for (name, labels), value in samples.items()
            if name == tree.name and tree.is_match(dict(labels))
        }
    if isinstance(tree, Operation):
        return _operate(tree, evaluate(tree.left, scrapes, at), evaluate(tree.right, scrapes, at))
    if tree.function in _AGGREGATES:
        return _aggregate(tree, evaluate(tree.arguments[0], scrapes, at))
    if tree.function == "histogram_quantile":
        return _find_quantile(tree.arguments[0], evaluate(tree.arguments[1], scrapes, at))
    return _follow_range(tree, scrapes, at)


def _follow_range(tree: Call, scrapes: list[Scrape], at: float) -> Vector:
    """Return rate, increase, or a line through the first and the last value."""
    selector: Selector = tree.arguments[0]
    assert selector.seconds is not None, f"{tree.function} needs a range"
    within = [time for time, _ in scrapes if at - selector.seconds <= time <= at]
    found: Vector = {}
    if len(within) < 2:
        return found
    series: dict[Labels, list[tuple[float, float]]] = {}
    for time in within:
        for labels, value in evaluate(Selector(selector.name, selector.matchers), scrapes, time).items():
            series.setdefault(labels, []).append((time, value))
    for labels, points in series.items():
        if tree.function == "predict_linear":
            slope = (points[-1][1] - points[0][1]) / max(points[-1][0] - points[0][0], 1e-9)
            found[labels] = points[-1][1] + slope * tree.arguments[1]
            continue
        # a counter that falls was reset
        pairs = pairwise(points)
        rise = sum(after[1] - before[1] if after[1] >= before[1] else after[1] for before, after in pairs)
        found[labels] = rise / (within[-1] - within[0]) * (1 if tree.function == "rate" else selector.seconds)
    return found


def _aggregate(tree: Call, vector: Vector) -> Vector:
    groups: dict[Labels, list[float]] = {}
    for labels, value in vector.items():
        kept = tuple((name, text) for name, text in labels if name in (tree.by or ()))
        groups.setdefault(kept, []).append(value)
    return {labels: _AGGREGATES[tree.function](values) for labels, values in groups.items()}


def _find_quantile(quantile: float, vector: Vector) -> Vector:
    groups: dict[Labels, list[tuple[float, float]]] = {}
    for labels, value in vector.items():
        rest = tuple(label for label in labels if label[0] != "le")
        groups.setdefault(rest, []).append((float(dict(labels)["le"]), value))
    return {labels: _interpolate(quantile, sorted(buckets)) for labels, buckets in groups.items()}


def _interpolate(quantile: float, buckets: list[tuple[float, float]]) -> float:
    rank = quantile * buckets[-1][1]
    if not rank:
        return float("nan")
    below, before = 0.0, 0.0
    for bound, count in buckets:
        if count >= rank:
            if bound == float("inf"):
                return below
            return below + (bound - below) * (rank - before) / (count - before)
        below, before = bound, count
    return below


def _operate(tree: Operation, left: Vector, right: Vector) -> Vector:
    if tree.sign == "and":
        return {labels: value for labels, value in left.items() if labels in right}
    constant = right[()] if isinstance(tree.right, float) else None
    found: Vector = {}
    for labels, value in left.items():
        other = right.get(labels) if constant is None else constant
        if other is None:
            continue
        if tree.sign in _COMPARISONS:
            if _COMPARISONS[tree.sign](value, other):
                found[labels] = value
        else:
            found[labels] = _ARITHMETIC[tree.sign](value, other)
    return found
