"""Redaction. The secrets are drawn by the benchmark's seeded generator, so that none stands in the source."""

import importlib.util
import re
import sys
import time
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ebbing.encoding.redact import redact
from ebbing.encoding.secret_patterns import SHAPED

BENCH = Path(__file__).parents[2] / "scripts" / "bench" / "_secrets.py"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_secrets", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


SECRETS = load(BENCH)


def draw(shape: str, seed: int = 1) -> str:
    return SECRETS.draw(shape, Random(seed))


@pytest.mark.parametrize(("kind", "shape"), SECRETS.SHAPED, ids=lambda value: value[:12])
def test_a_token_of_every_shape_is_replaced_whole_and_named(kind: str, shape: str) -> None:
    secret = draw(shape)
    redacted = redact(f"the log said '{secret}' twice")
    assert redacted.text.startswith("the log said '")
    assert redacted.text.endswith("' twice")
    assert f"[redacted:{kind}]" in redacted.text
    assert secret not in redacted.text


@pytest.mark.parametrize(("kind", "shape", "place"), SECRETS.PLACED, ids=lambda value: value[:12])
def test_a_secret_in_a_telling_place_is_replaced(kind: str, shape: str, place: str) -> None:
    secret = draw(shape)
    text = place.replace("{{", "{").replace("}}", "}").replace("{s}", secret)
    redacted = redact(text)
    assert kind in redacted.found
    assert secret[-8:] not in redacted.text


@pytest.mark.parametrize("shape", SECRETS.NEAR_MISSES, ids=lambda value: value[:24])
def test_hashes_examples_and_references_stay_as_they_are(shape: str) -> None:
    text = draw(shape).replace("{{", "{").replace("}}", "}")
    assert redact(text) == type(redact(""))(text, ())


def test_every_pattern_of_the_table_is_planted_by_the_generator() -> None:
    planted = {kind for kind, *_ in (*SECRETS.SHAPED, *SECRETS.PLACED)}
    assert {pattern.kind for pattern in SHAPED} <= planted


@pytest.mark.parametrize(
    "text",
    [
        "password=" + "$" + "{DB_PASSWORD}",
        "token = get_token()",
        "api_key = self.api_key",
        'api_key = os.getenv("KEY")',
        "token: <your token here>",
        "secret = config['secret']",
        "password: required, at least twelve characters",
        "tokens: 4096",
        "the password is asked for on stdin",
        "Authorization: Bearer <token>",
        "set --token TOKEN or export it",
        "https://user@host/path:with@signs",
        "ssh://git@host:22/repo.git",
        "docker run -u 1000:1000 image",
        "see section 3.2, key: lookup by id",
        "password_hash and token_count are columns",
    ],
)
def test_prose_and_code_about_secrets_stay_readable(text: str) -> None:
    assert redact(text).found == ()


def test_several_secrets_are_named_in_the_order_of_the_text() -> None:
    github, stripe = draw("ghp_{A36}"), draw("sk_live_{A24}")
    redacted = redact(f"first {stripe} then {github}")
    assert redacted.text == "first [redacted:stripe-key] then [redacted:github-token]"
    assert redacted.found == ("stripe-key", "github-token")


def test_a_truncated_private_key_leaves_the_text_around_it() -> None:
    body = "\n".join(draw("{b64}", seed) for seed in range(4))
    redacted = redact(f"before\n-----BEGIN RSA PRIVATE KEY-----\n{body}\n\nThis is where the log was cut, sorry.")
    assert redacted.text.startswith("before\n[redacted:private-key]")
    assert redacted.text.endswith("This is where the log was cut, sorry.")


def test_a_secret_longer_than_the_first_look_is_replaced_to_its_end() -> None:
    assert redact(f"refresh_token={draw('{A2000}')} done").text == "refresh_token=[redacted:token] done"
    assert redact(f'"api_key": "{draw("{A2000}")}" done').text == '"api_key": "[redacted:api-key]" done'


def test_an_assignment_inside_a_harmless_value_is_still_seen() -> None:
    secret = draw("{A9}7")
    assert secret not in redact(f'token: "use password={secret} for now"').text


_PIECES = st.one_of(
    st.sampled_from(
        ["password=", "token: ", "://a:", "@", '"', "'", "\\", " ", "\n", "-----BEGIN PRIVATE KEY-----", "="]
    ),
    st.sampled_from([draw(shape, seed) for seed, (_, shape) in enumerate(SECRETS.SHAPED)]),
    st.text(max_size=12),
)


@given(st.lists(_PIECES, max_size=10).map("".join))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    twice = redact(once.text)
    assert twice.text == once.text
    assert twice.found == ()


@given(st.text(max_size=300))
def test_any_text_is_accepted_and_replacements_match_the_report(text: str) -> None:
    redacted = redact(text)
    assert len(re.findall(r"\[redacted:[a-z-]+\]", redacted.text)) >= len(redacted.found)


ADVERSARIES = (
    *("a", "A1", "-", "eyJ", "eyJhbGciOi", "sk-", "password=", "token:token:", "://a:", "://", "-----BEGIN ", "AKIA"),
    *("M" + "a" * 23 + ".", "key-", "Authorization: Bearer ", "login a password ", "xox", "ghp_", "0", "=", ".", "\\n"),
    *("SG.", "sid=", "eyJhbGciOiJ.", "aaaaaaaaaaaa.atlasv1.", "secret_", '"token":"', "-----BEGIN PRIVATE KEY-----"),
)
SLOWEST = ("password='", "curl -u a:", "--token ", "-----BEGIN PRIVATE KEY-----\nProc-Type: ")


@pytest.mark.parametrize(("pieces", "size"), [(ADVERSARIES, 200_000), (SLOWEST, 1_000_000)], ids=["many", "slowest"])
def test_a_text_made_to_backtrack_takes_no_longer_than_its_length_allows(pieces: tuple[str, ...], size: int) -> None:
    """CPU time per megabyte, under a bound that a quadratic search would exceed a hundredfold."""
    for piece in pieces:
        text = piece * (size // len(piece))
        start = time.process_time()
        redact(text)
        assert time.process_time() - start < 10 * size / 1_000_000, piece
