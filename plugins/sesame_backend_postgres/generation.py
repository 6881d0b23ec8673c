"""The generation of this workstation's rows: which index a scan cache on this machine belongs to.

A database, its schema and a workstation have numbers that no other one gets; of the files, one stands for all, since a
rebuild gives each a new number.  When that one is deleted, or another one takes its place, the next scan is a full one.
"""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Iterable
from contextlib import suppress

from sesame_core.config import paths

#: The numbers; no row while this workstation has no file.
GENERATION = """
SELECT d.oid::bigint, current_schema()::regnamespace::oid::bigint, w.id, f.id
FROM pg_database AS d, workstations AS w, LATERAL (
  SELECT id FROM files WHERE workstation = w.id ORDER BY workstation, md5(path), superseded LIMIT 1
) AS f WHERE d.datname = current_database() AND w.name = %s
"""


def cache_path(place: str, numbers: Iterable[int]) -> str:
    """Return where the scan cache of a generation may be stored; those of earlier ones are deleted.

    :param place: the server.
    """
    *index, file = map(str, numbers)
    # Not a hash of `hashlib`, which takes longer to load than most of what a search does.
    known = "-".join(["scan", f"{crc32(place.encode()):08x}", *index, ""])
    directory = paths.data_dir()
    with suppress(OSError):  # there is no directory, or another process deletes them, too
        for other in os.listdir(directory):
            if other.startswith(known) and other != known + file:
                os.unlink(os.path.join(directory, other))
    return os.path.join(directory, known + file)
