#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/pool/lp_pool.h"

namespace caffe2rt {

namespace {

// Runner policies of PoolOp and PoolGradientOp.
class LpPoolOnCuda {
 public:
  explicit LpPoolOnCuda(const OperatorBase& op) : p_(op.ReadArgument(kLpPoolPower)) {}
  void Plan(const WindowGeometry& geometry, bool global, bool) {
    plan_ = MakeLpPoolPlan(geometry, global);
  }
  void Run(CUDAContext& context, const float* x, float* y) { RunLpPool(context, plan_, p_, x, y); }
  void Run(CUDAContext& context, const PoolGradientData& data) {
    RunLpPoolGradient(context, plan_, p_, data);
  }

 private:
  const float p_;
  PoolPlan plan_;
};

}  // namespace

void RegisterLpPoolCuda() {
  RegisterOperator<PoolOp<CUDAContext, LpPoolOnCuda>>(CUDA, "LpPool", __FILE__);
  RegisterOperator<PoolGradientOp<CUDAContext, LpPoolOnCuda>>(CUDA, "LpPoolGradient", __FILE__);
}

}  // namespace caffe2rt
