"""The rules that ask no program: about files that cannot be read, and comments that silence nothing. The engine makes
their findings itself.
"""

from __future__ import annotations

from torchrepro_lint.housekeeping.unreadable_file import UnreadableFile
from torchrepro_lint.housekeeping.unused_suppression import UnusedSuppression

__all__ = ["HOUSEKEEPING", "UNREADABLE_FILE", "UNUSED_SUPPRESSION", "UnreadableFile", "UnusedSuppression"]

UNREADABLE_FILE = UnreadableFile()
UNUSED_SUPPRESSION = UnusedSuppression()
HOUSEKEEPING = (UNREADABLE_FILE, UNUSED_SUPPRESSION)
