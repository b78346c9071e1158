"""Sends messages about runs of watches by signed webhooks and by mail. Each call is one attempt.

A receiver gets a message twice if its answer is lost; both have the same id of the delivery.
"""

from __future__ import annotations

import hashlib
import hmac
import smtplib
import ssl
import time
from collections.abc import Callable

import urllib3

from tap_service.config import Config
from tap_service.deadline import Deadline
from tap_service.documents.watch_documents import mail_message, webhook_message
from tap_service.http_connections import CONNECTION_ERRORS, open_response, read_body
from tap_service.models.watch import Watch, WatchRun
from tap_service.public_addresses import NotPublic
from tap_service.storage.accounts import Accounts

#: time limit of an attempt, in seconds
ATTEMPT_SECONDS = 20.0

#: maximum number of bytes of an answer that are read, to check that it is complete
_MAX_ANSWER = 1 << 16

DELIVERY_HEADER = "Skyhouse-Delivery"
TIMESTAMP_HEADER = "Skyhouse-Timestamp"
SIGNATURE_HEADER = "Skyhouse-Signature"

PRIVATE_HOST_HINT = "the operator can name hosts of the local network in SKYHOUSE_WEBHOOK_HOSTS"


class NotDelivered(Exception):
    """An attempt has failed; the message is for the owner of the watch.

    Parameters
    ----------
    message : str
        The message.
    is_final : bool
        Whether further attempts would fail too.
    """

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


class WatchMessages:
    """Sends messages. Thread-safe.

    Parameters
    ----------
    config : Config
        The mail server, and the rules for webhooks.
    accounts : Accounts or None
        The mail addresses of users.
    """

    def __init__(self, config: Config, accounts: Accounts | None) -> None:
        self._config = config
        self._accounts = accounts
        self._tls = ssl.create_default_context()
        self._senders: dict[str, Callable[[Watch, WatchRun], None]] = {
            "webhook": self._post_message,
            "mail": self._send_mail,
        }

    def list_targets(self, watch: Watch) -> tuple[str, ...]:
        """Return the targets of messages about a watch: ``webhook``, ``mail``, both or none."""
        return (*(("webhook",) if watch.webhook else ()), *(("mail",) if watch.has_mail else ()))

    def send(self, watch: Watch, run: WatchRun, target: str) -> None:
        """Send the message about a run; one attempt, which blocks until the receiver has answered.

        Parameters
        ----------
        watch : Watch
            The watch.
        run : WatchRun
            The finished run.
        target : str
            ``webhook`` or ``mail``.

        Raises
        ------
        NotDelivered
            The receiver did not accept the message.
        """
        self._senders[target](watch, run)

    def _post_message(self, watch: Watch, run: WatchRun) -> None:
        if not self._config.webhooks:
            raise NotDelivered("the operator of the service has disabled webhooks")
        body = webhook_message(watch, run, self._config.public_url)
        timestamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            DELIVERY_HEADER: watch.delivery_id(run, "webhook"),
            TIMESTAMP_HEADER: timestamp,
            SIGNATURE_HEADER: f"sha256={sign_message(watch.secret, timestamp, body)}",
        }
        hosts = self._config.webhook_hosts
        with Deadline(ATTEMPT_SECONDS) as deadline:
            try:
                with open_response(
                    "POST", watch.webhook, deadline, hosts=hosts, headers=headers, body=body
                ) as response:
                    status, is_cut = response.status, _is_cut(response)
            except NotPublic as error:
                raise NotDelivered(f"{error}; {PRIVATE_HOST_HINT}", is_final=True) from error
            except CONNECTION_ERRORS as error:
                if deadline.has_passed:
                    raise NotDelivered(f"the server did not answer within {ATTEMPT_SECONDS:g} seconds") from error
                raise NotDelivered("the server cannot be reached, or does not speak HTTP") from error
            if deadline.has_passed:
                raise NotDelivered(f"the server's answer was not complete within {ATTEMPT_SECONDS:g} seconds")
        if not 200 <= status < 300:
            more = "; redirects are not followed" if 300 <= status < 400 else ""
            raise NotDelivered(f"the server answered {status}{more}")
        if is_cut:
            raise NotDelivered(f"the server answered {status}, and its connection ended before the end of the answer")

    def _send_mail(self, watch: Watch, run: WatchRun) -> None:
        config = self._config
        address = self._accounts.find_mail(watch.owner) if self._accounts is not None else ""
        if not config.smtp_host or not address:
            raise NotDelivered("the service has no mail server, or its operator has not set your mail address")
        message = mail_message(watch, run, config.title, config.public_url, config.smtp_from, address)
        try:
            with self._open_mail_server() as server:
                if config.smtp_security == "starttls":
                    server.starttls(context=self._tls)
                if config.smtp_user and config.smtp_security != "none":
                    server.login(config.smtp_user, config.smtp_password.get_secret_value())
                server.send_message(message)
        except (OSError, smtplib.SMTPException) as error:
            # the text of a mail server may contain details that only the operator should know
            raise NotDelivered(f"the mail server did not accept the message ({type(error).__name__})") from error

    def _open_mail_server(self) -> smtplib.SMTP:
        config = self._config
        if config.smtp_security == "tls":
            return smtplib.SMTP_SSL(config.smtp_host, config.smtp_port, timeout=ATTEMPT_SECONDS, context=self._tls)
        return smtplib.SMTP(config.smtp_host, config.smtp_port, timeout=ATTEMPT_SECONDS)


def _is_cut(response: urllib3.HTTPResponse) -> bool:
    """Read the body, a long body in part, and return whether the connection ended too early."""
    try:
        read_body(response, _MAX_ANSWER)
    except CONNECTION_ERRORS:
        return True
    return False


def sign_message(secret: str, timestamp: str, body: bytes) -> str:
    """Return the signature of a message: HMAC-SHA256 of timestamp, a full stop and body, in hexadecimal digits."""
    return hmac.new(secret.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
