"""Round trips of nets and models through ONNX, judged by ONNX Runtime.

    onnx_round_trips.py CAFFE2 [MODELS [NAME ...]]    CAFFE2 is the program, MODELS the folder of CASES.tsv (default:
                                                      models in CAFFE2_TEST_SHARED, else in ../shared); a NAME is a
                                                      folder in it (default: all), or a folder with model.onnx and
                                                      the arrays of its inputs, NAME_OF_INPUT.npy

Caffe2 nets of CASES.tsv: net -> ONNX at several opsets -> checker (full) -> ONNX Runtime, within 1e-4 of the recorded outputs;
ONNX -> `caffe2 run`, within 1e-5 of `caffe2 run` for the net itself.

ONNX models: ONNX -> nets (files) -> ONNX -> checker (full) -> ONNX Runtime, within 1e-4 of the model there; the new file once
more by `caffe2 run`, within 1e-5 of `caffe2 run` for the model itself.

Differences are relative to the largest magnitude of an output where that is above 1. Returns 0 if no case but those of
EXCEPTIONS fails, else 1, and 77 without onnx and onnxruntime.
"""

import csv
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

# Caffe2 nets without an ONNX form; at most three.
EXCEPTIONS = {"c2_style_crayon": "its pre- and postprocessing are operators over bytes with random noise"}
OPSETS = (13, 17, 18, 24)
# Files of the folder of models: folder, file, the recorded array or the shape of each input.
MODELS = [
    ("onnx_squeezenet11_fp16", "SqueezeNet_fp16.onnx", {"data_0": "golden/in__data_0.npy"}),
    ("onnx_shufflenetv2_int8", "shufflenet-v2-12-int8.onnx", {"input": "golden/in__input.npy"}),
    ("onnx_mnist_cntk", "model.onnx", {"Input3": (1, 1, 28, 28)}),
    ("onnx_superres_zoo", "super_resolution.onnx", {"input": "golden/in__input.npy"}),
    ("onnx_ultraface_rfb320", "version-RFB-320_simplified.onnx", {"input": "golden/in__input.npy"}),
    ("onnx_ultraface_rfb320", "version-RFB-320.onnx", {"input": "golden/in__input.npy"}),
    ("onnx_silero_vad", "silero_vad_16k_op15.onnx", {"input": (1, 576), "state": (2, 1, 128), "sr": 16000}),
    ("onnx_ppocr_v4", "ch_PP-OCRv4_det_infer.onnx", {"x": "golden/in__det_x.npy"}),
    ("onnx_ppocr_v4", "ch_PP-OCRv4_rec_infer.onnx", {"x": "golden/in__rec_x.npy"}),
    ("onnx_ppocr_v4", "ch_ppocr_mobile_v2.0_cls_infer.onnx", {"x": "golden/in__cls_x.npy"}),
    ("onnx_blazeface_front", "face_detection_front_128x128_barracuda.onnx", {"input:0": "golden/in__input_0.npy"}),
    ("onnx_style_candy", "candy.onnx", {"inputImage": (1, 3, 720, 720)}),
]
# Half precision is rounded after each operator, by each engine in its own order.
TOLERANCES = {"SqueezeNet_fp16.onnx": 5e-3}


class Failure(Exception):
    """Why a round trip failed."""


def call(*args):
    result = subprocess.run(args, capture_output=True, text=True, check=False)
    if result.returncode:
        raise Failure(f"{os.path.basename(args[0])} {args[1]}: {result.stderr.strip()[-400:]}")


def run(caffe2, net, inputs, outputs, folder):
    """What `caffe2 run` gives; net: the arguments that name it."""
    args = []
    for index, (name, array) in enumerate(inputs.items()):
        np.save(f"{folder}/in_{index}.npy", array)
        args += ["--input", f"{name}={folder}/in_{index}.npy"]
    with tempfile.TemporaryDirectory(dir=folder) as out:
        call(caffe2, "run", *net, *args, "--output", out)
        return [np.load(f"{out}/{re.sub('[/:]', '_', name)}.npy") for name in outputs]


def load(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def read_by(session, inputs):
    """The inputs that a model has: nets have none that nothing reads, and read halves as floats."""
    def typed(value):
        array = inputs[value.name]
        return array.astype(np.float32) if array.dtype == np.float16 and value.type == "tensor(float)" else array
    return {value.name: typed(value) for value in session.get_inputs()}


def load_checked(path):
    try:
        onnx.checker.check_model(path, full_check=True)
        return load(path)
    except Exception as error:
        raise Failure(f"checker or ONNX Runtime: {' '.join(str(error).split())[:300]}") from error


def judge(what, got, want, tolerance):
    """The largest difference, as text; an error above the tolerance."""
    worst = 0.0
    for g, w in zip(got, want):
        if g.shape != w.shape or (g.dtype != w.dtype and w.dtype != np.float16):
            raise Failure(f"{what}: {g.dtype}{list(g.shape)}, want {w.dtype}{list(w.shape)}")
        g, w = g.astype(np.float64), w.astype(np.float64)
        finite = np.isfinite(w)
        if not np.array_equal(g[~finite], w[~finite], equal_nan=True):
            raise Failure(f"{what}: NaN or infinity at other places")
        if finite.any():
            worst = max(worst, np.abs(g - w)[finite].max() / max(1.0, np.abs(w[finite]).max()))
    if not worst <= tolerance:
        raise Failure(f"{what}: differs by {worst:.1e}, allowed are {tolerance:.0e}")
    return f"{what} {worst:.1e}"


def shapes(inputs):
    return [arg for name, array in inputs.items() if array.ndim
            for arg in ("--input-shape", name + "=" + ",".join(map(str, array.shape)))]


def pairs(text):
    """'a=x.npy,b[..., 1:2]=y.npy' as [('a', 'x.npy'), ('b[..., 1:2]', 'y.npy')]."""
    return re.findall(r"([^,=][^=]*)=([^,]*)", text)


def net_trip(caffe2, folder, row, work):
    """A row of CASES.tsv: what agrees, as text."""
    net = [f"{folder}/{row['predict']}", "--init-net", f"{folder}/{row['init']}"]
    inputs = {name: np.load(f"{folder}/{path}") for name, path in pairs(row["inputs"])}
    wanted = [(*re.fullmatch(r"([^[]*)(.*)", name).groups(), np.load(f"{folder}/{path}"))
              for name, path in pairs(row["outputs"])]
    names = [name for name, _, _ in wanted]
    own = run(caffe2, [net[1], net[2], "--predict-net", net[0]], inputs, names, work)
    texts = []
    for opset in OPSETS:
        path = f"{work}/net.onnx"
        call(caffe2, "convert", *net, *shapes(inputs), "--to", "onnx", "--opset", str(opset), "--output", path)
        session = load_checked(path)
        answers = session.run(names, read_by(session, inputs))
        cropped = [eval(f"array{crop}", {"array": array}) for array, (_, crop, _) in zip(answers, wanted)]
        texts.append(judge(f"opset {opset}: ONNX Runtime", cropped, [array for _, _, array in wanted], 1e-4))
        texts.append(judge("again", run(caffe2, [path], inputs, names, work), own, 1e-5))
    return ", ".join(texts)


def model_trip(caffe2, model, inputs, work, opset=20):
    """A file of ONNX: what agrees, as text."""
    proto = onnx.load(model, load_external_data=False)
    names = [value.name for value in proto.graph.output]
    own = run(caffe2, [model], inputs, names, work)
    if proto.opset_import[0].version < 7:
        want = own  # ONNX Runtime has no operators of these opsets
    else:
        session = load(model)
        want = session.run(names, read_by(session, inputs))
    path, nets = f"{work}/again.onnx", f"{work}/nets"
    call(caffe2, "convert", model, *shapes(inputs), "--output", nets)
    call(caffe2, "convert", f"{nets}/predict_net.pb", "--init-net", f"{nets}/init_net.pb", *shapes(inputs), "--to", "onnx",
         "--opset", str(opset), "--output", path)
    again = load_checked(path)
    rest = read_by(again, inputs)
    tolerance = TOLERANCES.get(os.path.basename(model), 1e-4)
    text = judge("ONNX Runtime", again.run(names, rest), want, tolerance)
    return text + ", " + judge("again", run(caffe2, [path], rest, names, work), own, 1e-5)


def drawn(want, folder):
    """An input of MODELS."""
    if isinstance(want, str):
        return np.load(f"{folder}/{want}")
    if isinstance(want, int):
        return np.array(want, np.int64)
    return np.random.default_rng(0).random(want, np.float32)


def trips(caffe2, models, names):
    """Yields each case: its name, a function of a folder to work in."""
    with open(f"{models}/CASES.tsv", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if not names or row["model"] in names:
                folder = f"{models}/{row['model']}"
                yield f"{row['model']} {row['predict']}", lambda work: net_trip(caffe2, folder, row, work)
    for name, model, wanted in MODELS:
        if not names or name in names:
            folder = f"{models}/{name}"
            inputs = {key: drawn(value, folder) for key, value in wanted.items()}
            yield f"{name} {model}", lambda work: model_trip(caffe2, f"{folder}/{model}", inputs, work)
    for folder in names:
        if os.path.exists(f"{folder}/model.onnx"):
            inputs = {value.name: np.load(f"{folder}/{value.name}.npy")
                      for value in load(f"{folder}/model.onnx").get_inputs()}
            yield folder, lambda work: model_trip(caffe2, f"{folder}/model.onnx", inputs, work)


def shared_models():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return (os.environ.get("CAFFE2_TEST_SHARED") or os.path.join(os.path.dirname(root), "shared")) + "/models"


def main(caffe2, models=None, *names):
    failed = 0
    models = models or shared_models()
    if not os.path.exists(f"{models}/CASES.tsv"):
        print(f"skipped: no {models}/CASES.tsv")
        return 77
    for name, trip in trips(caffe2, models, names):
        with tempfile.TemporaryDirectory() as work:
            try:
                print("ok  ", name, trip(work), flush=True)
            except Exception as error:  # also of ONNX Runtime
                known = EXCEPTIONS.get(name.split()[0])
                failed += not known
                print("known" if known else "FAIL", name, error, f"({known})" if known else "", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
