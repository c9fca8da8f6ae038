"""The guard against slower hot paths, on counts that are made up."""

import json
from dataclasses import replace

import pytest

from benchmarks import instructions
from benchmarks.instructions import Entry, GuardError, compare, judge, last_with, main, page_of

TOOLS = {"gcc": "12.2.0", "valgrind": "3.19.0"}
COUNTS = {"avx2": {"decode": 1_000_000, "resize": 200_000}, "scalar": {"decode": 9_000_000}}
CASES = [(isa, case) for isa in COUNTS for case in COUNTS[isa]]
FIRST = Entry("2026-01-02", "1234abcd", "first counts", TOOLS, COUNTS)


def counts_with(isa, case, count):
    return COUNTS | {isa: COUNTS[isa] | {case: count}}


@pytest.fixture
def guard(monkeypatch, tmp_path):
    """Run the command with a history and with given counts; return its exit code."""
    monkeypatch.setattr(instructions, "HISTORY", tmp_path / "instructions.json")
    monkeypatch.setattr(instructions, "PAGE", tmp_path / "instructions.md")
    monkeypatch.setattr(instructions, "CHECKOUT", tmp_path)
    monkeypatch.setattr(instructions, "PROFILES", tmp_path / "build")
    monkeypatch.setattr(instructions, "supported_isas", lambda: ["scalar", "avx2", "avx512"])
    monkeypatch.setattr(instructions, "_last_commit", lambda: "fedc4321")

    def run(counts, *arguments, tools=TOOLS):
        monkeypatch.setattr(instructions, "count_instructions", lambda _: (tools, counts))
        return main(arguments)

    run(COUNTS, "--write", "first counts")
    return run


def test_the_same_counts_pass(guard, capsys):
    assert guard(COUNTS) == 0
    assert "No case has grown" in capsys.readouterr().out


@pytest.mark.parametrize(("isa", "case"), CASES)
def test_ten_percent_more_in_any_case_fail(guard, capsys, isa, case):
    grown = counts_with(isa, case, COUNTS[isa][case] * 110 // 100)

    assert guard(grown) == 1
    said = capsys.readouterr().out
    assert f"{case} ({isa}) takes +10.0% instructions" in said
    assert '--write "why"' in said


def test_a_little_more_passes_and_a_gain_is_told(guard, capsys):
    assert guard(counts_with("avx2", "decode", 1_040_000)) == 0
    assert guard(counts_with("avx2", "decode", 900_000)) == 0
    assert "decode (avx2) takes -10.0%. Write it down" in capsys.readouterr().out


def test_many_small_steps_do_not_pass_unseen(guard):
    """What counts is the last entry, not the last run."""
    counts = [1_000_000 * 104**n // 100**n for n in range(1, 4)]

    assert [guard(counts_with("avx2", "decode", count)) for count in counts] == [0, 1, 1]


def test_counts_of_another_compiler_are_shown_but_not_compared(guard, capsys):
    capsys.readouterr()

    doubled = counts_with("avx2", "decode", 2_000_000)

    assert guard(doubled, tools=TOOLS | {"gcc": "13.1.0"}) == 0
    said = capsys.readouterr().out
    assert "NOT COMPARED" in said
    assert "2,000,000" in said


def test_a_case_that_is_gone_fails_and_a_new_one_is_told(guard, capsys):
    assert guard(COUNTS | {"scalar": {"other": 5}}) == 1
    said = capsys.readouterr().out
    assert "decode (scalar) is no longer counted" in said
    assert "other (scalar) is new: not compared" in said


def test_writing_down_accepts_and_keeps_what_was_before(guard, tmp_path):
    grown = counts_with("scalar", "decode", 12_000_000)
    guard(grown, "--write", "safer decoding")

    history = json.loads((tmp_path / "instructions.json").read_text())
    assert [entry["change"] for entry in history] == ["first counts", "safer decoding"]
    assert [entry["counts"]["scalar"]["decode"] for entry in history] == [9_000_000, 12_000_000]
    assert guard(grown) == 0
    page = (tmp_path / "instructions.md").read_text()
    assert "9,000.0" in page
    assert "12,000.0" in page
    assert "fedc4321: safer decoding" in page


def test_the_newest_entry_with_the_same_tools_is_compared_with():
    newer = replace(FIRST, date="2026-02-03")
    other = replace(FIRST, date="2026-03-04", tools={"gcc": "13.1.0"})

    assert last_with([FIRST, newer, other], TOOLS) == newer
    assert last_with([other], TOOLS) is None


def test_what_was_not_counted_on_this_machine_is_not_missed():
    """A CPU without AVX2 counts the scalar code only."""
    compared = compare(COUNTS, {"scalar": COUNTS["scalar"]})

    assert [one.isa for one in compared] == ["scalar"]
    assert judge(compared) == ([], [])


def test_the_page_has_cases_of_older_entries_only_where_they_were_counted():
    newest = replace(FIRST, counts=COUNTS | {"avx2": {"decode": 1, "new": 2_000}})

    page = page_of([FIRST, newest])

    row = next(line for line in page.splitlines() if line.startswith("| new"))
    assert [cell.strip() for cell in row.split("|")[2:4]] == ["-", "2.0"]


def test_counts_are_read_in_the_order_of_the_cases(tmp_path):
    for number, case in enumerate(["last?", "first", "second"], start=9):
        text = f"desc: Trigger: Client Request: {case}\nsummary: {number}\n"
        (tmp_path / f"profile.{number}").write_text(text)
    (tmp_path / "profile").write_text("desc: Trigger: Program termination\nsummary: 0\n")

    assert instructions.read_profiles(tmp_path) == {"last?": 9, "first": 10, "second": 11}


def test_a_case_without_instructions_is_an_error(tmp_path):
    (tmp_path / "profile.1").write_text("desc: Trigger: Client Request: decode\nsummary: 0\n")

    with pytest.raises(GuardError, match="decode"):
        instructions.read_profiles(tmp_path)


def test_the_committed_page_is_made_of_the_committed_history():
    history = instructions.read_history(instructions.HISTORY)

    assert instructions.PAGE.read_text("utf-8") == page_of(history)
