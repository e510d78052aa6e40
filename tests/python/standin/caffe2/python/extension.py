"""Imports the engine under the original's names, with the flags that the original sets."""
import ctypes
import sys

old_flags = sys.getdlopenflags()
sys.setdlopenflags(old_flags | ctypes.RTLD_GLOBAL)
try:
    from caffe2.python.caffe2_pybind11_state_gpu import *  # noqa: F401,F403
finally:
    sys.setdlopenflags(old_flags)
