#!/usr/bin/env python3
"""The nets of the benchmark: SqueezeNet 1.1, ResNet-50 and a tiny net, with random weights, for this project and for PyTorch.

usage: nets.py FOLDER      writes NAME_BATCH_init.pbtxt, NAME_predict.pbtxt and NAME_search_predict.pbtxt (exhaustive_search)

A net is a list of layers. One function writes it as Caffe2 operators, another builds it from PyTorch modules, so that both
compute the same. The init net fills the input on the device, so the times do not include copying it.
"""
import sys

BATCHES = (1, 32, 256)


def squeezenet():
    layers = [("conv", "data", "c1", 3, 64, 3, 2, 0, 1), ("pool", "c1", "p1", 3, 2, 0)]
    blob, channels = "p1", 64
    for i, (squeeze, expand) in enumerate([(16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256)], 2):
        layers += [
            ("conv", blob, f"s{i}", channels, squeeze, 1, 1, 0, 1),
            ("conv", f"s{i}", f"a{i}", squeeze, expand, 1, 1, 0, 1),
            ("conv", f"s{i}", f"b{i}", squeeze, expand, 3, 1, 1, 1),
            ("concat", (f"a{i}", f"b{i}"), f"f{i}"),
        ]
        blob, channels = f"f{i}", 2 * expand
        if i in (3, 5):
            layers.append(("pool", blob, f"p{i}", 3, 2, 0))
            blob = f"p{i}"
    layers += [("conv", blob, "c10", channels, 1000, 1, 1, 0, 1), ("mean", "c10", "m"), ("softmax", "m", "prob")]
    return layers


def resnet50():
    layers = [("conv", "data", "c1", 3, 64, 7, 2, 3, 1), ("pool", "c1", "p1", 3, 2, 1)]
    blob, channels = "p1", 64
    for stage, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        for block in range(blocks):
            stride = 2 if stage > 0 and block == 0 else 1
            name = f"r{stage}_{block}"
            layers += [
                ("conv", blob, name + "a", channels, width, 1, 1, 0, 1),
                ("conv", name + "a", name + "b", width, width, 3, stride, 1, 1),
                ("conv", name + "b", name + "c", width, 4 * width, 1, 1, 0, 0),
            ]
            shortcut = blob
            if block == 0:
                shortcut = name + "s"
                layers.append(("conv", blob, shortcut, channels, 4 * width, 1, stride, 0, 0))
            layers.append(("add", (name + "c", shortcut), name))
            blob, channels = name, 4 * width
    layers += [("mean", blob, "m"), ("fc", "m", "f", channels, 1000), ("softmax", "f", "prob")]
    return layers


def tiny():
    return [("conv", "data", "c1", 3, 4, 3, 2, 1, 1), ("pool", "c1", "p1", 3, 2, 0), ("mean", "p1", "m"), ("fc", "m", "f", 4, 10),
            ("softmax", "f", "prob")]


NETS = {"squeezenet": squeezenet, "resnet50": resnet50, "tiny": tiny}
SIZES = {"squeezenet": 224, "resnet50": 224, "tiny": 16}


def operator(kind, inputs, outputs, **args):
    text = "op { type: \"%s\" %s %s" % (
        kind, " ".join('input: "%s"' % i for i in inputs), " ".join('output: "%s"' % o for o in outputs))
    for name, value in args.items():
        if isinstance(value, (list, tuple)):
            text += ' arg { name: "%s" %s }' % (name, " ".join("ints: %d" % v for v in value))
        elif isinstance(value, str):
            text += ' arg { name: "%s" s: "%s" }' % (name, value)
        elif isinstance(value, float):
            text += ' arg { name: "%s" f: %g }' % (name, value)
        else:
            text += ' arg { name: "%s" i: %d }' % (name, value)
    return text + " }\n"


def predict_text(name, search=False):
    """The net as Caffe2 operators. `search`: convolutions time cuDNN's algorithms in their first run."""
    text = 'name: "%s"\nexternal_output: "prob"\nexternal_input: "data"\n' % name
    for layer in NETS[name]():
        if layer[0] in ("conv", "fc"):
            text += 'external_input: "%s_w"\nexternal_input: "%s_b"\n' % (layer[2], layer[2])
    for layer in NETS[name]():
        kind, source, to = layer[:3]
        if kind == "conv":
            _, _, _, _, _, kernel, stride, pad, relu = layer
            extra = {"exhaustive_search": 1} if search else {}
            text += operator("Conv", [source, to + "_w", to + "_b"], [to], kernel=kernel, stride=stride, pad=pad, **extra)
            if relu:
                text += operator("Relu", [to], [to])
        elif kind == "fc":
            text += operator("FC", [source, to + "_w", to + "_b"], [to])
        elif kind == "pool":
            text += operator("MaxPool", [source], [to], kernel=layer[3], stride=layer[4], pad=layer[5])
        elif kind == "mean":
            text += operator("AveragePool", [source], [to + "_p"], global_pooling=1)
            text += operator("Flatten", [to + "_p"], [to])
        elif kind == "concat":
            text += operator("Concat", source, [to, to + "_split"], axis=1)
        elif kind == "add":
            text += operator("Add", source, [to]) + operator("Relu", [to], [to])
        elif kind == "softmax":
            text += operator("Softmax", [source], [to])
    return text


def init_text(name, batch):
    """The init net: the input, and random weights small enough to avoid overflow."""
    text = 'name: "%s_init"\n' % name
    text += operator("UniformFill", [], ["data"], shape=[batch, 3, SIZES[name], SIZES[name]], min=-1.0, max=1.0)
    for layer in NETS[name]():
        if layer[0] == "conv":
            shape = [layer[4], layer[3], layer[5], layer[5]]
        elif layer[0] == "fc":
            shape = [layer[4], layer[3]]
        else:
            continue
        text += operator("XavierFill", [], [layer[2] + "_w"], shape=shape)
        text += operator("ConstantFill", [], [layer[2] + "_b"], shape=shape[:1], value=0.0)
    return text


def torch_net(name):
    """The net as a PyTorch module."""
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = NETS[name]()
            self.parts = torch.nn.ModuleDict()
            for layer in self.layers:
                if layer[0] == "conv":
                    self.parts[layer[2]] = torch.nn.Conv2d(layer[3], layer[4], layer[5], layer[6], layer[7])
                elif layer[0] == "fc":
                    self.parts[layer[2]] = torch.nn.Linear(layer[3], layer[4])

        def forward(self, data):
            blobs = {"data": data}
            for layer in self.layers:
                kind, source, to = layer[:3]
                if kind == "conv":
                    y = self.parts[to](blobs[source])
                    blobs[to] = torch.relu_(y) if layer[8] else y
                elif kind == "fc":
                    blobs[to] = self.parts[to](blobs[source])
                elif kind == "pool":
                    blobs[to] = torch.nn.functional.max_pool2d(blobs[source], layer[3], layer[4], layer[5])
                elif kind == "mean":
                    blobs[to] = blobs[source].mean((2, 3))
                elif kind == "concat":
                    blobs[to] = torch.cat([blobs[s] for s in source], 1)
                elif kind == "add":
                    blobs[to] = torch.relu_(blobs[source[0]] + blobs[source[1]])
                elif kind == "softmax":
                    blobs[to] = torch.softmax(blobs[source], 1)
            return blobs["prob"]

    return Net()


def main():
    folder = sys.argv[1]
    for name in NETS:
        for search in (False, True):
            with open(f"{folder}/{name}{'_search' if search else ''}_predict.pbtxt", "w", encoding="utf-8") as out:
                out.write(predict_text(name, search))
        for batch in BATCHES:
            with open(f"{folder}/{name}_{batch}_init.pbtxt", "w", encoding="utf-8") as out:
                out.write(init_text(name, batch))


if __name__ == "__main__":
    main()
