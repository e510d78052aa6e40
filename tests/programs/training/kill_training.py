"""Kills `caffe2 train` at random moments, goes on, and compares the weights with those of an uninterrupted run.

  python3 kill_training.py PROGRAM FOLDER [KILLS] [SEED]

A net with 3 x 3 convolutions and dropout is trained with --shuffle on an LMDB, a LevelDB and a MiniDB, in turns on one
thread and on two; the threads change when a run goes on. Each database has at least KILLS kills (20). Ends with 1 if the
bytes of model.minidb differ. Not part of the tests, which kill once. Needs numpy.
"""
import os
import random
import shutil
import subprocess
import sys
import time

import numpy

DEFINITION = """
name: "killed"
input { batch_size: 16 }
net {
  op { type: "Conv" input: ["data", "w1"] output: "c1" arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 } }
  op { type: "Relu" input: "c1" output: "c1" }
  op { type: "Conv" input: ["c1", "w2"] output: "c2" arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 } }
  op { type: "Relu" input: "c2" output: "c2" }
  op { type: "AveragePool" input: "c2" output: "mean" arg { name: "global_pooling" i: 1 } }
  op { type: "Dropout" input: "mean" output: ["drop", "mask"] arg { name: "ratio" f: 0.3 } }
  op { type: "FC" input: ["drop", "w3", "b3"] output: "pred" }
  op { type: "SoftmaxWithLoss" input: ["pred", "label"] output: ["softmax", "loss"] }
}
param { name: "w1" dims: [16, 3, 3, 3] fill: "MSRAFill" }
param { name: "w2" dims: [16, 16, 3, 3] fill: "MSRAFill" }
param { name: "w3" dims: [4, 16] fill: "XavierFill" }
param { name: "b3" dims: 4 }
loss: "loss"
optimizer { rate: 0.05 momentum: 0.9 }
"""


def model_of(folder):
    with open(os.path.join(folder, "model.minidb"), "rb") as file:
        return file.read()


def has_checkpoint(folder):
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return "run.pbtxt" in names and any(name.startswith("checkpoint") for name in names)


def run_with_kills(command, folder, seconds, moments):
    """Returns the number of kills. The last start is not killed."""
    shutil.rmtree(folder, ignore_errors=True)
    kills = 0
    for attempt in range(5):
        threads = ["--threads", str(1 + moments.randrange(2))]
        if has_checkpoint(folder):
            started = [program, "train", "--resume", folder] + threads
        else:
            shutil.rmtree(folder, ignore_errors=True)
            started = command + ["--output", folder] + threads
        process = subprocess.Popen(started, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if attempt < 4:
            time.sleep(moments.uniform(0.02, 0.8 * seconds))
            if process.poll() is None:
                process.kill()
                kills += 1
        errors = process.communicate()[1].decode()
        if process.returncode == 0:
            return kills
        if process.returncode != -9:
            sys.exit(f"{' '.join(started)} ended with {process.returncode}: {errors}")
    sys.exit("the last run was killed")


program, place = os.path.abspath(sys.argv[1]), sys.argv[2]
wanted = int(sys.argv[3]) if len(sys.argv) > 3 else 20
moments = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
os.makedirs(place, exist_ok=True)
os.chdir(place)
values = numpy.random.RandomState(1)
numpy.save("x.npy", values.randn(1600, 3, 12, 12).astype(numpy.float32))
numpy.save("y.npy", values.randint(0, 4, 1600).astype(numpy.int32))
with open("net.pbtxt", "w") as file:
    file.write(DEFINITION)
failed = False
for kind in ("lmdb", "leveldb", "minidb"):
    database = "train." + kind
    if not os.path.exists(database):
        subprocess.run([program, "db", "make", "arrays", "x.npy", "y.npy", "--output", database], check=True,
                       stdout=subprocess.DEVNULL)
    command = [program, "train", "net.pbtxt", "--data", database, "--epochs", "6", "--seed", "5", "--shuffle",
               "--checkpoint-every", "20"]
    shutil.rmtree("whole", ignore_errors=True)
    start = time.time()
    subprocess.run(command + ["--output", "whole"], check=True, stdout=subprocess.DEVNULL)
    seconds = time.time() - start
    kills = runs = equal = 0
    while kills < wanted:
        kills += run_with_kills(command, "killed", seconds, moments)
        runs += 1
        equal += model_of("killed") == model_of("whole")
    failed = failed or equal != runs
    print(f"{kind}: {kills} kills in {runs} runs of {seconds:.1f} s, {equal} with the bytes of the whole run", flush=True)
sys.exit(1 if failed else 0)
