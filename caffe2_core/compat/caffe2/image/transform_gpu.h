#pragma once
// TransformOnGPU: normalizes images on the device that holds them.
#include <string>
#include <type_traits>
#include <vector>

#include "caffe2/core/context.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/workspace.h"
#include "caffe2/utils/proto_utils.h"

namespace caffe2 {

// X: images [N, H, W, C] of T_IN. Y becomes [N, C, H, W] of T_OUT, float or float16:
// (X - mean[c]) * scale[c]. `scale` holds the reciprocals of the standard deviations, as in Caffe2,
// which called it std. Works with every context. Waits for the work of `context` before, and returns
// when Y is complete.
template <typename T_IN, typename T_OUT, class Context>
bool TransformOnGPU(::caffe2rt::Tensor& X, ::caffe2rt::Tensor* Y, ::caffe2rt::Tensor& mean,
                    ::caffe2rt::Tensor& scale, Context* context) {
  constexpr bool kIsHalf = std::is_same_v<T_OUT, ::caffe2rt::float16>;
  static_assert(kIsHalf || std::is_same_v<T_OUT, float>, "T_OUT is float or float16");
  CAFFE_ENFORCE(X.template IsType<T_IN>() && X.dim() == 4, "images of type ", X.meta().name(),
                " with shape ", X.sizes(), ", want ", TypeMeta::Make<T_IN>().name(),
                " with 4 dimensions");
  NetDef net;
  net.set_name("TransformOnGPU");
  context->GetStaticContext()->ExtractDeviceOption(net.mutable_device_option(), X.raw_data());
  const auto add = [&net](const char* type, std::vector<std::string> inputs, const char* output,
                          const std::vector<Argument>& args) {
    *net.add_op() = CreateOperatorDef(type, "", inputs, std::vector<std::string>{output}, args);
  };
  const std::vector<Argument> to_float = {MakeArgument<int>("to", ::caffe2rt::TensorProto::FLOAT)};
  const std::vector<Argument> by_channel = {MakeArgument<int>("broadcast", 1),
                                            MakeArgument<int>("axis", 1)};
  add("Cast", {"x"}, "numbers", to_float);
  add("NHWC2NCHW", {"numbers"}, "planes", {});
  add("Sub", {"planes", "mean"}, "centered", by_channel);
  add("Mul", {"centered", "scale"}, kIsHalf ? "scaled" : "y", by_channel);
  if (kIsHalf) add("FloatToHalf", {"scaled"}, "y", {});

  Workspace ws;
  ws.CreateBlob("x")->Reset(new ::caffe2rt::Tensor(X));
  ws.CreateBlob("mean")->Reset(new ::caffe2rt::Tensor(mean));
  ws.CreateBlob("scale")->Reset(new ::caffe2rt::Tensor(scale));
  context->FinishDeviceComputation();
  if (!ws.RunNetOnce(net)) return false;
  Y->CopyFrom(ws.GetBlob("y")->Get<::caffe2rt::Tensor>(), context);
  context->FinishDeviceComputation();
  return true;
}

}  // namespace caffe2
