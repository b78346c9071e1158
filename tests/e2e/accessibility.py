"""Accessibility of a page, by axe."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

from tests.support.environment import ROOT

_AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"

#: axe's copies of style sheets, which no rule here needs, are inline styles that the page's policy reports. The list of all
#: rules that pass is long.
_RUN_AXE = """async () => {
    const found = await axe.run({ resultTypes: ['violations'], preload: false });
    return { violations: found.violations, passes: found.passes.length };
}"""


def check_accessibility(page: Page) -> None:
    """Fail on serious accessibility findings of axe."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(_AXE.read_text(encoding="utf-8"))
    found = page.evaluate(_RUN_AXE)
    serious = [_describe_finding(entry) for entry in found["violations"] if entry["impact"] in ("serious", "critical")]
    assert found["passes"] > 0, "axe has looked at nothing"
    assert not serious, "\n".join(serious)


def _describe_finding(finding: dict[str, Any]) -> str:
    elements = "\n".join(f"    {node['target']}: {node['html'][:200]}" for node in finding["nodes"])
    return f"{finding['impact']}: {finding['help']} ({finding['id']})\n{elements}"
