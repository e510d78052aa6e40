"""Compares the peak resident memory of VGG-19 with `caffe2 run` and with ONNX Runtime. Called by compare_memory.sh.

Both models are written directly in protobuf's wire format, so that only numpy is needed. The weights are random. The script
compares the memory, and checks that the two outputs agree.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'peers'))
from net_writer import FLOAT, field, integer  # noqa: E402

CHANNELS = [64, 64, 'M', 128, 128, 'M', 256, 256, 256, 256, 'M', 512, 512, 512, 512, 'M', 512, 512, 512, 512, 'M']


class Caffe2Writer:
    """Writes init_net.pb, operator by operator, and predict_net.pb."""

    def __init__(self, folder):
        self.folder = folder
        self.init = open(os.path.join(folder, 'init_net.pb'), 'wb')
        self.init.write(field(1, 'init'))
        self.net = [field(1, 'vgg19'), field(7, 'data')]

    @staticmethod
    def ints(name, values):
        return field(5, field(1, name) + b''.join(integer(6, value) for value in values))

    def weight(self, name, array):
        floats = np.empty(array.size, dtype=[('tag', 'u1'), ('value', '<f4')])  # not packed, as Caffe2 writes them
        floats['tag'] = 5 << 3 | 5
        floats['value'] = array.ravel()
        values = field(5, field(1, 'values') + floats.tobytes())
        self.init.write(field(2, field(2, name) + field(4, 'GivenTensorFill') + self.ints('shape', array.shape) + values))
        self.net.append(field(7, name))

    def operator(self, op_type, inputs, outputs, **arguments):
        args = [field(5, field(1, name) + integer(3, value)) for name, value in arguments.items()]
        blobs = [field(1, name) for name in inputs] + [field(2, name) for name in outputs]
        self.net.append(field(2, b''.join(blobs) + field(4, op_type) + b''.join(args)))

    def close(self):
        self.init.close()
        with open(os.path.join(self.folder, 'predict_net.pb'), 'wb') as file:
            file.write(b''.join(self.net) + field(8, 'prob'))


class OnnxWriter:
    """Writes vgg19.onnx."""

    def __init__(self, folder):
        self.path = os.path.join(folder, 'vgg19.onnx')
        self.graph = []

    @staticmethod
    def value_info(number, name, shape):
        dims = b''.join(field(1, integer(1, size)) for size in shape)
        return field(number, field(1, name) + field(2, field(1, integer(1, FLOAT) + field(2, dims))))

    def weight(self, name, array):
        dims = b''.join(integer(1, size) for size in array.shape)
        self.graph.append(field(5, dims + integer(2, FLOAT) + field(8, name) + field(9, array.astype('<f4').tobytes())))

    def operator(self, op_type, inputs, outputs, **attributes):
        parts = [field(1, name) for name in inputs] + [field(2, name) for name in outputs] + [field(4, op_type)]
        for name, value in attributes.items():
            many = isinstance(value, list)
            content = b''.join(integer(8, number) for number in value) if many else integer(3, value)
            parts.append(field(5, field(1, name) + content + integer(20, 7 if many else 2)))
        self.graph.append(field(1, b''.join(parts)))

    def close(self):
        graph = b''.join(self.graph) + field(2, 'vgg19')
        graph += self.value_info(11, 'data', [1, 3, 224, 224]) + self.value_info(12, 'prob', [1, 1000])
        with open(self.path, 'wb') as file:
            file.write(integer(1, 8) + field(7, graph) + field(8, integer(2, 13)))


def write_models(folder):
    """Writes both models, an input and finally the number of bytes of the weights."""
    os.makedirs(folder, exist_ok=True)
    random = np.random.default_rng(1)
    caffe2, onnx = Caffe2Writer(folder), OnnxWriter(folder)
    total = 0

    def parameters(name, shape):
        nonlocal total
        fan_in = int(np.prod(shape[1:]))
        weight = random.standard_normal(shape, dtype=np.float32) * np.float32(np.sqrt(2 / fan_in))
        for suffix, array in (('_w', weight), ('_b', np.zeros(shape[0], np.float32))):
            total += array.nbytes
            caffe2.weight(name + suffix, array)
            onnx.weight(name + suffix, array)
        return [name + '_w', name + '_b']

    blob, channels, layer = 'data', 3, 0
    for entry in CHANNELS:
        layer += 1
        name = f'layer{layer}'
        if entry == 'M':
            caffe2.operator('MaxPool', [blob], [name], kernel=2, stride=2)
            onnx.operator('MaxPool', [blob], [name], kernel_shape=[2, 2], strides=[2, 2])
        else:
            inputs = [blob] + parameters(name, (entry, channels, 3, 3))
            caffe2.operator('Conv', inputs, [name], kernel=3, pad=1)
            caffe2.operator('Relu', [name], [name])
            onnx.operator('Conv', inputs, [name + '_c'], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
            onnx.operator('Relu', [name + '_c'], [name])
            channels = entry
        blob = name
    onnx.operator('Flatten', [blob], ['flat'])
    onnx_blob, columns = 'flat', channels * 7 * 7
    for name, rows in (('fc6', 4096), ('fc7', 4096), ('fc8', 1000)):
        weights = parameters(name, (rows, columns))
        caffe2.operator('FC', [blob] + weights, [name])
        onnx.operator('Gemm', [onnx_blob] + weights, [name + '_g'], transB=1)
        if name == 'fc8':
            caffe2.operator('Softmax', [name], ['prob'])
            onnx.operator('Softmax', [name + '_g'], ['prob'], axis=1)
        else:
            caffe2.operator('Relu', [name], [name])
            onnx.operator('Relu', [name + '_g'], [name])
        blob = onnx_blob = name
        columns = rows
    caffe2.close()
    onnx.close()
    np.save(os.path.join(folder, 'data.npy'), random.standard_normal((1, 3, 224, 224), dtype=np.float32))
    with open(os.path.join(folder, 'weights.json'), 'w') as file:
        json.dump({'bytes': total}, file)


PEER = """
import sys
import numpy
import onnxruntime
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(sys.argv[1], options, providers=['CPUExecutionProvider'])
numpy.save(sys.argv[3], session.run(None, {'data': numpy.load(sys.argv[2])})[0])
"""
# Measures the memory of the interpreter and its packages without a model.
EMPTY_PEER = 'import numpy, onnxruntime'


def peak_bytes(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f'compare_memory: {" ".join(command[:2])} failed')
    return usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--program', required=True)
    parser.add_argument('--folder', required=True)
    parser.add_argument('--json')
    options = parser.parse_args()
    at = lambda name: os.path.join(options.folder, name)
    if not os.path.exists(at('weights.json')):
        # In a separate process: the peak of a child process starts at that of its parent.
        writer = multiprocessing.Process(target=write_models, args=(options.folder,))
        writer.start()
        writer.join()
        if writer.exitcode != 0:
            sys.exit('compare_memory: the models could not be written')
    with open(at('weights.json')) as file:
        weights = json.load(file)['bytes']
    result = {
        'weights': weights,
        'caffe2': peak_bytes([options.program, 'run', '--init-net', at('init_net.pb'), '--predict-net', at('predict_net.pb'),
                              '--input', 'data=' + at('data.npy'), '--output', options.folder]),
        'onnxruntime': peak_bytes([sys.executable, '-c', PEER, at('vgg19.onnx'), at('data.npy'), at('peer.npy')]),
        'interpreter': peak_bytes([sys.executable, '-c', EMPTY_PEER]),
    }
    difference = float(np.max(np.abs(np.load(at('prob.npy')) - np.load(at('peer.npy')))))
    for name in ('caffe2', 'onnxruntime'):
        print(f'{name:12} peak {result[name] / 1e6:7.1f} MB, {result[name] / weights:.2f} times the weights')
    peer = result['onnxruntime'] - result['interpreter']
    print(f'ONNX Runtime without the interpreter and its packages: {peer / 1e6:.1f} MB; outputs differ by {difference:.1e}')
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(result, file)
    if difference > 1e-5:
        sys.exit('compare_memory: the outputs differ')
    if result['caffe2'] > peer:
        sys.exit('compare_memory: caffe2 used more memory than ONNX Runtime')


if __name__ == '__main__':
    main()
