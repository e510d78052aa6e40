#pragma once
// Moments: mean and biased variance over dimensions; MomentsGradient.
//   X float  ->  mean, variance: the shape of X where the reduced dimensions are 1, or removed
//   dmean, dvariance, X, mean  ->  dX = (dmean + 2 dvariance (X - mean)) / n
// n is the number of elements that were reduced. The moments of no elements are 0.

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "operators/math/reductions.h"
#include "operators/math/unary.h"
#include "operators/reduce/reduce.h"

namespace caffe2rt {

// Computes sums in double, in two passes. `sums` is scratch. REQUIRES: there are elements.
void ComputeMoments(const ReducePlan& plan, const float* x, std::vector<double>* sums, float* mean,
                    float* variance);

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Argument axes. THROWS for a negative one, as in Caffe2.
std::vector<int> MomentsAxes(const ArgumentHelper& args);
#pragma GCC visibility pop

template <class Context>
class MomentsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  MomentsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        axes_(MomentsAxes(this->args())),
        keep_(this->ReadArgument(kReduceKeepDims) != 0) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* x = X.data<float>();
    MarkAxes(axes_, X.dims().size(), &reduced_);
    ReducedDims(X.sizes(), reduced_, keep_, &output_dims_);
    float* mean = this->template OutputData<float>(0, output_dims_);
    float* variance = this->template OutputData<float>(1, output_dims_);
    const size_t n = static_cast<size_t>(Output(0)->numel());
    if (n > 0 && X.numel() == 0) {
      math::Set<float, Context>(n, 0.f, mean, &context_);
      math::Set<float, Context>(n, 0.f, variance, &context_);
    } else if (n > 0) {
      Compute(X, x, mean, variance);
    }
    return true;
  }

 private:
  void Compute(const Tensor& X, const float* x, float* mean, float* variance) {
    if constexpr (Context::GetDeviceType() == CPU) {
      plan_.Make(X.sizes(), reduced_);
      ComputeMoments(plan_, x, &sums_, mean, variance);
    } else {
      x_dims_.clear();
      mean_dims_.clear();
      for (size_t i = 0; i < reduced_.size(); ++i) {
        x_dims_.push_back(CheckedCast<int>(X.dims()[i], "dimension of input 0 (data)"));
        mean_dims_.push_back(reduced_[i] != 0 ? 1 : x_dims_.back());
      }
      math::Moments<float, Context>(static_cast<int>(x_dims_.size()), x_dims_.data(),
                                    mean_dims_.data(), x, mean, variance, &context_);
    }
  }

  const std::vector<int> axes_;
  const bool keep_;
  std::vector<char> reduced_;
  std::vector<int64_t> output_dims_;
  ReducePlan plan_;
  std::vector<double> sums_;
  std::vector<int> x_dims_, mean_dims_;
};

}  // namespace caffe2rt
