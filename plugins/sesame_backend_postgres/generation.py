"""The generation of this workstation's rows: which index a scan cache on this machine belongs to.

A database, its schema and a workstation have numbers that no other one gets; of the files, one stands for all, since a
rebuild gives each a new number.  When that one is deleted, or another one takes its place, the next scan is a full one.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress

from sesame_core.config import paths

#: The numbers; no row while this workstation has no file.
GENERATION = """
SELECT d.oid::bigint, current_schema()::regnamespace::oid::bigint, w.id, f.id
FROM pg_database AS d, workstations AS w, LATERAL (
  SELECT id FROM files WHERE workstation = w.id ORDER BY workstation, md5(path), superseded LIMIT 1
) AS f WHERE d.datname = current_database() AND w.name = %s
"""


def cache_path(place: str, numbers: tuple[int, ...]) -> str:
    """Return where the scan cache of a generation may be stored; those of earlier ones are deleted.

    :param place: the server.
    """
    digest = hashlib.sha256(repr((place, numbers[:3])).encode()).hexdigest()[:16]
    directory = paths.data_dir() / "scans"
    path = directory / f"{digest}-{numbers[3]}"
    for other in directory.glob(f"{digest}-*"):
        if other != path:
            with suppress(OSError):  # another process deletes it, too
                other.unlink()
    return str(path)


