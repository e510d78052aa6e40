"""ONNX Runtime, with all graph optimizations. Inputs and outputs are bound once. Argument: the number of threads."""
import os
import sys

import numpy as np
import onnxruntime

from serve import read_inputs, serve


class OnnxRuntime:
    version = onnxruntime.__version__

    def __init__(self, threads):
        self.threads = threads
        self.session = self.binding = None

    def load(self, folder, batch):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.add_free_dimension_override_by_name('N', batch)
        self.session = onnxruntime.InferenceSession(os.path.join(folder, 'model.onnx'), options, providers=['CPUExecutionProvider'])
        self.binding = self.session.io_binding()
        self.inputs = {name: onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(value))
                       for name, value in read_inputs(folder, batch).items()}
        for name, value in self.inputs.items():
            self.binding.bind_ortvalue_input(name, value)
        self.binding.bind_output('output')

    def run(self):
        self.session.run_with_iobinding(self.binding)

    def output(self):
        return self.binding.get_outputs()[0].numpy()

    def unload(self):
        self.binding = self.session = None


if __name__ == '__main__':
    serve(OnnxRuntime(int(sys.argv[1])))
