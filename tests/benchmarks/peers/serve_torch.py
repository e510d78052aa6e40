"""PyTorch as an engine of compare_threads.py: torchvision's net of the folder's name, with random weights and OpenMP.

Usage: serve_torch.py THREADS. See serve.py for the commands.
"""
import os
import sys

import torch
import torchvision

from serve import serve

NETS = {'squeezenet': torchvision.models.squeezenet1_1, 'alexnet': torchvision.models.alexnet,
        'mobilenet_v2': torchvision.models.mobilenet_v2}


class Torch:
    name = 'torch'
    version = torch.__version__

    def load(self, folder, batch):
        self.net = NETS[os.path.basename(folder)](weights=None).eval()
        self.image = torch.randn(batch, 3, 224, 224)

    def run(self):
        with torch.inference_mode():
            self.result = self.net(self.image)

    def output(self):
        return self.result.numpy()

    def unload(self):
        self.net = self.image = self.result = None


if __name__ == '__main__':
    torch.set_num_threads(int(sys.argv[1]))
    serve(Torch())
