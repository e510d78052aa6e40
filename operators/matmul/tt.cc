// TT: a linear layer whose weights are stored as a product of cores (a tensor train; Novikov et al.,
// Tensorizing Neural Networks).
//   X float [N, *], b float [O], cores float  ->  Y float [N, O]
// O is the product of out_sizes; the product of inp_sizes is the size of a row of X. The cores stand
// one behind the other, the last one first; core i is a matrix
// [inp_sizes[i] * tt_ranks[i + 1], tt_ranks[i] * out_sizes[i]].
#include <algorithm>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/primitives/gemm.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<int> kTtInputSizes{"inp_sizes", "the factors of the size of a row"};
constexpr RepeatedArgumentSpec<int> kTtOutputSizes{"out_sizes",
                                                   "the factors of the size of a result"};
constexpr RepeatedArgumentSpec<int> kTtRanks{
    "tt_ranks", "the ranks between the cores: one more than cores, 1 at both ends"};

int64_t TtProduct(const std::vector<int>& sizes, const char* argument) {
  int64_t product = 1;
  for (const int size : sizes) {
    CAFFE_ENFORCE_GE(size, 1, "argument ", argument);
    product = CheckedMultiply<int64_t>(product, size);
  }
  return product;
}

class TTOp final : public Operator<CPUContext> {
 public:
  TTOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        inputs_(ReadArgument(kTtInputSizes)),
        outputs_(ReadArgument(kTtOutputSizes)),
        ranks_(ReadArgument(kTtRanks)),
        row_(TtProduct(inputs_, "inp_sizes")),
        result_(TtProduct(outputs_, "out_sizes")) {
    CAFFE_ENFORCE_GE(inputs_.size(), 1u, "elements of argument inp_sizes");
    CAFFE_ENFORCE_EQ(outputs_.size(), inputs_.size(), "elements of argument out_sizes");
    CAFFE_ENFORCE_EQ(ranks_.size(), inputs_.size() + 1, "elements of argument tt_ranks");
    (void)TtProduct(ranks_, "tt_ranks");
    CAFFE_ENFORCE(ranks_.front() == 1 && ranks_.back() == 1, "argument tt_ranks is ", ranks_,
                  ", want 1 at both ends");
    for (size_t i = 0; i < inputs_.size(); ++i) {
      elements_ = CheckedAdd<int64_t>(elements_, CheckedMultiply(Rows(i), Columns(i)));
    }
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 2, "rank of input 0 (X) of shape ", X.sizes());
    CAFFE_ENFORCE_EQ(X.size_from_dim(1), row_, "elements of a row of input 0 (X) of shape ",
                     X.sizes(), ", want the product of inp_sizes");
    CAFFE_ENFORCE(Input(1).dim() == 1 && Input(1).dim(0) == result_, "input 1 (b) has shape ",
                  Input(1).sizes(), ", want [", result_, "], the product of out_sizes");
    CAFFE_ENFORCE_EQ(Input(2).dim(), 1, "rank of input 2 (cores) of shape ", Input(2).sizes());
    CAFFE_ENFORCE_GE(Input(2).numel(), elements_, "elements of input 2 (cores)");
    for (int i = 0; i < 3; ++i) RequireElements<float>(Input(i));
    const int64_t batch = X.dim(0);
    float* const y = OutputData<float>(0, {batch, result_});
    if (batch == 0) return true;
    Multiply(X.data<float>(), X.numel(), Input(2).data<float>());
    // As in Caffe2, the results [out_sizes..., N] are taken for rows of O in a matrix [N, O], and
    // its transpose for Y: for N > 1, row n of Y is not the result of row n of X alone.
    Transpose(next_.data(), batch, result_, y);
    AddRowVector(batch, result_, Input(1).data<float>(), y);
    return true;
  }

 private:
  int64_t Rows(size_t i) const { return CheckedMultiply<int64_t>(inputs_[i], ranks_[i + 1]); }
  int64_t Columns(size_t i) const { return CheckedMultiply<int64_t>(ranks_[i], outputs_[i]); }

  // y [columns, rows] = x [rows, columns] transposed.
  static void Transpose(const float* x, int64_t rows, int64_t columns, float* y) {
    for (int64_t j = 0; j < columns; ++j) {
      for (int64_t i = 0; i < rows; ++i) *y++ = x[i * columns + j];
    }
  }

  // Multiplies by the cores, from the last one to the first. Each product ends with the output of
  // its core, which then becomes the first dimension. The result is in next_.
  void Multiply(const float* x, int64_t size, const float* core) {
    for (size_t i = inputs_.size(); i-- > 0;) {
      const int64_t rows = Rows(i), columns = Columns(i), count = size / rows;
      size = CheckedMultiply(count, columns);
      product_.resize(static_cast<size_t>(size));
      Sgemm(false, false, count, columns, rows, 1, x, rows, core, columns, 0, product_.data(),
            columns);
      next_.resize(static_cast<size_t>(size));
      Transpose(product_.data(), size / outputs_[i], outputs_[i], next_.data());
      x = next_.data();
      core += rows * columns;
    }
  }

  const std::vector<int> inputs_, outputs_, ranks_;
  const int64_t row_, result_;
  int64_t elements_ = 0;  // of all cores
  std::vector<float> product_, next_;
};

}  // namespace

void RegisterTt() {
  RegisterSchema("TT", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Args(kTtInputSizes, kTtOutputSizes, kTtRanks)
      .Input(0, "X", "[N, *] float: N rows, each of the product of inp_sizes")
      .Input(1, "b", "[O] float: added to each row of the result; O: the product of out_sizes")
      .Input(2, "cores", "[K] float: the cores, the last one first")
      .Output(0, "Y", "[N, O] float")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(2, {.accepted = {TensorProto::FLOAT}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2) || in[0].dims_size() < 2 || in[1].dims_size() != 1) {
          return std::vector<TensorShape>{UnknownShapeOf(TensorProto::FLOAT)};
        }
        return std::vector<TensorShape>{CreateTensorShape(
            std::vector<int64_t>{in[0].dims(0), in[1].dims(0)}, TensorProto::FLOAT)};
      })
      .SetDoc(
          "Computes a linear layer whose weights are a product of cores (a tensor train). With "
          "more than one row, the order of the results is Caffe2's, which mixes the rows.");
  RegisterCpuOperator<TTOp>("TT", __FILE__);
  // Caffe2 has no gradient either.
  RegisterGradient<GradientNotImplementedYet>("TT", __FILE__);
}

}  // namespace caffe2rt
