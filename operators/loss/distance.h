#pragma once
// SquaredL2Distance, L1Distance, DotProduct, CosineSimilarity: compare each row of X with the same
// row of Y.
//   X, Y [N, D..] float  ->  Z [N]
// Two numbers (rank 0) count as one row. As in Caffe2, DotProduct of rows without elements is [0]; the
// others are [N]. Z[i] is
//   SquaredL2Distance   half the squared length of X[i] - Y[i]
//   L1Distance          the sum of |X[i, j] - Y[i, j]|
//   DotProduct          the sum of X[i, j] * Y[i, j]
//   CosineSimilarity    the dot product divided by both lengths, which count as at least 1e-6
//
// SquaredL2DistanceGradient, L1DistanceGradient, DotProductGradient, CosineSimilarityGradient:
//   X, Y, dZ [N]  ->  dX, dY

#include "caffe2_core/runtime/operator.h"
#include "operators/loss/distance_kernels.h"

namespace caffe2rt {

struct DistanceSize {
  int64_t rows, cols;
};
#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Check the shapes. THROW if they do not match.
DistanceSize SizeOfDistance(Distance distance, IntArrayRef x, IntArrayRef y);
DistanceSize SizeOfDistanceGradient(Distance distance, IntArrayRef x, IntArrayRef y,
                                    IntArrayRef dz);
#pragma GCC visibility pop

template <class Context, Distance kDistance>
class DistanceOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  DistanceOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& Y = Input(1);
    const DistanceSize size = SizeOfDistance(kDistance, X.sizes(), Y.sizes());
    const float* const x = X.data<float>();
    const float* const y = Y.data<float>();
    const int64_t dims[] = {size.rows};
    RowDistances(context_, kDistance, size.rows, size.cols, x, y,
                 this->template OutputData<float>(0, dims));
    return true;
  }
};

template <class Context, Distance kDistance>
class DistanceGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  DistanceGradientOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& Y = Input(1);
    const Tensor& dZ = Input(2);
    const DistanceSize size = SizeOfDistanceGradient(kDistance, X.sizes(), Y.sizes(), dZ.sizes());
    const float* const x = X.data<float>();
    const float* const y = Y.data<float>();
    const float* const dz = dZ.data<float>();
    float* const dx = this->template OutputData<float>(0, X.sizes());
    float* const dy = this->template OutputData<float>(1, Y.sizes());
    RowDistancesGradient(context_, kDistance, size.rows, size.cols, x, y, dz, dx, dy);
    return true;
  }
};

// The table of the operators. Calls register_row.operator()<kDistance>(type, doc) for each.
template <class Function>
void ForEachDistance(const Function& register_row) {
  register_row.template operator()<Distance::kSquaredL2>(
      "SquaredL2Distance",
      "Computes half the squared Euclidean distance of each row of X and the same row of Y.");
  register_row.template operator()<Distance::kL1>(
      "L1Distance", "Computes the L1 distance of each row of X and the same row of Y.");
  register_row.template operator()<Distance::kDotProduct>(
      "DotProduct", "Computes the dot product of each row of X and the same row of Y.");
  register_row.template operator()<Distance::kCosine>(
      "CosineSimilarity",
      "Computes the cosine of the angle between each row of X and the same row of Y.");
}

}  // namespace caffe2rt
