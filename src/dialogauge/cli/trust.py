"""`dialogauge trust`: how far a run's numbers can be trusted."""

from __future__ import annotations

from dialogauge.app.settings import RecheckOptions
from dialogauge.cli.options import AsJson, takes


@takes(RecheckOptions)
def trust(options: RecheckOptions, as_json: AsJson = False) -> None:
    """Check a finished run for known faults of its judge, and write what was found into its report.

    The thresholds are those of the [trust] table of the configuration file. Only --scenario-sample judges
    anything again: two judgements for each conversation of the sample, by the judge of the run.
    """
    from dialogauge.app.trust import recheck
    from dialogauge.cli.terminal import print_blocks, print_json
    from dialogauge.studies.trust import trust_brief

    checks = recheck(options)
    if as_json:
        print_json(checks.to_json())
    else:
        print_blocks(trust_brief(checks))
