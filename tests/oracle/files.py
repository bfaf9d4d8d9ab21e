"""Rules about the files in requests that the types of the SDKs do not say: their bytes, types and places.

The types of files are from the documentation of each API, which `PartForm` in the library names as well.
"""

import base64
import binascii
import collections

IMAGES = {"image/png", "image/jpeg", "image/webp", "image/gif"}
TYPES = {
    "anthropic": IMAGES | {"application/pdf", "text/plain"},
    "chat": IMAGES | {"application/pdf"},
    "cohere": IMAGES,
    "gemini": IMAGES - {"image/gif"} | {"image/heif", "image/heic", "application/pdf", "text/plain"},
    "mistral": IMAGES | {"application/pdf"},
    "ollama": IMAGES - {"image/gif"},
    "responses": IMAGES | {"application/pdf", "text/plain"},
}
# Chat completions with `file` parts. Other servers know no such part.
WITH_FILES = ("openai/", "open_router/")
MAGIC = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
    b"%PDF-": "application/pdf",
}

File = collections.namedtuple("File", "place type data name")


def files(part, place):
    """The files in a part of a message."""
    if source := part.get("source"):
        data = source["data"]
        yield File(place, source["media_type"], data.encode() if source["type"] == "text" else decoded(data), None)
    if blob := part.get("inlineData"):
        yield File(place, blob["mimeType"], decoded(blob["data"]), None)
    url = part.get("image_url") or part.get("document_url")
    url = url["url"] if isinstance(url, dict) else url
    named = part.get("file", part)
    if url := url or named.get("file_data"):
        kind, _, data = url.removeprefix("data:").partition(";base64,")
        yield File(place, kind, decoded(data), named.get("filename"))


def decoded(data):
    """The bytes; nothing if it is no base64 as RFC 4648 has it."""
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        return b""


def messages(body):
    """The parts of each message, with its role."""
    for message in body.get("messages") or body.get("input") or body.get("contents"):
        parts = message.get("content") or message.get("parts") or []
        yield message["role"], [{"text": parts}] if isinstance(parts, str) else parts, message.get("images", [])


def in_body(body):
    """All files of a request, each with the role of its message."""
    for role, parts, images in messages(body):
        for part in parts:
            yield from ((role, file) for file in files(part, "file"))
        for data in images:
            bytes = decoded(data)
            yield role, File("images", sniffed(bytes), bytes, None)


def sniffed(bytes):
    if bytes[4:12] == b"ftypheic":
        return "image/heif"
    return next((kind for magic, kind in MAGIC.items() if bytes.startswith(magic)), "text/plain")


def pictures(gif):
    """The number of pictures, each of which has a block of graphic control here."""
    return gif.count(b"\x21\xf9\x04")


def broken(record):
    body, name, model = record["body"], record["format"], record["model"]
    if not isinstance(body.get("messages") or body.get("input") or body.get("contents"), list):
        return
    for role, parts, images in messages(body):
        if not images and any("text" in part and not part["text"].strip() for part in parts):
            yield "text", f"a part of {role} is blank"
    for role, file in in_body(body):
        if role not in ("user",):
            yield file.place, f"is in a message of {role}"
        if file.type != sniffed(file.data) or not file.data:
            yield file.place, f"is {sniffed(file.data)} and not {file.type}"
        if file.type not in TYPES[name]:
            yield file.place, f"{name} takes no {file.type}"
        if file.type == "image/gif" and name != "anthropic" and pictures(file.data) > 1:
            yield file.place, f"{name} takes no animation"
        if name == "chat" and file.type == "application/pdf" and not model.startswith(WITH_FILES):
            yield file.place, "only OpenAI and OpenRouter have such a part"
        ending = {"application/pdf": ".pdf", "text/plain": ".txt"}.get(file.type, "")
        if file.name and not file.name.endswith(ending):
            yield file.place, f"{file.name} does not end with {ending}"


def unsent(records):
    """The formats in which no image was sent."""
    sent = {record["format"] for record in records if any("image/" in file.type for _, file in in_body(record["body"]))}
    return sorted(set(TYPES) - sent)
