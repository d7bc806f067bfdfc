"""What every command writes on small fixed inputs, pinned: characterisation tests.

Each case (`cases.py`) runs commands in a folder of its own on inputs made by `inputs.py`, against the
test server with the replies of `replies.py`. Exit codes, JSON output, messages of commands that fail,
and the files that the case names are compared with `expected/CASE.json`. The tests know nothing of the
package but `python -m dialogauge`, so they hold through any move of its modules.

What may vary is made equal first (`normal.py`): times, versions, addresses and folders have fixed
names, digests are numbered in each file in the order in which they appear, and hashed ids have one salt.
Numbers are equal up to 1e-9 of their size; after a fit, as far as its precision goes on another processor.
Of long tables most cases keep headline figures, a hash and a weighed sum; `judge-local-card-hindsight`,
`judge-model-card`, `satisfaction-whole` and `replay-run` show them whole.

When a difference is meant, list it with its reason in the changelog, and renew from the folder `tests`:

    python -m pins --write            # every case
    python -m pins --write agreement-two   # some
    python -m pins --show agreement-two    # the differences, in full
"""
