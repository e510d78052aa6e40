#pragma once
// A net of trivial operators, to measure the overhead per operator.

#include <string>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::test {

inline constexpr int kManyRelu = 1000;

// Creates a `simple` net "many" of kManyRelu Relu operators. Each reads the output of the previous
// one; the first reads "x0", which has one element.
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
