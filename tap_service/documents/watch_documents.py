"""Watches in JSON, and the messages about their runs."""

from __future__ import annotations

import json
from datetime import datetime
from email.message import EmailMessage
from email.utils import parseaddr
from typing import Any

from tap_service.models.timestamps import format_instant
from tap_service.models.watch import RunState, Watch, WatchRun

#: the member ``event`` of all messages
EVENT = "watch.rows"


def describe_watch(watch: Watch) -> dict[str, Any]:
    """Return the JSON of a watch for its owner, without the secret."""
    return {
        "id": watch.watch_id,
        "name": watch.name,
        "table": watch.table,
        "result": f"mydb.{watch.result_table}",
        "query": watch.query,
        "webhook": watch.webhook or None,
        "mail": watch.has_mail,
        "state": "paused" if watch.is_paused else "active",
        "created": format_instant(watch.created),
        "rows": watch.rows,
        "runs_done": watch.runs_done,
        "last_run": _format(watch.last_run),
        "last_error": watch.last_error or None,
        "runs": [_describe_run(run) for run in reversed(watch.runs)],
    }


def _describe_run(run: WatchRun) -> dict[str, Any]:
    return {
        "addition": run.number,
        "added": format_instant(run.added),
        # the owner may have lost the right to see the table
        "added_rows": run.added_rows if run.state is RunState.DONE else None,
        "state": run.state,
        "since": format_instant(run.since),
        "rows": run.rows,
        "job": run.job_id or None,
        "error": run.error or None,
        "deliveries": {
            each.target: {"state": each.state, "attempts": each.attempts, "error": each.error or None}
            for each in run.deliveries
        },
    }


def webhook_message(watch: Watch, run: WatchRun, public_url: str) -> bytes:
    """Return the body of a message to a webhook, the same in each attempt.

    Parameters
    ----------
    watch : Watch
        The watch.
    run : WatchRun
        The finished run.
    public_url : str
        The URL of the service. If it is '', the URLs in the message are relative, because the Host header of a request
        cannot be trusted.
    """
    sample = json.loads(run.sample) if run.sample else {"columns": [], "rows": []}
    document = {
        "event": EVENT,
        "delivery": watch.delivery_id(run, "webhook"),
        "watch": {"id": watch.watch_id, "name": watch.name, "url": f"{public_url}/tap/watches/{watch.watch_id}"},
        "table": watch.table,
        "addition": {"number": run.number, "added": format_instant(run.added), "rows": run.added_rows},
        "rows": run.rows,
        "result": {
            "table": f"mydb.{watch.result_table}",
            "url": f"{public_url}/tap/tables/mydb.{watch.result_table}",
            "query": _select_rows(watch, run),
        },
        "first_rows": sample,
    }
    return json.dumps(document, ensure_ascii=False).encode()


def mail_message(watch: Watch, run: WatchRun, service: str, public_url: str, sender: str, address: str) -> EmailMessage:
    """Return the mail about a run, whose Message-ID and Date are the same in each attempt.

    Parameters
    ----------
    watch : Watch
        The watch.
    run : WatchRun
        The finished run.
    service : str
        The title of the service.
    public_url : str
        The URL of the service, '' if the operator has not set it.
    sender, address : str
        The mail addresses of the service and of the owner.
    """
    where = f"the page Watches of {public_url}/" if public_url else "the page Watches of the service's portal"
    message = EmailMessage()
    rows = f"{run.rows:,} row{'' if run.rows == 1 else 's'}"
    message["Subject"] = f"{service}: {rows} for the watch {watch.name}"
    message["From"], message["To"] = sender, address
    message["Date"] = run.since  # the end of the run
    message["Message-ID"] = f"<{watch.delivery_id(run, 'mail')}@{parseaddr(sender)[1].rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(
        f"{watch.table} got {run.added_rows:,} new rows on {format_instant(run.added)}, and your watch {watch.name}\n"
        f"found {rows} among them. They are in mydb.{watch.result_table}:\n\n"
        f"    {_select_rows(watch, run)}\n\n"
        f"You can pause or remove the watch on {where}\n"
    )
    return message


def _select_rows(watch: Watch, run: WatchRun) -> str:
    """Return the query for the rows of a run."""
    return f"SELECT * FROM mydb.{watch.result_table} WHERE addition = {run.number}"


def _format(instant: datetime | None) -> str | None:
    return None if instant is None else format_instant(instant)
