"""All compiler matters, a page each (why: docs/decisions/0010).

jit         the decorators of kernels, and their flags
pipeline    how functions are compiled: inner ones once, with the entries that need them
features    what a plan has not is left out
cache       machine code kept on disk
notice      a word while it is being made
interrupts  ctrl-C while it is being made
entry       calling a kernel again and again from Python
pointers, bundles   what kernels read and write through
"""
