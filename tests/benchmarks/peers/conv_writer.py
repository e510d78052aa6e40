"""The layers of convolution nets, written with NetWriter."""
import numpy as np

from net_writer import Blob, NetWriter


def pair(pads):
    """Padding before and after, from one number or two."""
    return (pads, pads) if isinstance(pads, int) else pads


class ConvNet(NetWriter):
    """`fold_batch_norm`: whether batch normalization is folded into the convolution before it. The weights are the same function
    of the name either way, so both variants compute the same values up to rounding."""

    def image(self, size=224):
        return self.input('data', (1, 3, size, size))

    def filter(self, name, shape, gain):
        """He's initialization, which keeps the magnitude of activations through a ReLU."""
        spread = gain * np.sqrt(2 / np.prod(shape[1:]))
        return self.random(name).standard_normal(shape, dtype=np.float32) * np.float32(spread)

    def conv(self, x, name, channels, kernel, stride=1, pad=0, group=1, bias=True, gain=1.0, batch_norm=False):
        shape = (channels, x.shape[1] // group, kernel, kernel)
        size = (x.shape[2] + 2 * pad - kernel) // stride + 1
        self.flops += 2 * int(np.prod(shape)) * size * size
        weight = self.filter(name + '_w', shape, gain)
        offset = self.random(name + '_b').standard_normal(channels).astype(np.float32) * np.float32(0.02) if bias and not batch_norm else None
        statistics = self.statistics(name, channels) if batch_norm else None
        if batch_norm and self.fold_batch_norm:
            factor, offset = self.affine(statistics)
            weight = (weight * factor[:, None, None, None]).astype(np.float32)
            statistics = None
        inputs = [self.parameter(name + '_w', weight)] + ([self.parameter(name + '_b', offset)] if offset is not None else [])
        arguments = {'kernel': kernel, 'stride': stride, 'pad': pad}
        if group > 1:
            arguments['group'] = group
        self.operator('Conv', [x.net] + [blob.net for blob in inputs], name, **arguments)
        self.onnx.node('Conv', [x.onnx] + [blob.onnx for blob in inputs], name, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                       pads=[pad] * 4, group=group)
        y = Blob(name, name, (x.shape[0], channels, size, size))
        return self.normalize(y, name + '_bn', statistics) if statistics is not None else y

    def statistics(self, name, channels):
        """Scale, bias, mean and variance."""
        random = self.random(name + '_bn')
        return [random.uniform(low, high, channels).astype(np.float32) for low, high in ((0.8, 1.2), (-0.1, 0.1), (-0.1, 0.1), (0.8, 1.2))]

    @staticmethod
    def affine(statistics):
        scale, bias, mean, variance = (array.astype(np.float64) for array in statistics)
        factor = scale / np.sqrt(variance + 1e-5)
        return factor, (bias - mean * factor).astype(np.float32)

    def normalize(self, x, name, statistics=None):
        """A batch normalization of its own."""
        arrays = self.statistics(name, x.shape[1]) if statistics is None else statistics
        inputs = [self.parameter(name + suffix, array) for suffix, array in zip(('_s', '_b', '_rm', '_riv'), arrays)]
        self.operator('SpatialBN', [x.net] + [blob.net for blob in inputs], name, is_test=1, epsilon=1e-5)
        self.onnx.node('BatchNormalization', [x.onnx] + [blob.onnx for blob in inputs], name, epsilon=1e-5)
        return Blob(name, name, x.shape)

    def relu(self, x, most=None):
        """In place in the NetDef, as nets for Caffe2 have it; an upper limit makes it a Clip."""
        output = x.onnx + '_relu'
        if most is None:
            self.operator('Relu', [x.net], x.net)
            self.onnx.node('Relu', [x.onnx], output)
        else:
            self.operator('Clip', [x.net], x.net, min=0.0, max=float(most))
            limits = [self.onnx.initializer(output + suffix, np.array(value, '<f4')) for suffix, value in (('_min', 0), ('_max', most))]
            self.onnx.node('Clip', [x.onnx] + limits, output)
        return Blob(x.net, output, x.shape)

    def conv_relu(self, x, name, channels, kernel, **arguments):
        return self.relu(self.conv(x, name, channels, kernel, **arguments))

    def pool(self, x, op_type, name, kernel, stride, pads=0):
        before, after = pair(pads)
        size = (x.shape[2] + before + after - kernel) // stride + 1
        sides = {'pad': before} if before == after else {'pad_t': before, 'pad_l': before, 'pad_b': after, 'pad_r': after}
        self.operator(op_type, [x.net], name, kernel=kernel, stride=stride, **sides)
        self.onnx.node(op_type, [x.onnx], name, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[before] * 2 + [after] * 2)
        return Blob(name, name, x.shape[:2] + (size, size))

    def max_pool(self, x, name, kernel, stride, pads=0):
        return self.pool(x, 'MaxPool', name, kernel, stride, pads)

    def average_pool(self, x, name, kernel, stride, pads=0):
        return self.pool(x, 'AveragePool', name, kernel, stride, pads)

    def global_pool(self, x, name):
        self.operator('AveragePool', [x.net], name, global_pooling=1)
        self.onnx.node('GlobalAveragePool', [x.onnx], name)
        return Blob(name, name, x.shape[:2] + (1, 1))

    def lrn(self, x, name):
        self.operator('LRN', [x.net], [name, '_' + name + '_scale'], size=5, alpha=1e-4, beta=0.75, bias=1.0)
        self.onnx.node('LRN', [x.onnx], name, size=5, alpha=1e-4, beta=0.75, bias=1.0)
        return Blob(name, name, x.shape)

    def concat(self, parts, name):
        channels = sum(part.shape[1] for part in parts)
        self.operator('Concat', [part.net for part in parts], [name, '_' + name + '_dims'], order='NCHW')
        self.onnx.node('Concat', [part.onnx for part in parts], name, axis=1)
        return Blob(name, name, (parts[0].shape[0], channels) + parts[0].shape[2:])

    def add(self, a, b, name):
        self.operator('Sum', [a.net, b.net], name)
        self.onnx.node('Add', [a.onnx, b.onnx], name)
        return Blob(name, name, a.shape)

    def shuffle(self, x, name, group):
        """ChannelShuffle. ONNX spells it with Reshape and Transpose."""
        _, channels, height, width = x.shape
        self.operator('ChannelShuffle', [x.net], name, group=group, kernel=1)
        dims = [[0, group, channels // group, height, width], [0, channels, height, width]]
        shapes = [self.onnx.initializer(name + suffix, np.array(shape, '<i8')) for suffix, shape in zip(('_shape', '_shape_back'), dims)]
        self.onnx.node('Reshape', [x.onnx, shapes[0]], name + '_split')
        self.onnx.node('Transpose', [name + '_split'], name + '_transposed', perm=[0, 2, 1, 3, 4])
        self.onnx.node('Reshape', [name + '_transposed', shapes[1]], name)
        return Blob(name, name, x.shape)

    def dropout(self, x):
        """Does nothing in a test. In place in the NetDef."""
        self.operator('Dropout', [x.net], [x.net, '_' + x.net + '_mask'], is_test=1, ratio=0.5)
        self.onnx.node('Dropout', [x.onnx], x.onnx + '_dropout')
        return Blob(x.net, x.onnx + '_dropout', x.shape)

    def fc(self, x, name, width, gain=1.0):
        """FC accepts images; ONNX needs a Flatten before."""
        columns = int(np.prod(x.shape[1:]))
        self.flops += 2 * columns * width
        weight = self.parameter(name + '_w', self.filter(name + '_w', (width, columns), gain))
        bias = self.parameter(name + '_b', self.random(name + '_b').standard_normal(width).astype(np.float32) * np.float32(0.02))
        source = x.onnx
        if len(x.shape) > 2:
            source = name + '_flat'
            self.onnx.node('Flatten', [x.onnx], source, axis=1)
        self.operator('FC', [x.net, weight.net, bias.net], name)
        self.onnx.node('Gemm', [source, weight.onnx, bias.onnx], name, transB=1)
        return Blob(name, name, (x.shape[0], width))

    def softmax(self, x):
        """The end of a classifier."""
        source = x.onnx
        if len(x.shape) > 2:
            source = x.onnx + '_flat'
            self.onnx.node('Flatten', [x.onnx], source, axis=1)
        self.operator('Softmax', [x.net], 'prob')
        self.onnx.node('Softmax', [source], 'prob', axis=1)
        self.output(Blob('prob', 'prob', x.shape[:2]))
        return self
