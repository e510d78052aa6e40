"""Writes the int8 variants of a net of make_nets.py: predict_net_int8.pb by `caffe2 quantize`, and model_int8.xml by NNCF for OpenVINO.

Both are calibrated on the same eight images. A file that exists is kept.
"""
import importlib.util
import json
import os
import subprocess
import sys

import numpy as np

IMAGES = 8


def read_examples(folder):
    """The inputs, one dictionary for each image."""
    with open(os.path.join(folder, 'info.json')) as file:
        names = list(json.load(file)['inputs'])
    arrays = {name: np.load(os.path.join(folder, '%s_%d.npy' % (name, IMAGES))) for name in names}
    return [{name: value[image:image + 1] for name, value in arrays.items()} for image in range(IMAGES)]


def quantize_ours(folder, caffe2):
    result = os.path.join(folder, 'predict_net_int8.pb')
    if os.path.exists(result):
        return
    inputs = ['%s=%s' % (name, os.path.join(folder, '%s_%d.npy' % (name, IMAGES))) for name in read_examples(folder)[0]]
    command = [caffe2, 'quantize', '--init-net', os.path.join(folder, 'init_net.pb'), '--predict-net', os.path.join(folder, 'predict_net.pb'),
               '--output-predict-net', result]
    for value in inputs:
        command += ['--input', value]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def quantize_for_openvino(folder):
    result = os.path.join(folder, 'model_int8.xml')
    if os.path.exists(result) or importlib.util.find_spec('nncf') is None:
        return
    import nncf
    import openvino
    examples = read_examples(folder)
    model = openvino.Core().read_model(os.path.join(folder, 'model.onnx'))
    transformer = {'model_type': nncf.ModelType.TRANSFORMER} if len(examples[0]) > 1 else {}
    quantized = nncf.quantize(model, nncf.Dataset(examples), subset_size=IMAGES, **transformer)
    openvino.save_model(quantized, result, compress_to_fp16=False)


def quantize(folder, caffe2):
    quantize_ours(folder, caffe2)
    quantize_for_openvino(folder)


if __name__ == '__main__':
    for name in sys.argv[2:]:
        quantize(name, sys.argv[1])
