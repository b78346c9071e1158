"""Users, tokens and admission."""

from __future__ import annotations

import asyncio
import base64
import json
import sqlite3
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import jwt
import pytest
import yaml
from cryptography.hazmat.primitives.asymmetric import ec

from tap_service.config import Config
from tap_service.factory.services import build_authenticator
from tap_service.hangup import call_hangup
from tap_service.models.identity import Identity
from tap_service.service_errors import Unauthorized
from tap_service.services.catalogue.user_groups import UserGroups
from tap_service.services.site.authenticator import Authenticator, IssuersError, read_issuers
from tap_service.storage.accounts import AccountError, Accounts
from tap_service.storage.site_state import open_site_state


def basic(name: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{password}".encode()).decode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "accounts.sqlite"


@pytest.fixture
def accounts(path: Path) -> Any:
    opened = Accounts(path)
    opened.add_user("alice", "correct horse")
    opened.add_user("root", "battery staple", admin=True)
    yield opened
    opened.close()


def ask(identities: Authenticator, *headers: str) -> Identity | None:
    async def asked() -> Identity | None:
        found = await identities.identify(headers)
        identities.check_admission(found)
        return found

    return asyncio.run(asked())


@pytest.fixture
def identities(path: Path, accounts: Accounts) -> Any:
    made = Authenticator(Accounts(path), (), anonymous=True)
    yield made
    made.close()


def test_a_password_lets_in(identities: Authenticator) -> None:
    assert ask(identities, basic("alice", "correct horse")) == Identity("alice")
    assert ask(identities, basic("root", "battery staple")) == Identity("root", admin=True)


@pytest.mark.parametrize(
    "header",
    [
        basic("alice", "wrong horse"),
        basic("nobody", "correct horse"),
        basic("alice", ""),
        basic("alice", "x" * 10_000),
        "Basic",
        "Basic !!!",
        "Basic " + base64.b64encode(b"alice").decode(),
        "Basic " + base64.b64encode(b"\xff:\xff").decode(),
        "Bearer",
        "Bearer sky_guess",
        "Bearer " + "x" * 100_000,
        "Digest username=alice",
        "",
        "Bearer a.b.c",
    ],
)
def test_wrong_credentials_are_never_anonymous(identities: Authenticator, header: str) -> None:
    with pytest.raises(Unauthorized, match="are wrong"):
        ask(identities, header)


def test_two_headers_are_refused(identities: Authenticator) -> None:
    good = basic("alice", "correct horse")
    with pytest.raises(Unauthorized):
        ask(identities, good, good)


def test_without_credentials(path: Path, accounts: Accounts) -> None:
    closed = Authenticator(Accounts(path), (), anonymous=False)
    assert ask(Authenticator(None, (), anonymous=True)) is None
    with pytest.raises(Unauthorized, match="only users may use this service"):
        ask(closed)
    closed.close()


def test_a_changed_password_counts_at_once(identities: Authenticator, accounts: Accounts) -> None:
    assert ask(identities, basic("alice", "correct horse"))
    accounts.add_user("alice", "another horse")
    with pytest.raises(Unauthorized):
        ask(identities, basic("alice", "correct horse"))
    assert ask(identities, basic("alice", "another horse"))
    accounts.remove_user("alice")
    with pytest.raises(Unauthorized):
        ask(identities, basic("alice", "another horse"))


def test_tokens(identities: Authenticator, accounts: Accounts) -> None:
    token = accounts.add_token("alice", "laptop", None)
    short = accounts.add_token("alice", "short", 1e-7)
    assert ask(identities, f"Bearer {token}") == Identity("alice")
    time.sleep(0.02)
    with pytest.raises(Unauthorized):
        ask(identities, f"Bearer {short}")
    assert [account.tokens for account in accounts.list_accounts()] == [(("laptop", None),), ()]
    assert accounts.revoke_tokens("alice", "laptop") == 1
    with pytest.raises(Unauthorized):
        ask(identities, f"Bearer {token}")


def test_a_password_is_not_remembered_if_the_file_changed_while_it_was_checked(
    identities: Authenticator, accounts: Accounts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another request notices the change first, and discards the cached results."""
    checked = identities._accounts
    assert checked is not None
    find = checked.find_by_password

    def find_and_remove(name: str, password: str) -> Identity | None:
        found = find(name, password)
        if found is not None:
            accounts.remove_user(name)
            identities._recall_identity(b"", checked)
        return found

    monkeypatch.setattr(checked, "find_by_password", find_and_remove)
    assert ask(identities, basic("alice", "correct horse")) == Identity("alice")
    with pytest.raises(Unauthorized):
        ask(identities, basic("alice", "correct horse"))


def test_names_that_nobody_can_have_are_not_remembered(identities: Authenticator) -> None:
    for name in ("x" * 100, "x" * 101):
        with pytest.raises(Unauthorized):
            ask(identities, basic(name, "some password"))
    assert list(identities._pauses._of_name.found) == ["x" * 100]


def test_a_removed_users_tokens_are_gone(identities: Authenticator, accounts: Accounts) -> None:
    token = accounts.add_token("root", "script", None)
    accounts.remove_user("root")
    accounts.add_user("root", "somebody else")
    with pytest.raises(Unauthorized):
        ask(identities, f"Bearer {token}")


def test_nothing_readable_is_kept(path: Path, accounts: Accounts) -> None:
    token = accounts.add_token("alice", "laptop", None)
    content = path.read_bytes()
    assert b"alice" in content
    assert b"correct horse" not in content
    assert token.encode() not in content
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["", "a:b", "with space", "x" * 101, "../etc", "ü"])
def test_names_that_are_none(accounts: Accounts, name: str) -> None:
    with pytest.raises(AccountError, match="not a valid user name"):
        accounts.add_user(name, "long enough")


def test_short_passwords_and_unknown_users(accounts: Accounts) -> None:
    with pytest.raises(AccountError, match="8 to 1000"):
        accounts.add_user("bob", "short")
    with pytest.raises(AccountError, match="there is no user bob"):
        accounts.remove_user("bob")
    with pytest.raises(AccountError, match="there is no user bob"):
        accounts.add_token("bob", "x", None)


def test_a_file_that_is_none(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_bytes(b"no database" * 100)
    with pytest.raises(AccountError, match="cannot be used"):
        Accounts(broken)
    with pytest.raises(AccountError, match="cannot be used"):
        Accounts(tmp_path / "missing" / "accounts.sqlite")


def test_writers_do_not_lose_each_other(path: Path, accounts: Accounts) -> None:
    other = Accounts(path)
    other.add_user("bob", "from elsewhere")
    accounts.add_user("carol", "and from here")
    assert [account.name for account in other.list_accounts()] == ["alice", "bob", "carol", "root"]
    other.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


# --- JSON Web Tokens --------------------------------------------------------------------------------------------------

KEY = ec.generate_private_key(ec.SECP256R1())
ISSUER = {"name": "institute", "issuer": "https://login.example.org", "audience": "skyhouse", "keys": "keys.json"}


@pytest.fixture
def by_issuer(tmp_path: Path) -> Authenticator:
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key()))
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [public | {"kid": "k1", "alg": "ES256", "use": "sig"}]}))
    (tmp_path / "issuers.yaml").write_text(yaml.safe_dump([ISSUER | {"admins": ["boss"], "groups_claim": "memberOf"}]))
    return Authenticator(None, read_issuers(tmp_path / "issuers.yaml"), anonymous=True)


def token(key: Any = KEY, algorithm: str = "ES256", kid: str | None = "k1", **claims: Any) -> str:
    good = {"iss": ISSUER["issuer"], "aud": "skyhouse", "sub": "alice", "exp": time.time() + 60}
    headers = {"kid": kid} if kid else {}
    said = {name: value for name, value in (good | claims).items() if value is not None}
    return "Bearer " + jwt.encode(said, key, algorithm, headers=headers)


def test_a_token_of_an_issuer(by_issuer: Authenticator) -> None:
    assert ask(by_issuer, token()) == Identity("institute:alice")
    assert ask(by_issuer, token(kid=None)) == Identity("institute:alice")
    assert ask(by_issuer, token(sub="boss")) == Identity("institute:boss", admin=True)


def test_issuers_are_read_again(by_issuer: Authenticator, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A new key takes effect after SIGHUP; an unusable file changes nothing."""
    authenticator = build_authenticator(Config(token_issuers=tmp_path / "issuers.yaml"), None)
    other = ec.generate_private_key(ec.SECP256R1())
    public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(other.public_key()))
    (tmp_path / "keys.json").write_text(json.dumps({"keys": [public | {"kid": "k1", "alg": "ES256"}]}))
    assert ask(authenticator, token()) == Identity("institute:alice")
    call_hangup()
    with pytest.raises(Unauthorized):
        ask(authenticator, token())
    assert ask(authenticator, token(key=other)) == Identity("institute:alice")
    (tmp_path / "keys.json").write_text("{")
    call_hangup()
    assert f"a reaction to SIGHUP failed: {tmp_path}/issuers.yaml cannot be used" in caplog.text
    assert ask(authenticator, token(key=other)) == Identity("institute:alice")
    authenticator.close()


@pytest.mark.parametrize(
    ("claimed", "groups"),
    [
        (["lens", "dust"], {"institute:lens", "institute:dust"}),
        ("lens", {"institute:lens"}),
        ([7, "", "x" * 300, "dust\n", "\x9bA", "lens"], {"institute:lens"}),
        ({"lens": True}, set()),
        (None, set()),
    ],
)
def test_groups_that_a_token_names(by_issuer: Authenticator, tmp_path: Path, claimed: object, groups: set[str]) -> None:
    """They count by the user's name, also for jobs that run when no token is there, until another token says else."""
    state = open_site_state("", tmp_path)
    by_issuer.on_claims = UserGroups(None, state).note_claims
    ask(by_issuer, token(memberOf=["before"]))
    ask(by_issuer, token(memberOf=claimed))
    assert UserGroups(None, state).find_groups("institute:alice") == groups
    assert UserGroups(None, state).find_groups("alice") == frozenset()
    state.close()


@pytest.mark.parametrize(
    "made",
    [
        lambda: token(exp=time.time() - 1),
        lambda: token(exp=None),
        lambda: token(iss="https://elsewhere.example.org"),
        lambda: token(aud="another"),
        lambda: token(sub=None),
        lambda: token(sub=""),
        lambda: token(sub="al\x1b[2Jice"),
        lambda: token(sub="alice\nbob"),
        lambda: token(sub="alice\u202e"),
        lambda: token(kid="k2"),
        lambda: token(key=ec.generate_private_key(ec.SECP256R1())),
        lambda: token(key=None, algorithm="none"),
        lambda: token(key="a secret that is long enough for HS256", algorithm="HS256"),
        lambda: token(nbf=time.time() + 60),
    ],
)
def test_tokens_that_are_not_good(by_issuer: Authenticator, made: Callable[[], str]) -> None:
    with pytest.raises(Unauthorized):
        ask(by_issuer, made())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[{name: a}]", "issuer: Field required"),
        ("[1]", "valid dictionary"),
        ("{", "cannot be used"),
        (yaml.safe_dump([ISSUER | {"keys": "missing.json"}]), "cannot be used"),
        (yaml.safe_dump([ISSUER | {"keys": "issuers.yaml"}]), "cannot be used"),
    ],
)
def test_files_of_issuers_that_cannot_be_used(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "issuers.yaml").write_text(text)
    with pytest.raises(IssuersError, match=said):
        read_issuers(tmp_path / "issuers.yaml")


def test_many_wrong_passwords_do_not_keep_others_out(identities: Authenticator, accounts: Accounts) -> None:
    """Wrong passwords queue; tokens and cached passwords do not wait for them."""
    bearer = f"Bearer {accounts.add_token('alice', 'laptop', None)}"
    good = basic("alice", "correct horse")

    async def crowd() -> None:
        await identities.identify([good])
        wrong: list[Coroutine[Any, Any, Any]] = [identities.identify([basic("alice", f"guess {i}")]) for i in range(20)]
        guesses = [asyncio.ensure_future(guess) for guess in wrong]
        await asyncio.sleep(0)
        assert await identities.identify([bearer])
        assert await identities.identify([good])
        assert not all(guess.done() for guess in guesses)
        answers = await asyncio.gather(*guesses, return_exceptions=True)
        assert all(isinstance(answer, Unauthorized) for answer in answers)

    asyncio.run(crowd())
