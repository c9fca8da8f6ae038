"""Objects in buckets and on web servers: addresses, ranged reads, and a cache of what was read.

Nothing here knows what the bytes mean.
"""

from penstock.storage.address import Address, is_address, read_address
from penstock.storage.counts import IoCounts
from penstock.storage.options import StorageOptions

__all__ = ["Address", "IoCounts", "StorageOptions", "is_address", "read_address"]
