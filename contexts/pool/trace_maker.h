#pragma once
// Generates traces: of the training of real nets, with the sizes of their layers, and random ones.
//
// A training step allocates outputs and workspaces in the forward pass and gradients in the
// backward pass, frees each block after its last use, and updates the weights with momentum.
// Weights and momentum live throughout; weight gradients live from the backward pass to the update.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contexts/pool/trace.h"

namespace caffe2rt {

// Caffe's LeNet on 28 x 28 images: two convolutions, two pooling layers, two FC.
Trace LeNetTrainingTrace(int64_t batch, int steps);
// ResNet-50 on 224 x 224 images with batch normalization.
Trace ResNet50TrainingTrace(int64_t batch, int steps);
// ResNet-50 with a random batch size in [least_batch, most_batch] in every step.
Trace VariableBatchTrace(int64_t least_batch, int64_t most_batch, int steps, uint64_t seed);

// ResNet-50 on stream 0. Meanwhile stream 1 copies the next images to the device and exchanges
// gradients, so blocks are used on both streams.
Trace TwoStreamTrainingTrace(int64_t batch, int steps);
// ResNet-50 on stream 0 and LeNet on stream 1, alternately: one is idle while the other works.
Trace TwoNetsTrace(int64_t batch, int steps);

struct RandomTraceOptions {
  uint64_t seed = 1;
  size_t entries = 20000;
  StreamIndex streams = 1;
  size_t least_bytes = 512;  // all powers of two between the two sizes are equally likely
  size_t most_bytes = size_t{8} << 20;
  size_t blocks_in_use = 400;  // approximately
  // One entry in this many is a use, or a wait; 0: none.
  unsigned use_each = 0;
  unsigned wait_each = 50;
};
Trace RandomTrace(const RandomTraceOptions& options);

// The traces that pool_benchmark runs, and for which tests check the bounds of the pools.
std::vector<Trace> StandardTraces();

}  // namespace caffe2rt
