"""Builds the front end's generated protobuf modules for the installed version of protobuf.

protobuf 4 and later reject modules that old compilers generated. Such a module still contains its file
descriptor, serialized, from which the classes are built. Modules that a front end lacks are built from the
library's own descriptors.
"""
import ast
import importlib

_PREFIX = "caffe2.proto."
_OWN = ("caffe2", "caffe2_legacy", "hsm", "metanet", "predictor_consts")


def _stem(name):
    return name[len(_PREFIX):-len("_pb2")]


def has_own(name):
    return _stem(name) in _OWN


def needs_building():
    """Whether the installed protobuf rejects modules of old compilers."""
    import google.protobuf
    return int(google.protobuf.__version__.split(".")[0]) >= 4


def build_own(module):
    """Fills a module with the classes of the library's file of that name."""
    from caffe2rt.frontend._finder import load_engine
    for dependency in {"metanet": ["caffe2"], "caffe2_legacy": []}.get(_stem(module.__name__), []):
        importlib.import_module(_PREFIX + dependency + "_pb2")
    _build(module, load_engine()._file_descriptor(_stem(module.__name__)))


def build_from_source(module, path):
    """Fills a module with the classes of the descriptor in the generated source `path`."""
    with open(path, "rb") as source:
        tree = ast.parse(source.read(), path)
    module.__file__ = path
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("caffe2"):
            for name in node.names:
                setattr(module, name.asname or name.name, importlib.import_module(node.module + "." + name.name))
    _build(module, _serialized(tree, path))


def _serialized(tree, path):
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            if keyword.arg == "serialized_pb":
                return _bytes(keyword.value)
        if getattr(node.func, "attr", "") == "AddSerializedFile":
            return _bytes(node.args[0])
    raise ImportError("%s contains no file descriptor" % path, path=path)


def _bytes(node):
    if isinstance(node, ast.Call):  # _b('...'), of compilers that supported Python 2
        node = node.args[0]
    value = ast.literal_eval(node)
    return value if isinstance(value, bytes) else value.encode("latin-1")


def _build(module, serialized):
    from google.protobuf import descriptor_pool
    from google.protobuf.descriptor_pb2 import FileDescriptorProto
    pool = descriptor_pool.Default()
    try:
        descriptor = pool.AddSerializedFile(serialized)
    except TypeError:
        descriptor = None
    if descriptor is None:  # protobuf before 3.20 in pure Python
        descriptor = pool.FindFileByName(FileDescriptorProto.FromString(serialized).name)
    names = module.__dict__
    names["DESCRIPTOR"] = descriptor
    try:
        from google.protobuf.internal import builder
    except ImportError:
        _build_with_reflection(module, descriptor)
        return
    builder.BuildMessageAndEnumDescriptors(descriptor, names)
    builder.BuildTopDescriptorsAndMessages(descriptor, module.__name__, names)


def _build_with_reflection(module, descriptor):
    from google.protobuf import message, reflection
    from google.protobuf.internal import enum_type_wrapper

    def message_class(kind):
        members = {nested.name: message_class(nested) for nested in kind.nested_types}
        members.update(DESCRIPTOR=kind, __module__=module.__name__)
        return reflection.GeneratedProtocolMessageType(kind.name, (message.Message,), members)

    for name, kind in descriptor.message_types_by_name.items():
        setattr(module, name, message_class(kind))
    for name, kind in descriptor.enum_types_by_name.items():
        setattr(module, name, enum_type_wrapper.EnumTypeWrapper(kind))
        for value in kind.values:
            setattr(module, value.name, value.number)
