"""What rewritten modules of the front end use, and patches of loaded modules."""
import collections
import collections.abc as abc
import functools
import inspect

from numpy import all as alltrue
from numpy import any as sometrue
from numpy import float64, inf, nan
from numpy import prod as product

__all__ = ["PATCHES", "abc", "alltrue", "asscalar", "float64", "getargspec", "inf", "nan", "ninf", "product", "sometrue"]

ninf = -inf
_ArgSpec = collections.namedtuple("_ArgSpec", "args varargs keywords defaults")


def asscalar(array):
    """The one element of an array, as numpy.asscalar returned it."""
    return array.item()


def getargspec(function):
    """The parameters of a function, as inspect.getargspec returned them."""
    spec = inspect.getfullargspec(function)
    return _ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def _patch_utils(module):
    """Newer versions of protobuf do not convert bool to int."""
    make_argument = module.MakeArgument

    @functools.wraps(make_argument)
    def converting(key, value):
        if isinstance(value, bool):
            value = int(value)
        elif isinstance(value, (list, tuple)) and any(isinstance(item, bool) for item in value):
            value = [int(item) if isinstance(item, bool) else item for item in value]
        return make_argument(key, value)

    module.MakeArgument = converting


def _patch_workspace(module):
    """Tensors of PyTorch are exchanged by DLPack: an engine without PyTorch cannot wrap their handles."""
    feed = module.C.Blob.feed

    @functools.wraps(feed)
    def feed_any(blob, arg, device_option=None):
        if type(arg).__module__ == "torch" and type(arg).__name__ in ("Tensor", "Parameter"):
            if device_option is not None:
                raise ValueError("device_option cannot be given with a tensor of PyTorch, which is on a device already")
            from torch.utils.dlpack import to_dlpack
            blob._share_dlpack(to_dlpack(arg.detach().contiguous()))
            return True
        return feed(blob, arg, device_option)

    def tensor_to_torch(tensor):
        from torch.utils.dlpack import from_dlpack
        return from_dlpack(tensor._to_dlpack())

    def blob_to_torch(blob):
        if not blob.is_tensor():
            raise RuntimeError("Blob has to be a tensor")
        return tensor_to_torch(blob.as_tensor())

    module.C.Blob.feed = feed_any
    module.C.Blob.to_torch = blob_to_torch
    module.C.TensorCPU.to_torch = tensor_to_torch


PATCHES = {"caffe2.python.utils": _patch_utils, "caffe2.python.workspace": _patch_workspace}
