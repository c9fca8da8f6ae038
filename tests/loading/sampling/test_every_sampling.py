"""Whatever says which samples an epoch has: lengths, ranks and states agree, for uneven numbers."""

from collections import Counter

import numpy as np
import pytest

import penstock as ps
from penstock import LoaderError
from penstock import transforms as T

COUNT = 23  # samples of the folder, which no number of ranks or batch size here divides

SAMPLINGS = {
    "in order": {},
    "shuffled": {"shuffle": True},
    "weights": {"weights": np.arange(1.0, COUNT + 1)},
    "weights, without replacement": {
        "sampling": ps.Weighted(np.arange(1.0, COUNT + 1), replacement=False)
    },
    "classes": {"sampling": ps.ClassBalanced()},
    "classes, another length": {"sampling": ps.ClassBalanced(samples_per_epoch=31)},
    "repeated": {"shuffle": True, "sampling": ps.RepeatedAugmentation(3, selected_round=0)},
    "buckets": {"shuffle": True, "sampling": ps.BucketBatches([(8, 8), (8, 12), (12, 8)])},
    "fold": {"shuffle": True, "indices": ps.k_fold(COUNT, 4, seed=1, stratified=False)[0][0]},
    "part": {"indices": ps.random_split(COUNT, [0.7, 0.3], seed=1)[0], "shuffle": True},
}


def load(folder, name, rank=0, world_size=1, **options):
    is_bucketed = name == "buckets"
    sizes = [(8, 8), (8, 12), (12, 8)]
    transform = T.ResizeToBucket(sizes) if is_bucketed else T.Resize((8, 8))
    return ps.Loader(
        folder,
        transform=transform,
        output="numpy",
        seed=5,
        columns=("path",),
        as_dict=True,
        rank=rank,
        world_size=world_size,
        **{"batch_size": 3, **SAMPLINGS[name], **options},
    )


def batches_of(loader):
    return [list(batch["path"]) for batch in loader]


def flat(batches):
    return [sample for batch in batches for sample in batch]


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("world_size", [1, 2, 3])
@pytest.mark.parametrize("name", SAMPLINGS)
def test_ranks_share_an_epoch_of_the_length_that_is_told(folder, name, world_size, drop_last):
    alone = Counter(flat(batches_of(load(folder, name))))
    ranks = [
        load(folder, name, rank, world_size, drop_last=drop_last) for rank in range(world_size)
    ]
    epochs = [batches_of(loader) for loader in ranks]

    assert [len(epoch) for epoch in epochs] == [len(loader) for loader in ranks]
    assert len({len(epoch) for epoch in epochs}) == 1, "all ranks take as many steps"
    assert len({len(flat(epoch)) for epoch in epochs}) == 1, "and as many samples"
    together = Counter(sample for epoch in epochs for sample in flat(epoch))
    if drop_last:
        # The length of what is repeated depends on the number of ranks, as in timm.
        whole = [batches_of(load(folder, name, rank, world_size)) for rank in range(world_size)]
        everything = Counter(sample for epoch in whole for sample in flat(epoch))
        assert not together - everything, "nothing that is not in the epoch"
        assert all(len(batch) == 3 for epoch in epochs for batch in epoch)
    else:
        assert not alone - together, "everything that is in the epoch"
        per_step = world_size - 1
        most = per_step * (len(epochs[0]) if name == "buckets" else 1)
        assert (together - alone).total() <= most, "only what makes the ranks even comes twice"


@pytest.mark.parametrize("world_size", [1, 2, 3])
@pytest.mark.parametrize("name", SAMPLINGS)
def test_a_state_goes_on_in_the_middle_of_the_second_epoch(folder, name, world_size):
    for rank in range(world_size):
        loader = load(folder, name, rank, world_size)
        first, second = batches_of(loader), batches_of(loader)
        for done in range(len(second)):
            before = load(folder, name, rank, world_size)
            batches_of(before)
            walk = iter(before)
            for _ in range(done):
                next(walk)
            after = load(folder, name, rank, world_size)
            after.load_state_dict(before.state_dict())
            assert batches_of(after) == second[done:]
        assert first != second or name == "in order"


@pytest.mark.filterwarnings("ignore:Loader. the state was saved after")
@pytest.mark.parametrize(("before", "after"), [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)])
@pytest.mark.parametrize("name", SAMPLINGS)
def test_another_number_of_ranks_goes_on_with_the_rest_or_is_refused(folder, name, before, after):
    whole = flat(batches_of(load(folder, name)))
    loader = load(folder, name, 0, before)
    walk = iter(loader)
    next(walk)
    done = 3 * before
    state = loader.state_dict()
    ranks = [load(folder, name, rank, after) for rank in range(after)]
    for one in ranks:
        one.load_state_dict(state)
    if name == "buckets":
        with pytest.raises(LoaderError, match="Keep batch_size times world_size"):
            next(iter(ranks[0]))
        return
    epochs = [batches_of(one) for one in ranks]
    together = Counter(sample for epoch in epochs for sample in flat(epoch))
    rest = Counter(whole[done:])

    assert not rest - together, "all that was left"
    # Those that cannot be shared evenly come again, at the beginning and at the end.
    assert (together - rest).total() <= 2 * (after - 1), "and no more than makes the ranks even"


def test_samples_that_come_again_are_told(folder):
    loader = load(folder, "shuffled")
    next(iter(loader))
    with pytest.warns(UserWarning, match=r"after 3 samples .* 2 ranks .* 1 of them come a second"):
        load(folder, "shuffled", 0, 2).load_state_dict(loader.state_dict())
