"""Trains small nets with Caffe2's front end on this engine and compares the losses with Caffe2's.

    python training_losses.py record NET FILE DATA [STEPS]              # with Caffe2: weights, losses, own deviation
    python -m caffe2rt training_losses.py compare NET FILE DATA         # on this engine, from the same weights

NET is `lenet` (brew and optimizer), `resnet` (data_parallel_model on one CPU, with batch norm), `plain` (the same
without batch norm) or `resnet20` (with batch norm). FILE is an npz, DATA the folder with the files of MNIST; for
`resnet20`, a file of records of CIFAR-10, compressed by gzip. Caffe2's own deviation is the difference of its losses
after every non-zero initial weight has moved to the next float, and for `lenet`, if greater, after its channels changed
places, which is the same net with sums in another order. It exits with 1 outside the limits.
"""
import gzip
import sys

import numpy as np
from caffe2.proto import caffe2_pb2
from caffe2.python import brew, core, data_parallel_model, model_helper, optimizer, workspace

STEPS = 50
BATCH = 32
ARG_SCOPE = {"order": "NCHW"}


def read_cifar(path, steps):
    with gzip.open(path) as file:
        records = np.frombuffer(file.read(), np.uint8).reshape(-1, 1 + 3 * 32 * 32)
    records = records[np.arange(steps * BATCH) % len(records)].reshape(steps, BATCH, -1)
    return ((records[:, :, 1:].reshape(steps, BATCH, 3, 32, 32).astype(np.float32) - 120) / 62,
            records[:, :, 0].astype(np.int32))


def read_mnist(folder, steps):
    with gzip.open(folder + "/train-images-idx3-ubyte.gz") as images:
        pixels = np.frombuffer(images.read(), np.uint8, steps * BATCH * 784, offset=16)
    with gzip.open(folder + "/train-labels-idx1-ubyte.gz") as labels:
        classes = np.frombuffer(labels.read(), np.uint8, steps * BATCH, offset=8)
    # Of mean 0 and deviation 1. Over a background of zeros, a net whose biases are still 0 computes exact zeros, on
    # which Relu's gradient depends; another convolution algorithm rounds some of them to very small numbers instead.
    return ((pixels.reshape(steps, BATCH, 1, 28, 28).astype(np.float32) / 255 - 0.1307) / 0.3081,
            classes.reshape(steps, BATCH).astype(np.int32))


def add_lenet(model):
    x = brew.conv(model, "data", "conv1", dim_in=1, dim_out=20, kernel=5)
    x = brew.max_pool(model, x, "pool1", kernel=2, stride=2)
    x = brew.conv(model, x, "conv2", dim_in=20, dim_out=50, kernel=5)
    x = brew.max_pool(model, x, "pool2", kernel=2, stride=2)
    x = brew.relu(model, brew.fc(model, x, "fc3", dim_in=50 * 4 * 4, dim_out=100), "fc3")
    return brew.fc(model, x, "logits", 100, 10)


def add_resnet(model, batch_norm):
    def conv(x, name, dim_in, dim_out, stride=1):
        x = brew.conv(model, x, name, dim_in, dim_out, kernel=3, pad=1, stride=stride)
        return brew.spatial_bn(model, x, name + "_bn", dim_out, is_test=False) if batch_norm else x

    x = brew.relu(model, conv("data", "stem", 1, 8), "stem_relu")
    for block, (dim_in, dim_out, stride) in enumerate([(8, 8, 1), (8, 16, 2), (16, 16, 1)]):
        name = "block%d" % block
        y = brew.relu(model, conv(x, name + "_a", dim_in, dim_out, stride), name + "_a_relu")
        y = conv(y, name + "_b", dim_out, dim_out)
        if stride != 1:
            x = brew.conv(model, x, name + "_short", dim_in, dim_out, kernel=1, stride=stride)
        x = brew.relu(model, brew.sum(model, [x, y], name + "_sum"), name + "_relu")
    x = brew.average_pool(model, x, "average", kernel=14)
    return brew.fc(model, x, "logits", 16, 10)


def add_resnet20(model):
    def conv(x, name, dim_in, dim_out, kernel=3, stride=1):
        x = brew.conv(model, x, name, dim_in, dim_out, kernel=kernel, pad=kernel // 2, stride=stride, no_bias=True)
        return brew.spatial_bn(model, x, name + "_bn", dim_out, is_test=False)

    x = brew.relu(model, conv("data", "stem", 3, 16), "stem_relu")
    width = 16
    for stage in range(3):
        for block in range(3):
            name, out = "stage%d_block%d" % (stage, block), 16 << stage
            stride = 2 if out != width else 1
            y = brew.relu(model, conv(x, name + "_a", width, out, stride=stride), name + "_a_relu")
            y = conv(y, name + "_b", out, out)
            if stride != 1:
                x = conv(x, name + "_short", width, out, 1, stride)
            x = brew.relu(model, brew.sum(model, [x, y], name + "_sum"), name + "_relu")
            width = out
    x = brew.average_pool(model, x, "average", kernel=8)
    return brew.fc(model, x, "logits", 64, 10)


def add_loss(model, logits, scale=1.0):
    softmax, loss = model.net.SoftmaxWithLoss([logits, "label"], ["softmax", "loss"])
    return [model.net.Scale(loss, "scaled_loss", scale=scale)]


def build(kind):
    model = model_helper.ModelHelper(name=kind, arg_scope=ARG_SCOPE)
    if kind in ("lenet", "resnet20"):
        loss = add_loss(model, add_lenet(model) if kind == "lenet" else add_resnet20(model))
        model.AddGradientOperators(loss)
        optimizer.build_sgd(model, base_learning_rate=0.01, policy="step", stepsize=5, gamma=0.9, momentum=0.9)
        return model, ""
    data_parallel_model.Parallelize(
        model,
        input_builder_fun=lambda m: None,
        forward_pass_builder_fun=lambda m, s: add_loss(m, add_resnet(m, kind == "resnet"), s),
        optimizer_builder_fun=lambda m: optimizer.build_sgd(m, base_learning_rate=0.05, momentum=0.9),
        devices=[0], cpu_device=True)
    return model, "cpu_0/"


def feed(prefix, images, labels):
    device = core.DeviceOption(caffe2_pb2.CPU)
    workspace.FeedBlob(prefix + "data", images, device)
    workspace.FeedBlob(prefix + "label", labels, device)


def losses(model, prefix, weights, images, labels):
    for name, value in weights.items():
        workspace.FeedBlob(name, value)
    found = []
    for step in range(len(images)):
        feed(prefix, images[step], labels[step])
        workspace.RunNet(model.net)
        found.append(float(workspace.FetchBlob(prefix + "loss")))
    return np.array(found)


def with_moved_channels(weights):
    """LeNet's weights with its channels in another order."""
    random = np.random.RandomState(3)
    conv1, conv2, fc3 = (random.permutation(len(weights[name])) for name in ("conv1_b", "conv2_b", "fc3_b"))
    moved = dict(weights)
    for name, order in (("conv1", conv1), ("conv2", conv2), ("fc3", fc3)):
        for blob in (name + "_w", name + "_b"):
            moved[blob] = weights[blob][order]
    moved["conv2_w"] = moved["conv2_w"][:, conv1]
    units = len(fc3)
    moved["fc3_w"] = moved["fc3_w"].reshape(units, len(conv2), -1)[:, conv2].reshape(units, -1)
    moved["logits_w"] = weights["logits_w"][:, fc3]
    return {name: np.ascontiguousarray(value) for name, value in moved.items()}


def main(mode, kind, file, data, steps=STEPS):
    recorded = None if mode == "record" else np.load(file)
    steps = int(steps) if recorded is None else len(recorded["losses"])
    images, labels = (read_cifar if kind == "resnet20" else read_mnist)(data, steps)
    workspace.GlobalInit(["caffe2", "--caffe2_log_level=2"])
    model, prefix = build(kind)
    workspace.RunNetOnce(model.param_init_net)
    feed(prefix, images[0], labels[0])
    workspace.CreateNet(model.net)
    if mode == "record":
        names = [name for name in workspace.Blobs() if isinstance(workspace.FetchBlob(name), np.ndarray)]
        names = [n for n in names if n in {str(o) for op in model.param_init_net.Proto().op for o in op.output}]
        weights = {name: workspace.FetchBlob(name).copy() for name in names}
        nearby = {name: np.nextafter(value, np.float32(np.inf)) if value.dtype == np.float32 and value.size > 1
                  and value.any() else value for name, value in weights.items()}
        first = losses(model, prefix, weights, images, labels)
        own = np.abs(losses(model, prefix, nearby, images, labels) - first)
        if kind == "lenet":
            moved = losses(model, prefix, with_moved_channels(weights), images, labels)
            own = np.maximum(own, np.abs(moved - first))
        np.savez(file, **{"weight:" + name: value for name, value in weights.items()}, losses=first, own=own)
        print("losses", first, "own deviation", own)
        return
    weights = {name[len("weight:"):]: recorded[name] for name in recorded.files if name.startswith("weight:")}
    deviation = np.abs(losses(model, prefix, weights, images, labels) - recorded["losses"])
    print("first loss", recorded["losses"][0], "last", recorded["losses"][-1])
    print("deviation: first step %.3g, greatest %.3g" % (deviation[0], deviation.max()))
    print("by step", " ".join("%.1e" % d for d in deviation))
    print("Caffe2's own: greatest %.3g" % recorded["own"].max())
    own = 5 * recorded["own"].max()
    if kind in ("resnet", "resnet20"):
        held = deviation[0] <= 1e-5 and deviation.max() <= own
    else:
        held = deviation.max() <= max(1e-4, own)
    print("within the limit" if held else "outside the limit")
    sys.exit(0 if held else 1)


main(*sys.argv[1:])
