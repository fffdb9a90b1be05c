"""The constructs of Python that carry a value, as texts.

In a text, `== name` begins a construct, and `--- path` another file of it; what stands before is `main.py`.
"""

from __future__ import annotations

from .calls import CALLS
from .combined import COMBINED
from .containers import CONTAINERS
from .flow import FLOW
from .modules import MODULES
from .names import NAMES
from .objects import OBJECTS

#: The texts, by what the constructs in them have in common.
CONSTRUCTS = {
    "names": NAMES,
    "calls": CALLS,
    "containers": CONTAINERS,
    "objects": OBJECTS,
    "flow": FLOW,
    "modules": MODULES,
    "combined": COMBINED,
}
