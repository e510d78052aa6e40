"""OpenVINO in 32-bit floats (its default on many CPUs is bfloat16), one stream. Argument: the number of threads."""
import os
import sys

import openvino

from serve import read_inputs, serve


class OpenVino:
    version = openvino.__version__

    def __init__(self, threads):
        self.threads = threads
        self.core = openvino.Core()
        self.request = None

    def load(self, folder, batch):
        inputs = read_inputs(folder, batch)
        model = self.core.read_model(os.path.join(folder, 'model.onnx'))
        model.reshape({name: list(value.shape) for name, value in inputs.items()})
        compiled = self.core.compile_model(model, 'CPU', {
            'INFERENCE_PRECISION_HINT': 'f32', 'INFERENCE_NUM_THREADS': self.threads, 'NUM_STREAMS': 1, 'PERFORMANCE_HINT': 'LATENCY'})
        self.request = compiled.create_infer_request()
        self.tensors = {name: openvino.Tensor(value, shared_memory=True) for name, value in inputs.items()}
        for name, tensor in self.tensors.items():
            self.request.set_tensor(name, tensor)

    def run(self):
        self.request.start_async()
        self.request.wait()

    def output(self):
        return self.request.get_output_tensor(0).data

    def unload(self):
        self.request = self.tensors = None


if __name__ == '__main__':
    serve(OpenVino(int(sys.argv[1])))
