#pragma once
// Sizes of the layers of well-known nets. Internal to contexts/pool.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace caffe2rt::internal {

// What one layer allocates, in bytes; elements are floats. Layer 0 is the images.
struct Layer {
  std::vector<size_t> inputs;  // indices of earlier layers
  size_t output_bytes = 0;
  size_t weight_bytes = 0;
  size_t workspace_bytes = 0;  // while the layer computes, forward and for each gradient
  size_t saved_bytes = 0;      // kept from forward to backward, besides the output
};

// Caffe's LeNet (conv 20, pool, conv 50, pool, FC 500, ReLU in place, FC 10, softmax) on 28 x 28.
std::vector<Layer> LeNetLayers(int64_t batch);
// ResNet-50 (He et al. 2015, table 1) on 224 x 224; ReLU in place, BN saves mean and variance.
std::vector<Layer> ResNet50Layers(int64_t batch);

}  // namespace caffe2rt::internal
