"""Random nets of differentiable operators over float matrices and images, for record_random_nets.py."""
import numpy as np
from caffe2.python import core


class RandomNet:
    """A net whose blobs are float matrices or images, with the values of its inputs."""

    def __init__(self, number, rng):
        self.rng = rng
        self.net = core.Net("net_%d" % number)
        self.inputs = {}      # name -> numpy array
        self.shapes = {}      # name -> shape of a float blob that operators may read
        self.losses = []
        self.next = 0
        self.rows = rng.randint(1, 5)
        for _ in range(rng.randint(1, 3)):
            self.feed((self.rows, rng.randint(1, 5)))
        if rng.random() < 0.4:
            self.feed((self.rows, rng.randint(1, 3), rng.randint(4, 6), rng.randint(4, 6)))

    def name(self):
        self.next += 1
        return "b%d" % self.next

    def values(self, shape, low=-1.0, high=1.0):
        size = int(np.prod(shape, dtype=np.int64))
        return np.array([self.rng.uniform(low, high) for _ in range(size)], np.float32).reshape(shape)

    def feed(self, shape, low=-1.0, high=1.0, readable=True):
        name = self.name()
        self.inputs[name] = self.values(shape, low, high)
        if readable:
            self.shapes[name] = tuple(shape)
        return name

    def feed_integers(self, shape, bound, dtype=np.int32):
        name = self.name()
        size = int(np.prod(shape))
        self.inputs[name] = np.array([self.rng.randrange(bound) for _ in range(size)], dtype).reshape(shape)
        return name

    def op(self, op_type, inputs, outputs, **arguments):
        self.net.Proto().op.extend([core.CreateOperator(op_type, inputs, outputs, **arguments)])

    def pick(self, rank=None):
        """A readable blob, if there is one with this rank."""
        names = sorted(n for n, s in self.shapes.items() if rank is None or len(s) == rank)
        return self.rng.choice(names) if names else None

    def output(self, shape, source=None, in_place=0.0):
        """The name of an output: new, or with the given probability that of the source."""
        name = source if source is not None and self.rng.random() < in_place else self.name()
        self.shapes[name] = tuple(shape)
        return name

    # One random operator each.
    def unary(self):
        x = self.pick()
        op_type = self.rng.choice(
            ["Relu", "Sigmoid", "Tanh", "Negative", "Abs", "Softplus", "Sqr", "Scale", "LeakyRelu", "Elu", "Swish",
             "Softsign", "Copy", "StopGradient", "Exp", "Sin", "Cos"])
        in_place = {"Relu": 0.4, "Sigmoid": 0.4, "Tanh": 0.4, "LeakyRelu": 0.4, "Elu": 0.4, "Scale": 0.4,
                    "Negative": 0.3, "StopGradient": 0.1}
        arguments = {"Scale": {"scale": 0.5}, "LeakyRelu": {"alpha": 0.25}, "Elu": {"alpha": 1.0}}
        y = self.output(self.shapes[x], x, in_place.get(op_type, 0.0))
        self.op(op_type, [x], [y], **arguments.get(op_type, {}))

    def binary(self):
        x = self.pick()
        same = sorted(n for n, s in self.shapes.items() if s == self.shapes[x])
        other = self.rng.choice(same)
        op_type = self.rng.choice(["Add", "Sub", "Mul"])
        y = self.output(self.shapes[x], x if x != other else None, 0.15)
        self.op(op_type, [x, other], [y])

    def broadcast(self):
        x = self.pick(2)
        vector = self.feed((self.shapes[x][1],), 0.5, 1.5, readable=False)
        y = self.output(self.shapes[x])
        self.op(self.rng.choice(["Add", "Sub", "Mul", "Div"]), [x, vector], [y], broadcast=1)

    def many(self):
        x = self.pick()
        same = sorted(n for n, s in self.shapes.items() if s == self.shapes[x])
        others = [self.rng.choice(same) for _ in range(self.rng.randint(1, 3))]
        op_type = self.rng.choice(["Sum", "Sum", "Mean", "Max"])
        y = self.output(self.shapes[x], x if op_type == "Sum" and x not in others else None, 0.2)
        self.op(op_type, [x] + others, [y])

    def fc(self):
        x = self.pick(2)
        units, size = self.rng.randint(1, 5), self.shapes[x][1]
        w = self.feed((units, size), readable=False)
        b = self.feed((units,), readable=False)
        self.op("FC", [x, w, b], [self.output((self.shapes[x][0], units))])
        if self.rng.random() < 0.3:  # the same weights once more
            same = sorted(n for n, s in self.shapes.items() if len(s) == 2 and s[1] == size)
            x = self.rng.choice(same)
            self.op("FC", [x, w, b], [self.output((self.shapes[x][0], units))])

    def matmul(self):
        a = self.pick(2)
        w = self.feed((self.rng.randint(1, 4), self.shapes[a][1]), readable=False)
        self.op("MatMul", [a, w], [self.output((self.shapes[a][0], self.inputs[w].shape[0]))], trans_b=1)

    def look_up(self):
        columns = self.rng.randint(1, 4)
        table = self.feed((6, columns), readable=False)
        index_type = self.rng.choice([np.int32, np.int64])
        for _ in range(self.rng.randint(1, 3)):
            indices = self.feed_integers((self.rows,), 6, index_type)
            self.op("Gather", [table, indices], [self.output((self.rows, columns))])

    def concat_and_split(self):
        x = self.pick(2)
        y = self.rng.choice(sorted(n for n, s in self.shapes.items() if len(s) == 2 and s[0] == self.shapes[x][0]))
        sizes = [self.shapes[x][1], self.shapes[y][1]]
        joined = self.output((self.shapes[x][0], sum(sizes)))
        info = self.name()
        self.op("Concat", [x, y], [joined, info], axis=1)
        if self.rng.random() < 0.6:
            parts = [self.output((self.shapes[x][0], size)) for size in reversed(sizes)]
            self.op("Split", [joined], parts, axis=1, split=list(reversed(sizes)))

    def transpose(self):
        x = self.pick(2)
        turned = self.name()
        self.op("Transpose", [x], [turned], axes=[1, 0])
        self.op("Transpose", [turned], [self.output(self.shapes[x])], axes=[1, 0])

    def softmax(self):
        x = self.pick(2)
        self.op("Softmax", [x], [self.output(self.shapes[x])])

    def image(self):
        x = self.pick(4)
        if x is None:
            return
        n, c, h, w = self.shapes[x]
        kind = self.rng.choice(["Conv", "MaxPool", "AveragePool", "SpatialBN", "LRN", "Flatten", "Flatten"])
        if kind == "Conv":
            m, k, pad = self.rng.randint(1, 3), self.rng.choice([1, 3]), self.rng.randint(0, 1)
            filters = self.feed((m, c, k, k), readable=False)
            bias = self.feed((m,), readable=False)
            shape = (n, m, h + 2 * pad - k + 1, w + 2 * pad - k + 1)
            if min(shape) > 0:
                self.op("Conv", [x, filters, bias], [self.output(shape)], kernel=k, pad=pad)
        elif kind in ("MaxPool", "AveragePool"):
            if min(h, w) >= 2:
                self.op(kind, [x], [self.output((n, c, (h - 2) // 2 + 1, (w - 2) // 2 + 1))], kernel=2, stride=2)
        elif kind == "SpatialBN":
            parameters = [self.feed((c,), 0.5, 1.5, readable=False) for _ in range(4)]
            outputs = [self.output(self.shapes[x]), parameters[2], parameters[3], self.name(), self.name()]
            self.op("SpatialBN", [x] + parameters, outputs, is_test=0, order="NCHW", epsilon=0.01)
        elif kind == "LRN":
            self.op("LRN", [x], [self.output(self.shapes[x]), self.name()], size=3, alpha=0.1, beta=0.75, order="NCHW")
        else:
            self.op("Flatten", [x], [self.output((n, c * h * w))])

    def loss(self):
        x = self.pick(2)
        rows, columns = self.shapes[x]
        loss = self.name()
        kind = self.rng.choice(["squared", "softmax", "sigmoid", "entropy", "average", "l1"])
        if kind in ("squared", "l1"):
            target, distance = self.feed((rows, columns), readable=False), self.name()
            self.op("SquaredL2Distance" if kind == "squared" else "L1Distance", [x, target], [distance])
            self.op("AveragedLoss", [distance], [loss])
        elif kind == "softmax":
            label = self.feed_integers((rows,), columns)
            self.op("SoftmaxWithLoss", [x, label], [self.name(), loss])
        elif kind == "sigmoid":
            target, entropy = self.feed((rows, columns), 0.0, 1.0, readable=False), self.name()
            self.op("SigmoidCrossEntropyWithLogits", [x, target], [entropy])
            self.op("AveragedLoss", [entropy], [loss])
        elif kind == "entropy":
            label, probabilities, entropy = self.feed_integers((rows,), columns), self.name(), self.name()
            self.op("Softmax", [x], [probabilities])
            self.op("LabelCrossEntropy", [probabilities, label], [entropy])
            self.op("AveragedLoss", [entropy], [loss])
        else:
            self.op("AveragedLoss", [x], [loss])
        self.losses.append(loss)

    def build(self):
        steps = [self.unary] * 4 + [self.binary] * 2 + [self.fc] * 2 + [self.image] * 2 + [
            self.broadcast, self.many, self.matmul, self.look_up, self.concat_and_split, self.transpose, self.softmax]
        for _ in range(self.rng.randint(2, 12)):
            self.rng.choice(steps)()
        for _ in range(self.rng.randint(1, 3)):
            self.loss()
