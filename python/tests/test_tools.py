import numpy as np
import pytest

import caffe2rt


def net():
    made = caffe2rt.Net("n", inputs=["x", "w", "b"], outputs=["y"])
    made.FC(["x", "w", "b"], "h")
    made.Relu("h", "y")
    return made


SHAPES = {"x": (4, 3), "w": (2, 3), "b": (2,)}


def test_check_finds_problems():
    assert caffe2rt.check(net(), input_shapes=SHAPES) == []
    findings = caffe2rt.check(net(), input_shapes=dict(SHAPES, w=(2, 5)))
    assert [f["kind"] for f in findings] == ["error"]
    assert findings[0]["operators"] == [0]
    wrong = net()
    wrong.Unknown("y", "z")
    assert any("Unknown" in f["text"] for f in caffe2rt.check(wrong))


def test_inspect_shows_shapes_and_draws():
    view = caffe2rt.inspect(net(), input_shapes=SHAPES)
    assert [op["type"] for op in view.operators] == ["FC", "Relu"]
    assert view.operators[0]["shapes"] == [(4, 2)]
    assert view.multiply_adds == 4 * 2 * 3
    assert view._repr_svg_().startswith("<svg")
    assert "FC h" in repr(view)


def test_gradients_optimize_and_bench():
    ws = caffe2rt.Workspace()
    ws["x"] = np.ones((4, 3), np.float32)
    ws["w"] = np.ones((2, 3), np.float32)
    ws["b"] = np.float32([0, -10])
    backward, names = caffe2rt.gradients(net(), ["y"], wrt=["w"])
    ws.run(backward)
    np.testing.assert_array_equal(ws[names["w"]], [[4, 4, 4], [0, 0, 0]])
    optimized, passes = caffe2rt.optimize(ws, net(), inputs=["x"])
    assert passes
    ws.run(optimized)
    np.testing.assert_array_equal(ws["y"], [[3, 0]] * 4)
    times = caffe2rt.bench(ws, net(), runs=3)
    assert times["runs"] == 3
    assert [op["type"] for op in times["operators"]] == ["FC", "Relu"]


def test_bench_keeps_a_net_of_the_same_name():
    ws = caffe2rt.Workspace()
    ws["x"] = np.float32([1])
    kept = ws.net("name: 'n' op { type: 'Negative' input: 'x' output: 'y' }")
    caffe2rt.bench(ws, "name: 'n' op { type: 'Copy' input: 'x' output: 'z' }", runs=1)
    assert ws.nets == ["n"]
    kept.run()
    np.testing.assert_array_equal(ws["y"], [-1])


def test_reads_files(tmp_path, line):
    assert caffe2rt.check(line[1], init_nets=[line[0]], input_shapes={"x": (1, 2)}) == []
    text = tmp_path / "net.pbtxt"
    text.write_text('op { type: "Relu" input: "x" output: "y" }')
    assert [op["type"] for op in caffe2rt.inspect(text).operators] == ["Relu"]


def test_names_a_file_that_is_no_net(tmp_path):
    with pytest.raises(caffe2rt.Error, match="none.pb"):
        caffe2rt.check(tmp_path / "none.pb")


def test_threads():
    before = caffe2rt.num_threads()
    caffe2rt.set_num_threads(2)
    assert caffe2rt.num_threads() == 2
    caffe2rt.set_num_threads(before)
