"""Shares in the portal: a permanent link is made, cited, opened, verified and deleted; also with an upload."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import httpx
from playwright.sync_api import Page, Request, expect

from tests.e2e.screenshots import Shot
from tests.e2e.test_portal_results import row_status, run_query
from tests.support.running_service import RunningService

STARS = "SELECT TOP 40 tyc_id, ra, dec, vt_mag FROM tycho2.bright WHERE vt_mag < 3 ORDER BY tyc_id"


def test_a_result_is_cited_and_verified(
    page: Page, portal: RunningService, portal_url: str, shot: Shot, accessible: Callable[[Page], None], tmp_path: Path
) -> None:
    page.set_viewport_size({"width": 1366, "height": 768})
    run_query(page, portal_url, STARS)
    expect(row_status(page)).to_contain_text("40")
    page.get_by_role("button", name="Cite").click()
    dialog = page.get_by_role("dialog", name="Permanent link")
    dialog.get_by_label("Title").fill("Bright <b>stars</b>")
    dialog.get_by_label("Note").fill("Figure 1")
    shot(page, "share-dialog")
    dialog.get_by_role("button", name="Create permanent link").click()
    expect(dialog.get_by_text("The link is permanent.")).to_be_visible()
    address = dialog.get_by_role("link", name=re.compile("tap.shares.")).inner_text()
    assert address in dialog.get_by_label("For a caption").input_value()
    assert r"title = {Bright <b>stars</b>}" in dialog.get_by_label(re.compile("^BibTeX")).input_value()
    shot(page, "share-made")
    accessible(page)

    # what the page says is what a script finds
    share = httpx.get(address).json()
    csv = portal.ask(STARS, FORMAT="csv").content
    lines = sorted(csv.replace(b"\r", b"").splitlines())
    assert share["checksum"] == hashlib.sha256(b"".join(line + b"\n" for line in lines)).hexdigest()
    assert share["tables"]["tycho2.bright"]["rows"] > 100_000
    expect(dialog.get_by_text(share["checksum"], exact=True)).to_be_visible()

    dialog.get_by_role("link", name="Open its page").click()
    expect(page.get_by_role("heading", name="Bright <b>stars</b>")).to_be_visible()
    expect(page.get_by_text("The tables have not changed since.")).to_be_visible()
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("The query returns exactly these 40 rows today")).to_be_visible()
    shot(page, "share-page")
    accessible(page)

    page.get_by_role("button", name="Show the rows as they were").click()
    expect(row_status(page).last).to_contain_text("40")
    with page.expect_download() as download:
        page.get_by_role("button", name="Script").last.click()
        page.get_by_role("button", name="Jupyter notebook").click()
    download.value.save_as(tmp_path / "share.ipynb")
    notebook = json.loads((tmp_path / "share.ipynb").read_text())
    assert f"Cite <{address}>" in "".join(notebook["cells"][0]["source"])

    page.goto(f"{portal_url}#/shares")
    page.get_by_role("button", name="Delete Bright <b>stars</b>").click()
    page.get_by_role("button", name="Delete it").click()
    expect(page.get_by_text("You have no shares yet.")).to_be_visible()
    assert httpx.get(address).status_code == 404


def test_a_file_that_the_query_does_not_name_stays_here(
    page: Page, portal: RunningService, portal_url: str, shot: Shot, tmp_path: Path
) -> None:
    """A file is uploaded and matched; then the tab's query is replaced by one on a public table, and cited."""
    page.goto(f"{portal_url}#/uploads")
    content = b"id,ra,dec\n1,101.28,-16.71\n2,95.98,-52.69\n3,0.5,0.5\n"
    page.locator("input[type=file]").first.set_input_files(
        {"name": "my.csv", "mimeType": "text/csv", "buffer": content}
    )
    page.get_by_role("region", name="my.csv").get_by_role("link", name="Cross-match").click()
    table = page.get_by_role("group", name="Second table").get_by_role("combobox", name="Table", exact=True)
    table.fill("tycho2.bright")
    table.press("Enter")
    page.get_by_label("Radius, arcsec").fill("60")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.locator(".cm-content")).to_contain_text("TAP_UPLOAD.my")
    expect(row_status(page)).to_be_visible()
    expect(page.get_by_text("sends my")).to_be_visible()
    expect(page.locator(".estimate.stale")).to_have_count(0)  # it is asked half a second later, with the file

    sent: list[Request] = []
    page.on("request", lambda request: sent.append(request))
    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(f"{STARS} -- not TAP_UPLOAD.my")
    expect(page.get_by_text("sends my")).to_have_count(0)
    page.get_by_label("Run mode").select_option("at once")
    page.get_by_role("button", name="Run", exact=False).filter(has_text="▶").click()
    expect(row_status(page)).to_contain_text("40")
    with page.expect_download() as download:
        page.get_by_role("button", name="Script").last.click()
        page.get_by_role("button", name="Python script").click()
    download.value.save_as(tmp_path / "stars.py")
    assert "upload" not in (tmp_path / "stars.py").read_text().replace("TAP_UPLOAD.my", "")
    page.get_by_role("button", name="Cite").click()
    dialog = page.get_by_role("dialog", name="Permanent link")
    expect(dialog.get_by_role("button", name="Create permanent link")).to_be_visible()
    expect(dialog.get_by_text("Files that the query reads")).to_have_count(0)
    dialog.get_by_role("button", name="Create permanent link").click()
    expect(dialog.get_by_text("The link is permanent.")).to_be_visible()
    address = dialog.get_by_role("link", name=re.compile("tap.shares.")).inner_text()
    posted = {request.url.partition("/tap/")[2] for request in sent if request.method == "POST"}
    assert {"estimate", "sync", "async", "shares"} <= posted
    assert not [request.url for request in sent if "multipart" in request.headers.get("content-type", "")]
    share = httpx.get(address).json()
    assert (share["uploads"], share["omitted"], share["rows"]) == ({}, [], 40)
    assert httpx.get(f"{address}/uploads/my").status_code == 404
    assert "/uploads/" not in httpx.get(address, headers={"Accept": "text/html"}).text
    stored = portal.server.config.app.state.services.stores.results
    kept = [b"".join(stored.read_result(key, 0, 1 << 30)) for key in stored.list_keys(0)]
    assert not any(b"101.28,-16.71" in each for each in kept)


def test_the_query_of_the_result_is_cited_and_not_the_editors(
    page: Page, portal_url: str, shot: Shot, accessible: Callable[[Page], None]
) -> None:
    """The query on a file is replaced, but not run: the dialog says what is cited, and the file needs a tick."""
    page.goto(f"{portal_url}#/uploads")
    content = {"name": "my.csv", "mimeType": "text/csv", "buffer": b"id,ra\n1,101.28\n2,95.98\n3,0.5\n"}
    page.locator("input[type=file]").first.set_input_files(content)
    expect(page.get_by_text("my.csv").first).to_be_visible()
    query = "SELECT id, ra FROM TAP_UPLOAD.my"
    run_query(page, portal_url, query)
    expect(row_status(page)).to_contain_text("3")
    dialog = page.get_by_role("dialog", name="Permanent link")
    earlier = dialog.get_by_text("This is the result of an earlier query.")
    page.get_by_role("button", name="Cite").click()
    expect(dialog.get_by_role("checkbox", name="my")).to_be_checked()
    expect(earlier).to_have_count(0)
    page.keyboard.press("Escape")

    page.locator(".cm-content").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(STARS)
    expect(page.get_by_role("button", name="Show that query")).to_be_visible()
    page.get_by_role("button", name="Cite").click()
    expect(earlier).to_be_visible()
    expect(dialog.locator("pre")).to_have_text(query)
    expect(dialog.get_by_role("checkbox", name="my")).not_to_be_checked()
    expect(dialog.get_by_text("a file is included only if you tick it")).to_be_visible()
    shot(page, "share-stale")
    accessible(page)
    dialog.get_by_role("button", name="Create permanent link").click()
    address = dialog.get_by_role("link", name=re.compile("tap.shares.")).inner_text()
    share = httpx.get(address).json()
    assert (share["query"], share["uploads"], share["omitted"]) == (query, {}, ["my"])
    assert httpx.get(f"{address}/uploads/my").status_code == 404


def test_a_share_with_an_upload_is_read_by_others(
    page: Page, open_page: Callable[..., Page], portal_url: str, shot: Shot
) -> None:
    page.goto(f"{portal_url}#/uploads")
    listed = {"name": "mine.csv", "mimeType": "text/csv", "buffer": b"k,word\n7,x\n8,y\n9,z\n"}
    page.locator("input[type=file]").first.set_input_files(listed)
    expect(page.get_by_text("mine.csv").first).to_be_visible()
    query = "SELECT k, k * 2 AS twice, word FROM TAP_UPLOAD.mine WHERE k > 7"
    run_query(page, portal_url, query)
    expect(row_status(page)).to_contain_text("2")
    page.get_by_role("button", name="Cite").click()
    dialog = page.get_by_role("dialog", name="Permanent link")
    expect(dialog.get_by_text("The share includes the uploaded file mine: everyone who can")).to_be_visible()
    expect(dialog.get_by_text("mine.csv, 3 rows, 19 B")).to_be_visible()
    shot(page, "share-uploads")
    dialog.get_by_role("button", name="Create permanent link").click()
    dialog.get_by_role("link", name="Open its page").click()
    expect(page.get_by_text("Uploaded with the query: mine")).to_be_visible()
    reader = open_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
    reader.goto(page.url)
    expect(reader.get_by_text("Uploaded with the query: mine")).to_be_visible()
    expect(reader.get_by_role("button", name="Delete")).to_have_count(0)
    reader.get_by_role("button", name="Verify").click()
    expect(reader.get_by_text("The query returns exactly these 2 rows today")).to_be_visible()
    shot(reader, "share-phone")

    # the same rows without the file, whose table needs no schema
    run_query(page, portal_url, query.replace("TAP_UPLOAD.", ""))
    expect(row_status(page)).to_contain_text("2")
    page.get_by_role("button", name="Cite").click()
    dialog.get_by_role("checkbox", name="mine").uncheck()
    expect(
        dialog.get_by_text("If mine is left out, readers see the query and, as long as they are kept")
    ).to_be_visible()
    shot(page, "share-left-out")
    dialog.get_by_role("button", name="Create permanent link").click()
    dialog.get_by_role("link", name="Open its page").click()
    expect(page.get_by_text("The query also reads mine, which is not included here")).to_be_visible()
    expect(page.get_by_role("button", name="Verify")).to_have_count(0)
    bare = httpx.get(page.url.replace("#", "tap")).json()
    assert (bare["uploads"], bare["omitted"]) == ({}, ["mine"])
    reader.get_by_role("button", name="Open the query").click()
    expect(reader.locator(".cm-content")).to_contain_text("TAP_UPLOAD.mine")
    reader.locator(".cm-content").click()
    reader.keyboard.press("ControlOrMeta+a")
    reader.keyboard.insert_text("SELECT k, word FROM mine WHERE k > 7")
    reader.get_by_role("button", name="Run", exact=False).filter(has_text="▶").click()
    expect(row_status(reader)).to_contain_text("2")
    reader.get_by_role("button", name="Cite").click()
    shared = reader.get_by_role("dialog", name="Permanent link")
    expect(shared.get_by_role("checkbox", name="mine")).to_be_checked()
    shared.get_by_role("button", name="Create permanent link").click()
    address = shared.get_by_role("link", name=re.compile("tap.shares.")).inner_text()
    assert list(httpx.get(address).json()["uploads"]) == ["mine"]
