"""Runs the original's data_parallel_model on several ranks, and records its nets and losses.

Documentation of the fixture data_parallel_lenet: no test runs it. It needs Python 3.8 with
torch 1.8.1 (the last release with Caffe2), numpy 1.19, networkx and future.

  for r in 0 1; do python record.py OUT 2 $r STORE & done; wait

STORE is an empty folder. Each rank writes OUT/losses_SIZE_RANK.txt, rank 0 further the nets as text.
Weights and batches are formulas, which the test repeats.
"""
import os
import sys

os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MKL_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
from caffe2.python import brew, core, data_parallel_model, model_helper, workspace  # noqa: E402

BATCH, STEPS = 16, 20


def noise(count, seed):
    """Numbers in [-0.5, 0.5) as float32: a linear congruential sequence."""
    x, out = seed, np.empty(count)
    for i in range(count):
        x = (x * 1664525 + 1013904223) % 2**32
        out[i] = (x >> 8) / 2.0**24 - 0.5
    return out.astype(np.float32)


PARAMS = [("conv1_w", (20, 1, 5, 5), 0.4), ("conv1_b", (20,), 0.1),
          ("conv2_w", (50, 20, 5, 5), 0.1), ("conv2_b", (50,), 0.1),
          ("fc3_w", (500, 800), 0.08), ("fc3_b", (500,), 0.1),
          ("pred_w", (10, 500), 0.1), ("pred_b", (10,), 0.1)]


def inputs(model):
    """Batches are fed."""


def forward(model, loss_scale):
    x = brew.conv(model, "data", "conv1", 1, 20, kernel=5)
    x = brew.max_pool(model, x, "pool1", kernel=2, stride=2)
    x = brew.conv(model, x, "conv2", 20, 50, kernel=5)
    x = brew.max_pool(model, x, "pool2", kernel=2, stride=2)
    x = brew.fc(model, x, "fc3", 50 * 4 * 4, 500)
    x = brew.relu(model, x, x)
    x = brew.fc(model, x, "pred", 500, 10)
    softmax, loss = model.SoftmaxWithLoss([x, "label"], ["softmax", "loss"])
    return [model.Scale(loss, "loss", scale=loss_scale)]


def update(model):
    rate = model.net.LearningRate(brew.iter(model, "iter"), "LR", base_lr=0.05, policy="fixed")
    for param in model.GetParams():
        grad = model.param_to_grad[param]
        moment = model.param_init_net.ConstantFill([param], param + "_momentum", value=0.0)
        model.net.MomentumSGDUpdate([grad, moment, rate, param], [grad, moment, param],
                                    momentum=0.9, nesterov=0)


def main():
    out, size, rank, store = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    workspace.RunOperatorOnce(core.CreateOperator("FileStoreHandlerCreate", [], ["store_handler"],
                                                  path=store, prefix="run"))
    model = model_helper.ModelHelper(name="lenet", arg_scope={"order": "NCHW"})
    data_parallel_model.Parallelize(
        model, input_builder_fun=inputs, forward_pass_builder_fun=forward,
        param_update_builder_fun=update, devices=[0], cpu_device=True,
        rendezvous=dict(kv_handler="store_handler", num_shards=size, shard_id=rank,
                        engine="GLOO", transport="tcp", interface=None, exit_nets=None))
    prefix = "cpu_0/"
    nets = {"init": model.param_init_net, "train": model.net}
    if rank == 0:
        for name, net in nets.items():
            with open("%s/%s_%d.pbtxt" % (out, name, size), "w") as file:
                file.write(str(net.Proto()))
    workspace.FeedBlob(prefix + "data", np.zeros((BATCH, 1, 28, 28), np.float32))
    workspace.FeedBlob(prefix + "label", np.zeros(BATCH, np.int32))
    workspace.RunNetOnce(model.param_init_net)
    for number, (name, shape, scale) in enumerate(PARAMS):
        workspace.FeedBlob(prefix + name, noise(int(np.prod(shape)), number).reshape(shape) * np.float32(scale))
    workspace.CreateNet(model.net)
    with open("%s/losses_%d_%d.txt" % (out, size, rank), "w") as file:
        for step in range(STEPS):
            seed = 1000 + step * size + rank
            data = noise(BATCH * 784, seed).reshape(BATCH, 1, 28, 28)
            label = (np.arange(BATCH) * 7 + seed) % 10
            for i in range(BATCH):  # something to learn: a bright bar whose place is the label
                data[i, 0, 2 * label[i]:2 * label[i] + 3, :] += 0.5
            workspace.FeedBlob(prefix + "data", data)
            workspace.FeedBlob(prefix + "label", label.astype(np.int32))
            workspace.RunNet(model.net)
            file.write("%.9g\n" % workspace.FetchBlob(prefix + "loss"))
    data_parallel_model.Synchronize(model)
    data_parallel_model.FinalizeAfterCheckpoint(model)
    if rank == 0:
        for name in ("barrier_init_net", "barrier_net", "checkpoint_net"):
            with open("%s/%s_%d.pbtxt" % (out, name, size), "w") as file:
                file.write(str(getattr(model, "_" + name).Proto()))


main()
