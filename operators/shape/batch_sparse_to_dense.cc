// BatchSparseToDense: a matrix from the column and the value of some elements of each row.
// BatchDenseToSparse: the reverse. Each is the gradient of the other.
//   lengths int64 [N], indices int64 [L], values float [L], (optional) [*, D]  ->  dense [N, D]
//   lengths int64 [N], indices int64 [L], dense float [N, D]  ->  values [L]
// Row n has the next lengths[n] of the L columns in `indices`.
#include <algorithm>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int64_t> kDenseColumns{
    "dense_last_dim",
    -1,
    "the columns of dense; must be given unless input 3 is, at least 1",
    {[](int64_t columns) { return columns == -1 || columns >= 1; }, "at least 1"}};
constexpr ArgumentSpec<float> kDenseDefault{"default_value", 0.0f,
                                            "the elements that indices do not name"};

// The columns of the elements of each row.
class RowColumns {
 public:
  // Reads inputs 0 and 1. THROWS unless the lengths add up to the number of indices.
  void Read(Operator<CPUContext>& op) {
    const Tensor& lengths = op.Input(0);
    const Tensor& indices = op.Input(1);
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input 0 (lengths) of shape ", lengths.sizes());
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 1 (indices) of shape ", indices.sizes());
    RequireElements<int64_t>(lengths);
    RequireElements<int64_t>(indices);
    rows_.Read<int64_t>(op, 0, "input 0 (lengths)");
    CAFFE_ENFORCE_EQ(rows_.total(), indices.numel(),
                     "sum of the lengths, want the elements of input 1 (indices)");
    indices_ = indices.data<int64_t>();
  }
  // Calls function(position in indices, place in the matrix of `columns` columns).
  template <class Function>
  void ForEach(int64_t columns, const Function& function) const {
    for (int64_t row = 0; row < rows_.count(); ++row) {
      for (int64_t i = rows_.offset(row); i < rows_.offset(row + 1); ++i) {
        CAFFE_ENFORCE(indices_[i] >= 0 && indices_[i] < columns, "element ", i,
                      " of input 1 (indices) is ", indices_[i], ", want at least 0 and less than ",
                      columns, ", the columns of dense");
        function(i, row * columns + indices_[i]);
      }
    }
  }

 private:
  SegmentOffsets<CPUContext> rows_;
  const int64_t* indices_ = nullptr;
};

class BatchSparseToDenseOp final : public Operator<CPUContext> {
 public:
  BatchSparseToDenseOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        columns_(ReadArgument(kDenseColumns)),
        default_(ReadArgument(kDenseDefault)) {
    CAFFE_ENFORCE(InputSize() > 3 || columns_ > 0,
                  "argument dense_last_dim is missing, want it or input 3");
  }

  bool RunOnDevice() override {
    const Tensor& values = Input(2);
    CAFFE_ENFORCE_EQ(values.numel(), Input(1).numel(),
                     "elements of input 2 (values), want those of input 1 (indices)");
    RequireElements<float>(values);
    int64_t columns = columns_;
    if (InputSize() > 3) {
      const Tensor& like = Input(3);
      CAFFE_ENFORCE_EQ(like.dim(), 2, "rank of input 3 (output_shape_inference) of shape ",
                       like.sizes());
      CAFFE_ENFORCE(columns == -1 || columns == like.dim(1), "argument dense_last_dim is ", columns,
                    ", want ", like.dim(1), ", dim 1 of input 3 (output_shape_inference)");
      columns = like.dim(1);
    }
    places_.Read(*this);
    const float* const value = values.data<float>();
    Tensor* const dense = Output(0);
    dense->Resize(Input(0).numel(), columns);
    float* const y = dense->mutable_data<float>();
    std::fill_n(y, dense->numel(), default_);
    places_.ForEach(columns, [=](int64_t i, int64_t place) { y[place] = value[i]; });
    return true;
  }

 private:
  const int64_t columns_;
  const float default_;
  RowColumns places_;
};

class BatchDenseToSparseOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& dense = Input(2);
    CAFFE_ENFORCE_EQ(dense.dim(), 2, "rank of input 2 (dense) of shape ", dense.sizes());
    CAFFE_ENFORCE_EQ(Input(0).numel(), dense.dim(0),
                     "elements of input 0 (lengths), want the rows of input 2 (dense) of shape ",
                     dense.sizes());
    RequireElements<float>(dense);
    places_.Read(*this);
    const float* const x = dense.data<float>();
    float* const value = OutputData<float>(0, Input(1).sizes());
    places_.ForEach(dense.dim(1), [=](int64_t i, int64_t place) { value[i] = x[place]; });
    return true;
  }

 private:
  RowColumns places_;
};

class GetBatchSparseToDenseGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    if (def_.type() == "BatchSparseToDense")
      return SingleGradientDef("BatchDenseToSparse", "", {I(0), I(1), GO(0)}, {GI(2)});
    return SingleGradientDef("BatchSparseToDense", "", {I(0), I(1), GO(0), I(2)}, {GI(2)});
  }
};

}  // namespace

void RegisterBatchSparseToDense() {
  const InputTypes int64{.accepted = {TensorProto::INT64}};
  RegisterSchema("BatchSparseToDense", __FILE__)
      .NumInputs(3, 4)
      .NumOutputs(1)
      .Args(kDenseColumns, kDenseDefault)
      .Input(0, "lengths", "[N] int64: the number of elements of each row")
      .Input(1, "indices", "[L] int64: the column of each element, less than D")
      .Input(2, "values", "L floats: the elements")
      .Input(3, "output_shape_inference",
             "(optional) [*, D], elements of any type, which are not read: for D alone")
      .Output(0, "dense", "[N, D]: the elements in their columns, default_value elsewhere")
      .TypesOfInput(0, int64)
      .TypesOfInput(1, int64)
      .TypesOfInput(2, {.accepted = {TensorProto::FLOAT}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        int64_t columns = ArgumentHelper(def).Read(kDenseColumns);
        const bool is_given = in.size() > 3 && IsKnown(in[3]) && in[3].dims_size() == 2;
        if (is_given) columns = in[3].dims(1);
        if (!AreKnown(in, 1) || in[0].dims_size() != 1 || (columns < 1 && !is_given))
          return std::vector<TensorShape>{UnknownShapeOf(TensorProto::FLOAT)};
        const std::vector<int64_t> dims = {in[0].dims(0), columns};
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto::FLOAT)};
      })
      .SetDoc(
          "Makes a matrix from the column and the value of some elements of each row. The last one "
          "counts if a column is named twice.");
  RegisterCpuOperator<BatchSparseToDenseOp>("BatchSparseToDense", __FILE__);
  RegisterGradient<GetBatchSparseToDenseGradient>("BatchSparseToDense", __FILE__);

  RegisterSchema("BatchDenseToSparse", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "lengths", "[N] int64: the number of elements of each row")
      .Input(1, "indices", "[L] int64: the column of each element, less than D")
      .Input(2, "dense", "[N, D] float")
      .Output(0, "values", "[L] float: the elements")
      .TypesOfInput(0, int64)
      .TypesOfInput(1, int64)
      .TypesOfInput(2, {.accepted = {TensorProto::FLOAT}})
      .TensorInferenceFunction(InferShapeAndType(1, 2))
      .SetDoc("Gathers some elements of each row of a matrix, by their columns.");
  RegisterCpuOperator<BatchDenseToSparseOp>("BatchDenseToSparse", __FILE__);
  RegisterGradient<GetBatchSparseToDenseGradient>("BatchDenseToSparse", __FILE__);
}

}  // namespace caffe2rt
