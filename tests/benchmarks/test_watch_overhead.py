from benchmarks.watch_overhead import main


def test_says_what_watching_costs(capsys):
    """Whether the bound is kept is for a quiet machine to say."""
    assert main(["--steps", "50", "--rounds", "1"]) in {0, 1}
    assert "us to a step" in capsys.readouterr().out
