"""Decompresses session files: Codex compresses those that were idle for a week (`.jsonl.zst`).

Python has zstd from 3.14 on; before, one of two packages or the program `zstd` does it.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from sesame_core import ParseError

SUFFIX = ".zst"
#: First bytes of a compressed file.
MAGIC = b"\x28\xb5\x2f\xfd"
#: Modules whose `open` reads a compressed file.
_MODULES = ("compression.zstd", "backports.zstd", "pyzstd", "zstandard")
#: Bytes copied at once.
_BLOCK = 1 << 20


@contextmanager
def plain(path: Path) -> Iterator[Path]:
    """Return the path of a file with the decompressed content: the file itself, or a temporary one.

    :raises ParseError: the file is compressed, and nothing here can decompress it; or it is damaged.
    :raises OSError: the file cannot be read.
    """
    if not path.name.endswith(SUFFIX):
        yield path
        return
    # Only its owner can read a temporary directory.
    with tempfile.TemporaryDirectory(prefix="sesame-") as directory:
        copy = Path(directory) / path.stem
        with _decompressed(path) as source, copy.open("wb") as target:
            try:
                shutil.copyfileobj(source, target, _BLOCK)
            except OSError:
                raise
            except Exception as error:
                # Each module has its own error.
                raise ParseError(path, f"damaged: {error}") from error
        yield copy


def first_bytes(path: Path, count: int) -> bytes | None:
    """Return the first bytes of a file's content; None when it is compressed and nothing here can decompress it.

    :raises OSError: the file cannot be read.
    """
    if not path.name.endswith(SUFFIX):
        with path.open("rb") as file:
            return file.read(count)
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return b""
    try:
        with _decompressed(path) as source:
            return source.read(count)
    except ParseError:
        return None
    except OSError:
        raise
    except Exception:  # noqa: BLE001 - each module has its own error; reading the whole file will report it
        return None


@contextmanager
def _decompressed(path: Path) -> Iterator[IO[bytes]]:
    for name in _MODULES:
        try:
            module: Any = import_module(name)
        except ImportError:
            continue
        with module.open(path, "rb") as file:
            yield file
        return
    program = shutil.which("zstd")
    if program is None:
        raise ParseError(path, "compressed with zstd, which nothing here reads; install the program zstd, or zstandard")
    path.stat()
    process = subprocess.Popen(
        [program, "-dcq", "--", str(path)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    is_whole = False
    try:
        yield process.stdout
        is_whole = not process.stdout.read(1)
    finally:
        process.stdout.close()
        message = process.stderr.read() if is_whole else b""
        process.stderr.close()
        if not is_whole:
            process.kill()
        process.wait()
    if is_whole and process.returncode:
        raise ParseError(path, f"damaged: {message.decode(errors='replace').strip() or 'zstd cannot read it'}")
