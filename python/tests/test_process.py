"""Ctrl-C, fork, and the end of the interpreter, in processes of their own."""
import os
import signal
import subprocess
import sys
import time

import pytest

FOREVER = """
import caffe2rt
ws = caffe2rt.Workspace()
ws["x"] = [1.0]
net = ws.net(caffe2rt.op("Copy", "x", "y"))
print("ready", flush=True)
net.run(runs=1 << 60)
"""


def start(program):
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True
    )
    assert process.stdout.readline() == "ready\n", process.stderr.read()
    return process


def test_ctrl_c_ends_a_run():
    process = start(FOREVER)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in err


def test_the_interpreter_ends_while_a_thread_runs_a_net():
    program = FOREVER.replace("net.run(runs=1 << 60)", "").replace(
        'print("ready", flush=True)',
        "import threading, time\n"
        "threading.Thread(target=lambda: net.run(runs=1 << 60), daemon=True).start()\n"
        "time.sleep(0.2)\n"
        'print("ready", flush=True)',
    )
    process = start(program)
    _, err = process.communicate(timeout=20)
    assert (process.returncode, err) == (0, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_runs_nets():
    program = """
import os
import caffe2rt
ws = caffe2rt.Workspace()
ws["x"] = [-1.0]
ws.run(caffe2rt.op("Relu", "x", "y"))
print("ready", flush=True)
pid = os.fork()
ws.run(caffe2rt.op("Negative", "x", "y"))
assert ws["y"] == [1]
if pid == 0:
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
"""
    process = start(program)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
