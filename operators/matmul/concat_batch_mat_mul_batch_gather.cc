// ConcatBatchMatMulBatchGatherOp: the chosen scalar products of the embeddings of each example.
//   indices int32 [I], N tensors float [B, D..]  ->  Y float [B, I]
// For each example, the scalar products of the N rows are a matrix [N, N]. The result are its
// elements with the indices, which count row by row.
#include <climits>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/primitives/lane_sum.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {
namespace {

struct TermOfProduct {
  const float* a;
  const float* b;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t k) const { return a[k] * b[k]; }
};

struct ChosenProducts {
  const float* const* tensors;
  int64_t count;
  const int32_t* indices;
  int64_t chosen, width;
  float* y;
  CAFFE2RT_SIMD_INLINE void operator()(int64_t first, int64_t last) const {
    for (int64_t n = first; n < last; ++n) {
      for (int64_t i = 0; i < chosen; ++i) {
        const int64_t row = indices[i] / count, column = indices[i] % count;
        y[n * chosen + i] =
            SumOfTerms(width, TermOfProduct{tensors[row] + n * width, tensors[column] + n * width});
      }
    }
  }
};

class ConcatBatchMatMulBatchGatherOp final : public Operator<CPUContext> {
 public:
  ConcatBatchMatMulBatchGatherOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    CAFFE_ENFORCE_GE(InputSize(), 2, "inputs, want the indices and one tensor or more");
    const Tensor& indices = Input(0);
    const Tensor& X = Input(1);
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 0 (indices)");
    CAFFE_ENFORCE_GE(X.dim(), 1, "rank of input 1 (X0)");
    for (int i = 2; i < InputSize(); ++i) {
      CAFFE_ENFORCE(Input(i).dims() == X.dims(), "input ", i, " has shape ", Input(i).sizes(),
                    ", want ", X.sizes(), " as input 1");
    }
    RequireElements<int32_t>(indices);
    for (int i = 1; i < InputSize(); ++i) RequireElements<float>(Input(i));
    const int64_t count = InputSize() - 1, batch = X.dim(0), width = X.size_from_dim(1);
    const int32_t* const chosen = indices.data<int32_t>();
    for (int64_t i = 0; i < indices.numel(); ++i) {
      CAFFE_ENFORCE(chosen[i] >= 0 && chosen[i] < count * count, "element ", i,
                    " of input 0 (indices) is ", chosen[i], ", want at least 0 and below ",
                    count * count, ", the square of the number of tensors");
    }
    tensors_.clear();
    for (int i = 1; i < InputSize(); ++i) tensors_.push_back(Input(i).data<float>());
    float* const y = OutputData<float>(0, {batch, indices.numel()});
    const ChosenProducts products{tensors_.data(), count, chosen, indices.numel(), width, y};
    ParallelRanges(batch, CheckedMultiply(indices.numel(), width),
                   [&](int64_t first, int64_t last) { RunSimd(products, first, last); });
    return true;
  }

 private:
  std::vector<const float*> tensors_;
};

}  // namespace

void RegisterConcatBatchMatMulBatchGather() {
  RegisterSchema("ConcatBatchMatMulBatchGatherOp", __FILE__)
      .NumInputs(1, INT_MAX)
      .NumOutputs(1)
      .Input(0, "indices", "[I] int32: elements of the matrix of the scalar products, row by row")
      .Input(1, "X0, X1, ...", "N tensors of the same shape, [B, D..] float")
      .Output(0, "Y", "[B, I] float")
      .TypesOfInput(0, {.accepted = {TensorProto::INT32}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2) || in[0].dims_size() != 1 || in[1].dims_size() < 1) {
          return std::vector<TensorShape>{UnknownShapeOf(TensorProto::FLOAT)};
        }
        return std::vector<TensorShape>{CreateTensorShape(
            std::vector<int64_t>{in[1].dims(0), in[0].dims(0)}, TensorProto::FLOAT)};
      })
      .SetDoc(
          "Computes for each example the scalar products of all pairs of N embeddings, [N, N], and "
          "returns those with the indices.");
  RegisterCpuOperator<ConcatBatchMatMulBatchGatherOp>("ConcatBatchMatMulBatchGatherOp", __FILE__);
  // As in Caffe2, no gradient maker.
}

}  // namespace caffe2rt
