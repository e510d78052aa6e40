"""Look-ups in embedding tables and operators on segments, for compare_with_original.py."""
import os

import numpy as np
from detection_cases import write_case


def sparse_cases(folder):
    """Writes each net and its inputs to a folder of its own and returns the cases."""
    rng = np.random.RandomState(1)
    segments, rows = 1000, 100000
    lengths = rng.randint(0, 41, segments).astype(np.int32)
    count = int(lengths.sum())
    indices = rng.randint(0, rows, count).astype(np.int64)
    weights = rng.uniform(0, 1, count).astype(np.float32)
    table = rng.uniform(-1, 1, (rows, 64)).astype(np.float32)
    wide = rng.uniform(-1, 1, (rows // 2, 128)).astype(np.float32)
    small = rng.uniform(-1, 1, (1000, 64)).astype(np.float32)  # stays in the cache
    many = 1000000  # a table of 256 MB, beyond every cache
    large = np.random.default_rng(1).random((many, 64), dtype=np.float32)
    data = table[:count]
    filled = lengths[lengths > 0]
    ids = np.repeat(np.arange(len(filled)), filled).astype(np.int32)  # without gaps
    slots = rng.randint(0, 1000, count).astype(np.int32)
    operators = [
        ("table", "SparseLengthsSum", [table, indices, lengths]),
        ("table_wide", "SparseLengthsSum", [wide, indices // 2, lengths]),
        ("table_small", "SparseLengthsSum", [small, indices % 1000, lengths]),
        ("table_large", "SparseLengthsSum", [large, rng.randint(0, many, count).astype(np.int64), lengths]),
        ("table", "SparseLengthsMean", [table, indices, lengths]),
        ("table", "SparseLengthsWeightedSum", [table, weights, indices, lengths]),
        ("rows", "LengthsSum", [data, lengths]),
        ("rows", "SortedSegmentSum", [data, ids]),
        ("rows", "UnsortedSegmentSum", [data, slots]),
        ("table", "Gather", [table, indices]),
    ]
    return [write_case(os.path.join(folder, "sparse", name + op_type), "sparse/%s %s" % (name, op_type), op_type, arrays, 1, {})
            for name, op_type, arrays in operators]
