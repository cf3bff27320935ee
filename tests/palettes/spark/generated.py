"""What hypothesis makes, gathered: a job on Spark takes seconds, so that one gets all of it."""

from hypothesis import Phase, given, settings


def generated(strategy, count):
    """Return some examples of a strategy; the first is a simple one."""
    made = []

    @settings(max_examples=count, phases=[Phase.generate], database=None)
    @given(strategy)
    def gather(example):
        made.append(example)

    gather()
    return made
