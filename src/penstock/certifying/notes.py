"""What a reader must know of a comparison besides its figures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.certifying.comparison import ImageResult, Status
from penstock.certifying.matching import NameMatcher
from penstock.certifying.sides import Settings
from penstock.certifying.subjects import CertificateSide, Side
from penstock.certifying.wording import named
from penstock.errors import CertifyError


def how_matched(a: Side, b: Side, match: str | None) -> tuple[bool, str]:
    """Return whether images are matched by name, and a sentence that says so."""
    nameless = [
        f"{letter} {why}" for letter, side in (("A:", a), ("B:", b)) if (why := _why_nameless(side))
    ]
    if match == "name" and nameless:
        raise CertifyError(
            f"certify: images cannot be matched by name ({'; '.join(nameless)}). Leave match out, "
            "or match them by position."
        )
    if match == "position":
        return False, "Images were matched by their position, as you asked."
    if nameless:
        return False, f"Images were matched by their position ({'; '.join(nameless)})."
    return True, "Images were matched by the names of their files."


def _why_nameless(side: Side) -> str:
    if isinstance(side, CertificateSide):
        return "" if side.certificate.named else "its certificate has no names"
    return side.names.why if side.names.batches is None else ""


def side_notes(side: Side, letter: str, settings: Settings) -> Iterator[str]:
    """Yield what is odd about a side: what it was made from, and whether it can be repeated."""
    if isinstance(side, CertificateSide):
        yield from _certificate_notes(side, letter, settings)
        is_reproducible, why = side.certificate.reproducible, ""
    else:
        is_reproducible, why = side.is_reproducible, side.unknown
    if side.root:
        yield f"The names of {letter} were taken from the folder {side.root} on."
    if is_reproducible is None:
        reason = f": {why}" if why else ""
        yield f"Whether {letter} gives the same the second time is not known{reason}."
    elif not is_reproducible:
        yield (
            f"{letter} gives something else the second time it is run from the same seed, so what "
            "is compared may only be luck of the draw."
        )


def _certificate_notes(side: CertificateSide, letter: str, settings: Settings) -> Iterator[str]:
    ran = side.certificate
    if (ran.seed, ran.epoch) != (settings.seed, settings.epoch):
        yield (
            f"The certificate of {letter} was made from seed {ran.seed}, epoch {ran.epoch}, not "
            f"from seed {settings.seed}, epoch {settings.epoch}."
        )
    if ran.asked is not None and (settings.images is None or settings.images > ran.asked):
        yield f"The certificate of {letter} has the first {ran.asked:,} images only."
    if not ran.labels:
        yield f"The certificate of {letter} was made without labels, so none were compared."
    if ran.pixels is not None and side.pixels is None:
        yield f"The file with the pixels of {letter}, {ran.pixels}, is not beside its certificate."


def name_notes(matcher: NameMatcher, results: Sequence[ImageResult]) -> Iterator[str]:
    """Yield what is odd about names."""
    for letter, names in zip("AB", matcher.repeated, strict=True):
        if names:
            shown = ", ".join(sorted(names)[:3])
            yield (
                f"{len(names):,} names come more than once in {letter} ({shown}): the second image "
                "of a name was compared with the second one, and so on."
            )
    if matcher.let_go:
        yield (
            f"{matcher.let_go:,} images waited too long for their partners to keep their pixels, "
            "so of some it is only known that they differ. Give both sides one order."
        )
    lonely = {Status.ONLY_A, Status.ONLY_B}
    if results and all(result.status in lonely for result in results):
        yield (
            f"No name is in both (such as {results[0].name} and {results[-1].name}). If the order "
            "is the same, match images by position (--match position)."
        )


def nan_notes(results: Sequence[ImageResult]) -> Iterator[str]:
    """Yield which images have values that are not numbers, equal or not."""
    for side, letter in enumerate("AB"):
        those = [result for result in results if result.nans[side]]
        if those:
            values = sum(result.nans[side] for result in those)
            what = (
                f"1 value of {letter} is" if values == 1 else f"{values:,} values of {letter} are"
            )
            yield f"{what} NaN ({named(those)})."
