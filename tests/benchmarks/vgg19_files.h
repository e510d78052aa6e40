#pragma once
// VGG-19 with random weights, as a model of Caffe and as a NetDef with the same weights.

#include <cstddef>
#include <string>

namespace caffe2rt::test {

struct Vgg19Files {
  std::string prototxt, caffemodel;   // as Caffe writes them; the floats are packed
  std::string init_net, predict_net;  // as Caffe2 writes them; the floats are not packed
};

// Of the 143,667,240 floats.
inline constexpr size_t kVgg19WeightBytes = 574668960;

Vgg19Files Vgg19FilesIn(const std::string& folder);

// Writes the files, 1.3 GB, unless the folder has them. Input "data" of shape [1, 3, 224, 224], output
// "prob". No more than one weight is in memory. THROWS if a file cannot be written.
void WriteVgg19(const std::string& folder);

}  // namespace caffe2rt::test
