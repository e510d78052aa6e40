#include <string>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/onednn_argument.h"
#include "operators/pool/gradient_windows.h"
#include "operators/pool/pool.h"
#include "operators/pool/windows.h"

namespace caffe2rt {

void MaxReduction::Run(CPUContext&, const PoolPlan& plan, const float* x,
                       std::vector<float>* scratch, float* y) {
  RunPool<Largest>(plan, x, scratch, y);
}

void MaxReduction::RunGradient(const PoolPlan& plan, const PoolGradientData& data,
                               ThreadScratch* scratch) {
  RunPoolGradient<AddWhereEqual>(plan, data, scratch);
}

void RegisterMaxPool() {
  for (const char* form : {"", "1D", "2D", "3D"}) {
    const std::string type = std::string("MaxPool") + form;
    RegisterPoolSchema(
        type, __FILE__,
        "Max pooling: the largest value of each window that slides over the input. A NaN is "
        "ignored, except as the first element of a window over one axis, or over two in NCHW.")
        .Traits({.family = OperatorFamily::kPool,
                 .writes_float = true,
                 .onednn = {OnednnRole::kAnyLayout, OnednnArguments::kImageWindow}})
        .Arg(kOutputPrecision)
        .InheritOnnxSchema("MaxPool");
    RegisterCpuOperator<PoolOp<CPUContext, PoolOnCpu<MaxReduction>>>(type, __FILE__);
    RegisterPoolGradientSchema(
        type, __FILE__,
        "The gradient of MaxPool: every element of X that is equal to the maximum of a window "
        "gets the gradient of the window.");
    RegisterCpuOperator<PoolGradientOp<CPUContext, PoolGradientOnCpu<MaxReduction>>>(
        type + "Gradient", __FILE__);
  }
}

}  // namespace caffe2rt
