"""What compare.py uses of PyTorch, without doing any work: for tests of the bundle's script (bundle_test.cc)."""
import contextlib
import types

__version__ = "0.fake"
channels_last, contiguous_format, uint8 = "channels_last", "contiguous_format", "uint8"


class Tensor:
    def to(self, **_):
        return self

    def mean(self, _):
        return self


class Module:
    def cuda(self):
        return self

    def eval(self):
        return self

    def to(self, **_):
        return self

    def __call__(self, x):
        return self.forward(x)

    def forward(self, x):
        return x


def layer(*_):
    return Module()


def give(x, *_):
    return x


def rand(*_, **__):
    return Tensor()


def cat(xs, _):
    return xs[0]


class Graph:
    def replay(self):
        pass


empty, relu_, softmax, no_grad = rand, give, give, contextlib.nullcontext
nn = types.SimpleNamespace(Module=Module, ModuleDict=dict, Conv2d=layer, Linear=layer, functional=types.SimpleNamespace(max_pool2d=give))
backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace()), cudnn=types.SimpleNamespace())
cuda = types.SimpleNamespace(is_available=lambda: True, get_device_name=lambda _: "fake device", synchronize=lambda: None, Stream=object,
                             stream=lambda _: contextlib.nullcontext(), CUDAGraph=Graph, graph=lambda _: contextlib.nullcontext())
