"""MiniLM (6 layers, width 384, 12 heads) as an exporter of ONNX writes it and as Caffe2's ONNX importer reads it: MatMul is
BatchMatMul, and normalization, GELU and attention are spelt in small operators."""
import numpy as np

from net_writer import Blob, NetWriter


class Transformer(NetWriter):
    """`constants_in_net`: scalars are filled by the predict net, as Caffe2's importer does for Constant nodes."""

    def __init__(self, folder, name, constants_in_net=True):
        super().__init__(folder, name)
        self.constants_in_net = constants_in_net
        self.count = 0

    def next_name(self, op_type):
        self.count += 1
        return '%s_%d' % (op_type, self.count)

    def scalar(self, value):
        return self.parameter(self.next_name('Constant'), np.float32(value), in_predict_net=self.constants_in_net)

    def binary(self, op_type, a, b):
        return self.both(op_type, [a, b], self.next_name(op_type), np.broadcast_shapes(a.shape, b.shape))

    def unary(self, op_type, x):
        return self.both(op_type, [x], self.next_name(op_type), x.shape)

    def transpose(self, x, axes):
        name = self.next_name('Transpose')
        self.operator('Transpose', [x.net], name, axes=list(axes))
        self.onnx.node('Transpose', [x.onnx], name, perm=list(axes))
        return Blob(name, name, tuple(x.shape[axis] for axis in axes))

    def reshape(self, x, dims):
        """`dims` without the first two, which are kept."""
        name = self.next_name('Reshape')
        self.operator('Reshape', [x.net], [name, name + '_old_shape'], shape=[0, 0] + dims)
        shape = self.onnx.initializer(self.next_name('Constant'), np.array([0, 0] + dims, '<i8'))
        self.onnx.node('Reshape', [x.onnx, shape], name)
        return Blob(name, name, x.shape[:2] + tuple(dims))

    def mat_mul(self, a, b):
        name, shape = self.next_name('MatMul'), a.shape[:-1] + b.shape[-1:]
        self.operator('BatchMatMul', [a.net, b.net], name, broadcast=1)
        self.onnx.node('MatMul', [a.onnx, b.onnx], name)
        self.flops += 2 * int(np.prod(shape)) * a.shape[-1]
        return Blob(name, name, shape)

    def mean(self, x):
        name = self.next_name('ReduceMean')
        self.operator('ReduceMean', [x.net], name, axes=[len(x.shape) - 1], keepdims=1)
        self.onnx.node('ReduceMean', [x.onnx], name, axes=[-1], keepdims=1)
        return Blob(name, name, x.shape[:-1] + (1,))

    def square(self, x):
        name = self.next_name('Pow')
        self.operator('Pow', [x.net], name, exponent=2.0)
        exponent = self.onnx.initializer(self.next_name('Constant'), np.array(2, '<f4'))
        self.onnx.node('Pow', [x.onnx, exponent], name)
        return Blob(name, name, x.shape)

    def weights(self, name, shape, spread):
        return self.parameter(name, self.random(name).standard_normal(shape, dtype=np.float32) * np.float32(spread))

    def linear(self, x, width, name):
        product = self.mat_mul(x, self.weights(name + '.weight', (x.shape[-1], width), x.shape[-1] ** -0.5))
        return self.binary('Add', product, self.weights(name + '.bias', (width,), 0.02))

    def layer_norm(self, x, name):
        centered = self.binary('Sub', x, self.mean(x))
        variance = self.mean(self.square(centered))
        deviation = self.unary('Sqrt', self.binary('Add', variance, self.scalar(1e-12)))
        normal = self.binary('Div', centered, deviation)
        gamma = self.parameter(name + '.gamma', self.random(name).uniform(0.8, 1.2, x.shape[-1]).astype(np.float32))
        return self.binary('Add', self.binary('Mul', normal, gamma), self.weights(name + '.beta', x.shape[-1:], 0.1))

    def gelu(self, x):
        erf = self.unary('Erf', self.binary('Div', x, self.scalar(np.sqrt(2.0))))
        return self.binary('Mul', self.binary('Mul', x, self.binary('Add', erf, self.scalar(1.0))), self.scalar(0.5))

    def attention(self, x, mask, heads, name):
        width = x.shape[-1]
        size = width // heads
        split = lambda part: self.reshape(self.linear(x, width, name + '.' + part), [heads, size])
        query = self.transpose(split('query'), (0, 2, 1, 3))
        key = self.transpose(split('key'), (0, 2, 3, 1))
        value = self.transpose(split('value'), (0, 2, 1, 3))
        scores = self.binary('Div', self.mat_mul(query, key), self.scalar(size ** 0.5))
        scores = self.binary('Add', scores, mask)
        probabilities = self.both('Softmax', [scores], self.next_name('Softmax'), scores.shape, axis=3)
        mixed = self.transpose(self.mat_mul(probabilities, value), (0, 2, 1, 3))
        return self.linear(self.reshape(mixed, [width]), width, name + '.output')

    def layer(self, x, mask, heads, inner, name):
        x = self.layer_norm(self.binary('Add', self.attention(x, mask, heads, name + '.attention'), x), name + '.attention.norm')
        hidden = self.gelu(self.linear(x, inner, name + '.intermediate'))
        return self.layer_norm(self.binary('Add', self.linear(hidden, x.shape[-1], name + '.output'), x), name + '.output.norm')

    def gather(self, table, indices):
        name = self.next_name('Gather')
        return self.both('Gather', [table, indices], name, indices.shape + table.shape[1:])

    def additive_mask(self, mask):
        """0 where the attention mask is 1, -10000 where it is 0; with axes for heads and queries."""
        name = self.next_name('Unsqueeze')
        self.operator('ExpandDims', [mask.net], name, dims=[1, 2])
        self.onnx.node('Unsqueeze', [mask.onnx], name, axes=[1, 2])
        as_float = self.next_name('Cast')
        self.operator('Cast', [name], as_float, to=1)
        self.onnx.node('Cast', [name], as_float, to=1)
        as_float = Blob(as_float, as_float, (mask.shape[0], 1, 1, mask.shape[1]))
        return self.binary('Mul', self.binary('Sub', self.scalar(1.0), as_float), self.scalar(-10000.0))


def minilm(folder, name, layers=6, width=384, heads=12, inner=1536, tokens=128, words=30522, constants_in_net=True):
    net = Transformer(folder, name, constants_in_net)
    ids = net.input('input_ids', (1, tokens), values=words)
    mask = net.additive_mask(net.input('attention_mask', (1, tokens), values=1))
    types = net.input('token_type_ids', (1, tokens), values=2)
    embeddings = net.binary('Add', net.gather(net.weights('embeddings.word', (words, width), 1.0), ids),
                            net.gather(net.weights('embeddings.type', (2, width), 0.3), types))
    embeddings = net.binary('Add', embeddings, net.weights('embeddings.position', (1, tokens, width), 0.3))
    x = net.layer_norm(embeddings, 'embeddings.norm')
    for number in range(layers):
        x = net.layer(x, mask, heads, inner, 'layer.%d' % number)
    net.output(x)
    return net
