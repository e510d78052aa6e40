"""ncnn in 32-bit floats. It has no batches: the images of a batch run one after the other. Argument: the number of threads.

The net is model.ncnn.param and model.ncnn.bin in the net's folder, which convert_to_ncnn.py writes.
"""
import os
import sys

import ncnn
import numpy as np

from serve import read_inputs, serve


class Ncnn:
    version = ncnn.__version__

    def __init__(self, threads):
        self.threads = threads
        self.net = None

    def load(self, folder, batch):
        param = os.path.join(folder, 'model.ncnn.param')
        if not os.path.exists(param):
            raise FileNotFoundError('pnnx has not converted this net')
        self.net = ncnn.Net()
        options = self.net.opt
        options.num_threads = self.threads
        options.use_fp16_packed = options.use_fp16_storage = options.use_fp16_arithmetic = False
        options.use_bf16_storage = False
        self.net.opt = options
        if self.net.load_param(param) != 0 or self.net.load_model(os.path.join(folder, 'model.ncnn.bin')) != 0:
            raise ValueError('ncnn cannot read ' + param)
        (images,) = read_inputs(folder, batch).values()
        self.images = [ncnn.Mat(np.ascontiguousarray(image)).clone() for image in images]  # a Mat does not own an array's memory
        self.names = self.net.input_names()[0], self.net.output_names()[0]
        self.outputs = []

    def run(self):
        outputs = []
        for image in self.images:
            extractor = self.net.create_extractor()
            extractor.input(self.names[0], image)
            code, output = extractor.extract(self.names[1])
            if code != 0:
                raise ValueError('ncnn failed with code %d' % code)
            outputs.append(output)
        self.outputs = outputs

    def output(self):
        return np.stack([np.array(output) for output in self.outputs])

    def unload(self):
        self.net, self.outputs, self.images = None, [], []


if __name__ == '__main__':
    serve(Ncnn(int(sys.argv[1])))
