"""Times the calls of CASES.tsv, the gradient operators of gradient_cases.py, the recurrent nets of recurrent_cases.py, the
operators of detection_cases.py and the look-ups of sparse_cases.py, with the original Caffe2 (in this process) and with this project's program, in turns.

compare_with_original.sh installs the original and calls this. Every round times each call with both; the time of a call is the
median over the rounds. The original runs on its default engine: engines and devices that a net names are removed.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
from caffe2.proto import caffe2_pb2
from caffe2.python import core, workspace
from google.protobuf import text_format

from detection_cases import detection_cases
from gradient_cases import gradient_cases
from recurrent_cases import recurrent_cases
from sparse_cases import sparse_cases

BATCH_SECONDS = 0.05
BATCHES = 7


def split_outputs(text):
    """Splits at commas outside brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += {"[": 1, "]": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def read_cases(models):
    with open(os.path.join(models, "CASES.tsv")) as lines:
        next(lines)
        for line in lines:
            model, init, predict, inputs, _, _ = line.rstrip("\n").split("\t")
            folder = os.path.join(models, model)
            pairs = [item.rsplit("=", 1) for item in split_outputs(inputs)]
            yield {
                "name": model + "/" + os.path.splitext(predict)[0],
                "folder": folder,
                "init": os.path.join(folder, init),
                "predict": os.path.join(folder, predict),
                "inputs": {blob: os.path.join(folder, path) for blob, path in pairs},
            }


def read_net(path):
    net = caffe2_pb2.NetDef()
    with open(path, "rb") as file:
        content = file.read()
    try:
        net.ParseFromString(content)
    except Exception:  # not binary, so text
        net.Clear()
        text_format.Merge(content.decode().replace("cuda_gpu_id", "device_id"), net)
    for op in net.op:
        op.ClearField("device_option")
        op.ClearField("engine")
    net.ClearField("device_option")
    return net


def load_parameters(op, case, program):
    """Feeds the outputs of a Load. The original's wheel cannot read LMDB, so this project's program reads them."""
    with tempfile.TemporaryDirectory() as out:
        command = [program, "run", "--predict-net", case["init"], "--root", case["folder"], "--output", out]
        for blob in op.output:
            command += ["--fetch", blob]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for blob in op.output:
            name = "".join(c if c.isalnum() and c.isascii() or c in "._-" else "_" for c in blob)
            workspace.FeedBlob(blob, np.load(os.path.join(out, name + ".npy")))


class Original:
    """One case, in its own workspace."""

    def __init__(self, case, program):
        self.case = case
        workspace.SwitchWorkspace(case["name"], True)
        for op in read_net(case["init"]).op if case["init"] else []:
            if op.type == "Load":
                load_parameters(op, case, program)
            else:
                workspace.RunOperatorOnce(op)
        for blob, path in case["inputs"].items():
            workspace.FeedBlob(blob, np.load(path))
        net = read_net(case["predict"])
        net.name = net.name or "predict"
        net.type = "simple"
        workspace.CreateNet(net, overwrite=True)
        self.net = net.name

    def median_ms(self):
        workspace.SwitchWorkspace(self.case["name"])
        start = time.perf_counter()
        workspace.RunNet(self.net, 1)
        workspace.RunNet(self.net, 1)
        once = (time.perf_counter() - start) / 2
        count = max(1, int(BATCH_SECONDS / max(once, 1e-6)))
        times = []
        for _ in range(BATCHES):
            start = time.perf_counter()
            workspace.RunNet(self.net, count)
            times.append((time.perf_counter() - start) / count)
        return statistics.median(times) * 1e3


def ours_median_ms(case, program, original_ms):
    """Times the program for about as long as the original."""
    iterations = max(20, min(5000, int(BATCHES * BATCH_SECONDS * 1e3 / original_ms)))
    command = [program, "bench", "--json", "--threads", "1", "--iterations", str(iterations), "--root", case["folder"],
               "--predict-net", case["predict"]]
    if case["init"]:
        command += ["--init-net", case["init"]]
    for blob, path in case["inputs"].items():
        command += ["--input", "%s=%s" % (blob, path)]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(result.stdout.decode())["median_ms"]


def compare(cases, program, rounds):
    """Prints a table of the cases and returns its rows and the geometric mean of the ratios."""
    originals = [Original(case, program) for case in cases]
    times = [([], []) for _ in cases]
    for number in range(rounds):
        for original, (theirs, ours) in zip(originals, times):
            theirs.append(original.median_ms())
            ours.append(ours_median_ms(original.case, program, theirs[-1]))
        if sys.stderr.isatty():
            sys.stderr.write("\rround %d of %d" % (number + 1, rounds))
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")

    table = []
    print("%-62s %12s %12s %8s" % ("call", "original ms", "ours ms", "ratio"))
    for case, (theirs, ours) in zip(cases, times):
        row = {"call": case["name"], "original_ms": statistics.median(theirs), "ours_ms": statistics.median(ours)}
        row["ratio"] = row["ours_ms"] / row["original_ms"]
        table.append(row)
        print("%-62s %12.4f %12.4f %8.3f" % (row["call"], row["original_ms"], row["ours_ms"], row["ratio"]))
    mean = math.exp(sum(math.log(row["ratio"]) for row in table) / len(table))
    print("geometric mean of the ratios: %.3f, largest %.3f (one thread, medians of %d rounds in turns)"
          % (mean, max(row["ratio"] for row in table), rounds))
    return table, mean


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--models", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--case", default="", help="only calls and gradients whose name contains this text")
    parser.add_argument("--json", help="also write the tables to this file")
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    workspace.GlobalInit(["caffe2", "--caffe2_log_level=2"])
    result = {"rounds": args.rounds}
    with tempfile.TemporaryDirectory() as folder:
        for kind, cases in (("calls", read_cases(os.path.abspath(args.models))), ("gradients", gradient_cases(folder)),
                            ("recurrent", recurrent_cases(folder)), ("detection", detection_cases(folder)),
                            ("sparse", sparse_cases(folder))):
            chosen = [case for case in cases if args.case in case["name"]]
            if chosen:
                table, mean = compare(chosen, program, args.rounds)
                result[kind] = table
                result["geometric_mean" if kind == "calls" else kind + "_geometric_mean"] = mean
    if args.json:
        with open(args.json, "w") as file:
            json.dump(result, file, indent=1)


if __name__ == "__main__":
    main()
