"""Whether JSON has the type that an SDK declares: a `TypedDict`, a model of pydantic, or what they are made of.

pydantic itself would accept unknown members here, and would not look into an `Iterable`. This says where each one is.
"""

import datetime
import enum
import inspect
import typing
from collections import abc
from types import NoneType, UnionType

import pydantic
import typing_extensions

HINTS = {}


def hints(kind):
    """The members of a type: the name on the wire, its type, whether it is required."""
    if kind not in HINTS:
        members = {}
        if typing_extensions.is_typeddict(kind):
            for name, of in typing_extensions.get_type_hints(kind, include_extras=True).items():
                members[name] = of, is_required(kind, name, of)
        else:
            for name, field in kind.model_fields.items():
                members[field.alias or name] = field.annotation, field.is_required()
        HINTS[kind] = members
    return HINTS[kind]


def is_required(kind, name, of):
    """Not `__required_keys__`, which is wrong where annotations are strings."""
    word = getattr(typing_extensions.get_origin(of), "_name", "")
    for base in getattr(kind, "__orig_bases__", ()):
        if typing_extensions.is_typeddict(base) and name in base.__annotations__:
            return is_required(base, name, of)
    return word == "Required" or (kind.__total__ and word != "NotRequired")


def is_object(kind):
    return typing_extensions.is_typeddict(kind) or (inspect.isclass(kind) and issubclass(kind, pydantic.BaseModel))


def errors(value, kind, path=""):
    """The places where a value has not the type, each with what is wrong."""
    kind = unwrapped(kind)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if kind in (typing.Any, object):
        return []
    if origin in (typing.Union, UnionType):
        return min((errors(value, one, path) for one in arguments), key=lambda found: distance(found, path))
    if origin is typing.Literal:
        return [] if value in arguments else [(path, f"{value!r} is none of {', '.join(map(repr, arguments))}")]
    if is_object(kind):
        return members(value, kind, path)
    if origin in (dict, abc.Mapping):
        wrong = [] if isinstance(value, dict) else [(path, "is no object")]
        return wrong or [e for key, one in value.items() for e in errors(one, arguments[1], f"{path}.{key}")]
    if origin in (list, abc.Sequence, abc.Iterable) or getattr(origin, "__name__", "") == "SequenceNotStr":
        if not isinstance(value, list):
            return [(path, "is no list")]
        return [e for number, one in enumerate(value) for e in errors(one, arguments[0], f"{path}[{number}]")]
    return scalar(value, kind, path)


def distance(found, path):
    """How far a value is from an alternative: it is of another kind, its `role` or `type` has another word, then errors."""
    places = [where for where, _ in found]
    return path in places, any(where in (f"{path}.role", f"{path}.type") for where in places), len(found)


def unwrapped(kind):
    """Without annotations and names of aliases."""
    while True:
        if hasattr(kind, "__value__"):
            kind = kind.__value__
        elif typing.get_origin(kind) in (typing.Annotated, typing.Required, typing.NotRequired):
            kind = typing.get_args(kind)[0]
        elif typing.get_origin(kind) in (typing_extensions.Required, typing_extensions.NotRequired):
            kind = typing.get_args(kind)[0]
        else:
            return kind


def members(value, kind, path):
    if not isinstance(value, dict):
        return [(path, f"is no {kind.__name__}")]
    known, found = hints(kind), []
    for name, one in value.items():
        if name in known:
            found += errors(one, known[name][0], f"{path}.{name}".lstrip("."))
        else:
            found.append((f"{path}.{name}".lstrip("."), f"{kind.__name__} has no such member"))
    missing = (name for name, (_, required) in known.items() if required and name not in value)
    return found + [(f"{path}.{name}".lstrip("."), "is missing") for name in missing]


def scalar(value, kind, path):
    if kind in (bytes, datetime.datetime):
        # As JSON has no bytes, they are base64, and times are texts.
        kind = str
    if inspect.isclass(kind) and issubclass(kind, enum.Enum):
        # Gemini takes its words in any case.
        words = [str(one.value) for one in kind]
        return [] if str(value).upper() in map(str.upper, words) else [(path, f"{value!r} is none of {', '.join(words)}")]
    expected = {float: (int, float), None: NoneType}.get(kind, kind)
    if isinstance(expected, typing.TypeVar) or not inspect.isclass(kind) and not isinstance(expected, tuple):
        return []
    right = isinstance(value, expected) and not (isinstance(value, bool) and kind is not bool)
    return [] if right else [(path, f"{type(value).__name__} is no {getattr(kind, '__name__', kind)}")]
