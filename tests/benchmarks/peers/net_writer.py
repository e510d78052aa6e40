"""Writes one net twice with the same weights: as init_net.pb and predict_net.pb for this project, and as model.onnx for other engines.

The files are written directly in protobuf's wire format, so that only numpy is needed. The floats of the init net are not packed, as
in the files that Caffe2 wrote. The first dimension of an input is the batch: no file contains its size.
"""
import collections
import json
import os
import zlib

import numpy as np

# A blob: its name in the NetDef, its name in the ONNX graph, and its shape for one image.
Blob = collections.namedtuple('Blob', 'net onnx shape')

FLOAT, INT64 = 1, 7  # TensorProto.DataType in ONNX
OPSET = 12


def varint(number):
    number &= (1 << 64) - 1  # negative numbers as 64-bit two's complement
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    data.append(number)
    return bytes(data)


def field(number, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def integer(number, value):
    return varint(number << 3) + varint(value)


def floating(number, value):
    return varint(number << 3 | 5) + np.float32(value).tobytes()


def unpacked_floats(number, array):
    """A repeated float: each element with its own tag, as proto2 writes it."""
    floats = np.empty(array.size, dtype=[('tag', 'u1'), ('value', '<f4')])
    floats['tag'] = number << 3 | 5
    floats['value'] = array.ravel()
    return floats.tobytes()


class NetDefWriter:
    """Writes init_net.pb operator by operator, and predict_net.pb at the end."""

    def __init__(self, folder, name):
        self.folder = folder
        self.init = open(os.path.join(folder, 'init_net.pb'), 'wb')
        self.init.write(field(1, name + '_init'))
        self.net = [field(1, name)]

    @staticmethod
    def argument(name, value):
        if isinstance(value, float):
            content = floating(2, value)
        elif isinstance(value, int):
            content = integer(3, value)
        elif isinstance(value, str):
            content = field(4, value)
        elif isinstance(value, np.ndarray) and value.dtype == np.float32:
            content = unpacked_floats(5, value)
        else:
            content = b''.join(integer(6, int(number)) for number in np.ravel(value))
        return field(5, field(1, name) + content)

    @classmethod
    def operator(cls, op_type, inputs, outputs, **arguments):
        blobs = [field(1, name) for name in inputs] + [field(2, name) for name in outputs]
        args = [cls.argument(name, value) for name, value in arguments.items()]
        return field(2, b''.join(blobs) + field(4, op_type) + b''.join(args))

    @classmethod
    def fill(cls, name, array):
        op_type = {'f': 'GivenTensorFill', 'i': 'GivenTensorInt64Fill'}[array.dtype.kind]
        return cls.operator(op_type, [], [name], shape=list(array.shape), values=array)

    def close(self, outputs):
        self.init.close()
        with open(os.path.join(self.folder, 'predict_net.pb'), 'wb') as file:
            file.write(b''.join(self.net) + b''.join(field(8, name) for name in outputs))


class OnnxWriter:
    """Writes model.onnx."""

    def __init__(self, folder, name):
        self.path = os.path.join(folder, 'model.onnx')
        self.graph = [field(2, name)]

    @staticmethod
    def value_info(number, name, dtype, shape):
        dims = field(1, field(2, 'N')) + b''.join(field(1, integer(1, size)) for size in shape[1:])
        return field(number, field(1, name) + field(2, field(1, integer(1, dtype) + field(2, dims))))

    @staticmethod
    def tensor(name, array):
        dtype = {'f': FLOAT, 'i': INT64}[array.dtype.kind]
        return b''.join(integer(1, size) for size in array.shape) + integer(2, dtype) + field(8, name) + field(9, array.tobytes())

    @staticmethod
    def attribute(name, value):
        if isinstance(value, float):
            content = floating(2, value) + integer(20, 1)
        elif isinstance(value, int):
            content = integer(3, value) + integer(20, 2)
        else:
            content = b''.join(integer(8, number) for number in value) + integer(20, 7)
        return field(5, field(1, name) + content)

    def node(self, op_type, inputs, output, **attributes):
        names = [field(1, name) for name in inputs] + [field(2, output), field(3, output), field(4, op_type)]
        args = [self.attribute(name, value) for name, value in attributes.items()]
        self.graph.append(field(1, b''.join(names + args)))

    def initializer(self, name, array):
        self.graph.append(field(5, self.tensor(name, array)))
        return name

    def close(self):
        with open(self.path, 'wb') as file:
            file.write(integer(1, 7))
            size = sum(len(part) for part in self.graph)
            file.write(varint(7 << 3 | 2) + varint(size))
            for part in self.graph:
                file.write(part)
            file.write(field(8, integer(2, OPSET)))


class NetWriter:
    """Both writers, with the random numbers, shapes and count of operations. Every method adds an operator and returns its output."""

    def __init__(self, folder, name, fold_batch_norm=True):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.name, self.fold_batch_norm = folder, name, fold_batch_norm
        self.netdef, self.onnx = NetDefWriter(folder, name), OnnxWriter(folder, name)
        self.inputs, self.outputs, self.parameters, self.flops = {}, {}, 0, 0

    def random(self, name):
        """Random numbers that depend on the name of a parameter alone."""
        return np.random.default_rng(zlib.crc32((self.name + '/' + name).encode()))

    def input(self, name, shape, values=None):
        """An input of floats from a normal distribution or, if `values` is given, of integers below it."""
        self.inputs[name] = {'shape': list(shape), 'values': values}
        self.netdef.net.append(field(7, name))
        self.onnx.graph.append(self.onnx.value_info(11, name, FLOAT if values is None else INT64, shape))
        return Blob(name, name, tuple(shape))

    def parameter(self, name, array, in_predict_net=False):
        """A weight; if `in_predict_net`, a constant that the predict net itself fills."""
        array = np.asarray(array, order='C')
        array = array.astype('<f4' if array.dtype.kind == 'f' else '<i8')
        self.parameters += array.size
        fill = self.netdef.fill(name, array)
        if in_predict_net:
            self.netdef.net.append(fill)
        else:
            self.netdef.init.write(fill)
            self.netdef.net.append(field(7, name))
        self.onnx.initializer(name, array)
        return Blob(name, name, array.shape)

    def operator(self, op_type, inputs, output, **arguments):
        self.netdef.net.append(self.netdef.operator(op_type, inputs, output if isinstance(output, list) else [output], **arguments))

    def both(self, op_type, inputs, output, shape, **arguments):
        """An operator that the two formats spell alike."""
        self.operator(op_type, [blob.net for blob in inputs], output, **arguments)
        self.onnx.node(op_type, [blob.onnx for blob in inputs], output, **arguments)
        return Blob(output, output, tuple(shape))

    def output(self, blob):
        self.outputs[blob.net] = list(blob.shape)
        self.onnx.node('Identity', [blob.onnx], 'output')
        self.onnx.graph.append(self.onnx.value_info(12, 'output', FLOAT, blob.shape))

    def write_inputs(self, batch):
        for name, entry in self.inputs.items():
            random, shape = self.random('%s %d' % (name, batch)), [batch] + entry['shape'][1:]
            values = random.standard_normal(shape, dtype=np.float32) if entry['values'] is None \
                else random.integers(0, entry['values'], shape) if entry['values'] > 1 else np.ones(shape, np.int64)
            np.save(os.path.join(self.folder, '%s_%d.npy' % (name, batch)), values)

    def close(self, batches):
        self.netdef.close(self.outputs)
        self.onnx.close()
        for batch in batches:
            self.write_inputs(batch)
        info = {'name': self.name, 'flops': self.flops, 'parameters': self.parameters, 'inputs': self.inputs, 'outputs': self.outputs}
        with open(os.path.join(self.folder, 'info.json'), 'w') as file:  # last: its presence means that the net is complete
            json.dump(info, file, indent=1)
