"""OpenVINO with one stream. Arguments: the number of threads, and the precision: f32 (its default on many CPUs is bf16), bf16, or int8,
which reads the model of quantize_nets.py and computes the rest of it in bf16."""
import os
import sys

import openvino

from serve import read_inputs, serve


class OpenVino:
    version = openvino.__version__

    def __init__(self, threads, precision):
        self.threads = threads
        self.precision = precision
        self.core = openvino.Core()
        self.request = None

    def load(self, folder, batch):
        inputs = read_inputs(folder, batch)
        model = self.core.read_model(os.path.join(folder, 'model_int8.xml' if self.precision == 'int8' else 'model.onnx'))
        model.reshape({name: list(value.shape) for name, value in inputs.items()})
        compiled = self.core.compile_model(model, 'CPU', {
            'INFERENCE_PRECISION_HINT': 'f32' if self.precision == 'f32' else 'bf16', 'INFERENCE_NUM_THREADS': self.threads, 'NUM_STREAMS': 1, 'PERFORMANCE_HINT': 'LATENCY'})
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
    serve(OpenVino(int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else 'f32'))
