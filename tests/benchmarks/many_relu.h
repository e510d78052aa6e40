#pragma once
// The net that overhead is measured with: operators whose own work is nothing.

#include <string>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::test {

inline constexpr int kManyRelu = 1000;

// A `simple` net "many" of kManyRelu Relu, each from the output of the one before, on one element
// of "x0".
inline NetBase* MakeManyRelu(Workspace* ws) {
  Tensor* x = ws->CreateBlob("x0")->GetMutableTensor(CPU);
  x->Resize(1);
  x->mutable_data<float>()[0] = 1;
  NetDef net;
  net.set_name("many");
  net.set_type("simple");
  for (int i = 0; i < kManyRelu; ++i) {
    OperatorDef* op = net.add_op();
    op->set_type("Relu");
    op->add_input("x" + std::to_string(i));
    op->add_output("x" + std::to_string(i + 1));
  }
  return ws->CreateNet(net);
}

}  // namespace caffe2rt::test
