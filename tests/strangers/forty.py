"""The strangers: what each stands for, what touches its pixels, and what is expected of it.

stranger.py  what is known of each
loaders/     their code, as people write it who have never heard of penstock
data.py      the files that they read
compare.py   all batches of a loader, and whether two are the same
decoders.py  torchvision.io, where its wheel and torch do not fit together
"""

from __future__ import annotations

from typing import Any

from tests.strangers.stranger import Stranger


def _one(
    name: str, module: str, stands_for: str, pixels: str, randomness: str, **more: Any
) -> Stranger:
    return Stranger(name, module, stands_for, _words(pixels), _words(randomness), **more)


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


STRANGERS = (
    _one("simclr", "views", "SimCLR: a list of two views.", "pillow torchvision", "torch"),
    _one(
        *("moco", "views", "MoCo v2: two crops, blurred by Pillow's own filter."),
        *("pillow torchvision", "torch random"),
    ),
    _one(
        *("dino", "views", "Multi-crop as in DINO: two large views and eight small ones."),
        *("pillow torchvision", "torch random"),
    ),
    _one("ten_crops", "views", "TenCrop, and Lambdas that stack.", "pillow torchvision", ""),
    _one("test_time_views", "views", "Two scales, mirrored, no label.", "pillow torchvision", ""),
    _one("multi_hot_json", "labels", "A JSON list, several labels.", "pillow torchvision", "torch"),
    _one("pickle_dicts", "labels", "A pickle; samples are dicts.", "pillow torchvision", "torch"),
    _one(
        *("captions_padded", "labels", "Captions as tokens, sorted, padded and packed in collate."),
        *("pillow torchvision", "torch"),
    ),
    _one(
        *("folder_own_loader", "labels", "ImageFolder with a loader that gives gray images."),
        *("pillow torchvision", "torch"),
    ),
    _one(
        *("folder_with_paths", "labels", "A subclass of ImageFolder that also returns the path."),
        *("pillow torchvision", ""),
    ),
    _one(
        *("csv_pandas", "tables", "A table by pandas, TrivialAugmentWide and RandomErasing."),
        *("pillow torchvision", "torch"),
        needs=("pandas",),
    ),
    _one(
        *(
            "lmdb_bytes",
            "storage",
            "JPEGs in LMDB, opened from BytesIO, an environment per worker.",
        ),
        *("pillow torchvision", "torch"),
        needs=("lmdb",),
    ),
    _one(
        *("hdf5_bytes", "storage", "JPEGs in HDF5, a file opened by each worker."),
        *("pillow torchvision", "torch"),
        needs=("h5py",),
    ),
    _one(
        *(
            "tar_decode_image",
            "storage",
            "Members of a tar, decoded by torchvision's decode_image.",
        ),
        *("torchvision", "torch"),
        needs=("torchvision.io",),
    ),
    _one(
        *("cached_images", "storage", "Pillow images kept in a dict of the Dataset."),
        *("pillow torchvision", "torch"),
    ),
    _one(
        *("cached_bytes", "storage", "Files read at the start; NumPy arrays as samples, no label."),
        *("pillow numpy", "torch random"),
    ),
    _one(
        *("albumentations_masks", "opencv", "Image and mask through Albumentations."),
        *("pillow albumentations opencv", "torch own"),
        needs=("albumentations", "cv2"),
    ),
    _one(
        *(
            "opencv_albumentations",
            "opencv",
            "cv2.imread, cvtColor, Albumentations; a worker_init_fn.",
        ),
        *("opencv albumentations", "torch own"),
        needs=("albumentations", "cv2"),
    ),
    _one(
        *("opencv_by_hand", "opencv", "cv2.imread and cv2.resize, the rest by hand in NumPy."),
        *("opencv numpy", "torch numpy"),
        needs=("albumentations", "cv2"),
    ),
    _one(
        *("opencv_random_crop", "opencv", "A crop by slicing, cv2.resize, flip, from_numpy."),
        *("opencv", "torch random"),
        needs=("albumentations", "cv2"),
    ),
    _one(
        *("opencv_imdecode", "opencv", "Bytes in memory, imdecode; channels first before floats."),
        *("opencv numpy", "torch"),
        needs=("albumentations", "cv2"),
    ),
    _one(
        *("opencv_letterbox", "opencv", "Long side to a size, a gray border, bytes, as YOLO."),
        *("opencv", "torch random"),
        needs=("albumentations", "cv2"),
    ),
    _one(
        *("opencv_area", "opencv", "INTER_AREA, quarter turns, EXIF data that turn."),
        *("opencv", "torch random"),
        needs=("albumentations", "cv2"),
    ),
    _one(
        *("opencv_gray", "opencv", "IMREAD_GRAYSCALE, and one channel."),
        *("opencv numpy", ""),
        needs=("albumentations", "cv2"),
    ),
    _one(
        *(
            "joint_flips_by_random",
            "masks",
            "Image and mask, moved alike by functional transforms.",
        ),
        *("pillow torchvision", "torch random"),
    ),
    _one(
        *("medical_16_bit", "masks", "Gray scans of 16 bits: PNG and TIFF, NumPy, interpolate."),
        *("pillow numpy torch", "torch numpy"),
    ),
    _one(
        *("inpainting", "masks", "Holes drawn by NumPy; image, mask and what is to be filled."),
        *("pillow torchvision numpy", "torch numpy"),
    ),
    _one(
        *(
            "detection_by_hand",
            "detection",
            "Letterbox and boxes by hand, a collate as YOLO has it.",
        ),
        *("pillow torchvision", "torch random"),
    ),
    _one(
        *("detection_tv_tensors", "detection", "tv_tensors through v2, as in the references."),
        *("pillow torchvision", "torch"),
    ),
    _one(
        *("read_image_v2", "readers", "read_image, and v2 on tensors."),
        *("torchvision", "torch"),
        needs=("torchvision.io",),
    ),
    _one(
        *("imageio_v3", "readers", "iio.imread; a crop and a mirror by NumPy."),
        *("imageio numpy", "torch numpy"),
        needs=("imageio",),
    ),
    _one(
        *("arithmetic_by_hand", "readers", "np.asarray; mean and deviation by NumPy."),
        *("pillow numpy", "torch"),
    ),
    _one(
        *("doubles_by_hand", "readers", "Brightness by NumPy; doubles as samples."),
        *("pillow numpy", "torch numpy"),
    ),
    _one(
        *("imageio_reader", "readers", "imageio; alpha over white; crops by NumPy."),
        *("imageio numpy", "torch numpy"),
        needs=("imageio",),
    ),
    _one("weighted_sampler", "order", "WeightedRandomSampler.", "pillow torchvision", "torch"),
    _one(
        *("class_balanced", "order", "A sampler of one's own that draws by `random`."),
        *("pillow torchvision", "torch random"),
    ),
    _one(
        *(
            "bucket_batches",
            "order",
            "A batch sampler of one's own: wide with wide, tall with tall.",
        ),
        *("pillow torchvision", "torch numpy"),
    ),
    _one("k_fold", "order", "A Subset by indices of NumPy.", "pillow torchvision", "torch"),
    _one(
        *("concat_of_two_kinds", "order", "ConcatDataset of photos and of arrays in .npy files."),
        *("pillow torchvision numpy", "torch"),
    ),
    _one(
        *("mixup_in_collate", "mixing", "Mixup by hand in collate, after RandAugment."),
        *("pillow torchvision", "torch numpy"),
    ),
    _one(
        *("cutmix_in_collate", "mixing", "v2's CutMix or MixUp in collate."),
        *("pillow torchvision", "torch"),
    ),
    _one(
        *("padded_in_collate", "mixing", "Images of several sizes, padded in collate with a mask."),
        *("pillow torchvision", "torch"),
    ),
    _one(
        *("siamese_pairs", "groups", "Pairs of gray images; `random` chooses both."),
        *("pillow torchvision", "torch random"),
    ),
    _one(
        *("triplets", "groups", "Anchor, positive and negative; a tuple in a tuple."),
        *("pillow torchvision", "torch random"),
    ),
    _one(
        *("video_clips", "groups", "Frames from files, one crop and one flip for a whole clip."),
        *("pillow torchvision", "torch random"),
    ),
    _one(
        *("super_resolution", "restoration", "A crop, and itself four times smaller; a generator."),
        *("pillow numpy", "torch random"),
    ),
    _one(
        *("colourisation", "restoration", "Lightness and colours of LAB, by ImageCms."),
        *("pillow numpy", "torch"),
    ),
    _one(
        *("by_hand_arrays", "pillow_ways", "convert, resize, np.array, from_numpy, permute."),
        *("pillow numpy", "torch"),
    ),
    _one("thumbnails", "pillow_ways", "thumbnail, pasted on black.", "pillow torchvision", ""),
    _one("drafts", "pillow_ways", "draft, and ImageOps.fit.", "pillow numpy", "torch"),
    _one(
        *("enhanced", "pillow_ways", "ImageEnhance in a random order."),
        *("pillow torchvision", "torch random numpy"),
    ),
    _one(
        *("cutout_drawn", "pillow_ways", "ImageDraw on the image, ImageOps.mirror."),
        *("pillow torchvision", "torch numpy"),
    ),
    _one(
        *("exif_upright", "pillow_ways", "ImageOps.exif_transpose, and the size it leaves."),
        *("pillow torchvision", "torch"),
    ),
    _one(
        *("skips_broken", "pillow_ways", "try, and the next sample for a file that is broken."),
        *("pillow torchvision", "torch"),
    ),
    _one(
        *("squares", "pillow_ways", "ImageOps.pad, and quarter turns."),
        *("pillow torchvision", "torch random"),
    ),
    _one(
        *("faces", "pillow_ways", "Crops beyond the edge, ImageOps.expand."),
        *("pillow torchvision", "torch numpy"),
    ),
    _one(
        *("own_random_state", "states", "A RandomState that the Dataset keeps."),
        *("pillow torchvision", "torch own"),
    ),
    _one(
        *(
            "starts_with_random",
            "states",
            "random.random() first, which may choose another sample.",
        ),
        *("pillow torchvision", "torch random"),
    ),
    _one(
        *("iterable_stream", "states", "An IterableDataset."),
        *("pillow torchvision", "torch"),
        expect="refused",
        reason="IterableDataset",
    ),
    _one(
        *("counts_calls", "states", "A global counter of calls decides about crops."),
        *("pillow torchvision", "torch"),
        expect="refused",
        reason="a counter",
        reproducible=False,
    ),
    _one(
        *("seeded_by_clock", "states", "Each sample is seeded by the clock."),
        *("pillow torchvision", "torch own"),
        expect="refused",
        reason="a clock",
        reproducible=False,
    ),
)
