"""Times the nets of executor_benchmark with the original Caffe2, the peer: run both by turns on an idle machine.

  DIR/bin/python executor_original.py      # DIR has the original (pip install torch==1.8.1, Python 3.7 to 3.9)

Prints the median of 30 blocks of runs: ns per operator of the chain of 1,000 Relu and of the 333 forks and joins, and milliseconds of two
halves of MatMul, on simple, dag and async_scheduling with one and two workers.
"""
import os
import statistics
import sys
import time

os.environ.update(OMP_NUM_THREADS='1', MKL_NUM_THREADS='1')
try:
    from caffe2.proto import caffe2_pb2
    from caffe2.python import workspace
    import numpy as np
except ImportError as error:
    sys.exit('skipped: the original Caffe2 is not installed (%s)' % error)


def add(net, kind, inputs, output):
    op = net.op.add()
    op.type = kind
    op.input.extend(inputs)
    op.output.append(output)


def chain(net):
    for i in range(1000):
        add(net, 'Relu', ['x%d' % i], 'x%d' % (i + 1))


def forks(net):
    for i in range(333):
        add(net, 'Relu', ['x%d' % i], 'a%d' % i)
        add(net, 'Relu', ['x%d' % i], 'b%d' % i)
        add(net, 'Add', ['a%d' % i, 'b%d' % i], 'x%d' % (i + 1))


def halves(net):
    for i in range(4):
        for half in 'lr':
            add(net, 'MatMul', ['%s%d' % (half, i), 'w'], '%s%d' % (half, i + 1))


def measure(fill, kind, workers, runs, blocks=30):
    """The median of the seconds of a run."""
    workspace.ResetWorkspace()
    workspace.FeedBlob('x0', np.ones(1, np.float32))
    for name in ('l0', 'r0', 'w'):
        workspace.FeedBlob(name, np.full((192, 192), 0.01, np.float32))
    net = caffe2_pb2.NetDef(name='n', type=kind, num_workers=workers)
    fill(net)
    workspace.CreateNet(net)
    workspace.RunNet('n', 3)
    times = []
    for _ in range(blocks):
        start = time.perf_counter()
        workspace.RunNet('n', runs)
        times.append((time.perf_counter() - start) / runs)
    return statistics.median(times)


def main():
    for name, fill, runs, operators in (('chain', chain, 30, 1000), ('forks', forks, 10, 999), ('halves', halves, 3, None)):
        for kind, workers in (('simple', 1), ('dag', 1), ('dag', 2), ('async_scheduling', 1), ('async_scheduling', 2)):
            seconds = measure(fill, kind, workers, runs)
            scaled = '%.3f ms' % (seconds * 1e3) if operators is None else '%.1f ns per operator' % (seconds * 1e9 / operators)
            print('%s, %s, workers %d: %s' % (name, kind, workers, scaled), flush=True)


if __name__ == '__main__':
    main()
