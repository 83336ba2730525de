"""What every service imports and compiles, done once in the process that they are forked off."""

import contextlib
from importlib import import_module

import benchmarks.service.serving  # noqa: F401

from sidelight.service import app  # noqa: F401
from sidelight.service.server import warm_kernels
from sidelight.service.store import sqlite  # noqa: F401

for name in (
    "encodings.idna",
    "filelock",
    "logging.config",
    "uvicorn",
    "uvicorn.lifespan.off",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
    "uvloop",
):  # a service that gives its rights up may not be able to read them any more
    with contextlib.suppress(ModuleNotFoundError):
        import_module(name)
warm_kernels()
