"""The import hook and the names that it serves, with a small package in place of Caffe2's front end."""
import os
import subprocess
import sys
import threading
import zipfile

import numpy as np
import pytest

STANDIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "standin")
sys.path.insert(0, STANDIN)
sys.dont_write_bytecode = True

import caffe2rt.frontend  # noqa: E402
from caffe2.proto import caffe2_pb2  # noqa: E402
from caffe2.python import extension as C  # noqa: E402


def operator(kind, inputs, outputs, **arguments):
    op = caffe2_pb2.OperatorDef(type=kind, input=inputs, output=outputs)
    for name, value in arguments.items():
        argument = op.arg.add(name=name)
        if isinstance(value, str):
            argument.s = value.encode()
        elif isinstance(value, int):
            argument.i = value
        else:
            argument.ints.extend(value)
    return op


@pytest.fixture(autouse=True)
def fresh_workspace():
    C.reset_workspace(None)


def test_serves_one_module_under_both_names():
    import caffe2.python.caffe2_pybind11_state as cpu
    import caffe2.python.caffe2_pybind11_state_gpu as gpu
    assert cpu is gpu
    assert "torch" not in sys.modules


def test_builds_messages_that_the_front_end_lacks():
    from caffe2.proto import hsm_pb2, metanet_pb2
    assert caffe2_pb2.NetDef.DESCRIPTOR.full_name == "caffe2.NetDef"
    assert metanet_pb2.MetaNetDef().modelInfo.predictorType == "SINGLE_PREDICTOR"
    assert caffe2_pb2.TensorProto.FLOAT == 1
    assert hsm_pb2.TreeProto(root_node={"word_ids": [3]}).SerializeToString() == b"\n\x02\x10\x03"


def test_rewrites_names_that_were_removed():
    from caffe2.python import old_names
    assert old_names.strings.dtype == object
    assert old_names.number == 2.5
    assert old_names.kinds == [bool, int, float]
    assert old_names.untouched == "not numpy's"
    assert old_names.signature(lambda a, b, **rest: 0) == (["a", "b"], "rest")


def test_bools_are_arguments():
    from caffe2.python import utils
    assert utils.MakeArgument("flag", True).i == 1
    assert list(utils.MakeArgument("flags", [False, True]).ints) == [0, 1]


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "float16", "float32",
                                   "float64"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_feeds_and_fetches(dtype, shape):
    array = np.ones(shape, dtype)
    assert C.feed_blob(b"x", array)
    fetched = C.fetch_blob("x")
    assert fetched.dtype == array.dtype and fetched.shape == shape
    np.testing.assert_array_equal(fetched, array)


def test_feeds_arrays_in_other_orders():
    array = np.arange(6, dtype=">i4").reshape(2, 3).T
    C.feed_blob("x", array)
    np.testing.assert_array_equal(C.fetch_blob("x"), [[0, 3], [1, 4], [2, 5]])


def test_feeds_strings():
    C.feed_blob("x", np.array(["a", b"\xff"], dtype=object))
    assert list(C.fetch_blob("x")) == [b"a", b"\xff"]
    C.feed_blob("s", "text")
    assert C.fetch_blob("s") == b"text"


def test_rejects_what_cannot_be_fed():
    with pytest.raises(RuntimeError, match="numpy array is not supported: uint32"):
        C.feed_blob("x", np.ones(1, np.uint32))
    with pytest.raises(RuntimeError, match="only numpy array or string are supported"):
        C.feed_blob("x", 3)
    with pytest.raises(RuntimeError, match="only numpy array or string are supported for feeding; got NoneType"):
        C.feed_blob("x", None)
    with pytest.raises(RuntimeError, match="Can't find blob: missing"):
        C.fetch_blob("missing")


def test_views_share_memory_and_outlive_the_blob():
    C.feed_blob("x", np.zeros(2, np.float32))
    view = C.Workspace.current.blobs["x"].tensor().data
    view[:] = 5
    np.testing.assert_array_equal(C.fetch_blob("x"), [5, 5])
    C.reset_workspace(None)
    np.testing.assert_array_equal(view, [5, 5])


def test_runs_nets():
    C.feed_blob("x", np.float32([-1, 2]))
    net = caffe2_pb2.NetDef(name="n", op=[operator("Relu", ["x"], ["y"])])
    assert C.create_net(net.SerializeToString())
    assert C.run_net("n", 1, False)
    np.testing.assert_array_equal(C.fetch_blob("y"), [0, 2])
    with pytest.raises(RuntimeError, match="overwrite"):
        C.create_net(net.SerializeToString())


def test_switches_workspaces():
    C.feed_blob("x", np.zeros(1))
    C.switch_workspace("other", True)
    assert not C.has_blob("x")
    C.switch_workspace("default")
    assert C.has_blob("x")
    with pytest.raises(RuntimeError, match="does not exist"):
        C.switch_workspace("absent")


class OwnError(Exception):
    pass


def python_operator(function, inputs, outputs, gradient=None):
    token = C.register_python_op(function, False, "")
    if gradient is not None:
        C.register_python_gradient_op(token, gradient)
    return operator("Python", inputs, outputs, token=token)


def test_python_operators_raise_their_own_exceptions():
    def fail(inputs, outputs):
        raise OwnError("intended")

    net = caffe2_pb2.NetDef(name="n", type="dag", num_workers=2, op=[python_operator(fail, [], ["y"])])
    with pytest.raises(OwnError, match="intended"):
        C.run_net_once(net.SerializeToString())


def test_python_operators_have_gradients():
    def square(inputs, outputs):
        outputs[0].feed(inputs[0].data ** 2)

    def gradient(inputs, outputs):
        x, _, dy = inputs
        outputs[0].feed(2 * x.data * dy.data)

    op = python_operator(square, ["x"], ["y"], gradient)
    wrapper = C.GradientWrapper()
    wrapper.dense = "dy"
    defs, gradients = C.get_gradient_defs(op.SerializeToString(), [wrapper])
    C.feed_blob("x", np.float32([3]))
    C.feed_blob("dy", np.float32([10]))
    C.run_operator_once(op.SerializeToString())
    C.run_operator_once(defs[0])
    assert C.fetch_blob(gradients[0].dense) == [60]


@pytest.mark.parametrize("indices, want", [
    ({}, (["x0", "x1", "y0", "y1", "dy0", "dy1"], ["x0_grad", "x1_grad"])),
    ({"grad_output_indices": [], "grad_input_indices": []},  # what the front end writes for all
     (["x0", "x1", "y0", "y1", "dy0", "dy1"], ["x0_grad", "x1_grad"])),
    ({"grad_output_indices": [1], "grad_input_indices": []}, (["x0", "x1", "y0", "y1", "dy1"], ["x0_grad", "x1_grad"])),
    ({"grad_output_indices": [], "grad_input_indices": [1]}, (["x0", "x1", "y0", "y1", "dy0", "dy1"], ["x1_grad"])),
])
def test_gradients_of_python_operators_are_those_of_the_indices(indices, want):
    op = operator("Python", ["x0", "x1"], ["y0", "y1"], token="any", **indices)
    wrappers = [C.GradientWrapper(), C.GradientWrapper()]
    wrappers[0].dense, wrappers[1].dense = "dy0", "dy1"
    defs, _ = C.get_gradient_defs(op.SerializeToString(), wrappers)
    gradient = caffe2_pb2.OperatorDef.FromString(defs[0])
    assert (list(gradient.input), list(gradient.output)) == want


def test_python_operators_run_beside_python():
    """A run does not hold the interpreter's lock: each of two operators waits for the other thread."""
    barrier = threading.Barrier(2, timeout=30)
    op = python_operator(lambda inputs, outputs: barrier.wait(), [], ["y"]).SerializeToString()
    threads = [threading.Thread(target=C.run_operator_once, args=(op,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not barrier.broken


def test_memonger_shares_blobs_that_are_not_used_together():
    names = ["x", "a", "b", "c", "y"]
    net = caffe2_pb2.NetDef(external_input=["x"], external_output=["y"])
    net.op.extend(operator("Relu", [i], [o]) for i, o in zip(names, names[1:]))
    optimized = caffe2_pb2.NetDef.FromString(C.memonger_optimize_inference_net(net.SerializeToString(), []))
    outputs = [op.output[0] for op in optimized.op]
    assert outputs[0] == outputs[2] != outputs[1] and outputs[3] == "y"


def test_databases(tmp_path):
    path = str(tmp_path / "db")
    db = C.create_db("minidb", path, C.Mode.new)
    transaction = db.new_transaction()
    transaction.put("key", b"\xff")
    del transaction, db
    cursor = C.create_db("minidb", path, C.Mode.read).new_cursor()
    assert (cursor.key(), cursor.value()) == (b"key", b"\xff")


def run_python(*arguments, **environment):
    return subprocess.run([sys.executable, "-B", "-m", "caffe2rt", *arguments], env=dict(os.environ, **environment),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)


def test_runs_scripts(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys\nfrom caffe2.python import extension\nprint(sys.argv[1:], extension.current_workspace())\n")
    path = os.pathsep.join([STANDIN, os.environ.get("PYTHONPATH", "")])
    done = run_python(str(script), "a", "-b", PYTHONPATH=path)
    assert done.stdout == "['a', '-b'] default\n", done.stdout


def test_installs_a_front_end(tmp_path, monkeypatch):
    wheel = str(tmp_path / "torch.whl")
    with zipfile.ZipFile(wheel, "w") as files:
        files.writestr("caffe2/__init__.py", "")
        files.writestr("caffe2/python/__init__.py", "")
        files.writestr("caffe2/python/workspace.py", "from caffe2.python.caffe2_pybind11_state import root_folder\n")
        files.writestr("caffe2/python/caffe2_pybind11_state.so", "not wanted")
        files.writestr("torch/__init__.py", "not wanted")
    target = str(tmp_path / "installed")
    done = run_python("frontend", "install", wheel, CAFFE2RT_FRONTEND=target)
    assert done.returncode == 0 and "unpacked 3 files" in done.stdout, done.stdout
    assert not os.path.exists(os.path.join(target, "torch"))
    monkeypatch.setenv("CAFFE2RT_FRONTEND", target)
    monkeypatch.setattr(sys, "path", [])  # no other front end can be found
    spec = caffe2rt.frontend.FrontendFinder().find_spec("caffe2")
    assert list(spec.submodule_search_locations) == [os.path.join(target, "caffe2")]
    monkeypatch.undo()
    done = run_python("frontend", "install", str(tmp_path / "absent.whl"), CAFFE2RT_FRONTEND=target)
    assert done.returncode == 1 and "cannot install the front end" in done.stdout


@pytest.mark.parametrize("seconds", [0, 0.2])
def test_cancel_ends_a_net_that_waits_at_a_queue(seconds):
    ws = C.Workspace()
    queue = caffe2_pb2.NetDef(name="init", op=[operator("CreateBlobsQueue", [], ["queue"], capacity=1, num_blobs=1)])
    ws._create_net(queue.SerializeToString(), True).run()
    waiting = caffe2_pb2.NetDef(name="wait", op=[operator("SafeDequeueBlobs", ["queue"], ["blob", "status"])])
    net = ws._create_net(waiting.SerializeToString(), True)
    canceller = threading.Timer(seconds, net.cancel)
    if seconds == 0:
        net.cancel()
    else:
        canceller.start()
    with pytest.raises(RuntimeError):
        net.run()
    if seconds != 0:
        canceller.join()
