"""What a reader of a measurement has to know about the machine."""
import os
import time


def cpu_model():
    with open('/proc/cpuinfo') as file:
        return next((line.partition(':')[2].strip() for line in file if line.startswith('model name')), 'unknown')


def cpu_flags():
    """The flags that decide about speed here."""
    with open('/proc/cpuinfo') as file:
        flags = next((line.split() for line in file if line.startswith('flags')), [])
    known = ('avx2', 'fma', 'avx512f', 'avx512_vnni', 'avx512_bf16', 'avx512_fp16', 'amx_tile')
    return [flag for flag in known if flag in flags]


def busy_seconds():
    """CPU time of all processes, and time that the host gave to other guests."""
    with open('/proc/stat') as file:
        user, nice, system, _, _, irq, softirq, steal = (int(word) for word in file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf('SC_CLK_TCK')


class ForeignLoad:
    """Measures the share of all CPUs that other processes used while a block ran."""

    def __init__(self, engines):
        self.engines = engines

    def own_seconds(self):
        return time.process_time() + sum(engine.cpu_seconds() for engine in self.engines)

    def __enter__(self):
        self.start = time.monotonic(), busy_seconds(), self.own_seconds()
        self.share = None
        return self

    def __exit__(self, *unused):
        elapsed = time.monotonic() - self.start[0]
        foreign = busy_seconds() - self.start[1] - (self.own_seconds() - self.start[2])
        self.share = max(0.0, foreign / elapsed / os.cpu_count())
