"""Converts FOLDER/model.onnx to model.ncnn.param and model.ncnn.bin with pnnx, for one image: convert_to_ncnn.py FOLDER ..."""
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile


def pnnx_program():
    """The program in the package pnnx, or None. The package is not imported, because that needs PyTorch; the program does not."""
    package = importlib.util.find_spec('pnnx')
    path = os.path.join(package.submodule_search_locations[0], 'pnnx') if package else ''
    return path if os.path.isfile(path) and os.access(path, os.X_OK) else None


def convert(folder):
    """Returns whether the net has a form for ncnn. Nets of several inputs are left out: pnnx does not know their operators."""
    if os.path.exists(os.path.join(folder, 'model.ncnn.bin')):
        return True
    with open(os.path.join(folder, 'info.json')) as file:
        inputs = list(json.load(file)['inputs'].values())
    if len(inputs) != 1 or pnnx_program() is None:
        return False
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copy(os.path.join(folder, 'model.onnx'), scratch)
        shape = '[' + ','.join(str(size) for size in inputs[0]['shape']) + ']'
        result = subprocess.run([pnnx_program(), 'model.onnx', 'inputshape=' + shape, 'fp16=0'], cwd=scratch, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
        made = [os.path.join(scratch, 'model.ncnn.' + ending) for ending in ('param', 'bin')]
        if not all(os.path.exists(path) for path in made):
            print('pnnx did not convert %s: %s' % (folder, result.stdout.strip().splitlines()[-1:]), file=sys.stderr)
            return False
        for path in made:
            shutil.copy(path, folder)
    return True


if __name__ == '__main__':
    for name in sys.argv[1:]:
        convert(name)
