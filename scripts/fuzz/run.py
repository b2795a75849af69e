"""Gives a target input after input that is nearly right, for some minutes, and prints what it did not cope with.

    python scripts/fuzz/run.py --target NAME [--minutes 10] [--seed 1] [--rounds N] [--engine hypothesis] [--json]
    python scripts/fuzz/run.py --list

Rounds are numbered from the seed on, and all inputs of a round follow from its number: `--seed N --rounds 1` sees a
finding of round N again. With `--engine atheris` (Python 3.11 to 3.13, `pip install atheris` by hand) libFuzzer looks
for inputs that reach code which none has reached before; it prints the bytes of a finding, which `--replay HEX` tries
again. An input that takes longer than two minutes ends the run with a traceback.

Figures: `executions`, `rounds`, `findings`, `seconds`. Exit code 1 when anything was found.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "tests" / "support")]

if TYPE_CHECKING:
    from fuzzing import Finding, Target

_SECONDS_PER_MINUTE = 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a target and print what it came to."""
    options = _parser().parse_args(arguments)
    # What the log says is judged by the targets, and is none of this program's output.
    logging.getLogger().addHandler(logging.NullHandler())
    if options.engine == "atheris":
        from coverage_guided import run

        return run(options.target, options.minutes * _SECONDS_PER_MINUTE, options.seed, options.replay)
    from targets import TARGETS

    if options.list:
        _list(TARGETS)
        return 0
    return _fuzz(TARGETS[options.target], options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--target", help="one of those that --list names")
    what.add_argument("--list", action="store_true", help="say which targets there are")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1, help="the number of the first round")
    parser.add_argument("--rounds", type=int, help="end after so many rounds")
    parser.add_argument("--engine", choices=("hypothesis", "atheris"), default="hypothesis")
    parser.add_argument("--replay", metavar="HEX", help="with atheris: bytes of a finding")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def _list(targets: Mapping[str, Target]) -> None:
    for name, target in targets.items():
        print(f"{name:10} {target.about}")


def _fuzz(target: Target, options: argparse.Namespace) -> int:
    from fuzzing import play

    started = time.monotonic()
    until = started + options.minutes * _SECONDS_PER_MINUTE
    findings: dict[str, Finding] = {}
    executions = rounds = 0
    while time.monotonic() < until and rounds != options.rounds:
        number = options.seed + rounds
        print(f"{target.name}: round {number}", file=sys.stderr, flush=True)
        done = play(target, number, target.examples, frozenset(findings))
        rounds += 1
        executions += done.executions
        for finding in done.findings:
            findings[finding.where] = finding
            _tell(finding)
    figures = {
        "executions": executions,
        "rounds": rounds,
        "findings": len(findings),
        "seconds": round(time.monotonic() - started, 1),
    }
    if options.json:
        print(json.dumps({"bench": f"fuzz-{target.name}", "figures": figures}))
    else:
        print(f"{target.name}: " + ", ".join(f"{value} {name}" for name, value in figures.items()))
    return int(bool(findings))


def _tell(finding: Finding) -> None:
    again = f"python scripts/fuzz/run.py --target {finding.target} --seed {finding.seed} --rounds 1"
    print(
        f"FOUND {finding.where}\n{finding.trace}\ninput: {finding.shown}\nagain: {again}", file=sys.stderr, flush=True
    )


if __name__ == "__main__":
    sys.exit(main())
