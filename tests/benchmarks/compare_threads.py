"""Nets on several threads that share the machine: the spread of the times, a busy core, and two processes at once.

  compare_threads.py --runner build/release/bin/engine_runner --folder NETS [--torch PYTHON] [tail] [busy] [two]

NETS are those of compare_with_engines.sh (build/engines/nets/folded) and are not written here. --torch names an interpreter that has
torch and torchvision. It takes about a minute; run it on an idle machine: the share of the CPUs that other processes used is printed.

  tail   AlexNet for 20 seconds: the 90th percentile of the times compared with the median
  busy   another process occupies one of the CPUs: the median compared with that of one thread, in turns
  two    two processes with SqueezeNet at once, as many threads each as there are CPUs: images per second, compared with PyTorch, in turns
"""
import argparse
import os
import statistics
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, 'peers'))
from engines import OURS, Engine  # noqa: E402
from machine import ForeignLoad  # noqa: E402

BUSY_NETS = ('squeezenet', 'mobilenet_v2', 'alexnet')


def percentile(times, share):
    return sorted(times)[int(share * (len(times) - 1))]


class Comparison:
    def __init__(self, options):
        self.options = options
        self.threads = len(options.cpus)

    def engine(self, net, threads):
        engine = Engine(OURS, self.options.runner, threads, self.options.cpus)
        return self.loaded(engine, net)

    def torch(self, net):
        command = [self.options.torch, os.path.join(HERE, 'peers', 'serve_torch.py'), str(self.threads)]
        return self.loaded(Engine('torch', None, self.threads, self.options.cpus, command), net)

    def loaded(self, engine, net):
        engine.ask('load %s 1' % os.path.abspath(os.path.join(self.options.folder, net)))
        engine.times(5)
        return engine

    @staticmethod
    def runs_in(engine, seconds):
        return max(3, int(seconds * 1e3 / statistics.median(engine.times(5))))

    def tail(self):
        with self.engine('alexnet', self.threads) as engine:
            runs = self.runs_in(engine, self.options.seconds)
            with ForeignLoad([engine]) as load:
                times = engine.times(runs)
        median = statistics.median(times)
        print('tail: alexnet, %d threads, %d runs: median %.2f ms, 10th percentile %.2f, 90th %.2f, 99th %.2f; 90th / median %.3f; other '
              'processes %.1f %%' % (self.threads, runs, median, percentile(times, .1), percentile(times, .9), percentile(times, .99),
                                     percentile(times, .9) / median, load.share * 100), flush=True)

    def busy(self):
        spinning = ['taskset', '-c', str(self.options.cpus[0]), sys.executable, '-c', 'while True: pass']
        other = subprocess.Popen(spinning)
        try:
            for net in BUSY_NETS:
                with self.engine(net, self.threads) as several, self.engine(net, 1) as one:
                    runs, times = self.runs_in(one, 1), {several: [], one: []}
                    for _ in range(3):
                        for engine in times:
                            times[engine] += engine.times(runs)
                medians = [statistics.median(times[engine]) for engine in (several, one)]
                print('busy: %s, a process on CPU %d: %d threads %.2f ms, one thread %.2f ms, ratio %.3f' %
                      (net, self.options.cpus[0], self.threads, medians[0], medians[1], medians[0] / medians[1]), flush=True)
        finally:
            other.kill()
            other.wait()

    def images_per_second(self, pair, runs):
        """Of the two engines together, while both run."""
        ends, start = [], time.perf_counter()

        def run(engine):
            engine.times(runs)
            ends.append(time.perf_counter() - start)

        threads = [threading.Thread(target=run, args=(engine,)) for engine in pair]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return runs / ends[0] + runs / ends[1]

    def two(self):
        pairs = {OURS: [self.engine('squeezenet', self.threads) for _ in range(2)]}
        if self.options.torch:
            pairs['torch'] = [self.torch('squeezenet') for _ in range(2)]
        try:
            rates = {name: [] for name in pairs}
            for _ in range(3):
                for name, pair in pairs.items():
                    rates[name].append(self.images_per_second(pair, self.runs_in(pair[0], 1.5)))
            medians = {name: statistics.median(rates[name]) for name in rates}
            print('two: squeezenet, two processes, %d threads each, images per second: %s%s' %
                  (self.threads, ', '.join('%s %.1f (%s)' % (name, medians[name], ' '.join('%.1f' % rate for rate in rates[name]))
                                           for name in rates),
                   '; ratio %.3f' % (medians[OURS] / medians['torch']) if 'torch' in medians else ''), flush=True)
        finally:
            for pair in pairs.values():
                for engine in pair:
                    engine.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--runner', required=True, help='the program engine_runner of the build to measure')
    parser.add_argument('--folder', required=True, help='the folder of the nets')
    parser.add_argument('--torch', help='an interpreter that has torch and torchvision')
    parser.add_argument('--cpus', type=lambda text: [int(part) for part in text.split(',')], default=[0, 1], help='the CPUs to use (0,1)')
    parser.add_argument('--seconds', type=float, default=20, help='of tail')
    parser.add_argument('parts', nargs='*', metavar='PART', help='tail, busy or two; all of them by default')
    options = parser.parse_args()
    parts = options.parts or ['tail', 'busy', 'two']
    for part in parts:
        if part not in ('tail', 'busy', 'two'):
            parser.error('no part "%s", want tail, busy or two' % part)
    comparison = Comparison(options)
    for part in parts:
        getattr(comparison, part)()


if __name__ == '__main__':
    main()
