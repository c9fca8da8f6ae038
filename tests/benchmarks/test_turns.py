import json

from benchmarks.turns import Figures, in_milliseconds, pass_of_loader, take_turns, times_faster


def test_contestants_alternate_and_warm_up_first():
    called = []

    def contestant(name):
        def run():
            called.append(name)
            return 1

        return run

    found = take_turns({"a": contestant("a"), "b": contestant("b")}, rounds=2, least_s=0)

    assert called == ["a", "b"] * 3
    assert [len(times) for times in found["ms"].values()] == [2, 2]
    assert found["rounds"] == 2


def test_a_turn_lasts_as_long_as_it_should():
    calls = []
    take_turns({"a": lambda: calls.append(sum(range(1000))) or 1}, rounds=1, least_s=0.001)

    assert len(calls) > 2


def test_images_of_an_epoch_are_counted_whatever_comes_with_them():
    assert pass_of_loader([("abc", None), ("de", None)]) == 5
    assert pass_of_loader([(["abc", "def"], None), (["de", "fg"], None)]) == 5
    assert pass_of_loader(["abc"]) == 3


def test_new_figures_replace_older_ones_of_the_same_environment(tmp_path):
    target = tmp_path / "kept.json"
    here = {"machine": "one", "Python": "3"}
    names = ["first", "second"]
    old = [{"name": "second", "ms": 1}, {"name": "gone", "ms": 1}]
    Figures(here, old).written_to(target, [*names, "gone"])

    whole = Figures(here, [{"name": "first", "ms": 2}]).written_to(target, names)
    assert whole.entries == [{"name": "first", "ms": 2}, {"name": "second", "ms": 1}]
    assert json.loads(target.read_text("utf-8"))["entries"] == whole.entries
    entry = {"name": "first", "ms": 3, "rounds": 5, "time_over_cpu": 1.1}
    elsewhere = Figures(here | {"Python": "4"}, [entry])
    assert elsewhere.written_to(target, names) == elsewhere
    machine, versions, rounds, clock = elsewhere.heading()
    assert (machine, versions) == ("- one", "- Python 4")
    assert rounds.startswith("- 5 alternating rounds")
    assert "at most 1.10 times" in clock


def test_cells():
    assert in_milliseconds([1.0, 2.0, 4.0]) == "2.00 (1.00-4.00)"
    assert in_milliseconds([1000.0]) == "1,000.0 (1,000.0-1,000.0)"
    assert times_faster([8.0, 9.0], [2.0, 3.0]) == "3.5 (3.0-4.0)"
    assert times_faster([2.0], [2.5]) == "0.80 (0.80-0.80)"
