"""Measure how readable the sources are: names, lines, import cycles, and the files that one translation enters.

    python tools/measure_house.py [ROOT [--cycles]]

Prints one figure a line for the checkout ROOT (default: the one that this file lies in), so that two checkouts can be
compared side by side.
"""

from __future__ import annotations

import ast
import io
import re
import statistics
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGES = ("adql", "clickhouse_schema", "loaders", "tap_service", "workers")
PORTAL = "web/src"

_NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
_SCRIPT_FUNCTION = re.compile(
    r"^\s*(?:export )?(?:default )?(?:async )?function\*? (\w+)"  # function f(
    r"|^\s*(?:export )?const (\w+)[^=]*= (?:async )?\([^)]*\)[^=]*=>"  # const f = (
    r"|^    (?:private |readonly |static |async |get |set )*(\w+)\([^)]*\)[^;=]*\{$",  # f() { of a class
    re.MULTILINE,
)
_SCRIPT_IMPORT = re.compile(r"from '(\.[^']*)'")
_SECTION = re.compile(r"^(Parameters|Returns|Yields|Raises|Attributes)\n-+$", re.MULTILINE)
_CONE = "SELECT id FROM s.t WHERE 1 = CONTAINS(POINT(ra, dec), CIRCLE(10, 20, 0.1))"
_TRACED_TRANSLATION = f"""
import sys
try:
    from clickhouse_schema.schema_model import Column, Layout, Schema, Table
except ImportError:
    from clickhouse_schema.model import Column, Layout, Schema, Table
from clickhouse_schema.catalogue import Catalogue
try:
    from adql.translation import translate
except ImportError:
    from adql.translate import translate
columns = tuple(Column(name=n, datatype="double") for n in ("id", "ra", "dec"))
table = Table(name="t", columns=columns, layout=Layout(position=("ra", "dec"), id=("id",)))
catalogue = Catalogue((Schema(name="s", tables=(table,)),))
entered = set()
def trace(frame, event, _):
    if event == "call" and "/adql/" in frame.f_code.co_filename:
        entered.add(frame.f_code.co_filename)
sys.setprofile(trace)
translate({_CONE!r}, catalogue)
sys.setprofile(None)
print(len(entered))
"""


def list_files(root: Path, *patterns: str) -> list[Path]:
    names = subprocess.check_output(["git", "ls-files", "-z", *patterns], cwd=root, text=True).split("\0")
    return [root / name for name in names if name and (root / name).exists()]


def is_one_word(name: str) -> bool:
    """Whether a snake_case or camelCase name has a single word."""
    return len(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)) <= 1


def list_python_functions(trees: Iterable[ast.Module]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("__"):
                yield node


def list_public_docstrings(trees: Iterable[ast.Module]) -> Iterator[str]:
    """Yield the docstring of each public function and of each public method of a public class; '' without one."""
    for tree in trees:
        classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
        for node in (*tree.body, *(member for each in classes for member in each.body)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
                yield ast.get_docstring(node) or ""


def list_script_functions(texts: Iterable[str]) -> Iterator[str]:
    keywords = {"if", "for", "while", "switch", "catch", "constructor", "return"}
    for text in texts:
        for groups in _SCRIPT_FUNCTION.findall(text):
            name = next(filter(None, groups))
            if name not in keywords:
                yield name


def count_tokens_by_line(text: str) -> Iterator[int]:
    lines = Counter(
        token.start[0] for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type not in _NOT_CODE
    )
    return iter(lines.values())


def list_python_imports(root: Path, file: Path, tree: ast.Module) -> Iterator[Path]:
    """The files of the packages that ``file`` imports."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(PACKAGES):
            continue
        module = root / str(node.module).replace(".", "/")
        for name in (alias.name for alias in node.names):
            candidates = (module / f"{name}.py", module / name / "__init__.py", module.with_suffix(".py"))
            found = next((path for path in (*candidates, module / "__init__.py") if path.exists()), None)
            if found is not None and found != file:
                yield found


def list_script_imports(file: Path, text: str) -> Iterator[Path]:
    for name in _SCRIPT_IMPORT.findall(text):
        base = (file.parent / name).resolve()
        for path in (base, base.with_name(f"{base.name}.ts"), base / "index.ts"):
            if path.is_file():
                yield path
                break


def count_code_lines(text: str) -> int:
    """Lines with code: neither blank nor comment nor docstring."""
    return sum(1 for _ in count_tokens_by_line(text)) - sum(
        1
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    )


def count_cycles(edges: Iterable[tuple[Path, Path]]) -> int:
    """Strongly connected groups of more than one node."""
    graph: dict[Path, set[Path]] = defaultdict(set)
    for source, target in edges:
        graph[source].add(target)
    reach = {node: _find_reachable(graph, node) for node in list(graph)}
    cycles = {frozenset({other for other in reach[n] if n in reach.get(other, ())}) for n in reach if n in reach[n]}
    if "--cycles" in sys.argv:
        for cycle in cycles:
            print("cycle:", *sorted(map(str, cycle)))
    return len(cycles)


def _find_reachable(graph: dict[Path, set[Path]], start: Path) -> set[Path]:
    found: set[Path] = set()
    waiting = list(graph.get(start, ()))
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting.extend(graph.get(node, ()))
    return found


def list_folder_edges(edges: Iterable[tuple[Path, Path]]) -> Iterator[tuple[Path, Path]]:
    """Imports between sibling folders: at the first folder in which the two paths differ."""
    for source, target in edges:
        parts = zip(source.parent.parts, target.parent.parts, strict=False)
        depth = next((i for i, (a, b) in enumerate(parts) if a != b), None)
        if depth is not None:
            yield Path(*source.parts[: depth + 1]), Path(*target.parts[: depth + 1])


def measure(root: Path) -> Iterator[tuple[str, str]]:
    """The name and the value of each figure."""
    texts = {path: path.read_text(encoding="utf-8") for path in list_files(root, *(f"{p}/*.py" for p in PACKAGES))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    scripts = {
        path: path.read_text(encoding="utf-8")
        for path in list_files(root, f"{PORTAL}/*.ts", f"{PORTAL}/*.svelte")
        if not path.name.endswith((".test.ts", ".d.ts"))
    }
    functions = list(list_python_functions(trees.values()))
    names = list(list_script_functions(scripts.values()))
    yield "functions, Python", str(len(functions))
    yield "  with a name of one word", _format_share(sum(is_one_word(f.name) for f in functions), len(functions))
    yield "functions, portal", str(len(names))
    yield "  with a name of one word", _format_share(sum(map(is_one_word, names)), len(names))
    docstrings = [d.count("\n") + 1 for f in functions if (d := ast.get_docstring(f)) is not None]
    yield "lines of a docstring, median and p90", _format_quantiles(docstrings)
    public = list(list_public_docstrings(trees.values()))
    yield "public functions, Python", str(len(public))
    yield "  with a docstring", _format_share(sum(map(bool, public)), len(public))
    yield "  with numpydoc sections", _format_share(sum(bool(_SECTION.search(each)) for each in public), len(public))
    yield "lines of a function, median and p90", _format_quantiles(f.end_lineno - f.lineno + 1 for f in functions)
    tokens = [n for text in texts.values() for n in count_tokens_by_line(text)]
    yield "tokens on a line, Python, median and p90", _format_quantiles(tokens)
    product = [path for path in (*texts, *scripts) if path.stem not in ("__init__", "__main__", "index")]
    stems = Counter(path.name.split(".")[0] for path in product)
    shared = sum(count for count in stems.values() if count > 1)
    yield "product files", str(len(texts) + len(scripts))
    yield "  that share a base name", _format_share(shared, len(product))
    imports = [(path, target) for path, tree in trees.items() for target in list_python_imports(root, path, tree)]
    script_imports = [(path, target) for path, text in scripts.items() for target in list_script_imports(path, text)]
    yield "import cycles between files, Python", str(count_cycles(imports))
    yield "import cycles between files, portal", str(count_cycles(script_imports))
    yield "import cycles between sibling folders, Python", str(count_cycles(list_folder_edges(imports)))
    yield "import cycles between sibling folders, portal", str(count_cycles(list_folder_edges(script_imports)))
    traced = subprocess.check_output(
        [sys.executable, "-c", _TRACED_TRANSLATION], cwd=root, env={"PYTHONPATH": str(root)}
    )
    yield "files of adql that a cone's translation enters", traced.decode().strip()
    yield "lines, Python", _count_lines(texts)
    yield "  with code", str(sum(map(count_code_lines, texts.values())))
    yield "lines, portal", _count_lines(scripts)
    plots = list_files(root, f"{PORTAL}/plots/*")
    yield "files of the portal's plots", str(len(plots))
    yield "  most in one folder", str(max(Counter(path.parent for path in plots).values()))
    tests = list_files(root, "tests/*.py")
    yield "lines, tests", _count_lines(tests)
    yield "  with code", str(sum(count_code_lines(path.read_text(encoding="utf-8")) for path in tests))


def _format_share(part: int, whole: int) -> str:
    return f"{part} ({100 * part / whole:.1f} %)"


def _format_quantiles(values: Iterable[int]) -> str:
    counts = sorted(values)
    return f"{statistics.median(counts):g}, {counts[int(len(counts) * 0.9)]}"


def _count_lines(paths: Iterable[Path]) -> str:
    return str(sum(path.read_text(encoding="utf-8").count("\n") for path in paths))


if __name__ == "__main__":
    for figure, value in measure(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else Path(__file__).parents[1]):
        print(f"{figure:50} {value}")
