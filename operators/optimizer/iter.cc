#include "operators/optimizer/iter.h"

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/optimizer/update_checks.h"

namespace caffe2rt {
namespace {

// The counter has the shape of input `i`, and is int64 also if that is int32.
OpSchema::TensorInference InferCounter(size_t i) {
  return
      [i, like = InferLikeInputs({i})](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = like(def, in);
        if (i < in.size() && IsKnown(in[i]) && in[i].data_type() == TensorProto::INT32)
          out[0].set_data_type(TensorProto::INT64);
        return out;
      };
}

}  // namespace

void RegisterIter() {
  RegisterSchema("Iter", __FILE__)
      .NumInputs(0, 1)
      .NumOutputs(1)
      .EnforceInplace({{0, 0}})
      .Input(0, "iter", "the counter, int64 or int32, one element, on the CPU")
      .Output(0, "iter", "the counter, increased by 1, int64")
      .TensorInferenceFunction(InferCounter(0))
      .DeviceInferenceFunction(OnCPU({0}, {0}))
      .SetDoc(
          "Counts iterations: adds 1 to the counter. Without an input, a counter that does not "
          "exist is created.");
  RegisterCpuOperator<IterOp<CPUContext>>("Iter", __FILE__);
  // A counter does not depend on other values.
  RegisterGradient<NoGradient>("Iter", __FILE__);

  RegisterSchema("AtomicIter", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .EnforceInplace({{1, 0}})
      .Input(0, "mutex", "a mutex from CreateMutex")
      .Input(1, "iter", "the counter, int64 or int32, one element, on the CPU")
      .Output(0, "iter", "the counter, increased by 1, int64")
      .TensorInferenceFunction(InferCounter(1))
      .DeviceInferenceFunction(OnCPU({0, 1}, {0}))
      .SynchronizedInputs({0, 1})
      .SynchronizedOutputs({0})
      .SetDoc("Counts iterations like Iter while it holds a mutex.");
  RegisterCpuOperator<AtomicIterOp<CPUContext>>("AtomicIter", __FILE__);
  RegisterGradient<NoGradient>("AtomicIter", __FILE__);
}

}  // namespace caffe2rt
