"""A secret that is brought reaches no file: not as an observation, not as what becomes of it, not as a prompt."""

from pathlib import Path

from world import PROJECT, World

from ebbing.store.spool import SpoolEvent
from ebbing.tools.consolidate import consolidate
from ebbing.tools.observe import observe

SECOND = 1_000_000
BODY = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3"
SECRETS = {
    "code host": "ghp_" + BODY,
    "cloud": "AKIA" + "Q3W5E7R9T1Y2U4I6",
    "payment": "sk_" + "live_" + BODY[:24],
    "password": "s3cr3t-" + BODY[:12],
    "private": "the merger with Quillfeather",
}
TOLD = (
    f"Always use the token {SECRETS['code host']} for releases.",
    f"We decided to use aws_access_key_id = {SECRETS['cloud']} because it has the rights.",
    f"I prefer STRIPE_KEY={SECRETS['payment']} over the other one.",
    f"The staging database is postgres://app:{SECRETS['password']}@db.test/app",
    f"Never talk about <private>{SECRETS['private']}</private> in commit messages.",
)


def events(now: int) -> list[SpoolEvent]:
    payloads = [("user-prompt-submit", {"prompt": text}) for text in TOLD]
    payloads += [
        ("post-tool-use", {"tool_name": "Bash", "tool_input": {"command": text}, "tool_response": {"stdout": text}})
        for text in TOLD
    ]
    payloads += [("stop", {"last_assistant_message": f"Done with it. {text}"}) for text in TOLD]
    return [
        SpoolEvent(f"0198c2f0-0000-7000-8000-{place:012d}", now - SECOND * (100 - place), PROJECT, "s1", name, payload)
        for place, (name, payload) in enumerate(payloads)
    ]


def test_no_planted_secret_is_in_any_file_after_the_whole_path(tmp_path: Path) -> None:
    with World(tmp_path / "home") as world:
        world.services.store.spool.append(events(world.now))
        observe(
            world.services, [{"text": text, "event": event} for text in TOLD for event in ("prompt", "note", "tool")]
        )
        reply = consolidate(world.services)
        assert {step.name: step.changed for step in reply.steps}["knowledge"] >= len(TOLD) * 3
        assert world.found("which token is for releases?")
    files = [path for path in world.home.rglob("*") if path.is_file()]
    assert any("soft-prompts" in path.parts for path in files)
    for name, secret in SECRETS.items():
        leaked = [path.name for path in files if secret.encode() in path.read_bytes()]
        assert (name, leaked) == (name, [])
