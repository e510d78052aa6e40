// FC and FCTransposed on IDEEP. W and b are on the CPU. X is read in row-major order: converting it
// costs little next to reading W, and the weights need no second form. The result is row-major.

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "contexts/onednn/onednn_context.h"
#include "operators/common/host_input.h"
#include "operators/common/onednn_planes.h"
#include "operators/matmul/fc.h"

namespace caffe2rt {

namespace {

template <bool kTransposed>
class FullyConnectedOnednnOp final : public Operator<IDEEPContext>, public PlansAhead {
 public:
  FullyConnectedOnednnOp(const OperatorDef& def, Workspace* ws)
      : Operator<IDEEPContext>(def, ws),
        axis_(ReadArgument(kFcAxis)),
        axis_w_(ReadArgument(kFcAxisW)) {}

  void PlanAhead(const AheadInputs&) override {
    (void)Check(Input(0), InputAnywhere(*this, 1), InputAnywhere(*this, 2));
    PrepareOutput(Output(0), dims_, nullptr);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& W = w_input_.Read(*this, 1);
    const Tensor& b = b_input_.Read(*this, 2);
    const FCSizes sizes = Check(X, W, b);
    const float* const x = x_input_.Read(X);
    const float* const w = W.data<float>();
    const float* const bias = b.data<float>();
    float* const y = PrepareOutput(Output(0), dims_, nullptr);
    RunFC(cpu_, math::GemmEngine::kBest, sizes, kTransposed, x, w, bias, y);
    return true;
  }

 private:
  // Sets dims_, the shape of the result.
  FCSizes Check(const Tensor& X, const Tensor& W, const Tensor& b) {
    const FCSizes sizes =
        CheckFCShapes(X.sizes(), W.sizes(), b.sizes(), axis_, axis_w_, kTransposed);
    const std::vector<int64_t>& x_dims = X.dims();
    dims_.assign(x_dims.begin(), x_dims.begin() + X.canonical_axis_index(axis_));
    dims_.push_back(sizes.n);
    return sizes;
  }

  const int axis_, axis_w_;
  RowMajorInput x_input_;
  HostInput w_input_, b_input_;
  std::vector<int64_t> dims_;
  CPUContext cpu_;
};

}  // namespace

void RegisterFcIdeep() {
  RegisterOperator<FullyConnectedOnednnOp<false>>(IDEEP, "FC", __FILE__);
  RegisterOperator<FullyConnectedOnednnOp<true>>(IDEEP, "FCTransposed", __FILE__);
}

}  // namespace caffe2rt
