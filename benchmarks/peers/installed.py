"""Which peers are here. A peer that is not installed is named in the table, with how to get it."""

from __future__ import annotations

from importlib import metadata, util

PEERS = {
    "diffprivlib": "diffprivlib",
    "opendp": "opendp",
    "pure-ldp": "pure_ldp",
    "multi-freq-ldpy": "multi_freq_ldpy",
    "python-dp": "pydp",
}
"""The name of each package, and what it is imported as."""
MISSING = "not installed: pip install 'dame-ldp[bench]'"


def is_installed(package: str) -> bool:
    """Whether a peer can be imported."""
    return util.find_spec(PEERS[package]) is not None


def titled(package: str) -> str:
    """The package with its version, as it stands in the table."""
    return f"{package} {metadata.version(package)}" if is_installed(package) else package
