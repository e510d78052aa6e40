#pragma once
// ResNet-50 as Caffe2's exporters wrote it: convolutions with separate batch normalization, and
// random weights in an init net of about 128 MB (25.6 million floats of 5 bytes).

#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::test {

struct ModelNets {
  NetDef init, predict;
};

// Input "data" of shape [1, 3, 224, 224], output "softmax".
ModelNets ResNet50();

}  // namespace caffe2rt::test
