"""Runs Caffe2 nets."""
from caffe2rt._engine import Error, Workspace, __version__

__all__ = ["Error", "Workspace", "__version__"]
