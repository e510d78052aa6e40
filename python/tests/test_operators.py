import numpy as np
import pytest

import caffe2rt


@caffe2rt.operator("ClampForTests")
def clamp(inputs, outputs, *, limit=1.0):
    """Clamps from above."""
    outputs[0][...] = np.minimum(inputs[0], limit)


def square_gradient(inputs, outputs):
    x, _, dy = inputs
    outputs[0][...] = 2 * x * dy


@caffe2rt.operator("SquareForTests", gradient=square_gradient)
def square(inputs, outputs):
    outputs[0].resize(inputs[0].shape)[...] = inputs[0] ** 2


def test_runs_a_function_with_its_arguments():
    ws = caffe2rt.Workspace()
    ws["x"] = np.float32([1, 0.25])
    ws.run(caffe2rt.op("ClampForTests", "x", "y", limit=0.5))
    np.testing.assert_array_equal(ws["y"], [0.5, 0.25])
    ws.run(caffe2rt.op("ClampForTests", "x", "y"))
    np.testing.assert_array_equal(ws["y"], [1, 0.25])


def test_has_a_gradient():
    ws = caffe2rt.Workspace()
    ws["x"] = np.float32([3, -2])
    net = caffe2rt.Net("n", inputs=["x"], outputs=["y"])
    net.add("SquareForTests", "x", "y")
    with_gradients, names = caffe2rt.gradients(net, "y", wrt=["x"])
    ws.run(with_gradients)
    np.testing.assert_array_equal(ws["y"], [9, 4])
    np.testing.assert_array_equal(ws[names["x"]], [6, -4])


def test_exceptions_keep_their_type():
    class Mine(Exception):
        pass

    @caffe2rt.operator("RaisesForTests")
    def raises(inputs, outputs):
        raise Mine("no")

    with pytest.raises(Mine, match="no"):
        caffe2rt.Workspace().run(caffe2rt.op("RaisesForTests", [], "y"))


def test_outputs_end_with_the_run():
    kept = []

    @caffe2rt.operator("KeepsForTests")
    def keeps(inputs, outputs):
        outputs[0][...] = np.float32([1])
        kept.append(outputs[0])

    caffe2rt.Workspace().run(caffe2rt.op("KeepsForTests", [], "y"))
    with pytest.raises(caffe2rt.Error, match="after its operator has run"):
        kept[0].array()


@pytest.mark.parametrize("size", [3, 100000])
def test_inputs_are_read_only(size):
    @caffe2rt.operator("WritesInput%dForTests" % size)
    def writes(inputs, outputs):
        inputs[0][0] = 5

    ws = caffe2rt.Workspace()
    ws["x"] = np.ones(size, np.float32)
    with pytest.raises(ValueError, match="read-only"):
        ws.run(caffe2rt.op("WritesInput%dForTests" % size, "x", "y"))
    assert ws["x"][0] == 1


def test_types_have_a_name_and_a_function():
    with pytest.raises(caffe2rt.Error, match="the operator type has no name"):
        caffe2rt.operator("")(lambda inputs, outputs: None)
    with pytest.raises(caffe2rt.Error, match='"NoFunctionForTests": want a function, got int'):
        caffe2rt.operator("NoFunctionForTests")(5)
    with pytest.raises(caffe2rt.Error, match='"NoGradientForTests": want a function, got str'):
        caffe2rt.operator("NoGradientForTests", gradient="x")(lambda inputs, outputs: None)
    assert "NoGradientForTests" not in caffe2rt.operator_types()


def test_a_type_is_registered_once():
    with pytest.raises(caffe2rt.Error, match='"Relu" exists already'):
        caffe2rt.operator("Relu")(lambda inputs, outputs: None)
    assert "ClampForTests" in caffe2rt.operator_types()
