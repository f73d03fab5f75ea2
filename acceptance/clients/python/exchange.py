"""Addresses of the exchange, and the runner of a file of tests: it prints one line of JSON per test, in their order."""

import json
import os
import sys
import time
import traceback

base_url = os.environ["EXCHANGE_BASE"]
clob_url = os.environ["EXCHANGE_CLOB"]
gamma_url = os.environ["EXCHANGE_GAMMA"]
data_url = os.environ["EXCHANGE_DATA"]
markets = json.loads(os.environ["EXCHANGE_MARKETS"])
event_count = int(os.environ["EXCHANGE_EVENTS"])
wallet_keys = json.loads(os.environ["EXCHANGE_WALLET_KEYS"])
chain_id = 80002

# Largest lag of projections on a machine with spare capacity.
LATE_MAX_SECONDS = 90

_served = set(os.environ["EXCHANGE_ROUTES"].split(","))
_tests = []


def test(title, *routes):
    """A test, and its routes; it is skipped while one is not served."""

    def register(run):
        missing = [route for route in routes if route not in _served]
        _tests.append((title, run, f"not served yet: {', '.join(missing)}" if missing else None))
        return run

    return register


def run_all():
    """Runs the registered tests; the next one runs after a failure too."""
    for title, run, skip in _tests:
        result = {"title": title, "skip": skip, "failure": None}
        if skip is None:
            try:
                run()
            except Exception as error:  # whatever it is, it is this test's failure
                # A summary shows the beginning.
                result["failure"] = f"{error!r}\n{traceback.format_exc()}"
        print(json.dumps(result), flush=True)
    sys.exit(0)


def eventually(what, read, holds):
    """Waits until a read shows a recent write; the reads are projections of the log."""
    deadline = time.monotonic() + LATE_MAX_SECONDS
    while time.monotonic() < deadline:
        value = read()
        if holds(value):
            return value
        time.sleep(0.25)
    raise AssertionError(f"never seen: {what}")


def refused(call, *words):
    """The error text of a refused call."""
    try:
        answer = call()
    except Exception as error:  # each client has errors of its own
        text = str(error)
        assert all(word in text for word in words), text
        return text
    raise AssertionError(f"was not refused: {answer}")
