import pytest

from penstock.cli import bench
from penstock.cli.main import main


@pytest.fixture
def called(monkeypatch):
    """Return what would have been run."""
    found = []

    def call(command, env):
        found.append((command, env))
        return 3

    monkeypatch.setattr(bench.subprocess, "call", call)
    return found


def test_all_arguments_go_to_the_benchmarks(called):
    assert main(["bench", "--quick", "--case", "tiny_32", "--help"]) == 3

    ((command, env),) = called
    assert command[1:] == ["-m", "benchmarks", "--quick", "--case", "tiny_32", "--help"]
    assert str(bench.find_checkout()) in env["PYTHONPATH"]


def test_an_installed_package_says_that_it_has_no_benchmarks(tmp_path, monkeypatch, called, capsys):
    wheel = tmp_path / "lib" / "site-packages" / "penstock" / "cli" / "bench.py"
    monkeypatch.setattr(bench, "__file__", str(wheel))
    monkeypatch.chdir(tmp_path)

    assert main(["bench", "--quick"]) == 2

    assert "not part of an installed penstock" in capsys.readouterr().err
    assert called == []


def test_an_installed_package_takes_the_benchmarks_of_the_current_folder(
    tmp_path, monkeypatch, called
):
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "peer_process.py").write_text("")
    (tmp_path / "requirements" / "peers").mkdir(parents=True)
    monkeypatch.setattr(bench, "__file__", str(tmp_path / "a" / "b" / "c" / "d" / "bench.py"))
    monkeypatch.chdir(tmp_path)

    assert bench.find_checkout() == tmp_path
