"""Writes nets with random weights for this project and for other engines:

  make_nets.py [--separate-batch-norm] [--constants-in-init] [--batch N,...] FOLDER [NET ...]

FOLDER/NET receives init_net.pb, predict_net.pb, model.onnx, an input for each batch (BLOB_N.npy) and info.json (shapes, number of
operations). Without names, all nets are written. A net whose info.json exists is kept.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from conv_nets import CONV_NETS
from minilm import minilm

NETS = sorted(CONV_NETS) + ['minilm']


def make_net(folder, name, separate_batch_norm=False, constants_in_net=True, batches=(1, 8)):
    target = os.path.join(folder, name)
    if os.path.exists(os.path.join(target, 'info.json')):
        return
    if name == 'minilm':
        net = minilm(target, name, constants_in_net=constants_in_net)
    else:
        net = CONV_NETS[name](target, name, fold_batch_norm=not separate_batch_norm)
    net.close(batches)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--separate-batch-norm', action='store_true', help='keep SpatialBN operators; the values are the same')
    parser.add_argument('--constants-in-init', action='store_true', help='fill the scalars of minilm in the init net')
    parser.add_argument('--batch', default='1,8', help='the sizes of the inputs')
    parser.add_argument('folder')
    parser.add_argument('net', nargs='*')
    options = parser.parse_args()
    unknown = [name for name in options.net if name not in NETS]
    if unknown:
        parser.error('no net "%s", want %s' % (unknown[0], ', '.join(NETS)))
    for name in options.net or NETS:
        make_net(options.folder, name, options.separate_batch_norm, not options.constants_in_init,
                 [int(size) for size in options.batch.split(',')])


if __name__ == '__main__':
    main()
