"""What the columns of a Parquet file with images are for, from its schema alone.

Hugging Face writes the types it knows of (Image, ClassLabel) as JSON into the schema's metadata.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from penstock.errors import SourceError
from penstock.packing.datasets.arrow_extensions import METADATA, NAME
from penstock.packing.datasets.files import user_column_name
from penstock.packing.datasets.json_stream import load_json
from penstock.packing.items import Column

IMAGE_NAMES = ("image", "img", "jpg", "jpeg", "png", "webp", "picture", "photo", "image_bytes")
LABEL_NAMES = ("label", "labels", "class", "target", "fine_label")
OBJECTS_NAME = "objects"
TENSOR_EXTENSIONS = (b"ray.data.arrow_tensor", b"arrow.fixed_shape_tensor")

ImageForm = Literal["struct", "binary", "tensor"]


@dataclass(frozen=True, slots=True)
class ParquetSchema:
    """The columns by use."""

    image: str
    image_form: ImageForm
    tensor_shape: tuple[int, ...] | None
    label: str | None
    label_is_float: bool
    classes: tuple[str, ...] | None
    has_objects: bool
    box_classes: tuple[str, ...] | None
    user: dict[str, Column]


@dataclass(frozen=True, slots=True)
class Chosen:
    """What columns are for, where that is known."""

    image: str
    label: str | None
    columns: tuple[str, ...]  # of the others, those that are wanted


def read_schema(
    schema: Any,
    types: Any,
    has_nulls: Callable[[str], bool],
    one_length: Callable[[str], int | None],
    title: str,
    chosen: Chosen | None = None,
) -> ParquetSchema:
    """Work out the use of each column.

    Args:
        schema: A pyarrow.Schema.
        types: The module pyarrow.types.
        has_nulls: Tells whether a value is missing anywhere in a column.
        one_length: Tells how long all lists in a column are, or None if they differ.
        title: What errors call the file.
        chosen: The columns of image and label, and which others are wanted; None finds them.
    """
    features = hugging_face_features(schema.metadata or {}, title)
    forms = {f.name: form for f in schema if (form := _image_form(f, types)) is not None}
    if chosen is None:
        image = _choose_image(forms, features, title, schema.names)
        label = _find_label(schema, features, types)
        vectors: tuple[str, ...] = LABEL_NAMES if label is None else ()
    else:
        image, label, vectors = chosen.image, chosen.label, ()
        if label is not None and not _is_scalar(schema.field(label).type, types):
            vectors, label = (label,), None
    objects = _is_objects(schema, types)
    taken = {image, label, OBJECTS_NAME if objects else None}
    wanted = schema.names if chosen is None else chosen.columns
    user = {
        f.name: _user_column(f, forms, types, has_nulls)
        for f in schema
        if f.name in wanted and f.name not in taken
    }
    user |= _vector_label(vectors, schema, features, types, one_length)
    return ParquetSchema(
        image=image,
        image_form=forms[image],
        tensor_shape=_tensor_shape(schema.field(image), title),
        label=label,
        label_is_float=label is not None and types.is_floating(schema.field(label).type),
        classes=_names(features.get(label)) if label else None,
        has_objects=objects,
        box_classes=_category_names(features.get(OBJECTS_NAME)) if objects else None,
        user=user,
    )


def hugging_face_features(metadata: Mapping[bytes, bytes], title: str) -> dict[str, Any]:
    """Return what Hugging Face's metadata says of each column; empty where there is none."""
    if b"huggingface" not in metadata:
        return {}
    try:
        features = load_json(metadata[b"huggingface"], f"{title}, its Hugging Face metadata")
        features = features["info"]["features"]
    except (KeyError, TypeError) as error:
        raise SourceError(f"{title}: its Hugging Face metadata is damaged ({error!r}).") from error
    return features if isinstance(features, dict) else {}


def _image_form(field: Any, types: Any) -> ImageForm | None:
    kind = field.type
    if types.is_struct(kind) and any(child.name == "bytes" for child in kind):
        return "struct"
    if types.is_binary(kind) or types.is_large_binary(kind):
        return "binary"
    if (field.metadata or {}).get(NAME) in TENSOR_EXTENSIONS:
        return "tensor"
    return None


def _choose_image(
    forms: dict[str, ImageForm], features: dict[str, Any], title: str, names: list[str]
) -> str:
    declared = [name for name in forms if type_of(features.get(name)) == "Image"]
    structs = [name for name, form in forms.items() if form != "binary"]
    for candidates in (declared, structs, list(forms)):
        named = [name for name in IMAGE_NAMES if name in candidates]
        if named or len(candidates) == 1:
            return named[0] if named else candidates[0]
    raise SourceError(
        f"{title}: no column of images recognised among {', '.join(names)}. "
        "Name the one of encoded images 'image'."
    )


def _find_label(schema: Any, features: dict[str, Any], types: Any) -> str | None:
    scalar = [f.name for f in schema if _is_scalar(f.type, types)]
    named = [name for name in LABEL_NAMES if name in scalar]
    if named:
        return named[0]
    declared = [name for name in scalar if type_of(features.get(name)) == "ClassLabel"]
    return declared[0] if len(declared) == 1 else None


def _is_scalar(kind: Any, types: Any) -> bool:
    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(_is_number(kind, types) or types.is_string(kind) or types.is_large_string(kind))


def _vector_label(
    names: tuple[str, ...],
    schema: Any,
    features: dict[str, Any],
    types: Any,
    one_length: Callable[[str], int | None],
) -> dict[str, Column]:
    """Find the label that is a vector for each row, such as a multi-hot one; lists of ids are not.

    Lists of different lengths stay a column of their own name.
    """
    for name in names:
        kind = schema.field(name).type if name in schema.names else None
        if kind is None or not (types.is_list(kind) or types.is_fixed_size_list(kind)):
            continue
        length = one_length(name) if _is_number(kind.value_type, types) else None
        if length and _category_names(features.get(name)) is None:
            return {name: Column("label", "fixed", _dtype(kind.value_type), (length,))}
    return {}


def _is_objects(schema: Any, types: Any) -> bool:
    if OBJECTS_NAME not in schema.names:
        return False
    kind = schema.field(OBJECTS_NAME).type
    if types.is_list(kind):
        kind = kind.value_type
    children = {child.name for child in kind} if types.is_struct(kind) else set()
    return {"bbox", "category"} <= children


def _tensor_shape(field: Any, title: str) -> tuple[int, ...] | None:
    metadata = field.metadata or {}
    if metadata.get(NAME) not in TENSOR_EXTENSIONS:
        return None
    try:
        shape = load_json(metadata[METADATA], f"{title}, {field.name}")
        said = shape if isinstance(shape, dict) else {"shape": shape}
        sides = tuple(int(side) for side in said["shape"])
        order = list(said.get("permutation") or range(len(sides)))
    except SourceError:
        raise
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise SourceError(f"{title}: the shape of {field.name} is damaged ({error!r}).") from error
    if any(side < 1 for side in sides):
        raise SourceError(f"{title}: {field.name} has images of the shape {sides}.")
    if order != sorted(order):
        raise SourceError(
            f"{title}: the axes of {field.name} are stored in the order {order}. "
            "Write its tensors as (height, width, channels), without a permutation."
        )
    return sides


def _user_column(
    field: Any, forms: dict[str, ImageForm], types: Any, has_nulls: Callable[[str], bool]
) -> Column:
    name, kind = user_column_name(field.name), field.type
    if field.name in forms and forms[field.name] != "tensor":
        return Column(name, "bytes")
    if types.is_list(kind) and _is_number(kind.value_type, types):
        return Column(name, "ragged", _dtype(kind.value_type))
    if types.is_fixed_size_list(kind) and _is_number(kind.value_type, types):
        if kind.list_size and not has_nulls(field.name):
            return Column(name, "fixed", _dtype(kind.value_type), (kind.list_size,))
        return Column(name, "ragged", _dtype(kind.value_type))
    if _is_number(kind, types) and not has_nulls(field.name):
        return Column(name, "fixed", _dtype(kind))
    # Text as it is; anything else, and numbers of which some are missing, as JSON.
    return Column(name, "text")


def _is_number(kind: Any, types: Any) -> bool:
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _dtype(kind: Any) -> str:
    return {"float": "float32", "double": "float64", "halffloat": "float16"}.get(
        str(kind), str(kind)
    )


def type_of(feature: Any) -> str | None:
    """Return the name of a feature's type."""
    return feature.get("_type") if isinstance(feature, dict) else None


def _names(feature: Any) -> tuple[str, ...] | None:
    if type_of(feature) != "ClassLabel" or not isinstance(feature.get("names"), list):
        return None
    return tuple(str(name) for name in feature["names"])


def _category_names(feature: Any) -> tuple[str, ...] | None:
    """Find the names of `category`, however deep the features of lists nest it."""
    if isinstance(feature, list):
        feature = feature[0] if feature else None
    if not isinstance(feature, dict):
        return None
    if type_of(feature) == "ClassLabel":
        return _names(feature)
    for inner in ("category", "feature"):
        if inner in feature:
            return _category_names(feature[inner])
    return None
