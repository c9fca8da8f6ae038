"""Fast rules stay within the bounds that they state, on photographs.

Each rule is tried on pipelines that make it apply, as written and with that rule alone, both by the
reference: what differs is the rule's doing and nobody else's.
"""

import numpy as np
import pytest

from corpus.photos import photo
from penstock import transforms as T
from penstock.geometry import Sizes
from penstock.planner.plan import as_written
from penstock.planner.rules import RULES
from penstock.planner.rules.rule import Fidelity, rewrite_moves
from penstock.reference.pipeline import run_moves

JITTER = T.ColorJitter(0.5, 0.5, 0.5, 0)

PIPELINES = {
    "resize_before_flip": [
        [T.RandomHorizontalFlip(1.0), T.RandomVerticalFlip(0.5), T.Resize((101, 97))],
        [T.RandomHorizontalFlip(1.0), T.Resize((400, 333), interpolation="bicubic")],
    ],
    "resize_before_per_pixel": [
        [JITTER, T.Resize((90, 110))],
        [T.Grayscale(3), T.RandomInvert(1.0), T.Resize((64, 64), interpolation="lanczos")],
    ],
    "per_pixel_before_enlarging": [[T.Resize((500, 640)), JITTER]],
    "blur_after_shrinking": [
        [T.GaussianBlur(size, (0.1, 3.0)), T.Resize((side, side))]
        for size in (3, 9, 23)
        for side in (40, 120)
    ],
    "contrast_from_reduced": [
        [T.ColorJitter(0.5, 0.5), T.CenterCrop(60)],
        [T.RandomRotation(30), T.ColorJitter(0.5, 0.5), T.CenterCrop(60)],
        [T.RandomPerspective(0.3, 1.0), T.ColorJitter(0, 0.8), T.Resize(50)],
        [T.Pad(20), T.RandomHorizontalFlip(), T.ColorJitter(0.2, 0.8), T.RandomCrop(70)],
        # The second one is measured on what the first one leaves, which is measured, too.
        [T.ColorJitter(0, 0.3), T.ColorJitter(0.2, 0.3), T.CenterCrop(60)],
    ],
}
ELSEWHERE = {
    "reduce_in_decoder": "tests/parity/test_fast.py: only a decoder can do it",
    "compose_warps": "tests/properties/test_fast_warp_rules.py",
    "warp_then_shrink": "tests/properties/test_fast_warp_rules.py",
    "resize_in_warp": "tests/properties/test_fast_warp_rules.py",
    "warp_in_fixed_point": "tests/properties/test_fast_warp_rules.py",
}
FAST = [rule for rule in RULES if rule.fidelity == Fidelity.FAST]


@pytest.fixture(scope="module")
def photos():
    sizes = ((375, 500), (500, 333), (281, 403), (600, 640))
    return [photo(number, *sizes[number % len(sizes)]) for number in range(12)]


def differences(image, number, pipeline, rule):
    """None if the rule does not apply; else the mean, the largest and the PSNR."""
    sizes = Sizes(np.array([image.height]), np.array([image.width]))
    segment = as_written(T.Compose(pipeline)).segments[0]
    moves = segment.sample(7, 0, np.array([number]), sizes)
    planned = rewrite_moves(moves, sizes, [rule])
    if len(planned) == len(moves) and all(a is b for a, b in zip(planned, moves, strict=True)):
        return None
    written, fast = (
        np.asarray(run_moves(image, each, 0), dtype=np.int64) for each in (moves, planned)
    )
    assert written.shape == fast.shape
    apart = np.abs(written - fast)
    error = float((apart**2).mean())
    return apart.mean(), apart.max(), 10 * np.log10(255**2 / error) if error else np.inf


@pytest.mark.parametrize("rule", FAST, ids=lambda rule: rule.name)
def test_a_fast_rule_stays_in_its_bound(rule, photos):
    if rule.name in ELSEWHERE:
        pytest.skip(f"see {ELSEWHERE[rule.name]}")
    applied = 0
    for pipeline in PIPELINES[rule.name]:
        for number, image in enumerate(photos):
            found = differences(image, number, pipeline, rule)
            if found is None:
                continue
            applied += 1
            mean, most, psnr_db = found
            where = f"photo {number} of {image.size} with {pipeline}"
            assert mean <= rule.bound.mean, where
            assert most <= rule.bound.most, where
            assert psnr_db >= rule.bound.psnr_db, where
    assert applied >= len(photos) // 2, "the pipelines hardly make the rule apply"
