"""The gradient operators of a training step of LeNet and of ResNet-20, batch 64, for compare_with_original.py."""
import os

import numpy as np
from caffe2.proto import caffe2_pb2
from caffe2.python import core, workspace

BATCH = 64

# Name, type, shapes of the inputs (a number: labels below it), number of outputs, arguments.
LENET = [
    ("conv1", "Conv", [(BATCH, 1, 28, 28), (20, 1, 5, 5), (20,)], 1, {"kernel": 5}),
    ("pool1", "MaxPool", [(BATCH, 20, 24, 24)], 1, {"kernel": 2, "stride": 2}),
    ("conv2", "Conv", [(BATCH, 20, 12, 12), (50, 20, 5, 5), (50,)], 1, {"kernel": 5}),
    ("pool2", "MaxPool", [(BATCH, 50, 8, 8)], 1, {"kernel": 2, "stride": 2}),
    ("fc3", "FC", [(BATCH, 800), (500, 800), (500,)], 1, {}),
    ("relu3", "Relu", [(BATCH, 500)], 1, {}),
    ("pred", "FC", [(BATCH, 500), (10, 500), (10,)], 1, {}),
    ("softmax", "Softmax", [(BATCH, 10)], 1, {}),
    ("xent", "LabelCrossEntropy", [(BATCH, 10), 10], 1, {}),
    ("loss", "AveragedLoss", [(BATCH,)], 1, {}),
]


def conv(channels, size, filters, kernel=3, stride=1):
    arguments = {"kernel": kernel, "stride": stride, "pad": kernel // 2, "no_bias": 1}
    return "Conv", [(BATCH, channels, size, size), (filters, channels, kernel, kernel)], 1, arguments


def spatial_bn(channels, size):
    shapes = [(BATCH, channels, size, size)] + [(channels,)] * 4
    return "SpatialBN", shapes, 5, {"is_test": 0, "epsilon": 1e-5, "order": "NCHW"}


RESNET20 = [("conv_first",) + conv(3, 32, 16), ("conv_16",) + conv(16, 32, 16), ("conv_16_to_32",) + conv(16, 32, 32, 3, 2),
            ("project_16_to_32",) + conv(16, 32, 32, 1, 2), ("conv_32",) + conv(32, 16, 32),
            ("conv_32_to_64",) + conv(32, 16, 64, 3, 2), ("project_32_to_64",) + conv(32, 16, 64, 1, 2),
            ("conv_64",) + conv(64, 8, 64)]
for channels, size in ((16, 32), (32, 16), (64, 8)):
    RESNET20.append(("bn_%d" % channels,) + spatial_bn(channels, size))
    RESNET20.append(("relu_%d" % channels, "Relu", [(BATCH, channels, size, size)], 1, {}))
RESNET20 += [
    ("pool", "AveragePool", [(BATCH, 64, 8, 8)], 1, {"kernel": 8, "stride": 1}),
    ("fc", "FC", [(BATCH, 64), (10, 64), (10,)], 1, {}),
    ("softmax_loss", "SoftmaxWithLoss", [(BATCH, 10), 10], 2, {}),
]


def feed_inputs(rng, shapes):
    names = []
    for i, shape in enumerate(shapes):
        names.append("input_%d" % i)
        if isinstance(shape, int):
            value = rng.randint(0, shape, BATCH).astype(np.int32)
        else:
            value = rng.uniform(0.1, 1, shape).astype(np.float32)
        workspace.FeedBlob(names[-1], value)
    return names


def gradient_cases(folder):
    """Writes each gradient net and its inputs to a folder of its own and returns the cases."""
    cases = []
    for net_name, layers in (("lenet", LENET), ("resnet20", RESNET20)):
        for name, op_type, shapes, outputs, arguments in layers:
            workspace.SwitchWorkspace("gradient_cases", True)
            workspace.ResetWorkspace()
            rng = np.random.RandomState(1)
            inputs = feed_inputs(rng, shapes)
            produced = ["output_%d" % i for i in range(outputs)]
            if op_type == "SpatialBN":  # the running values are updated in place
                produced[1:3] = inputs[3:5]
            op = core.CreateOperator(op_type, inputs, produced, **arguments)
            workspace.RunOperatorOnce(op)
            loss = produced[-1] if op_type == "SoftmaxWithLoss" else produced[0]
            workspace.FeedBlob(loss + "_grad", rng.uniform(-1, 1, workspace.FetchBlob(loss).shape).astype(np.float32))
            gradient_ops, _ = core.GradientRegistry.GetGradientForOp(
                op, [loss + "_grad" if output == loss else None for output in produced])
            cases.append(write_case(os.path.join(folder, net_name, name), "%s/%s" % (net_name, name), gradient_ops))
    return cases


def write_case(folder, name, gradient_ops, hidden=()):
    """Writes a net of these operators. The blobs `hidden` are no outputs, because they hold no tensors."""
    os.makedirs(folder)
    net = caffe2_pb2.NetDef(name="gradient", op=gradient_ops)
    written, inputs = set(), {}
    for op in gradient_ops:
        for blob in op.input:
            if blob not in written and blob not in inputs:
                inputs[blob] = os.path.join(folder, blob + ".npy")
                np.save(inputs[blob], workspace.FetchBlob(blob))
        written.update(op.output)
    net.external_input.extend(inputs)
    net.external_output.extend(sorted(written.difference(hidden)))
    predict = os.path.join(folder, "predict.pb")
    with open(predict, "wb") as out:
        out.write(net.SerializeToString())
    types = "+".join(op.type for op in gradient_ops)
    return {"name": "%s %s" % (name, types), "folder": folder, "init": None, "predict": predict, "inputs": inputs}
