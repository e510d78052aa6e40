import gc
import threading

import numpy as np
import pytest

import caffe2rt

needs_dlpack = pytest.mark.skipif(not hasattr(np.ndarray, "__dlpack__"), reason="numpy before 1.22 has no DLPack")


def test_is_called_with_arrays_by_position_and_name(line, x, y):
    model = caffe2rt.load(*line)
    assert model.inputs == ["x"]
    assert model.outputs == ["y"]
    for result in (model(x), model(x=x), model({"x": x})):
        np.testing.assert_array_equal(result["y"], y)


def test_takes_what_numpy_gives(line, x, y):
    model = caffe2rt.load(*line)
    for given in (x[:, ::-1][:, ::-1], np.asfortranarray(x), x.astype(">f4")):
        np.testing.assert_array_equal(model(given)["y"], y)

    np.testing.assert_array_equal(model([[1, 1.0], [2, 0.5], [-4, 0]])["y"], y)


@needs_dlpack
def test_takes_what_dlpack_gives(line, x, y):
    class Other:
        def __dlpack__(self, **_):
            return x.__dlpack__()

    np.testing.assert_array_equal(caffe2rt.load(*line)(Other())["y"], y)


def test_runs_on_the_device_that_is_named(line, x, y):
    np.testing.assert_array_equal(caffe2rt.load(*line, device="cpu")(x)["y"], y)
    ws = caffe2rt.Workspace()
    ws["x"] = x
    ws.run(caffe2rt.op("Relu", ["x"], ["r"], device="cpu"))
    np.testing.assert_array_equal(ws["r"], np.maximum(x, 0))


def test_computes_in_a_precision(line, x, y):
    # The net states no ranges, and one number is not worth bf16: all are computed in f32.
    for precision in ("f32", "bf16", "int8", "auto"):
        np.testing.assert_array_equal(caffe2rt.load(*line, precision=precision, min_snr=20)(x)["y"], y)
    with pytest.raises(caffe2rt.Error, match="want f32, bf16, int8 or auto"):
        caffe2rt.load(*line, precision="int4")


def test_results_never_change(line, x, y):
    model = caffe2rt.load(*line)
    first = model(x)["y"]
    model(2 * x)
    np.testing.assert_array_equal(first, y)
    del model
    gc.collect()
    np.testing.assert_array_equal(first, y)


def test_an_output_that_is_an_input_is_a_copy(tmp_path):
    net = caffe2rt.Net("n", inputs=["x"], outputs=["y"])
    net.Alias("x", "y")
    (tmp_path / "net.pb").write_bytes(net.SerializeToString())
    model = caffe2rt.load(tmp_path / "net.pb")
    x = np.ones(100000, np.float32)
    y = model(x)["y"]
    x[0] = 5
    assert y[0] == 1


@needs_dlpack
def test_dlpack_of_any_order(line, x, y):
    class Transposed:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    np.testing.assert_array_equal(caffe2rt.load(*line)(Transposed(np.asfortranarray(x)))["y"], y)


def test_empty_batch(line):
    result = caffe2rt.load(*line)(np.zeros((0, 2), np.float32))["y"]
    assert result.shape == (0, 1)


def test_every_call_gives_the_inputs(line, x, y):
    """The values of an earlier call, perhaps of another thread, are not used again."""
    model = caffe2rt.load(*line)
    for _ in range(2):
        with pytest.raises(caffe2rt.Error, match='input "x" is not given; the model takes x'):
            model()
        np.testing.assert_array_equal(model(x)["y"], y)


def test_every_call_gives_the_inputs_that_are_outputs(tmp_path, x):
    net = tmp_path / "pass.pbtxt"
    net.write_text(
        'name: "n" external_input: "a" external_input: "b" external_output: "b" external_output: "c" '
        'op { type: "Relu" input: "a" output: "c" }'
    )
    model = caffe2rt.load(str(net))
    for _ in range(2):
        with pytest.raises(caffe2rt.Error, match='input "b" is not given; the model takes a, b'):
            model(a=x)
        np.testing.assert_array_equal(model(a=x, b=x)["b"], x)


def test_errors_have_the_text_of_the_library(line, x, tmp_path):
    model = caffe2rt.load(*line)
    with pytest.raises(caffe2rt.Error, match="the model takes 1"):
        model(x, x)
    with pytest.raises(caffe2rt.Error, match="given twice"):
        model(x, x=x)
    with pytest.raises(RuntimeError, match="z"):
        model(z=x)
    with pytest.raises(caffe2rt.Error, match="none.pb"):
        caffe2rt.load(tmp_path / "none.pb")
    with pytest.raises(caffe2rt.Error, match="device"):
        caffe2rt.load(*line, device="toaster")
    np.testing.assert_array_equal(model(x)["y"].shape, (3, 1))


def test_is_called_by_several_threads(line, x, y):
    model = caffe2rt.load(*line)
    wrong = []

    def call():
        for _ in range(200):
            if not np.array_equal(model(x)["y"], y):
                wrong.append(1)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_describes_itself(line):
    model = caffe2rt.load(*line)
    assert repr(model) == '<caffe2rt.Model "line": x -> y>'
    assert model.files == [str(path) for path in line]
    assert model.warnings == []
    assert isinstance(model.report(), dict)
    assert model.net == line[1].read_bytes()


def test_loads_a_net_of_caffe(tmp_path):
    path = tmp_path / "deploy.prototxt"
    path.write_text(
        'name: "n" input: "data" input_shape { dim: 1 dim: 2 }'
        ' layer { name: "r" type: "ReLU" bottom: "data" top: "out" }'
    )
    model = caffe2rt.load(path)
    result = model(np.float32([[-1, 2]]))
    np.testing.assert_array_equal(result["out"], [[0, 2]])
