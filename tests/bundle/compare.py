#!/usr/bin/env python3
"""Times the nets of nets.py with this project and with PyTorch (eager, and replay of a CUDA graph), and PyTorch's allocator.

usage: compare.py FOLDER      the folder of the bundle

fp32 and TF32 are compared separately. Rounds are interleaved; each number is the median of their medians, in ms per run.
"""
import json
import os
import statistics
import subprocess
import sys
import time

import nets

ROUNDS = 3


def ours(folder, name, batch, tf32, graph):
    command = [f"{folder}/bin/caffe2", "bench", "--device", "cuda", "--json", "--iterations", "20",
               "--init-net", f"{folder}/data/{name}_{batch}_init.pbtxt", "--predict-net", f"{folder}/data/{name}_predict.pbtxt",
               f"--caffe2_allow_tf32={'true' if tf32 else 'false'}"]
    if graph:
        command.append("--cuda-graph")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return json.loads(done.stdout)["median_ms"], ""


class Peer:
    """A PyTorch net on the device."""

    def __init__(self, torch, name, batch, tf32, channels_last):
        self.torch = torch
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32
        torch.backends.cudnn.benchmark = True
        form = torch.channels_last if channels_last else torch.contiguous_format
        self.net = nets.torch_net(name).cuda().eval().to(memory_format=form)
        self.data = torch.rand(batch, 3, 224, 224, device="cuda").to(memory_format=form)

    def run(self):
        with self.torch.no_grad():
            return self.net(self.data)

    def record(self):
        torch = self.torch
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.run()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.run()
        return graph.replay

    def time(self, run):
        for _ in range(5):
            run()
        self.torch.cuda.synchronize()
        times = []
        for _ in range(20):
            start = time.perf_counter()
            run()
            self.torch.cuda.synchronize()
            times.append(1000 * (time.perf_counter() - start))
        return statistics.median(times)


def compare(torch, folder, name, batch, tf32):
    cells = {"ours": [], "ours, graph": []}
    peers = {}
    if torch is not None:
        for form in (False, True):
            peer = Peer(torch, name, batch, tf32, form)
            suffix = ", channels_last" if form else ""
            peers["torch" + suffix] = (peer, peer.run)
            peers["torch, graph" + suffix] = (peer, peer.record())
    for _ in range(ROUNDS):
        for graph in (False, True):
            ms, why = ours(folder, name, batch, tf32, graph)
            if ms is None:
                print(f"{name} {batch}: FAILED: {why}")
                return False
            cells["ours, graph" if graph else "ours"].append(ms)
        for label, (peer, run) in peers.items():
            cells.setdefault(label, []).append(peer.time(run))
    line = ", ".join(f"{label} {statistics.median(times):.3f}" for label, times in cells.items())
    print(f"{name:10} batch {batch:3} {'TF32' if tf32 else 'fp32'}  ms: {line}", flush=True)
    return True


def torch_allocator(torch):
    sizes = [4 * n for n in (1000, 64 * 55 * 55, 256 * 13 * 13, 1 << 20, 12 << 20)]
    for _ in range(10):
        for size in sizes:
            torch.empty(size, dtype=torch.uint8, device="cuda")
    start = time.perf_counter()
    rounds = 2000
    for _ in range(rounds):
        for size in sizes:
            torch.empty(size, dtype=torch.uint8, device="cuda")
    pair = 1e9 * (time.perf_counter() - start) / (rounds * len(sizes))
    print(f"torch's allocator, called from Python: {pair:.0f} ns per allocation and free")


def main():
    folder = sys.argv[1]
    try:
        import torch
        if not torch.cuda.is_available():
            print("SKIPPED torch: it finds no device")
            torch = None
    except ImportError:
        print("SKIPPED torch: it is not installed")
        torch = None
    if torch is not None:
        print(f"torch {torch.__version__}, {torch.cuda.get_device_name(0)}")
        torch_allocator(torch)
    good = True
    for tf32 in (False, True):
        for name in nets.NETS:
            for batch in nets.BATCHES:
                good = compare(torch, folder, name, batch, tf32) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(main())
