#include <string>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/onednn_argument.h"
#include "operators/pool/gradient_windows.h"
#include "operators/pool/pool.h"
#include "operators/pool/windows.h"

namespace caffe2rt {

void MeanReduction::Run(CPUContext&, const PoolPlan& plan, const float* x,
                        std::vector<float>* scratch, float* y) {
  RunPool<Total>(plan, x, scratch, y);
}

void MeanReduction::RunGradient(const PoolPlan& plan, const PoolGradientData& data,
                                ThreadScratch* scratch) {
  RunPoolGradient<AddAll>(plan, data, scratch);
}

void RegisterAveragePool() {
  for (const char* form : {"", "1D", "2D", "3D"}) {
    const std::string type = std::string("AveragePool") + form;
    RegisterPoolSchema(type, __FILE__,
                       "Average pooling: the mean of each window that slides over the input. "
                       "Padding is left out of the mean unless count_include_pad.")
        .Args(kPoolIncludePad, kOutputPrecision, kPooledMin, kPooledMax)
        .Traits({.family = OperatorFamily::kPool,
                 .writes_float = true,
                 .onednn = {OnednnRole::kAnyLayout, OnednnArguments::kImageWindow}})
        .InheritOnnxSchema("AveragePool");
    RegisterCpuOperator<PoolOp<CPUContext, PoolOnCpu<MeanReduction>>>(type, __FILE__);
    RegisterPoolGradientSchema(type, __FILE__,
                               "The gradient of AveragePool: the gradient of each window, divided "
                               "by the number of elements "
                               "in its mean, is added to all elements of the window.")
        .Arg(kPoolIncludePad);
    RegisterCpuOperator<PoolGradientOp<CPUContext, PoolGradientOnCpu<MeanReduction>>>(
        type + "Gradient", __FILE__);
  }
}

}  // namespace caffe2rt
