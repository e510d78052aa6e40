"""Kills ranks of `caffe2 train --ranks` at random moments, and checks what is left.

  python3 kill_ranks.py PROGRAM DEFINITION DATABASE FOLDER [KILLS] [RANKS] [SIGNAL] [EPOCHS]

For each kill: the launcher ends with 1 in time; no file is half-written; two runs that go on from the last
checkpoint, one of them on a rank less, end; and two on the same number of ranks leave the same bytes. Not
part of the tests, which kill at a few moments.
"""
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time


def ranks_of(pid):
    out = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True).stdout
    found = {}
    for line in out.splitlines():
        words = line.split()
        if "--rank" in words:
            found[int(words[words.index("--rank") + 1])] = int(words[0])
    return found


def train(*args):
    return subprocess.run([program, "train", *args], capture_output=True, text=True, timeout=120)


def text_of(path):
    if not os.path.exists(path):
        return ""
    with open(path) as file:
        return file.read()


def end_soon(run):
    """Lets the run end at most three epochs behind its last checkpoint: a few steps are enough."""
    done = max([0] + [int(epoch) for epoch in re.findall(r'"epoch":([0-9]+)', text_of(run + "/log.jsonl"))])
    definition = text_of(run + "/run.pbtxt").replace("epochs: " + epochs, "epochs: %d" % (done + 3))
    with open(run + "/run.pbtxt", "w") as file:
        file.write(definition)


program, definition, data, folder = sys.argv[1:5]
kills = int(sys.argv[5]) if len(sys.argv) > 5 else 50
size = int(sys.argv[6]) if len(sys.argv) > 6 else 3
number = getattr(signal, sys.argv[7]) if len(sys.argv) > 7 else signal.SIGKILL
epochs = sys.argv[8] if len(sys.argv) > 8 else "400"
random.seed(5)
faults, longest, saved, late = 0, 0, 0, 0
for kill in range(kills):
    run = os.path.join(folder, "run")
    for old in glob.glob(run + "*"):
        shutil.rmtree(old)
    job = subprocess.Popen([program, "train", definition, "--data", data, "--test", data, "--epochs", epochs,
                            "--output", run, "--ranks", str(size), "--timeout", "4", "--checkpoint-every", "7"],
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    victim = random.randrange(size)
    pids = {}
    while job.poll() is None and victim not in pids:
        pids = ranks_of(job.pid)
    moment = random.choice([0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8]) * random.random()
    time.sleep(moment)
    try:
        os.kill(pids[victim], number)
    except (KeyError, ProcessLookupError):
        late += 1
        job.communicate()
        continue
    begin = time.time()
    try:
        if number == signal.SIGSTOP:
            time.sleep(6)
            os.kill(pids[victim], signal.SIGCONT)
        out, err = job.communicate(timeout=90)
    except subprocess.TimeoutExpired:
        print("kill", kill, "HANGS, victim", victim)
        job.kill()
        faults += 1
        continue
    seconds = time.time() - begin
    longest = max(longest, seconds)
    what = []
    if number == signal.SIGKILL and seconds > 2:
        what.append("ended after %.2f s: %s" % (seconds, err))
    if job.returncode != 1:
        what.append("exit code %d" % job.returncode)
    for other in range(size):
        if other == victim:
            continue
        lines = [line for line in err.splitlines() if line.startswith("[%d]" % other)]
        if not any("%d" % victim in line and ("lost" in line or "did not" in line or "ended" in line) for line in lines):
            what.append("rank %d says %r" % (other, lines))
    if "ended by signal 6" in err or "ended by signal 11" in err:
        what.append("a rank crashed")
    if os.path.exists(run + "/run.pbtxt"):
        saved += "the state after step" in err
        copies = []
        for i, ranks in enumerate([size, size, size - 1]):
            copy = run + "_%d" % i
            shutil.copytree(run, copy)
            end_soon(copy)
            more = train("--resume", copy, "--ranks", str(ranks)) if ranks > 1 else train("--resume", copy)
            if more.returncode != 0:
                what.append("resume on %d ranks: %s" % (ranks, more.stderr))
            elif i < 2:
                copies.append(open(copy + "/model.minidb", "rb").read())
        if len(copies) == 2 and copies[0] != copies[1]:
            what.append("two resumed runs differ")
    if what:
        faults += 1
        print("kill", kill, "victim", victim, "after %.3f s" % moment, what, flush=True)
print("kills %d, too late %d, faults %d, a survivor saved %d, longest end %.2f s" % (kills, late, faults, saved, longest))
