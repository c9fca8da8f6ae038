import json
import os
from dataclasses import replace

import numpy as np
import pytest

from penstock.errors import OutputError
from penstock.planner.amounts import Unit
from penstock.planner.prices import Machine, Prices, file_of, remember


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("PENSTOCK_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "penstock"


def some_prices(number=2.5):
    return Prices(np.full(len(Unit), number), "prices measured on this machine")


def test_shipped_prices_are_there_for_every_unit(isa):
    del isa  # in use
    prices = Prices.default()

    assert prices.nanoseconds.shape == (len(Unit),)
    assert (prices.nanoseconds >= 0).all()
    assert prices.nanoseconds[Unit.TILE_BYTE] > 0
    assert not prices.are_measured


def test_prices_that_were_remembered_are_found_again(cache):
    file = remember(some_prices())

    assert file == file_of(Machine.this())
    assert cache in file.parents
    found = Prices.remembered()
    assert found.are_measured
    np.testing.assert_array_equal(found.nanoseconds, some_prices().nanoseconds)
    assert os.listdir(file.parent) == [file.name]  # nothing half-written is left


def test_without_a_calibration_shipped_prices_say_so():
    found = Prices.remembered()

    assert found.origin == "shipped prices; this machine's were not measured yet"
    np.testing.assert_array_equal(found.nanoseconds, Prices.default().nanoseconds)


def changed(**changes):
    def change(content):
        return json.dumps({**content, **changes})

    return change


def without_a_unit(content):
    del content["nanoseconds"]["tile"]
    return json.dumps(content)


def with_price(price):
    def change(content):
        content["nanoseconds"]["tile"] = price
        return json.dumps(content)

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda _: "", "is damaged"),
        (lambda content: json.dumps(content)[:-40], "is damaged"),
        (lambda _: "[" * 100_000, "is damaged"),
        (lambda _: "[1, 2]", "has another format"),
        (changed(format=2), "has another format"),
        (changed(machine={"cpu": "another"}), "is another machine's"),
        (changed(nanoseconds=None), "has other units"),
        (without_a_unit, "has other units"),
        (with_price("1"), "has prices that are not numbers"),
        (with_price(None), "has prices that are not numbers"),
        (with_price(-1.0), "has prices below zero or without end"),
        (with_price(float("nan")), "has prices below zero or without end"),
        (with_price(float("inf")), "has prices below zero or without end"),
    ],
)
def test_a_file_that_cannot_be_used_is_ignored_with_its_reason(change, reason):
    file = remember(some_prices())
    file.write_text(change(json.loads(file.read_text())))

    found = Prices.remembered()

    assert not found.are_measured
    assert reason in found.origin
    assert str(file) in found.origin
    np.testing.assert_array_equal(found.nanoseconds, Prices.default().nanoseconds)


def test_bytes_that_are_no_text_are_ignored():
    file = remember(some_prices())
    file.write_bytes(b"\xff\xfe\x00" * 100)
    assert "is damaged" in Prices.remembered().origin


@pytest.mark.parametrize("what", ["folder", "fifo"])
def test_what_is_no_file_is_ignored_without_waiting(what):
    file = remember(some_prices())
    file.unlink()
    if what == "folder":
        file.mkdir()
    else:
        os.mkfifo(file)
    assert "is not used" in Prices.remembered().origin


def test_every_machine_has_a_file_of_its_own():
    this = Machine.this()
    machines = [
        this,
        replace(this, cpu="Another CPU"),
        replace(this, instructions="neon"),
        replace(this, penstock="9.9"),
    ]

    assert len({file_of(machine) for machine in machines}) == len(machines)


def test_a_later_calibration_replaces_the_earlier_one():
    remember(some_prices(1.0))
    remember(some_prices(3.0))
    assert Prices.remembered().nanoseconds[0] == 3.0


def test_a_user_without_a_home_has_shipped_prices(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "nowhere")
    assert "no folder" in Prices.remembered().origin


def test_a_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    blocked = tmp_path / "blocked"
    blocked.write_text("a file where the folder should be")
    monkeypatch.setenv("PENSTOCK_CACHE", str(blocked))

    with pytest.raises(OutputError, match="PENSTOCK_CACHE"):
        remember(some_prices())
