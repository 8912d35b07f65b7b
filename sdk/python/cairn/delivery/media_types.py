"""Media types by the ending of a file. Never those of the machine: there `.pt` may be a page table of a game console."""

from __future__ import annotations

UNKNOWN = "application/octet-stream"

_BY_ENDING = {
    ending: media_type
    for media_type, endings in {
        UNKNOWN: "pt pth ckpt safetensors onnx pb tflite gguf ggml bin pkl pickle joblib npy npz h5 hdf5 mat msgpack",
        "application/gzip": "gz tgz",
        "application/json": "json ipynb",
        "application/pdf": "pdf",
        "application/vnd.apache.arrow.file": "arrow feather",
        "application/vnd.apache.parquet": "parquet",
        "application/x-tar": "tar",
        "application/xml": "xml",
        "application/yaml": "yaml yml",
        "application/zip": "zip",
        "application/zstd": "zst",
        "audio/flac": "flac",
        "audio/mpeg": "mp3",
        "audio/ogg": "ogg",
        "audio/wav": "wav",
        "image/avif": "avif",
        "image/bmp": "bmp",
        "image/gif": "gif",
        "image/jpeg": "jpg jpeg",
        "image/png": "png",
        "image/svg+xml": "svg",
        "image/tiff": "tif tiff",
        "image/webp": "webp",
        "text/css": "css",
        "text/csv": "csv",
        "text/html": "html htm",
        "text/javascript": "js mjs",
        "text/markdown": "md",
        "text/plain": "txt log cfg ini toml sh",
        "text/tab-separated-values": "tsv",
        "text/x-python": "py",
        "video/mp4": "mp4",
        "video/webm": "webm",
    }.items()
    for ending in endings.split()
}


def media_type_of(*names: str) -> str:
    """That of the first name whose ending is known."""
    for name in names:
        stem, dot, ending = name.rpartition("/")[2].rpartition(".")
        known = _BY_ENDING.get(ending.lower()) if dot else None
        if known is not None:
            return known
    return UNKNOWN
