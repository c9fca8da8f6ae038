"""RandAugment, TrivialAugmentWide and AugMix: random ops of fixed or random strength."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from penstock._core import Effect
from penstock.errors import TransformError
from penstock.geometry import Sizes
from penstock.rng import Draws
from penstock.transforms import functional as F
from penstock.transforms.arguments import (
    Fills,
    Generation,
    Interpolation,
    InterpolationMode,
    Look,
    TorchvisionFlavor,
    plain_fill,
    read_generation,
    read_integer,
    read_look,
    read_number,
)
from penstock.transforms.effects import EffectMove, same_effect
from penstock.transforms.inputs import ARRAY, PILLOW, VIDEO, kind_of, plain, size_of, wrap_like
from penstock.transforms.mixing import draw_weights
from penstock.transforms.moves import repeat
from penstock.transforms.policies.called import CalledPolicy
from penstock.transforms.policies.ops import (
    NOTHING,
    binned_move,
    draw_signs,
    make_scene,
    policy_move,
    tell_ops,
)
from penstock.transforms.policies.spaces import (
    augmix_ops,
    rand_augment_ops,
    tpu_ops,
    trivial_augment_ops,
)
from penstock.transforms.policies.timm import TimmRandAugment
from penstock.transforms.torch_draws import dirichlet, get_torch, integer

_TPU_FILL = (128, 128, 128)


@dataclass(frozen=True, slots=True, repr=False)
class RandAugment(CalledPolicy):
    """Do `num_ops` random ops, each of strength `magnitude` (Cubuk et al., 2019).

    `flavor` "torchvision" has fourteen ops and counts `magnitude` in `num_magnitude_bins`;
    "torchvision_v1" solarizes as torchvision's older transforms do; "tpu" has the sixteen ops of
    the TPU models, with levels to 10 and beyond and no bins; timm's is made by
    `RandAugment.from_timm`. `interpolation` and `fill` (None: black, or gray for "tpu") are for
    the ops that move pixels. Flavors other than "torchvision" are called by a key, which is drawn
    if none is given.
    """

    num_ops: int = 2
    magnitude: float = 9
    num_magnitude_bins: int = 31
    interpolation: Interpolation = InterpolationMode.NEAREST
    fill: Fills = None
    flavor: Literal["torchvision", "torchvision_v1", "tpu"] = "torchvision"
    _look: Look = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "RandAugment"
        read_integer(where, "num_ops", self.num_ops, least=0)
        bins = read_integer(where, "num_magnitude_bins", self.num_magnitude_bins, least=2)
        match self.flavor:
            case "torchvision" | "torchvision_v1":
                if read_integer(where, "magnitude", self.magnitude, least=0) >= bins:
                    raise TransformError(
                        f"{where}: magnitude must be less than num_magnitude_bins = {bins}, "
                        f"got {self.magnitude!r}."
                    )
            case "tpu":
                read_number(where, "magnitude", self.magnitude, least=0)
            case _:
                raise TransformError(
                    f'{where}: flavor must be "torchvision", "torchvision_v1" or "tpu", '
                    f"got {self.flavor!r}. "
                    f'For timm\'s, write RandAugment.from_timm("rand-m9-mstd0.5-inc1").'
                )
        fill = _TPU_FILL if self.flavor == "tpu" and self.fill is None else self.fill
        self._keep(_look=read_look(where, self.interpolation, plain_fill(where, fill)))

    @property
    def called_by_key(self) -> bool:
        """True for what torchvision's v2 does not have."""
        return self.flavor != "torchvision"

    def augment(self, image: Any) -> Any:
        """Draw an op and a sign for each turn."""
        size = size_of(image)
        ops = rand_augment_ops(int(self.num_magnitude_bins))
        for _ in range(int(self.num_ops)):
            op = ops[integer(0, len(ops))]
            image = self.do(op, int(self.magnitude), image, size)
        return image

    @staticmethod
    def from_timm(config: str, hparams: Mapping[str, Any] | None = None) -> TimmRandAugment:
        """timm's RandAugment, from the string its `auto_augment` argument takes."""
        return TimmRandAugment(config, hparams)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """An op and a sign for each image and each turn, and a place if a cutout may need one."""
        draw = self._draw_tpu if self.flavor == "tpu" else self._draw_torchvision
        draws.reserve((4 if self.flavor == "tpu" else 2) * int(self.num_ops))
        return tuple(draw(draws, sizes) for _ in range(int(self.num_ops)))

    def _draw_torchvision(self, draws: Draws, sizes: Sizes) -> EffectMove:
        ops = rand_augment_ops(
            int(self.num_magnitude_bins), 1 if self.flavor == "torchvision_v1" else 2
        )
        chosen, signs = draws.integers(len(ops)), draw_signs(draws)
        levels, only = (float(self.magnitude),), repeat(0, sizes)
        move = binned_move(ops, levels, chosen, only, signs, sizes, self._look)
        magnitude = repeat(int(self.magnitude), sizes)
        return tell_ops(draws, ops, chosen, magnitude, signs, sizes, move)

    def _draw_tpu(self, draws: Draws, sizes: Sizes) -> EffectMove:
        ops = tpu_ops()
        chosen, signs, place = draws.integers(len(ops)), draw_signs(draws), draws.units(2)
        scene = make_scene(sizes, *self._look, place)
        levels = np.full(len(sizes), float(self.magnitude))
        move = policy_move(ops, chosen, levels, signs, scene)
        return tell_ops(draws, ops, chosen, levels, signs, sizes, move)


@dataclass(frozen=True, slots=True, repr=False)
class TrivialAugmentWide(CalledPolicy):
    """Do one of fourteen ops, at one of `num_magnitude_bins` strengths (Müller and Hutter, 2021).

    `interpolation` and `fill` (None: black) are for the ops that move pixels. `flavor`
    "torchvision_v1" solarizes as torchvision's older transforms do; it is called by a key, which is
    drawn if none is given.
    """

    num_magnitude_bins: int = 31
    interpolation: Interpolation = InterpolationMode.NEAREST
    fill: Fills = None
    flavor: TorchvisionFlavor = "torchvision"
    _look: Look = field(init=False, repr=False, compare=False)
    _generation: Generation = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        where = "TrivialAugmentWide"
        read_integer(where, "num_magnitude_bins", self.num_magnitude_bins, least=2)
        self._keep(
            _look=read_look(where, self.interpolation, plain_fill(where, self.fill)),
            _generation=read_generation(where, self.flavor),
        )

    @property
    def called_by_key(self) -> bool:
        """True for the older transform."""
        return self._generation == 1

    def augment(self, image: Any) -> Any:
        """Draw an op, its strength and its sign."""
        bins = int(self.num_magnitude_bins)
        ops = trivial_augment_ops(bins, self._generation)
        op = ops[integer(0, len(ops))]
        return self.do(op, lambda: integer(0, bins), image, size_of(image))

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove]:
        """An op, a bin and a sign for each image."""
        draws.reserve(3)
        count = int(self.num_magnitude_bins)
        ops = trivial_augment_ops(count, self._generation)
        levels = tuple(map(float, range(count)))
        chosen, bins, signs = draws.integers(len(ops)), draws.integers(count), draw_signs(draws)
        move = binned_move(ops, levels, chosen, bins, signs, sizes, self._look)
        return (tell_ops(draws, ops, chosen, bins, signs, sizes, move),)


_MOST_SEVERITY = 10
_MOST_RANDOM_DEPTH = 3


@dataclass(frozen=True, slots=True, repr=False)
class AugMix(CalledPolicy):
    """Mix an image with `mixture_width` chains of random ops on it (Hendrycks et al., 2019).

    A chain has `chain_depth` ops, or 1 to 3 if that is not positive, of strengths below `severity`
    out of 10; `alpha` shapes the random weights; `all_ops` adds brightness, colour, contrast and
    sharpness. `interpolation` and `fill` (None: black) are for the ops that move pixels.
    """

    severity: int = 3
    mixture_width: int = 3
    chain_depth: int = -1
    alpha: float = 1.0
    all_ops: bool = True
    interpolation: Interpolation = InterpolationMode.BILINEAR
    fill: Fills = None
    _look: Look = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        read_integer("AugMix", "severity", self.severity, least=1, most=_MOST_SEVERITY)
        read_integer("AugMix", "mixture_width", self.mixture_width, least=1)
        read_integer("AugMix", "chain_depth", self.chain_depth, least=-1)
        read_number("AugMix", "alpha", self.alpha, above=0)
        fill = plain_fill("AugMix", self.fill)
        self._keep(_look=read_look("AugMix", self.interpolation, fill))

    def augment(self, image: Any) -> Any:
        """Draw weights, and for each chain its depth and its ops; the sum is float32."""
        torch, kind = get_torch(), kind_of(image)
        if kind == PILLOW:
            tensor = F.pil_to_tensor(image)
        elif kind == ARRAY:
            tensor = torch.from_numpy(np.ascontiguousarray(np.atleast_3d(image).transpose(2, 0, 1)))
        else:
            tensor = image
        mixed = self._mix(tensor, axes=5 if kind == VIDEO else 4).to(dtype=tensor.dtype)
        if kind == PILLOW:
            return F.to_pil_image(mixed)
        if kind == ARRAY:
            return np.ascontiguousarray(mixed.numpy().transpose(1, 2, 0)).reshape(image.shape)
        return wrap_like(mixed, image)

    def _mix(self, image: Any, axes: int) -> Any:
        size, shape = size_of(image), list(image.shape)
        batch = image.reshape([1] * max(axes - image.ndim, 0) + shape)
        count = batch.size(0)
        ones = [count] + [1] * (batch.ndim - 1)
        own_and_rest = self._weights(2, count, batch.device)
        shares = self._weights(int(self.mixture_width), count, batch.device)
        shares = shares * own_and_rest[:, 1].reshape([count, -1])
        mixed = own_and_rest[:, 0].reshape(ones) * batch
        ops = augmix_ops(with_enhancements=bool(self.all_ops))
        for chain in range(int(self.mixture_width)):
            changed = batch
            is_fixed = self.chain_depth > 0
            depth = int(self.chain_depth) if is_fixed else integer(1, _MOST_RANDOM_DEPTH + 1)
            for _ in range(depth):
                op = ops[integer(0, len(ops))]
                changed = self.do(op, lambda: integer(0, int(self.severity)), changed, size)
            mixed.add_(shares[:, chain].reshape(ones) * changed)
        return plain(mixed).reshape(shape)

    def _weights(self, count: int, images: int, device: Any) -> Any:
        return dirichlet([self.alpha] * count, images, device)

    def sample(self, draws: Draws, sizes: Sizes) -> tuple[EffectMove, ...]:
        """Weights, and for each chain its depth and its ops; weights are float32 as in torch."""
        own, mixed = draw_weights(draws, self.alpha, 2).astype(np.float32)
        shares = draw_weights(draws, self.alpha, int(self.mixture_width)).astype(np.float32)
        moves = [same_effect(Effect.MIX_BEGIN, sizes, weight=own.astype(np.float64))]
        draws.tell(own_share=own)
        for chain, share in enumerate(shares, start=1):
            weight = (share * mixed).astype(np.float64)
            draws.tell(chain=chain, share=weight)
            moves += self._draw_chain(draws, sizes)
            moves.append(same_effect(Effect.MIX_ADD, sizes, weight=weight))
        moves.append(same_effect(Effect.MIX_END, sizes))
        return tuple(moves)

    def _draw_chain(self, draws: Draws, sizes: Sizes) -> list[EffectMove]:
        ops = augmix_ops(with_enhancements=bool(self.all_ops))
        levels = tuple(map(float, range(int(self.severity))))
        is_fixed = self.chain_depth > 0
        most_depth = int(self.chain_depth) if is_fixed else _MOST_RANDOM_DEPTH
        draws.reserve(1 + 3 * most_depth)
        depth = repeat(most_depth, sizes) if is_fixed else 1 + draws.integers(most_depth)
        moves = []
        for turn in range(most_depth):
            chosen = np.where(turn < depth, draws.integers(len(ops)), NOTHING)
            bins, signs = draws.integers(len(levels)), draw_signs(draws)
            move = binned_move(ops, levels, chosen, bins, signs, sizes, self._look)
            moves.append(tell_ops(draws, ops, chosen, bins, signs, sizes, move))
        return moves
