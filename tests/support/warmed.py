"""Everything that a service imports and compiles, done once in the process that services are forked off."""

import serving  # noqa: F401

from sidelight.service.server import warm_kernels

warm_kernels()
