from benchmarks.progress import Progress, in_minutes


def make_progress(expected_s):
    """Return progress with what it printed, and a clock that is set by hand."""
    lines, now = [], [0.0]
    return Progress(expected_s, lines.append, lambda: now[0]), lines, now


def test_what_is_left_is_what_was_expected_at_first():
    progress, lines, _ = make_progress({"one": 600.0, "two": 300.0})

    progress.begin("one")

    assert lines == ["[0:00, about 15 min left] one: case 1 of 2"]


def test_what_takes_twice_as_long_is_assumed_to_go_on_so():
    progress, lines, now = make_progress({"one": 600.0, "two": 300.0})
    progress.begin("one")
    now[0] = 600.0
    progress.advance(300.0)

    progress.say("round 2")

    assert lines[-1] == "[10:00, about 20 min left] round 2"


def test_a_case_that_is_over_counts_as_a_whole():
    progress, lines, now = make_progress({"one": 600.0, "two": 300.0})
    progress.begin("one")
    progress.advance(10_000.0)
    now[0] = 600.0

    progress.begin("two")

    assert lines[-1] == "[10:00, about 5 min left] two: case 2 of 2"


def test_minutes_have_two_digits_of_seconds():
    assert in_minutes(187.4) == "3:07"
