"""python -m caffe2rt as programs use it, statistics, observers and transforms, with the small stand-in for the front end."""
import os
import subprocess
import sys
import venv

import numpy as np
import pytest

STANDIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "standin")
sys.path.insert(0, STANDIN)
sys.dont_write_bytecode = True

import caffe2rt.frontend  # noqa: E402, F401
from caffe2.proto import caffe2_pb2  # noqa: E402
from caffe2.python import extension as C  # noqa: E402

PATH = os.pathsep.join([STANDIN] + [os.path.abspath(p) for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p])


def run(*command, **environment):
    return subprocess.run(command, env=dict(os.environ, PYTHONPATH=PATH, **environment), stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, universal_newlines=True)


def operator(kind, inputs, outputs, **arguments):
    op = caffe2_pb2.OperatorDef(type=kind, input=inputs, output=outputs)
    for name, value in arguments.items():
        op.arg.add(name=name, i=value)
    return op


def run_operator(*arguments, **more):
    C.run_operator_once(operator(*arguments, **more).SerializeToString())


@pytest.fixture(autouse=True)
def fresh_workspace():
    C.reset_workspace(None)


def test_runs_modules(tmp_path):
    package = tmp_path / "tool"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "__main__.py").write_text(
        "import sys\nfrom caffe2.python import extension\nprint(__name__, sys.argv[1:], extension.current_workspace())\n")
    done = subprocess.run([sys.executable, "-B", "-m", "caffe2rt", "-m", "tool", "-x"], cwd=str(tmp_path),
                          env=dict(os.environ, PYTHONPATH=PATH), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True)
    assert done.stdout == "__main__ ['-x'] default\n", done.stdout


@pytest.mark.parametrize("arguments", [["-m"], ["frontend"], ["frontend", "install"]])
def test_wrong_usage_prints_the_usage(arguments):
    done = run(sys.executable, "-B", "-m", "caffe2rt", *arguments)
    assert done.returncode == 2
    assert "python -m caffe2rt" in done.stdout


def test_a_script_that_fails_ends_with_its_exit_code(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nsys.exit(7)\n")
    assert run(sys.executable, "-B", "-m", "caffe2rt", str(script)).returncode == 7


def test_enable_installs_the_hook_in_every_start(tmp_path):
    """In an environment of its own: enable writes into the site-packages of the interpreter."""
    venv.create(str(tmp_path / "env"), system_site_packages=True, with_pip=False)
    python = str(tmp_path / "env" / "bin" / "python")
    # The packages of the environment that runs the tests, which the new one does not see.
    path = os.pathsep.join([PATH] + [entry for entry in sys.path if entry.endswith("site-packages")])

    def start(*arguments):
        return subprocess.run([python, "-B", *arguments], env=dict(os.environ, PYTHONPATH=path), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, universal_newlines=True)

    program = "import sys\nassert 'numpy' not in sys.modules\nfrom caffe2.python import extension\nprint('found')\n"
    assert "found" not in start("-c", program).stdout
    enabled = start("-m", "caffe2rt", "enable")
    assert enabled.returncode == 0 and "caffe2rt_frontend.pth" in enabled.stdout, enabled.stdout
    assert start("-c", program).stdout == "found\n"
    assert "removed" in start("-m", "caffe2rt", "disable").stdout
    assert "found" not in start("-c", program).stdout
    assert "is not enabled" in start("-m", "caffe2rt", "disable").stdout


def test_statistics_of_a_queue():
    run_operator("CreateBlobsQueue", [], ["programs_queue"], capacity=2, num_blobs=1)
    C.feed_blob("x", np.zeros((2, 3), np.float32))
    run_operator("EnqueueBlobs", ["programs_queue", "x"], ["x"])
    run_operator("DequeueBlobs", ["programs_queue"], ["y"])
    stats = C.get_stats()
    assert stats["programs_queue/queue_balance"] == 0
    assert stats["programs_queue/queue_dequeued_records"] == 1
    assert stats["programs_queue/queue_dequeued_bytes"] == 24
    assert stats["programs_queue/read_time_ns/count"] == 1


def test_statistics_as_tensors():
    C.feed_blob("k", np.array(["programs/a", "programs/b"], dtype=object))
    C.feed_blob("v", np.array([34, 45]))
    for _ in range(2):
        run_operator("StatRegistryUpdate", ["k", "v"], [])
    assert C.get_stats()["programs/b"] == 90
    run_operator("StatRegistryExport", [], ["keys", "values", "times"])
    values = dict(zip(C.fetch_blob("keys"), C.fetch_blob("values")))
    assert values[b"programs/a"] == 68
    assert C.get_stats()["programs/a"] == 0


def test_an_observer_counts_runs_in_the_digits_of_its_text():
    C.feed_blob("x", np.zeros(2, np.float32))
    net = caffe2_pb2.NetDef(name="net_7", op=[operator("Relu", ["x"], ["y"]), operator("Relu", ["y"], ["z"])])
    C.create_net(net.SerializeToString())
    observer = C.add_observer_to_net("net_7", "RunCountObserver")
    C.run_net("net_7", 3, False)
    assert int("".join(c for c in observer.debug_info() if c.isdigit())) == 6


def conv_relu():
    conv = operator("Conv", ["x", "w", "b"], ["y"], kernel=1)
    return caffe2_pb2.NetDef(name="n", op=[conv, operator("Relu", ["y"], ["z"])], external_input=["x", "w", "b"],
                             external_output=["z"])


@pytest.mark.parametrize("name", ["ConvToNNPack", "AddNNPACK"])
def test_transforms_by_name(name):
    net = caffe2_pb2.NetDef.FromString(C.apply_transform(name, conv_relu().SerializeToString()))
    assert [op.engine for op in net.op] == ["NNPACK", ""]
    assert C.transform_exists(name)


def test_transform_fuses_a_convolution_with_its_relu():
    marked = C.transform_addNNPACK(conv_relu().SerializeToString())
    net = caffe2_pb2.NetDef.FromString(C.transform_fuseNNPACKConvRelu(marked))
    assert [(op.type, list(op.output)) for op in net.op] == [("ConvFusion", ["z"])]


def test_transform_folds_a_batch_norm_whose_weights_are_in_the_workspace():
    random = np.random.RandomState(0)
    for name, array in {"x": random.rand(1, 2, 3, 3), "w": random.rand(2, 2, 1, 1), "b": random.rand(2),
                        "scale": random.rand(2), "bias": random.rand(2), "mean": random.rand(2),
                        "var": 1 + random.rand(2)}.items():
        C.feed_blob(name, array.astype(np.float32))
    norm = operator("SpatialBN", ["y", "scale", "bias", "mean", "var"], ["z"], is_test=1)
    net = caffe2_pb2.NetDef(name="n", op=[conv_relu().op[0], norm], external_output=["z"])
    C.run_net_once(net.SerializeToString())
    want = C.fetch_blob("z")
    assert C.workspace_transform_exists("FuseConvBN")
    fused = caffe2_pb2.NetDef.FromString(C.run_workspace_transform("FuseConvBN", net.SerializeToString()))
    assert "SpatialBN" not in [op.type for op in fused.op]
    C.run_net_once(fused.SerializeToString())
    np.testing.assert_allclose(C.fetch_blob("z"), want, rtol=1e-5)


def test_an_unknown_transform_is_an_error():
    assert not C.transform_exists("Unknown")
    with pytest.raises(RuntimeError, match='Transform "Unknown" is not known'):
        C.apply_transform("Unknown", conv_relu().SerializeToString())


def test_dummy_names_skip_those_that_are_used():
    names = C.DummyName()
    names.reset({"OC2_DUMMY_1", b"other"})
    assert [names.new_dummy_name() for _ in range(3)] == ["OC2_DUMMY_0", "OC2_DUMMY_2", "OC2_DUMMY_3"]
    names.reset(set())
    assert names.new_dummy_name() == "OC2_DUMMY_0"


def test_facts_about_a_process():
    assert C.get_cuda_version() >= 0 and C.get_cudnn_version() >= 0
    assert isinstance(C.get_build_options(), dict)
    if C.num_cuda_devices() == 0:
        with pytest.raises(RuntimeError, match="CUDA device 0 does not exist"):
            C.get_device_properties(0)


FORK = """
import os, sys
import numpy as np
from caffe2.python import extension as C
from caffe2.proto import caffe2_pb2
C.feed_blob("x", np.float32([-1, 2]))
token = C.register_python_op(lambda inputs, outputs: outputs[0].feed(inputs[0].data * 3), False, "")
op = caffe2_pb2.OperatorDef(type="Python", input=["x"], output=["y"])
op.arg.add(name="token", s=token.encode())
C.run_operator_once(op.SerializeToString())
pid = os.fork()
C.run_operator_once(op.SerializeToString())
assert list(C.fetch_blob("y")) == [-3, 6]
if pid == 0:
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
print("both")
"""

EXIT = """
import threading, time
from caffe2.python import extension as C
from caffe2.proto import caffe2_pb2
started = threading.Event()
def wait(inputs, outputs):
    started.set()
    time.sleep(0.01)
token = C.register_python_op(wait, False, "")
op = caffe2_pb2.OperatorDef(type="Python", output=["y"])
op.arg.add(name="token", s=token.encode())
C.create_net(caffe2_pb2.NetDef(name="n", op=[op]).SerializeToString())
threading.Thread(target=lambda: C.run_net("n", 1 << 30, False), daemon=True).start()
started.wait()
print("exits")
"""


@pytest.mark.parametrize("program, text", [(FORK, "both\n"), (EXIT, "exits\n")], ids=["fork", "exit"])
def test_processes(tmp_path, program, text):
    script = tmp_path / "program.py"
    script.write_text(program)
    done = subprocess.run([sys.executable, "-B", "-m", "caffe2rt", str(script)], env=dict(os.environ, PYTHONPATH=PATH),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=60)
    assert (done.stdout, done.returncode) == (text, 0), done.stderr


MEMORY = """
import gc, os, sys
import numpy as np
from caffe2.python import extension as C
from caffe2.proto import caffe2_pb2

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

token = C.register_python_op(lambda inputs, outputs: outputs[0].feed(inputs[0].data), False, "")
python = caffe2_pb2.OperatorDef(type="Python", input=["x"], output=["y"])
python.arg.add(name="token", s=token.encode())
fails = caffe2_pb2.OperatorDef(type="Reshape", input=["x"], output=["z", "old"])
fails.arg.add(name="shape", ints=[7])
python, fails = python.SerializeToString(), fails.SerializeToString()
x = np.ones(1000, np.float32)

def work(count):
    for _ in range(count):
        C.feed_blob("x", x)
        C.fetch_blob("x")
        C.run_operator_once(python)
        try:
            C.run_operator_once(fails)
        except RuntimeError:
            pass
        else:
            sys.exit("Reshape to a wrong size did not fail")

count = int(sys.argv[1])
work(count // 4)
gc.collect()
before = resident()
work(count)
gc.collect()
print(resident() - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="resident memory is read from /proc")
def test_memory_stays_flat(tmp_path):
    """If each of 4000 turns kept its array of 4 KB, that would be 16 MB."""
    script = tmp_path / "program.py"
    script.write_text(MEMORY)
    done = run(sys.executable, "-B", "-m", "caffe2rt", str(script), "4000")
    assert done.returncode == 0, done.stdout
    assert int(done.stdout.splitlines()[-1]) < 4 << 20, done.stdout
