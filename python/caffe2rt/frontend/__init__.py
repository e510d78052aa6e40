"""Runs Caffe2's own Python front end on this engine.

Importing this module installs an import hook. After that, ``import caffe2`` finds the front end that is
installed (or that ``python -m caffe2rt frontend install`` unpacked) and gives it this engine in place of the
extension module ``caffe2.python.caffe2_pybind11_state``. The hook also makes the front end work with current
versions of Python, numpy and protobuf. It imports numpy and the engine only when ``caffe2`` is imported.

    import caffe2rt.frontend
    from caffe2.python import workspace

The package does not contain the front end.
"""
import sys

from caffe2rt.frontend._finder import FrontendFinder

__all__ = ["install", "remove"]


def _installed():
    return [finder for finder in sys.meta_path if isinstance(finder, FrontendFinder)]


def install():
    """Installs the import hook, if it is not installed yet.

    Raises ImportError if the original's extension module is loaded: one process has one engine.
    """
    if _installed():
        return
    for name in ("caffe2.python.caffe2_pybind11_state", "caffe2.python.caffe2_pybind11_state_gpu"):
        module = sys.modules.get(name)
        if module is not None and module.__name__.split(".")[0] != "caffe2rt":
            raise ImportError("%s is loaded already; import caffe2rt.frontend before caffe2" % name, name=name)
    sys.meta_path.insert(0, FrontendFinder())


def remove():
    """Removes the import hook. Modules that are loaded stay as they are."""
    for finder in _installed():
        sys.meta_path.remove(finder)


install()
