"""Times training steps on one rank and on two, in turns.

  python3 compare_ranks.py PROGRAM DATABASE [ROUNDS]

PROGRAM is `caffe2`, DATABASE one of `caffe2 db make mnist` (12,800 records will do). Trains LeNet for one epoch: on one
rank, 64 records a step on one thread, and with --ranks 2, 32 records each. The bound is what two trainings with 32 records
a step reach beside each other that do not communicate: what the two CPUs can do at most. Needs two idle CPUs.
"""
import json
import os
import subprocess
import sys
import tempfile

NET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../binaries/demo/lenet.pbtxt")


def start(folder, *options):
    return subprocess.Popen([program, "train", NET, "--data", data, "--epochs", "1", "--output", folder, *options],
                            stdout=subprocess.DEVNULL)


def speed(folder, process):
    if process.wait() != 0:
        sys.exit("the training failed")
    lines = [json.loads(line) for line in open(os.path.join(folder, "log.jsonl"))]
    return [line["images_per_second"] for line in lines if "images_per_second" in line][-1]


program, data = sys.argv[1:3]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
ratios, bounds = [], []
for number in range(rounds):
    with tempfile.TemporaryDirectory() as top:
        folders = [os.path.join(top, name) for name in "abcd"]
        one = speed(folders[0], start(folders[0]))
        two = speed(folders[1], start(folders[1], "--ranks", "2"))
        # A lower rate: half the batch diverges with that of the whole one.
        halves = [start(folder, "--batch-size", "32", "--rate", "0.02") for folder in folders[2:]]
        bound = sum(speed(folder, process) for folder, process in zip(folders[2:], halves))
    ratios.append(one / two)
    bounds.append(one / bound)
    print("one rank %d images/s, two ranks %d, two without communication %d: a step takes %.3f of one rank's, bound %.3f"
          % (one, two, bound, ratios[-1], bounds[-1]), flush=True)
print("median %.3f, best %.3f, bound %.3f" % (sorted(ratios)[rounds // 2], min(ratios), sorted(bounds)[rounds // 2]))
