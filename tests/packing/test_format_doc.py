"""The worked example of docs/format.md is what the writer writes."""

import re
from pathlib import Path

from penstock.packing.index import Tables
from penstock.packing.items import LABEL, PackItem
from penstock.packing.records import Record
from penstock.packing.shards import MANIFEST, open_packed
from penstock.packing.verify import verify
from penstock.packing.write import PackWriter

DOCUMENT = Path(__file__).parents[2] / "docs" / "format.md"


def test_every_line_of_the_example(tmp_path):
    target = tmp_path / "dot.pen"
    record = Record(
        b"\xff\0\0", "raw", 1, 1, 1, "pixels", 69, 0x11223344, note="PNG, RGB"
    )  # fmt: skip
    with PackWriter(str(target), [LABEL], Tables(("cat",), None, ())) as writer:
        writer.add(PackItem("cat/dot.png", b"", {"label": 0}), record)
        writer.finish()
    written = target.read_bytes()
    text = DOCUMENT.read_text(encoding="utf-8")
    lines = re.findall(r"^([0-9a-f]{6})  ((?:[0-9a-f]{2} +){16})", text, re.MULTILINE)

    assert len(lines) > 20
    assert f"{len(written):,} bytes" in text
    for place, line in lines:
        expected = bytes.fromhex(line)
        assert written[int(place, 16) :][: len(expected)] == expected, place
    assert verify(target, deep=True).intact
    assert MANIFEST in text
    assert len(open_packed(target)) == 1
