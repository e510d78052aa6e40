"""Models of ONNX: loaded, and written. The files are made here, byte by byte."""
import os

import numpy as np
import pytest

import caffe2rt

FLOAT = 1  # TensorProto.FLOAT


def varint(value):
    parts = bytearray()
    while value >= 128:
        parts.append(value & 127 | 128)
        value >>= 7
    return bytes(parts + bytes([value]))


def field(number, value):
    """A field of a message of protobuf: a number, a text, or another message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def value_info(name, dims):
    """A ValueInfoProto; a dimension is a number or a symbol."""
    shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))


def tensor(name, array):
    """A TensorProto with raw data."""
    dims = b"".join(field(1, d) for d in array.shape)
    return dims + field(2, FLOAT) + field(8, name) + field(9, array.astype("<f4").tobytes())


def node(op, inputs, output):
    return b"".join(field(1, name) for name in inputs) + field(2, output) + field(4, op)


@pytest.fixture
def line_onnx(tmp_path):
    """y = x @ [[1], [2]] + 3 for x [batch, 2]; a ModelProto of opset 17."""
    graph = field(1, node("MatMul", ["x", "w"], "h")) + field(1, node("Add", ["h", "b"], "y")) + field(2, "line")
    graph += field(5, tensor("w", np.float32([[1], [2]]))) + field(5, tensor("b", np.float32([3])))
    graph += field(11, value_info("x", ["batch", 2])) + field(12, value_info("y", ["batch", 1]))
    path = tmp_path / "line.onnx"
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 17)))
    return path


def test_loads_a_model_and_calls_it_by_position_and_name(line_onnx, x, y):
    model = caffe2rt.load(line_onnx)
    assert (model.inputs, model.outputs, model.files) == (["x"], ["y"], [str(line_onnx)])
    assert model.input_shapes == {}
    for result in (model(x), model(x=x), model({"x": x}), model(x.tolist())):
        np.testing.assert_array_equal(result["y"], y)
    np.testing.assert_array_equal(model(x[:1])["y"], y[:1])


@pytest.mark.parametrize("options", [{"dims": {"batch": 3}}, {"input_shapes": {"x": (3, 2)}}])
def test_takes_numbers_for_symbols_and_shapes(line_onnx, x, y, options):
    model = caffe2rt.load(line_onnx, **options)
    assert model.input_shapes == {"x": (3, 2)}
    np.testing.assert_array_equal(model(x)["y"], y)


def test_names_options_that_do_not_fit(line_onnx, line):
    with pytest.raises(caffe2rt.Error, match='the dimension "rows" is given'):
        caffe2rt.load(line_onnx, dims={"rows": 3})
    with pytest.raises(caffe2rt.Error, match='the shape of input "z" is given'):
        caffe2rt.load(line_onnx, input_shapes={"z": (1,)})
    with pytest.raises(caffe2rt.Error, match="which has its weights"):
        caffe2rt.load(line[0], line_onnx)


def test_names_an_operator_that_is_not_supported(tmp_path, line_onnx):
    content = line_onnx.read_bytes().replace(b"MatMul", b"MatSum")
    (tmp_path / "wrong.onnx").write_bytes(content)
    with pytest.raises(caffe2rt.Error, match="MatSum"):
        caffe2rt.load(tmp_path / "wrong.onnx")


def test_accepts_newer_opsets_if_told_to(tmp_path, line_onnx, x, y):
    newer = tmp_path / "newer.onnx"
    newer.write_bytes(line_onnx.read_bytes()[: -len(field(8, field(2, 17)))] + field(8, field(2, 99)))
    with pytest.raises(caffe2rt.Error, match="99"):
        caffe2rt.load(newer)
    np.testing.assert_array_equal(caffe2rt.load(newer, opset_tolerant=True)(x)["y"], y)


def test_writes_a_net_of_caffe2_that_computes_the_same_when_it_is_read(tmp_path, line, x, y):
    path = tmp_path / "written.onnx"
    assert caffe2rt.export_onnx(path, *line, input_shapes={"x": (3, 2)}, opset=13) == [str(path)]
    model = caffe2rt.load(path)
    assert (model.inputs, model.outputs, model.input_shapes) == (["x"], ["y"], {"x": (3, 2)})
    np.testing.assert_allclose(model(x)["y"], y, rtol=1e-6)


def test_export_names_what_is_missing_or_has_no_onnx_form(tmp_path, line):
    with pytest.raises(caffe2rt.Error, match="z"):
        caffe2rt.export_onnx(tmp_path / "a.onnx", *line, input_shapes={"z": (3, 2)})
    with pytest.raises(caffe2rt.Error, match="opset"):
        caffe2rt.export_onnx(tmp_path / "a.onnx", *line, input_shapes={"x": (3, 2)}, opset=99)
    net = caffe2rt.Net("n", inputs=["x"], outputs=["y"])
    net.SafeDequeueBlobs("x", "y")
    (tmp_path / "net.pb").write_bytes(net.SerializeToString())
    with pytest.raises(caffe2rt.Error, match="SafeDequeueBlobs"):
        caffe2rt.export_onnx(tmp_path / "a.onnx", tmp_path / "net.pb", input_shapes={"x": (1,)})
    assert not (tmp_path / "a.onnx").exists()


SHARED = os.environ.get("CAFFE2_TEST_SHARED", "")


@pytest.mark.skipif(not SHARED, reason="CAFFE2_TEST_SHARED does not name the folder of models")
def test_a_published_model_computes_what_was_recorded():
    folder = os.path.join(SHARED, "models", "onnx_ultraface_rfb320")
    model = caffe2rt.load(os.path.join(folder, "version-RFB-320.onnx"))
    results = model(np.load(os.path.join(folder, "golden", "in__input.npy")))
    for name in ("scores", "boxes"):
        want = np.load(os.path.join(folder, "golden", "out__%s.npy" % name))
        np.testing.assert_allclose(results[name], want, atol=1e-5)
