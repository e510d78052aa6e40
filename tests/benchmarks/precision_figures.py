#!/usr/bin/env python3
"""Measures on real nets what the precisions bf16 and int8 cost: classes, text pixels, scores, and the share of layers in int8.

usage: precision_figures.py CAFFE2 [NET ...]

  CAFFE2             the program
  NET                cifar, mnist, text or faces; all by default
CAFFE2_TEST_SHARED   the folder with `models` and `data`; a net that is not in it is skipped

Needs numpy. Ranges are measured by `caffe2 quantize`: for cifar and mnist on 64 training images, for text and faces on the images of
the folder that are not among those on which the figures are measured. Prints one line for each net and precision. Exit code: 1 if a figure misses its limit, which the line then states.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit("precision_figures.py: needs numpy")

SHARED = os.environ.get("CAFFE2_TEST_SHARED", "")
IMAGES = os.path.join(SHARED, "data/images")
missed = []


def path(*names):
    return os.path.join(SHARED, *names)


def caffe2(*arguments):
    done = subprocess.run([CAFFE2, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("caffe2 %s: %s" % (" ".join(arguments), done.stderr))
    return done.stdout


def say(net, precision, text, right):
    print("%-6s %-5s %s%s" % (net, precision, text, "" if right else "   MISSED"), flush=True)
    if not right:
        missed.append((net, precision))


class Net:
    """A net whose int8 form has been made in `folder` from examples."""

    def __init__(self, name, model, folder, examples):
        self.name, self.folder, self.model = name, folder, model
        init, net = model
        quantized = os.path.join(folder, name + "_int8.pb")
        report = json.loads(caffe2("quantize", "--init-net", init, "--predict-net", net, *examples,
                                   "--output-predict-net", quantized, "--json"))
        self.net = quantized
        for precision in ("int8", "int8_pair_limited", "bf16"):
            measured = report[precision]
            if measured is not None:
                print("%-6s %-5s %s dB of signal to noise on the examples, %d of %d layers in int8, %d in bf16" % (
                    name, "int8" if precision.startswith("int8") else precision,
                    "no noise," if measured["snr"] is None else "%.1f%s" % (
                        measured["snr"], " (pair-limited)" if precision.endswith("limited") else ""),
                    measured["int8_layers"], measured["layers"], measured["bf16_layers"]))

    def run(self, precision, *inputs):
        """{name of a file: array} of the outputs."""
        output = os.path.join(self.folder, self.name + "_" + precision)
        caffe2("run", "--init-net", self.model[0], "--predict-net", self.net, "--precision", precision,
               *inputs, "--output", output)
        return {name: np.load(os.path.join(output, name)) for name in sorted(os.listdir(output)) if name.endswith(".npy")}


def only(outputs):
    return next(iter(outputs.values()))


def classes(net, data, labels, limits):
    same = None
    for precision in ("f32", "bf16", "int8"):
        found = only(net.run(precision, "--input", data)).reshape(len(labels), -1).argmax(1)
        same = found if same is None else same
        right, alike = int((found == labels).sum()), int((found == same).sum())
        least_right, least_alike = limits[precision]
        say(net.name, precision, "%d of %d right, %d of the class of f32" % (right, len(labels), alike),
            right >= least_right and alike >= least_alike)


def converted(name, file, folder, *options):
    """The nets that a model of Caffe or ONNX is converted to."""
    made = os.path.join(folder, name)
    caffe2("convert", file, "--output", made, *options)
    return [os.path.join(made, net) for net in ("init_net.pb", "predict_net.pb")]


def other_images(folder, measured):
    """A folder with the images that are not `measured`."""
    others = os.path.join(folder, "others")
    os.mkdir(others)
    for image in os.listdir(IMAGES):
        if image not in measured:
            os.symlink(os.path.join(IMAGES, image), os.path.join(others, image))
    return others


def cifar(folder):
    model = [path("models/c2_resnet_cifar10", name) for name in ("init_net.pb", "predict_net.pb")]
    mean, deviation = (113.865, 122.95, 125.307), (66.7048, 62.0887, 62.9932)  # blue, green, red

    def images(name, count):
        rows = np.frombuffer(gzip.open(path("data/cifar10", name)).read(), np.uint8).reshape(-1, 3073)[:count]
        x = rows[:, 1:].reshape(-1, 3, 32, 32)[:, ::-1].astype(np.float32)
        x = (x - np.float32(mean)[:, None, None]) / np.float32(deviation)[:, None, None]
        return np.ascontiguousarray(x, np.float32), rows[:, 0]

    np.savez(os.path.join(folder, "cifar.npz"), data=images("train_4000.bin.gz", 64)[0])
    x, labels = images("test_1000.bin.gz", 1000)
    data = os.path.join(folder, "cifar.npy")
    np.save(data, x)
    net = Net("cifar", model, folder, ("--calibrate", os.path.join(folder, "cifar.npz")))
    classes(net, "data=" + data, labels, {"f32": (917, 1000), "bf16": (915, 990), "int8": (912, 990)})


def mnist(folder):
    model = converted("mnist", path("models/c1_lenet_mnist/mnist_deploy.prototxt"), folder,
                      "--weights", path("models/c1_lenet_mnist/lenet_iter_10000.caffemodel"))

    def images(name, count):
        pixels = np.frombuffer(gzip.open(path("data/mnist", name)).read()[16:], np.uint8)
        return pixels.reshape(-1, 1, 28, 28)[:count].astype(np.float32) / 256

    np.savez(os.path.join(folder, "mnist.npz"), data=images("train-images-idx3-ubyte.gz", 64))
    data = os.path.join(folder, "mnist.npy")
    np.save(data, images("t10k-images-idx3-ubyte.gz", 10000))
    labels = np.frombuffer(gzip.open(path("data/mnist/t10k-labels-idx1-ubyte.gz")).read()[8:], np.uint8)
    net = Net("mnist", model, folder, ("--calibrate", os.path.join(folder, "mnist.npz")))
    classes(net, "data=" + data, labels, {"f32": (9895, 10000), "bf16": (9895, 9900), "int8": (9895, 9900)})


def text(folder):
    model = converted("text", path("models/onnx_ppocr_v4/ch_PP-OCRv4_det_infer.onnx"), folder)
    prepare = ("--bgr", "--mean", "103.53,116.28,123.675", "--scale", "0.01742919,0.017507,0.01712475", "--resize")
    sizes = {"text_page.png": "640x320", "text_line.png": "320x64"}
    net = Net("text", model, folder, ("--calibrate", other_images(folder, sizes), *prepare, "640x320"))
    for image, size in sizes.items():
        base = None
        for precision in ("f32", "bf16", "int8"):
            mask = only(net.run(precision, "--image", os.path.join(IMAGES, image), *prepare, size)) > 0.3
            base = mask if base is None else base
            pixels, changed = int(base.sum()), int((mask != base).sum())
            say("text", precision, "%s: %d of %d text pixels change (%.2f %%)" % (
                image, changed, pixels, 100 * changed / max(pixels, 1)), pixels > 0 and changed <= 0.01 * pixels)


def faces(folder):
    model = converted("faces", path("models/onnx_ultraface_rfb320/version-RFB-320_simplified.onnx"), folder)
    prepare = ("--mean", "127", "--scale", "0.0078125", "--resize", "320x240")
    measured = ("astronaut.png", "face_crop.png")
    net = Net("faces", model, folder, ("--calibrate", other_images(folder, measured), *prepare))
    for image in measured:
        base = None
        for precision in ("f32", "bf16", "int8"):
            outputs = net.run(precision, "--image", os.path.join(IMAGES, image), *prepare)
            scores = next(value for value in outputs.values() if value.shape[-1] == 2)
            base = scores if base is None else base
            worst = float(np.abs(scores - base).max())
            say("faces", precision, "%s: scores differ by at most %.3f" % (image, worst), worst <= 0.2)


NETS = {"cifar": (cifar, "models/c2_resnet_cifar10"), "mnist": (mnist, "models/c1_lenet_mnist"),
        "text": (text, "models/onnx_ppocr_v4"), "faces": (faces, "models/onnx_ultraface_rfb320")}

if __name__ == "__main__":
    if len(sys.argv) < 2 or any(name not in NETS for name in sys.argv[2:]):
        print(__doc__)
        sys.exit(2)
    CAFFE2 = sys.argv[1]
    for name in sys.argv[2:] or NETS:
        measure, needs = NETS[name]
        if not SHARED or not os.path.exists(path(needs)):
            print("%-6s skipped: no %s in CAFFE2_TEST_SHARED" % (name, needs))
            continue
        with tempfile.TemporaryDirectory() as made:
            measure(made)
    sys.exit(1 if missed else 0)
