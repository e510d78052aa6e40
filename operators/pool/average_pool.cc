#include <string>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/pool/pool.h"
#include "operators/pool/windows.h"

namespace caffe2rt {

void MeanReduction::Run(CPUContext&, const PoolPlan& plan, const float* x,
                        std::vector<float>* scratch, float* y) {
  RunPool<Total>(plan, x, scratch, y);
}

void RegisterAveragePool() {
  for (const char* form : {"", "1D", "2D", "3D"}) {
    const std::string type = std::string("AveragePool") + form;
    RegisterPoolSchema(type, __FILE__,
                       "Average pooling: the mean of each window that slides over the input. "
                       "Padding is left out of the mean unless count_include_pad.")
        .Arg(kPoolIncludePad)
        .InheritOnnxSchema("AveragePool");
    RegisterCpuOperator<PoolOp<CPUContext, PoolOnCpu<MeanReduction>>>(type, __FILE__);
  }
}

}  // namespace caffe2rt
