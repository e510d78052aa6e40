// FlexibleTopK: the largest elements of each row, as many as the row's entry of K, in descending
// order. FlexibleTopKGradient: a tensor of zeros with the gradients of the values at their indices.
//   X float [..., n], K int64, one for each row
//   ->  Flatten values float [sum of K], Flatten indices int64 [sum of K]
#include <algorithm>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/primitives/largest_entries.h"

namespace caffe2rt {
namespace {

// The rows of input 0 and their entries of input 1, which are checked.
struct FlexibleRows {
  explicit FlexibleRows(Operator<CPUContext>& op) {
    const Tensor& x = op.Input(0);
    const Tensor& k = op.Input(1);
    CAFFE_ENFORCE_GE(x.dim(), 1, "rank of input 0 (X)");
    RequireElements<float>(x);
    RequireElements<int64_t>(k);
    rows = x.size_to_dim(x.dim() - 1);
    columns = x.dim(x.dim() - 1);
    CAFFE_ENFORCE_EQ(k.numel(), rows, "elements of input 1 (K), want one for each row of input 0 ",
                     "(X) of shape ", x.sizes());
    counts = k.data<int64_t>();
    for (int64_t r = 0; r < rows; ++r) {
      CAFFE_ENFORCE(counts[r] >= 1 && counts[r] <= columns, "element ", r, " of input 1 (K) is ",
                    counts[r], ", want 1 to ", columns);
      total = CheckedAdd<int64_t>(total, counts[r]);
    }
  }

  int64_t rows = 0, columns = 0, total = 0;
  const int64_t* counts = nullptr;
};

class FlexibleTopKOp final : public Operator<CPUContext> {
 public:
  FlexibleTopKOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const FlexibleRows rows(*this);
    const float* x = Input(0).data<float>();
    float* value = OutputData<float>(0, {rows.total});
    int64_t* index = OutputData<int64_t>(1, {rows.total});
    for (int64_t r = 0; r < rows.rows; ++r, x += rows.columns) {
      largest_.Select(x, rows.columns, rows.counts[r]);
      for (const auto& [largest, position] : largest_.entries()) {
        *value++ = largest;
        *index++ = position;
      }
    }
    return true;
  }

 private:
  LargestEntries largest_;
};

class FlexibleTopKGradientOp final : public Operator<CPUContext> {
 public:
  FlexibleTopKGradientOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const FlexibleRows rows(*this);
    const char* const subjects[] = {"input 2 (dValues)", "input 3 (Indices)"};
    for (int i = 0; i < 2; ++i) {
      CAFFE_ENFORCE_EQ(Input(i + 2).numel(), rows.total, "elements of ", subjects[i],
                       ", want the sum of input 1 (K)");
    }
    RequireElements<float>(Input(2));
    RequireElements<int64_t>(Input(3));
    const float* dy = Input(2).data<float>();
    const int64_t* const index = Input(3).data<int64_t>();
    for (int64_t i = 0; i < rows.total; ++i) {
      CAFFE_ENFORCE(index[i] >= 0 && index[i] < rows.columns, "element ", i,
                    " of input 3 (Indices) is ", index[i], ", want 0 to ", rows.columns - 1);
    }
    float* dx = OutputData<float>(0, Input(0).sizes());
    std::fill_n(dx, Input(0).numel(), 0.0f);
    int64_t next = 0;
    for (int64_t r = 0; r < rows.rows; ++r, dx += rows.columns) {
      for (int64_t i = 0; i < rows.counts[r]; ++i, ++next) dx[index[next]] = dy[next];
    }
    return true;
  }
};

class GetFlexibleTopKGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("FlexibleTopKGradient", "", {I(0), I(1), GO(0), O(1)}, {GI(0)});
  }
};

}  // namespace

void RegisterFlexibleTopK() {
  RegisterSchema("FlexibleTopK", __FILE__)
      .NumInputs(2)
      .NumOutputs(2)
      .Input(0, "X", "[..., n] float")
      .Input(1, "K", "int64: the number of elements of each row, 1 to n")
      .Output(0, "Flatten values",
              "float: the largest elements of all rows, each in descending order")
      .Output(1, "Flatten indices", "int64: their positions in the rows")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT64}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{UnknownShapeOf(TensorProto::FLOAT),
                                        UnknownShapeOf(TensorProto::INT64)};
      })
      .SetDoc(
          "Computes the largest elements of each row, as many as the row's entry of K, in "
          "descending order. Among equal elements, those with lower positions come first.");
  RegisterCpuOperator<FlexibleTopKOp>("FlexibleTopK", __FILE__);
  RegisterGradient<GetFlexibleTopKGradient>("FlexibleTopK", __FILE__);

  RegisterSchema("FlexibleTopKGradient", __FILE__)
      .NumInputs(4)
      .NumOutputs(1)
      .Input(0, "X", "[..., n] float: only the shape is used")
      .Input(1, "K", "int64: the number of elements of each row")
      .Input(2, "dValues", "float: the gradient of output 0 of FlexibleTopK")
      .Input(3, "Indices", "int64: output 1 of FlexibleTopK")
      .Output(0, "dX", "[..., n]: the gradients at their indices, 0 elsewhere")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT64}})
      .TypesOfInput(2, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(3, {.accepted = {TensorProto::INT64}})
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of FlexibleTopK.");
  RegisterCpuOperator<FlexibleTopKGradientOp>("FlexibleTopKGradient", __FILE__);
}

}  // namespace caffe2rt
