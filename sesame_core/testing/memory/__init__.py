"""The reference backend: the whole contract in plain Python, in memory.  Not for users' sessions."""

from .backend import MemoryBackend as MemoryBackend
from .backend import MemoryPlugin as MemoryPlugin
