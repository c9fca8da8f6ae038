"""The store of images: bounded, exact about whose image it has, and nobody waits for ever."""

import threading

import numpy as np
import pytest

from penstock.errors import LoaderError
from penstock.geometry import Size
from penstock.loading.reuse import Kept, Store
from penstock.planner.reuse import ENTRY_BYTES, Uses

BYTES = 8 * 8 * 3 + ENTRY_BYTES


def image(value=0):
    return Kept(np.full((8, 8, 3), value, dtype=np.uint8), (Size(9, 9),))


def uses(keys, drawn_in=0, left=2, last_epoch=9):
    def column(value):
        return np.full(len(keys), value, dtype=np.int64)

    return Uses(drawn_in, np.array(keys), column(left), column(last_epoch))


def never():
    """For waits that must not be ended from outside."""


def test_an_image_is_found_until_its_last_use():
    store = Store(10 * BYTES)
    assert store.take(0, uses([5], left=3)).computed == [0]
    store.put(5, 0, image(7))

    assert store.take(0, uses([5], left=2)).found[0].pixels[0, 0, 0] == 7
    assert store.take(0, uses([5], left=1)).found[0].pixels[0, 0, 0] == 7
    assert store.counts().bytes == 0
    assert store.take(0, uses([5], left=1)).computed == [0]
    counts = store.counts()
    assert (counts.found, counts.computed, counts.most_bytes) == (2, 2, BYTES)


def test_what_is_used_only_once_is_not_kept():
    store = Store(10 * BYTES)
    taken = store.take(0, uses([5], left=1))
    store.put(5, 0, image())

    assert taken.owned == []
    assert store.counts().images == store.counts().no_room == 0


def test_memory_is_never_exceeded_and_the_rest_is_counted():
    store = Store(3 * BYTES + BYTES // 2)
    store.take(0, uses(range(5)))
    for key in range(5):
        store.put(key, 0, image())

    counts = store.counts()
    assert (counts.images, counts.bytes, counts.no_room) == (3, 3 * BYTES, 2)
    taken = store.take(0, uses(range(5), left=1))
    assert list(taken.found) == [0, 1, 2]
    assert taken.computed == [3, 4]


def test_an_image_that_was_drawn_for_another_epoch_is_never_taken_for_it():
    store = Store(10 * BYTES)
    store.take(3, uses([5], drawn_in=3))
    store.take(4, uses([5], drawn_in=4))  # while the first is still computed
    store.put(5, 3, image(3))

    assert list(store.take(4, uses([5], drawn_in=4)).awaited) == [0]
    store.put(5, 4, image(4))
    assert store.take(4, uses([5], drawn_in=4)).found[0].pixels[0, 0, 0] == 4
    assert store.take(4, uses([5], drawn_in=2)).computed == [0]


def test_what_epochs_left_behind_is_dropped():
    store = Store(10 * BYTES)
    store.take(0, uses([1], last_epoch=1))
    store.take(0, uses([2], last_epoch=5))
    store.put(1, 0, image())
    store.put(2, 0, image())
    store.take(2, uses([3], drawn_in=2))
    store.put(3, 2, image())
    assert store.counts().images == 2

    store.take(1, uses([9]))  # back again: what was drawn for later epochs is of no use
    assert store.counts().images == 1
    assert store.counts().bytes == BYTES


def test_whoever_waits_gets_the_image_even_if_there_is_no_room():
    store = Store(1)
    store.take(0, uses([5]))
    second = store.take(0, uses([5], left=1))
    assert list(second.awaited) == [0]
    found = []
    waiting = threading.Thread(target=lambda: found.append(store.wait(second, never)))
    waiting.start()
    store.put(5, 0, image(7))
    waiting.join(timeout=30)

    assert found[0].found[0].pixels[0, 0, 0] == 7
    assert store.counts().images == 0
    assert store.counts().found == 1


def test_whoever_waits_is_told_when_the_image_will_not_come():
    store = Store(10 * BYTES)
    first, second = store.take(0, uses([5])), store.take(0, uses([5], left=1))
    store.release(first)

    assert store.wait(second, never).computed == [0]
    assert store.take(0, uses([5])).computed == [0]


def test_waiting_ends_when_the_loader_is_closed():
    store = Store(10 * BYTES)
    store.take(0, uses([5]))
    second = store.take(0, uses([5], left=1))

    def closed():
        raise LoaderError("closed")

    with pytest.raises(LoaderError, match="closed"):
        store.wait(second, closed)


def test_clearing_lets_go_of_everything():
    store = Store(10 * BYTES)
    store.take(0, uses([5, 6]))
    store.put(5, 0, image())
    store.clear()
    store.put(6, 0, image())

    assert store.counts().images == store.counts().bytes == 0
