"""All compiler matters: decorators, pointers, calls from Python, the cache of machine code."""
