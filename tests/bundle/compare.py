#!/usr/bin/env python3
"""Times the nets of nets.py with this project and with PyTorch (eager, and replay of a CUDA graph).

usage: compare.py --precision fp32|tf32 --arm heuristics|search [--alone] [--quick]
       compare.py --check      times PyTorch's allocator, to see that PyTorch runs on the device

Both sides use the same precision. In the arm "heuristics", both choose convolution algorithms by heuristics; in the arm "search",
both time the algorithms (exhaustive_search of this project, cudnn.benchmark of PyTorch). Rounds are interleaved; each number is the
median of their medians, in ms per run. Prints a line of JSON for each net; a failure is its member "error". --alone: without PyTorch. --quick: one small net, one round.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import nets

ROOT = os.path.dirname(os.path.abspath(__file__))
COMMAND_LIMIT = 300  # seconds for a run of `caffe2 bench`


class Failed(Exception):
    pass


def time_caffe2rt(name, batch, options, graph, iterations):
    """Returns the median and the engines that ran, by operator type."""
    predict = f"{name}_search_predict" if options.arm == "search" else f"{name}_predict"
    command = [f"{ROOT}/bin/caffe2", "bench", "--device", "cuda", "--json", "--iterations", str(iterations),
               "--init-net", f"{ROOT}/data/{name}_{batch}_init.pbtxt", "--predict-net", f"{ROOT}/data/{predict}.pbtxt",
               f"--caffe2_allow_tf32={'true' if options.precision == 'tf32' else 'false'}"]
    if graph:
        command.append("--cuda-graph")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_LIMIT, check=False)
    except subprocess.TimeoutExpired as error:
        raise Failed(f"caffe2 bench did not end within {COMMAND_LIMIT} s") from error
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    report = json.loads(done.stdout)
    engines = {}
    for op in report["operators"]:
        if "engine" in op:
            engines.setdefault(op["type"], set()).add(op["engine"])
    return report["median_ms"], engines


class Peer:
    """A PyTorch net on the device."""

    def __init__(self, torch, name, batch, options, channels_last):
        self.torch = torch
        tf32 = options.precision == "tf32"
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32
        torch.backends.cudnn.benchmark = options.arm == "search"
        form = torch.channels_last if channels_last else torch.contiguous_format
        size = nets.SIZES[name]
        self.net = nets.torch_net(name).cuda().eval().to(memory_format=form)
        self.data = torch.rand(batch, 3, size, size, device="cuda").to(memory_format=form)

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

    def time(self, run, iterations):
        for _ in range(5):
            run()
        self.torch.cuda.synchronize()
        times = []
        for _ in range(iterations):
            start = time.perf_counter()
            run()
            self.torch.cuda.synchronize()
            times.append(1000 * (time.perf_counter() - start))
        return statistics.median(times)


def compare(torch, name, batch, options):
    rounds, iterations = (1, 2) if options.quick else (3, 20)
    cells, engines, peers = {"caffe2rt": [], "caffe2rt, graph": []}, {}, {}
    if torch is not None:
        for form in (False, True):
            peer = Peer(torch, name, batch, options, form)
            suffix = ", channels_last" if form else ""
            peers["torch" + suffix] = (peer, peer.run)
            peers["torch, graph" + suffix] = (peer, peer.record())
    for _ in range(rounds):
        for graph in (False, True):
            ms, ran = time_caffe2rt(name, batch, options, graph, iterations)
            cells["caffe2rt, graph" if graph else "caffe2rt"].append(ms)
            for kind, names in ran.items():
                engines.setdefault(kind, set()).update(names)
        for label, (peer, run) in peers.items():
            cells.setdefault(label, []).append(peer.time(run, iterations))
    return {"ms": {label: statistics.median(times) for label, times in cells.items()},
            "engines": {kind: sorted(names) for kind, names in engines.items()}}


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
    return f"torch {torch.__version__}, {torch.cuda.get_device_name(0)}, {pair:.0f} ns per allocation and free from Python"


def import_torch():
    import torch
    if not torch.cuda.is_available():
        sys.exit("compare.py: PyTorch finds no device")
    return torch


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--precision", choices=("fp32", "tf32"), default="fp32")
    parser.add_argument("--arm", choices=("heuristics", "search"), default="heuristics")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        print(torch_allocator(import_torch()))
        return 0
    torch = None if options.alone else import_torch()
    names = ("tiny",) if options.quick else ("squeezenet", "resnet50")
    for name in names:
        for batch in (nets.BATCHES[:1] if options.quick else nets.BATCHES):
            line = {"net": name, "batch": batch, "precision": options.precision, "arm": options.arm}
            try:
                line.update(compare(torch, name, batch, options))
            except (Failed, RuntimeError) as error:  # RuntimeError: PyTorch, e.g. out of memory
                line["error"] = str(error)
            print(json.dumps(line), flush=True)
    return 0


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
