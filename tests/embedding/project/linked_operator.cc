// Runs ClampSum, which is linked into the program, together with built-in operators, reads its
// schema and verifies its gradient.
#include <cstdio>

#include "caffe2_core/inspect/gradient_check.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/module.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"

int main() {
  caffe2rt::NetDef net;
  caffe2rt::ParseTextProto(R"(
    name: "clamp"
    op { type: "GivenTensorFill" output: "x" arg { name: "shape" ints: 3 }
         arg { name: "values" floats: -2 floats: 1 floats: 4 } }
    op { type: "ClampSum" input: "x" output: "y" arg { name: "least" f: -1 } })",
                           "net", &net);
  caffe2rt::Workspace ws;
  if (!ws.RunNetOnce(net)) return 1;
  const float y = *ws.GetBlob("y")->Get<caffe2rt::Tensor>().data<float>();
  const caffe2rt::OpSchema* schema = caffe2rt::OpSchemaRegistry::Schema("ClampSum");
  const auto shapes = schema->InferTensor(net.op(1), {caffe2rt::TensorShape()});
  std::printf("y = %g, inferred rank %d, %s\n", y, shapes[0].dims_size(), schema->doc());
  for (const caffe2rt::CheckedGradient& gradient : caffe2rt::CheckGradients(net, {"y"}, {}, &ws)) {
    std::printf("%s: %lld of %lld elements are wrong\n", gradient.gradient.c_str(),
                static_cast<long long>(gradient.wrong), static_cast<long long>(gradient.elements));
    if (gradient.blob != "x" || gradient.wrong > 0 || gradient.elements != 3) return 1;
  }
  return y == 4.0f && shapes[0].dims_size() == 0 && caffe2rt::HasModule("clamp_sum") ? 0 : 1;
}
