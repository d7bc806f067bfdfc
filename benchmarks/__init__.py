"""Benchmarks: what dialogauge costs, beside what the bare operation costs in the same run.

    python -m benchmarks            # all
    python -m benchmarks judging    # one
    python -m benchmarks -o FILE    # and keep the figures as JSON

Times depend on the machine and on what else runs there. So every bench takes medians, states processor
time beside wall time, and compares with a bare operation measured in the same run.
"""
