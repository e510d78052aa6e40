"""Random nets with sequences, sparse look-ups and segments, for record_random_nets.py --kind control."""
import numpy as np

from random_nets import RandomNet


class SparseNet(RandomNet):
    """A net whose blobs are float matrices or sequences [steps, rows, columns]."""

    def __init__(self, number, rng):
        super().__init__(number, rng)
        self.steps = rng.randint(1, 4)
        if rng.random() < 0.5:
            self.feed((self.steps, self.rows, rng.randint(1, 4)))

    def feed_value(self, value, dtype):
        name = self.name()
        self.inputs[name] = np.array(value, dtype)
        return name

    def sequence(self):
        return self.pick(3) or self.feed((self.steps, self.rows, self.rng.randint(1, 4)))

    def flatten(self, x, shape):
        """Makes a matrix of a sequence."""
        if shape[0] == 1:
            self.op("Squeeze", [x], [self.output(shape[1:])], dims=[0])
        else:
            y = self.output((shape[0] * shape[1], shape[2]))
            self.op("Reshape", [x], [y, self.name()], shape=[-1, shape[2]])

    def flatten_sequence(self):
        x = self.pick(3)
        if x is not None:
            self.flatten(x, self.shapes[x])

    def table(self):
        columns = self.rng.randint(1, 4)
        return self.feed((6, columns), readable=False), columns

    def index_type(self):
        return self.rng.choice([np.int32, np.int64])

    def unique(self):
        table, columns = self.table()
        indices = self.feed_integers((self.rows,), 6, self.index_type())
        unique, places, rows = self.name(), self.name(), self.name()
        self.op("Unique", [indices], [unique, places])
        self.op("Gather", [table, unique], [rows])
        self.op("Gather", [rows, places], [self.output((self.rows, columns))])

    def sparse_to_dense(self):
        x = self.pick(2)
        rows, columns = self.shapes[x]
        indices = self.feed_integers((rows,), 5, self.index_type())
        pattern = self.feed((5, 1), readable=False)
        self.op("SparseToDense", [indices, x, pattern], [self.output((5, columns))])

    def segments(self):
        x = self.pick(2)
        rows, columns = self.shapes[x]
        kind = self.rng.choice(["SortedSegmentSum"] * 3 + ["UnsortedSegmentSum"] * 3 + [
            "UnsortedSegmentMean", "SortedSegmentMean", "LengthsSum", "LengthsMean", "LengthsMax", "SortedSegmentRangeSum",
            "SortedSegmentRangeLogSumExp"])
        if kind.startswith("Lengths"):
            cuts = sorted(self.rng.randint(0, rows) for _ in range(2))
            lengths = np.diff([0] + cuts + [rows]).astype(np.int32)
            segments = self.feed_value(lengths, np.int32)
            if kind == "LengthsMax" and 0 in lengths:
                return
            count = 3
        else:
            count = self.rng.randint(1, 3)
            values = [self.rng.randrange(count) for _ in range(rows - 1)] + [count - 1]
            if kind.startswith("Sorted"):
                values = np.unique(sorted(values), return_inverse=True)[1]
                count = int(values[-1]) + 1
            segments = self.feed_value(values, np.int32)
        self.op(kind, [x, segments], [self.output((count, columns))])

    def sparse_lengths(self):
        table, columns = self.table()
        lengths = [self.rng.randint(0, 3) for _ in range(self.rows)]
        indices = self.feed_integers((sum(lengths),), 6, self.index_type())
        name = self.feed_value(lengths, np.int32)
        kind = self.rng.choice(["SparseLengthsSum", "SparseLengthsMean", "SparseLengthsWeightedSum"])
        weights = [self.feed((sum(lengths),), readable=False)] if kind == "SparseLengthsWeightedSum" else []
        self.op(kind, [table] + weights + [indices, name], [self.output((self.rows, columns))])

    def pack(self):
        x = self.pick(2)
        rows, columns = self.shapes[x]
        lengths = np.diff([0] + sorted(self.rng.randint(0, rows) for _ in range(2)) + [rows])
        name, packed = self.feed_value(lengths, np.int32), self.name()
        self.op("PackSegments", [name, x], [packed])
        self.shapes[packed] = (3, int(max(lengths)), columns)
        if self.rng.random() < 0.6:
            tanh = self.output(self.shapes[packed])
            self.op("Tanh", [packed], [tanh])
            self.op("UnpackSegments", [name, tanh], [self.output((rows, columns))])

    def padding(self):
        x = self.pick(2)
        rows, columns = self.shapes[x]
        lengths = np.diff([0, self.rng.randint(0, rows), rows])
        name, padded, new_lengths = self.feed_value(lengths, np.int32), self.name(), self.name()
        width = self.rng.randint(1, 2)
        self.op("AddPadding", [x, name], [padded, new_lengths], padding_width=width)
        self.shapes[padded] = (rows + 4 * width, columns)
        if self.rng.random() < 0.5:
            tanh, old = self.output(self.shapes[padded]), self.name()
            self.op("Tanh", [padded], [tanh])
            self.op("RemovePadding", [tanh, new_lengths], [self.output((rows, columns)), old], padding_width=width)

    def reverse(self):
        x = self.sequence()
        steps, rows, _ = self.shapes[x]
        lengths = self.feed_value([self.rng.randint(0, steps) for _ in range(rows)], np.int32)
        self.op("ReversePackedSegs", [x, lengths], [self.output(self.shapes[x])])

    def mask(self):
        x = self.pick(2)
        rows, columns = self.shapes[x]
        lengths = self.feed_value([self.rng.randint(0, columns) for _ in range(rows)], np.int32)
        self.op("SequenceMask", [x, lengths], [self.output(self.shapes[x])], mode="sequence", fill_val=0.0)

    def sparse_steps(self):
        steps = [self.unique, self.sparse_to_dense, self.segments, self.segments, self.pack, self.padding, self.reverse,
                 self.mask, self.look_up, self.look_up]
        if self.rng.random() < 0.2:
            steps.append(self.sparse_lengths)
        return steps
