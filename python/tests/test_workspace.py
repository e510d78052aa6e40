import numpy as np
import pytest

import caffe2rt


@pytest.fixture
def ws():
    return caffe2rt.Workspace()


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "float16", "float32", "float64"]
)
def test_keeps_types_and_shapes(ws, dtype):
    for shape in ((), (0,), (3,), (2, 3, 4)):
        array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(dtype)
        ws["a"] = array
        fetched = ws["a"]
        assert fetched.dtype == array.dtype
        assert fetched.shape == array.shape
        np.testing.assert_array_equal(fetched, array)


def test_copies_arrays(ws):
    array = np.ones(2000, np.float32)
    ws["a"] = array
    array[0] = 5
    ws["a"][1] = 7
    np.testing.assert_array_equal(ws["a"], np.ones(2000))


def test_holds_texts(ws):
    ws["text"] = b"a\0b"
    assert ws["text"] == b"a\0b"
    ws["strings"] = np.array([b"a", "b"], dtype=object)
    assert list(ws["strings"]) == [b"a", b"b"]


@pytest.mark.parametrize("value, dtype", [
    (0.1, "float32"), ([0.1, 2], "float32"), (np.float64(0.1), "float64"), (np.float32(0.1), "float32"), (3, "int64"),
])
def test_numbers_keep_the_type_that_they_have(ws, value, dtype):
    """Only numbers of Python have no type that says float32 or float64."""
    ws["x"] = value
    assert ws["x"].dtype == dtype
    np.testing.assert_array_equal(ws["x"], np.array(value, dtype))


def test_objects_with_an_array_keep_its_type(ws):
    class Column:
        def __array__(self, dtype=None, copy=None):
            return np.float64([0.1])

    ws["x"] = Column()
    assert ws["x"].dtype == "float64" and ws["x"][0] == 0.1


@pytest.mark.parametrize("value, error", [
    (np.ones(1, np.uint32), caffe2rt.Error), (np.array(["new", 1], object), caffe2rt.Error), ({}, caffe2rt.Error),
    (None, caffe2rt.Error), ("\ud800", UnicodeEncodeError),
])
@pytest.mark.parametrize("before", [np.array(["old", "old"], object), np.float32([1, 2])])
def test_what_cannot_be_copied_changes_nothing(ws, before, value, error):
    ws["x"] = before
    for name in ["x", "y"]:
        with pytest.raises(error):
            ws[name] = value
    assert list(ws) == ["x"] and ws["x"].tolist() == [v.encode() if isinstance(v, str) else v for v in before]


def test_is_a_mapping(ws):
    ws["a"] = [1.0, 2.0]
    assert "a" in ws and "b" not in ws
    assert list(ws) == ["a"] and len(ws) == 1
    assert ws.keys() == ["a"] and [list(value) for value in ws.values()] == [[1, 2]]
    assert [(name, list(value)) for name, value in ws.items()] == [("a", [1, 2])]
    assert list(dict(ws)["a"]) == [1, 2]
    assert list(ws.get("a")) == [1, 2] and ws.get("b") is None and ws.get("b", 7) == 7
    del ws["a"]
    assert len(ws) == 0
    with pytest.raises(KeyError, match="a"):
        ws["a"]
    with pytest.raises(KeyError):
        del ws["a"]


def test_runs_operators_nets_and_texts(ws):
    ws["x"] = np.float32([-1, 2])
    ws.run(caffe2rt.op("Relu", "x", "y"))
    np.testing.assert_array_equal(ws["y"], [0, 2])
    net = caffe2rt.Net("two")
    net.Relu("x", "y")
    net.Scale("y", "y", scale=3.0)
    ws.run(net)
    np.testing.assert_array_equal(ws["y"], [0, 6])
    ws.run('op { type: "Negative" input: "x" output: "y" }')
    np.testing.assert_array_equal(ws["y"], [1, -2])


def test_creates_a_net_once_and_runs_it_often(ws):
    ws["x"] = np.float32([1])
    net = ws.net(caffe2rt.op("Scale", "x", "x", scale=2.0))
    net.run()
    net.run(runs=3)
    np.testing.assert_array_equal(ws["x"], [16])
    assert ws.nets == [net.name]


def test_errors_name_the_operator(ws):
    with pytest.raises(caffe2rt.Error, match="Unknown"):
        ws.run(caffe2rt.op("Unknown", "x", "y"))
    with pytest.raises(caffe2rt.Error, match="want bytes or a message"):
        ws.run(5)


def test_errors_name_the_type_of_the_net(ws):
    net = "name: 'n' type: 'no_such_type' op { type: 'Negative' input: 'x' output: 'y' }"
    ws["x"] = np.float32([1])
    for create in (ws.net, ws.run, lambda net: caffe2rt.bench(ws, net)):
        with pytest.raises(caffe2rt.Error, match="no_such_type"):
            create(net)
    assert ws.nets == []


@pytest.mark.parametrize("values", [[1, 2], [1.5, 2], (3,), range(3), np.arange(2)])
def test_arguments_of_operators(ws, values):
    ws.run(caffe2rt.op("GivenTensorFill", [], "y", shape=[len(values)], values=[float(v) for v in values]))
    np.testing.assert_array_equal(ws["y"], np.float32(list(values)))
    text = caffe2rt.op("X", "a", "b", values=values).SerializeToString()
    assert b"values" in text


@pytest.mark.parametrize("value", [np.longdouble(1.5), np.clongdouble(1.5), [np.longdouble(1.5)], 1j, np.array("a")])
def test_arguments_of_types_without_a_field_are_errors(value):
    with pytest.raises((caffe2rt.Error, TypeError)):
        caffe2rt.op("X", "a", "b", values=value)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, np.uint64(2**63), [1, 2**64]])
def test_integers_of_more_than_64_bits_are_errors(value):
    with pytest.raises(caffe2rt.Error, match='argument "values" is -?[0-9]+, want an integer of 64 bits'):
        caffe2rt.op("X", "a", "b", values=value)


def test_texts_that_are_not_unicode_are_errors():
    with pytest.raises(UnicodeEncodeError):
        caffe2rt.op("X", "a", "b", values="\ud800")


def test_arguments_that_are_nothing_are_errors():
    with pytest.raises(caffe2rt.Error, match='argument "values"'):
        caffe2rt.op("X", "a", "b", values=object())
    with pytest.raises(caffe2rt.Error, match='argument "values"'):
        caffe2rt.op("X", "a", "b", values=[None])
