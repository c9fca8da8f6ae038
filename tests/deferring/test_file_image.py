import pytest
from PIL import ImageOps

pytest.importorskip("torch")

from tests.deferring.pictures import FILES, ORIENTATION, coded, outcomes

ATTRIBUTES = (
    *("format", "format_description", "info", "filename", "n_frames", "is_animated", "app"),
    *("applist", "quantization", "layers", "layer", "bits", "huffman_dc", "icclist", "text"),
    *("custom_mimetype", "has_transparency_data", "mode", "size", "width", "height", "tag_v2"),
)
ASKED = {
    "exif": lambda image: image.getexif(),
    "exif as JPEGs have it": lambda image: image._getexif(),
    "xmp": lambda image: image.getxmp(),
    "type": lambda image: image.get_format_mimetype(),
    "turned": ImageOps.exif_transpose,
    "turned, and what is left": lambda image: ImageOps.exif_transpose(image).getexif(),
    "turned in place": lambda image: ImageOps.exif_transpose(image, in_place=True),
    "another orientation": lambda image: (
        image.getexif().__setitem__(ORIENTATION, 6),
        ImageOps.exif_transpose(image),
    ),
    "verify": lambda image: image.verify(),
    "verify, then use": lambda image: (image.verify(), image.tobytes()),
    "use, then verify": lambda image: (image.tobytes(), image.verify()),
    "tell": lambda image: image.tell(),
    "seek": lambda image: image.seek(0),
    "draft": lambda image: [image.draft("L", (5, 5)), image],
    "draft of size": lambda image: [image.draft(None, (5, 5)), image],
    "draft twice": lambda image: [image.draft("L", None), image.draft("RGB", (3, 3)), image],
    "draft too late": lambda image: [image.load() and None, image.draft("L", (5, 5)), image],
    "draft after use": lambda image: [image.resize((3, 3)), image.draft("L", (5, 5)), image],
    "draft after an array": lambda image: [image.tobytes(), image.draft("L", (5, 5)), image],
    "draft, then resize": lambda image: [image.draft("L", (4, 4)), image.resize((5, 5))],
    "information changed": lambda image: [
        image.info.__setitem__("mine", [1]),
        image.copy().info["mine"],
        image.resize((3, 3)).info["mine"],
    ],
    "information replaced": lambda image: [
        setattr(image, "info", {"mine": 1}),
        image.crop((0, 0, 1, 1)).info,
        image,
    ],
    "transparency added": lambda image: [
        image.info.__setitem__("transparency", 5),
        image.convert("RGB"),
    ],
    "saved as it was": lambda image: coded(image, quality="keep"),
    "changed, saved as it was": lambda image: [
        image.putpixel((0, 0), 0),
        coded(image, quality="keep"),
    ],
    "attributes": lambda image: [hasattr(image, name) for name in ATTRIBUTES],
    "attributes of a copy": lambda image: [hasattr(image.copy(), name) for name in ATTRIBUTES],
    **{name: lambda image, name=name: getattr(image, name) for name in ATTRIBUTES},
}


@pytest.mark.parametrize("name", ASKED)
def test_a_file_says_what_it_says_to_pillow(name):
    for file, data in FILES.items():
        pillows, ours = outcomes(data, ASKED[name])

        assert ours == pillows, file


def test_a_damaged_png_is_found_by_verify():
    """Some Datasets look for damaged files with it."""
    data = bytearray(FILES["png"])
    data[-20] ^= 0xFF  # in the last chunk of pixels or its checksum
    pillows, ours = outcomes(bytes(data), lambda image: image.verify())

    assert ours == pillows
    assert ours[0][0] is SyntaxError
