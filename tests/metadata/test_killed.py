"""A process that is killed while it writes metadata leaves the earlier file or the new one, never a part."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from sesame_core.metadata.files import MetadataFiles

WRITES = """
import itertools, sys
from pathlib import Path
from sesame_core.metadata.files import Metadata, MetadataFiles

files = MetadataFiles(Path(sys.argv[1]))
fields = dict(session_file="f", parent_session_file=None, description="d", tags=("t",), cwd="", created_at="2026-01-01",
              updated_at="2026-01-01", model="m", last_indexed_leaf_id="x")
for number in itertools.count():
    with files.lock("fox"):
        files.write(Metadata(session_id="fox", name=f"name {number}", summary=f"{number} " * 1000, **fields))
    print(number, flush=True)
"""


def test_metadata_is_whole_whenever_its_writer_is_killed(tmp_path: Path) -> None:
    files = MetadataFiles(tmp_path)
    for pause in (0.0, 0.002, 0.005, 0.011):
        with subprocess.Popen([sys.executable, "-c", WRITES, str(tmp_path)], stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            written = int(writer.stdout.readline())
            time.sleep(pause)
            writer.kill()
            written = max([written, *map(int, writer.stdout.read().split())])
        found = files.read("fox")
        assert found is not None
        number = int(found.name.removeprefix("name "))
        assert number in (written, written + 1)
        assert found.summary.split() == [str(number)] * 1000
        with files.lock("fox"):  # the killed process holds it no more
            pass
    # At most one draft is left, which the next writer overwrites.
    assert {path.name for path in tmp_path.iterdir()} <= {".locks", "fox.meta.json", ".fox.meta.json.new"}
