"""Files that programs leave next to others for a while: they have the name of a session, and are none."""

from __future__ import annotations

import re

#: Names of such files.  What a system leaves (`.DS_Store`, `.nfs…`) has no name of a session.
_NAMES = r"""(?x)
    \.\#.* | \#.*\# | .*~ | \.~lock\..*       # Emacs: locks, what is not saved; backups; LibreOffice: locks
  | .*\.(sw[a-p] | swx | kate-swp)            # vim, nano and Kate: what is not saved
  | .*___jb_(tmp | old)___ | .*\.sb-\w+-\w+   # JetBrains and macOS: the old and the new file of a save
  | \._.*                                     # macOS: what another file system cannot store of a file
  | \..+\.\w{6}                               # rsync: `.a.jsonl.X1y2Z3`
  # Of programs that write a file and rename it, with a number or none behind, and of downloads.
  | .*\.(te?mp | lock | part | partial | filepart | download | crdownload | aria2 | !\w+)([.-]\w*\d\w*)*
"""


def is_temporary(name: str) -> bool:
    """Return whether a file's name is that of one which is gone when a program ends, or of a backup of an editor.

    :param name: the last component of its path.
    """
    return re.fullmatch(_NAMES, name) is not None
