"""Batches as JAX arrays: the same values, without a copy, in memory that nobody writes to."""

import gc

import numpy as np
import pytest

import layout_samples
import penstock as ps
from penstock import transforms as T
from penstock._core import BatchRing
from penstock.errors import LoaderError
from penstock.loading.to_jax import jax_images, jax_values

jax = pytest.importorskip("jax", reason="JAX is not installed")
jnp = jax.numpy

SCALED = T.Compose([T.RandomResizedCrop(64), T.ToDtype("float32", scale=True)])


@pytest.fixture
def make(folder):
    """Make a loader, closed after the test."""
    made = []

    def make_loader(output="jax", **options):
        told = {"batch_size": 4, "transform": SCALED, "shuffle": True, "threads": 2, **options}
        made.append(ps.Loader(told.pop("data", folder), output=output, **told))
        return made[-1]

    yield make_loader
    for loader in made:
        loader.close()


@pytest.mark.parametrize("layout", ["chw", "hwc"])
def test_values_are_numpys(make, layout):
    for ours, plain in zip(make(layout=layout), make("numpy", layout=layout), strict=True):
        assert isinstance(ours[0], jax.Array)
        assert (ours[0].dtype, ours[1].dtype) == (jnp.float32, jnp.int32)
        np.testing.assert_array_equal(ours[0], plain[0])
        np.testing.assert_array_equal(ours[1], plain[1])


def test_the_memory_of_a_batch_is_shared():
    memory = np.asarray(BatchRing(1).take(1 << 20).array([1 << 18], "float32"))
    shared = jax_images(memory, is_bfloat16=False)
    halves = jax_images(memory.view(np.int16), is_bfloat16=True)

    address = memory.__array_interface__["data"][0]
    assert shared.unsafe_buffer_pointer() == halves.unsafe_buffer_pointer() == address
    assert (shared.shape, halves.dtype) == ((1 << 18,), jnp.bfloat16)


def test_bfloat16(make):
    (ours, _), (plain, _) = next(iter(make(dtype="bfloat16"))), next(iter(make("numpy")))

    assert ours.dtype == jnp.bfloat16
    np.testing.assert_array_equal(ours, jnp.asarray(plain).astype(jnp.bfloat16))


def test_batches_that_are_kept_stay_as_they_are(make):
    """Many are alive at once, some are let go, and more are loaded into what they leave."""
    loader, kept = make(prefetch=1), []
    for epoch in range(6):
        for images, labels in loader:
            kept.append((images, np.array(images), labels, np.array(labels)))
        if epoch == 2:
            kept = kept[::2]
            gc.collect()
    loader.close()

    for images, copy, labels, labels_copy in kept:
        np.testing.assert_array_equal(images, copy)
        np.testing.assert_array_equal(labels, labels_copy)


@jax.jit
def slow_sums(images):
    """The sum of each image, after work that takes much longer than loading the next batches."""
    noise = jax.lax.fori_loop(0, 30, lambda _, m: jnp.tanh(m @ m), jnp.ones((300, 300)))
    return images.astype(jnp.float32).sum(axis=(1, 2, 3)) + 0 * noise[0, 0]


def test_memory_is_not_filled_while_a_computation_reads_it(make):
    """Computations are dispatched, and their batches let go before they have run."""
    uint8 = T.RandomResizedCrop(64)
    pending = []
    loader = make(transform=uint8, prefetch=1, drop_last=True)
    for _ in range(4):
        for images, _ in loader:
            pending.append(slow_sums(images))
            del images
    plain = make("numpy", transform=uint8, drop_last=True)
    expected = [images.sum(axis=(1, 2, 3)) for _ in range(4) for images, _ in plain]

    assert len(pending) == len(expected) == 20
    for found, sums in zip(pending, expected, strict=True):
        np.testing.assert_array_equal(found, sums)  # whole numbers below 2**24: exact in float32


def test_values_that_lose_bits_are_refused():
    assert jax_values(np.array([2**31 - 1, -(2**31)])).tolist() == [2**31 - 1, -(2**31)]
    for wrong in (np.array([0, 2**31]), np.array([-(2**31) - 1]), np.array([2**32], np.uint64)):
        with pytest.raises(
            LoaderError, match=r"does not fit into the u?int32 that JAX makes of it"
        ):
            jax_values(wrong)
    with jax.enable_x64(True):
        assert jax_values(np.array([2**40])).tolist() == [2**40]


def test_targets_and_views(make, tmp_path):
    layout_samples.coco(tmp_path)
    for form in ("list", "padded", "yolo"):
        options = {"data": tmp_path, "targets": form, "transform": T.LetterBox(32), "batch_size": 2}
        ours, plain = next(iter(make(**options))), next(iter(make("numpy", **options)))
        kinds = {type(leaf) for leaf in jax.tree.leaves(ours) if hasattr(leaf, "shape")}
        assert all(issubclass(kind, jax.Array) for kind in kinds)
        for leaf, other in zip(jax.tree.leaves(ours), jax.tree.leaves(plain), strict=True):
            np.testing.assert_array_equal(leaf, other)
    (first, second), _ = next(iter(make(transform=T.MultiView([SCALED] * 2))))
    assert isinstance(first, jax.Array)
    assert first.shape == second.shape


def test_the_ranks_of_an_epoch(make):
    whole = np.concatenate([np.asarray(labels) for _, labels in make(drop_last=True)])
    shares = [
        np.concatenate([np.asarray(y) for _, y in make(rank=r, world_size=2, drop_last=True)])
        for r in (0, 1)
    ]

    assert [len(share) for share in shares] == [8, 8]
    np.testing.assert_array_equal(np.stack(shares, axis=1).ravel(), whole[:16])


def test_ranks_of_jax_distributed(make, monkeypatch):
    monkeypatch.setattr(jax.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(jax, "process_index", lambda: 1)
    monkeypatch.setattr(jax, "process_count", lambda: 2)

    assert "rank 1 of 2 (jax.distributed)" in repr(make())
    with pytest.raises(LoaderError, match=r"but jax.distributed says that this process is rank 1"):
        make(rank=0, world_size=2)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(LoaderError, match=r"jax.distributed says rank 1 of 2, the variables RANK"):
        make()


def test_it_is_said_what_is_missing(monkeypatch, folder):
    monkeypatch.setitem(__import__("sys").modules, "jax", None)
    with pytest.raises(LoaderError, match="output='jax' needs JAX"):
        ps.Loader(folder, output="jax")
    with pytest.raises(LoaderError, match="output must be one of 'torch', 'numpy', 'jax'"):
        ps.Loader(folder, output="tensorflow")
