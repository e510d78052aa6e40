#pragma once
// Traces of what nets do, with the sizes of their real layers, and random ones.
//
// A training step allocates outputs and workspaces forward, gradients backward, frees what nobody
// needs any more, and updates the weights with momentum. Weights and momentum stay; the gradients
// of weights live from the backward pass to the update.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contexts/pool/trace.h"

namespace caffe2rt {

// Caffe's LeNet on 28 x 28 pictures: two convolutions, two pools, two FC.
Trace LeNetTrainingTrace(int64_t batch, int steps);
// ResNet-50 on 224 x 224 pictures with batch normalisation.
Trace ResNet50TrainingTrace(int64_t batch, int steps);
// The same with a batch between least and most, drawn anew for every step.
Trace VariableBatchTrace(int64_t least_batch, int64_t most_batch, int steps, uint64_t seed);

// ResNet-50 on stream 0. Stream 1 copies the next pictures in meanwhile and exchanges gradients, so
// blocks are used on both.
Trace TwoStreamTrainingTrace(int64_t batch, int steps);
// ResNet-50 on stream 0 and LeNet on stream 1, in turns: one rests while the other works.
Trace TwoNetsTrace(int64_t batch, int steps);

struct RandomTraceOptions {
  uint64_t seed = 1;
  size_t entries = 20000;
  StreamIndex streams = 1;
  size_t least_bytes = 512;  // sizes are spread evenly over powers of two
  size_t most_bytes = size_t{8} << 20;
  size_t blocks_in_use = 400;  // about
  // One in so many entries; 0: none.
  unsigned use_each = 0;
  unsigned wait_each = 50;
};
Trace RandomTrace(const RandomTraceOptions& options);

// The traces that pool_benchmark prints and tests hold the pools to.
std::vector<Trace> StandardTraces();

}  // namespace caffe2rt
