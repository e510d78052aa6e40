"""The import hook: finds the modules of the front end and loads them with the remedies that they need."""
import ast
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

from caffe2rt.frontend import _installation, _protos, _rewriting

_EXTENSIONS = ("caffe2.python.caffe2_pybind11_state", "caffe2.python.caffe2_pybind11_state_gpu")
_PROTO_PACKAGE = "caffe2.proto."


def load_engine():
    """The engine's module with the original's names.

    The front end imports its extension with RTLD_GLOBAL, which makes protobuf's C++ implementation crash when
    two libraries bring one. The engine is loaded with its symbols kept local.
    """
    flags = sys.getdlopenflags()
    sys.setdlopenflags(os.RTLD_NOW | os.RTLD_LOCAL)
    try:
        from caffe2rt import _engine
    finally:
        sys.setdlopenflags(flags)
    _engine.frontend._use_original_error_texts(_engine.Error)
    return _engine.frontend


class _EngineLoader(importlib.abc.Loader):
    """Returns one module object under each name: a process has one registry and one set of workspaces."""

    def create_module(self, spec):
        return load_engine()

    def exec_module(self, module):
        pass


class _SourceLoader(importlib.machinery.SourceFileLoader):
    """Loads a module of the front end from a rewritten syntax tree. Its byte code has a file name of its own."""

    def source_to_code(self, data, path, *, _optimize=-1):
        tree = compile(data, path, "exec", ast.PyCF_ONLY_AST, dont_inherit=True)
        if self.name == "caffe2":
            tree = _rewriting.without_torch(tree)
        return compile(_rewriting.rewrite(tree), path, "exec", dont_inherit=True, optimize=_optimize)

    def get_data(self, path):
        return super().get_data(_own_bytecode(path))

    def set_data(self, path, data, **kwargs):
        return super().set_data(_own_bytecode(path), data, **kwargs)

    def exec_module(self, module):
        super().exec_module(module)
        _rewriting.patch(module)


def _own_bytecode(path):
    stem, ending = os.path.splitext(path)
    return "%s.caffe2rt-%d.pyc" % (stem, _rewriting.VERSION) if ending == ".pyc" else path


class _ProtoLoader(importlib.abc.Loader):
    """Builds the classes of a generated module for the installed protobuf."""

    def __init__(self, source):
        self._source = source

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if self._source is None:
            _protos.build_own(module)
        else:
            _protos.build_from_source(module, self._source)


class FrontendFinder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name != "caffe2" and not name.startswith("caffe2."):
            return None
        if name in _EXTENSIONS:
            return importlib.machinery.ModuleSpec(name, _EngineLoader())
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None and name == "caffe2":
            spec = _installation.find_spec(name)
        if name.startswith(_PROTO_PACKAGE) and name.endswith("_pb2"):
            return self._proto_spec(name, spec)
        if spec is None or type(spec.loader) is not importlib.machinery.SourceFileLoader:
            return spec
        spec.loader = _SourceLoader(spec.loader.name, spec.loader.path)
        return spec

    @staticmethod
    def _proto_spec(name, spec):
        if spec is None:
            if not _protos.has_own(name):
                return None
            return importlib.machinery.ModuleSpec(name, _ProtoLoader(None))
        if not _protos.needs_building():
            return spec
        spec.loader = _ProtoLoader(spec.origin)
        return spec
