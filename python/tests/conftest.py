"""Files of a small model, made by the package itself."""
import numpy as np
import pytest

import caffe2rt


@pytest.fixture
def line(tmp_path):
    """Paths of an init net and a predict net that compute y = x @ [[1, 2]]^T + 3."""
    init = caffe2rt.Net("line_init", outputs=["w", "b"])
    init.GivenTensorFill([], "w", shape=[1, 2], values=[1.0, 2.0])
    init.GivenTensorFill([], "b", shape=[1], values=[3.0])
    predict = caffe2rt.Net("line", inputs=["x", "w", "b"], outputs=["y"])
    predict.FC(["x", "w", "b"], "y")
    paths = tmp_path / "init_net.pb", tmp_path / "predict_net.pb"
    for path, net in zip(paths, (init, predict)):
        path.write_bytes(net.SerializeToString())
    return paths


@pytest.fixture
def x():
    return np.float32([[1, 1], [2, 0.5], [-4, 0]])


@pytest.fixture
def y():
    """What the line computes for x."""
    return np.float32([[6], [6], [-1]])
