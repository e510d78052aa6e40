// TTSparseLengthsSum: sums the rows of a table that is stored as a product of three cores (a tensor train), and its gradient.
//   core0 [I0, 1, J0, R1], core1 [I1, R1, J1, R2], core2 [I2, R2, J2, 1] float, index int64 [N], lengths int32 [S]
//   ->  OUTPUT [S, emb_size], core0_output [N, J0, R1], core1_output [N, J0 * J1, R2], indices int64 [N, 3]
//   core0, core1, core2, lengths, core0_output, core1_output, indices, dOUTPUT  ->  dcore0, dcore1, dcore2
//
// Row i of the table is the product of the matrices (i % I0) of core0, (i / I0 % I1) of core1 and (i / I0 / I1) of core2.
#include <algorithm>
#include <array>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

constexpr RepeatedArgumentSpec<int> kTrainRows{
    .name = "factor_i", .doc = "I0, I1, I2", .required = true};
constexpr RepeatedArgumentSpec<int> kTrainColumns{
    .name = "factor_j", .doc = "J0, J1, J2", .required = true};
constexpr RepeatedArgumentSpec<int> kTrainRanks{
    .name = "ranks", .doc = "1, R1, R2, 1", .required = true};
constexpr ArgumentSpec<int> kTrainWidth{
    .name = "emb_size",
    .doc = "columns of the output, at most J0 * J1 * J2; must be given",
    .check = {[](int width) { return width > 0; }, "above 0"},
    .required = true};

// The sizes of a train.
struct Train {
  Train() = default;
  explicit Train(const ArgumentHelper& args) : width(args.Read(kTrainWidth)) {
    const auto read = [&](const RepeatedArgumentSpec<int>& spec, size_t count, int64_t* to) {
      const std::vector<int> values = args.Read(spec);
      CAFFE_ENFORCE_EQ(values.size(), count, "elements of argument ", spec.name);
      for (size_t i = 0; i < count; ++i) {
        CAFFE_ENFORCE_GE(values[i], 1, "element ", i, " of argument ", spec.name);
        to[i] = values[i];
      }
    };
    read(kTrainRows, 3, rows.data());
    read(kTrainColumns, 3, columns.data());
    read(kTrainRanks, 4, ranks.data());
    CAFFE_ENFORCE(ranks[0] == 1 && ranks[3] == 1, "argument ranks is ", ranks[0], ", ..., ",
                  ranks[3], " at its ends, want 1");
    CAFFE_ENFORCE_LE(width, full_width(),
                     "argument emb_size, want at most the product of factor_j");
  }
  int64_t full_width() const {
    return CheckedMultiply(CheckedMultiply(columns[0], columns[1]), columns[2]);
  }
  // The elements of a matrix of core c.
  int64_t items(size_t c) const { return ranks[c] * columns[c] * ranks[c + 1]; }
  // THROWS unless input `i` is core c.
  void Check(const Tensor& core, size_t c, int i) const {
    const int64_t dims[] = {rows[c], ranks[c], columns[c], ranks[c + 1]};
    CAFFE_ENFORCE(core.sizes() == IntArrayRef(dims, 4), "input ", i, " (core", c, ") has shape ",
                  core.sizes(), ", want ", IntArrayRef(dims, 4), " by the arguments");
    RequireElements<float>(core);
  }

  int64_t width = 0;
  std::array<int64_t, 3> rows = {}, columns = {};
  std::array<int64_t, 4> ranks = {1, 0, 0, 0};
};

// y[m, n] += sum over k of a[m, k] * b[k, n]; strides as given, so that a transposed matrix is another pair of strides.
struct Strided {
  const float* data;
  int64_t row, column;
};
void AddProduct(int64_t m, int64_t n, int64_t k, Strided a, Strided b, float* y) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t l = 0; l < k; ++l) {
      const float factor = a.data[i * a.row + l * a.column];
      for (int64_t j = 0; j < n; ++j) y[i * n + j] += factor * b.data[l * b.row + j * b.column];
    }
  }
}

class TTSparseLengthsSumOp final : public Operator<CPUContext> {
 public:
  TTSparseLengthsSumOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), train_(args()) {}
  bool RunOnDevice() override {
    for (int c = 0; c < 3; ++c) train_.Check(Input(c), static_cast<size_t>(c), c);
    const Tensor& index = Input(3);
    CAFFE_ENFORCE_EQ(index.dim(), 1, "rank of input 3 (index) of shape ", index.sizes());
    CAFFE_ENFORCE_EQ(Input(4).dim(), 1, "rank of input 4 (lengths) of shape ", Input(4).sizes());
    RequireElements<int64_t>(index);
    segments_.Read<int32_t>(*this, 4, "input 4 (lengths)");
    const int64_t n = index.numel();
    CAFFE_ENFORCE_EQ(segments_.total(), n,
                     "sum of the lengths, want the elements of input 3 (index)");
    const auto& [j0, j1, j2] = train_.columns;
    const int64_t r1 = train_.ranks[1], r2 = train_.ranks[2], j01 = j0 * j1;
    float* const out = OutputData<float>(0, {segments_.count(), train_.width});
    float* const first = OutputData<float>(1, {n, j0, r1});
    float* const second = OutputData<float>(2, {n, j01, r2});
    int64_t* const places = OutputData<int64_t>(3, {n, 3});
    std::fill_n(out, segments_.count() * train_.width, 0.0f);
    std::fill_n(second, n * j01 * r2, 0.0f);
    row_.resize(static_cast<size_t>(j01 * j2));
    for (int64_t s = 0; s < segments_.count(); ++s) {
      for (int64_t i = segments_.offset(s); i < segments_.offset(s + 1); ++i) {
        Place(index.data<int64_t>()[i], i, places + 3 * i);
        std::copy_n(Matrix(0, places[3 * i]), j0 * r1, first + i * j0 * r1);
        AddProduct(j0, j1 * r2, r1, {first + i * j0 * r1, r1, 1},
                   {Matrix(1, places[3 * i + 1]), j1 * r2, 1}, second + i * j01 * r2);
        std::fill(row_.begin(), row_.end(), 0.0f);
        AddProduct(j01, j2, r2, {second + i * j01 * r2, r2, 1},
                   {Matrix(2, places[3 * i + 2]), j2, 1}, row_.data());
        for (int64_t d = 0; d < train_.width; ++d)
          out[s * train_.width + d] += row_[static_cast<size_t>(d)];
      }
    }
    return true;
  }

 private:
  const float* Matrix(int core, int64_t place) const {
    return Input(core).data<float>() + place * train_.items(static_cast<size_t>(core));
  }
  void Place(int64_t row, int64_t i, int64_t* places) const {
    const int64_t rows =
        CheckedMultiply(CheckedMultiply(train_.rows[0], train_.rows[1]), train_.rows[2]);
    CAFFE_ENFORCE(row >= 0 && row < rows, "element ", i, " of input 3 (index) is ", row,
                  ", want at least 0 and less than ", rows, ", the rows of the table");
    for (size_t c = 0; c < 3; ++c) {
      places[c] = row % train_.rows[c];
      row /= train_.rows[c];
    }
  }

  const Train train_;
  SegmentOffsets<CPUContext> segments_;
  std::vector<float> row_;
};

class TTSparseLengthsSumGradientOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    ReadTrain();
    segments_.Read<int32_t>(*this, 3, "input 3 (lengths)");
    const int64_t n = segments_.total(), r1 = train_.ranks[1], r2 = train_.ranks[2];
    const auto& [j0, j1, j2] = train_.columns;
    const int64_t j01 = j0 * j1;
    CheckElements(4, n * j0 * r1);
    CheckElements(5, n * j01 * r2);
    CheckElements(6, n * 3);
    CheckElements(7, segments_.count() * train_.width);
    const float* const first = Input(4).data<float>();
    const float* const second = Input(5).data<float>();
    const int64_t* const places = Input(6).data<int64_t>();
    const float* const dout = Input(7).data<float>();
    float* dcore[3];
    for (int c = 0; c < 3; ++c) {
      dcore[c] = OutputData<float>(c, Input(c).sizes());
      std::fill_n(dcore[c], Input(c).numel(), 0.0f);
    }
    drow_.assign(static_cast<size_t>(j01 * j2), 0.0f);
    dsecond_.resize(static_cast<size_t>(j01 * r2));
    for (int64_t s = 0; s < segments_.count(); ++s) {
      std::copy_n(dout + s * train_.width, train_.width, drow_.begin());
      for (int64_t i = segments_.offset(s); i < segments_.offset(s + 1); ++i) {
        int64_t at[3];  // of the matrices in their cores
        for (size_t c = 0; c < 3; ++c)
          at[c] = MatrixAt(places[3 * i + static_cast<int64_t>(c)], c, i);
        const float* const x1 = first + i * j0 * r1;
        const float* const x2 = second + i * j01 * r2;
        // dcore2 += x2^T drow; dx2 = drow core2^T; dcore1 += x1^T dx2; dcore0 += dx2 core1^T
        AddProduct(r2, j2, j01, {x2, 1, r2}, {drow_.data(), j2, 1}, dcore[2] + at[2]);
        std::fill(dsecond_.begin(), dsecond_.end(), 0.0f);
        AddProduct(j01, r2, j2, {drow_.data(), j2, 1}, {Input(2).data<float>() + at[2], 1, j2},
                   dsecond_.data());
        AddProduct(r1, j1 * r2, j0, {x1, 1, r1}, {dsecond_.data(), j1 * r2, 1}, dcore[1] + at[1]);
        AddProduct(j0, r1, j1 * r2, {dsecond_.data(), j1 * r2, 1},
                   {Input(1).data<float>() + at[1], 1, j1 * r2}, dcore[0] + at[0]);
      }
    }
    return true;
  }

 private:
  // The cores and dOUTPUT have the sizes of the train.
  void ReadTrain() {
    for (int c = 0; c < 3; ++c) {
      const Tensor& core = Input(c);
      CAFFE_ENFORCE_EQ(core.dim(), 4, "rank of input ", c, " (core", c, ") of shape ",
                       core.sizes());
      const auto at = static_cast<size_t>(c);
      train_.rows[at] = core.dim(0);
      train_.columns[at] = core.dim(2);
      train_.ranks[at + 1] = core.dim(3);
    }
    for (int c = 0; c < 3; ++c) train_.Check(Input(c), static_cast<size_t>(c), c);
    CAFFE_ENFORCE_EQ(train_.ranks[3], 1, "last dimension of input 2 (core2)");
    CAFFE_ENFORCE_EQ(Input(7).dim(), 2, "rank of input 7 (dOUTPUT) of shape ", Input(7).sizes());
    train_.width = Input(7).dim(1);
    CAFFE_ENFORCE_LE(train_.width, train_.full_width(),
                     "columns of input 7 (dOUTPUT), want at most those of the table");
  }
  void CheckElements(int i, int64_t want) const {
    CAFFE_ENFORCE_EQ(Input(i).numel(), want, "elements of input ", i,
                     ", want those of a run with these lengths");
  }
  int64_t MatrixAt(int64_t place, size_t c, int64_t i) const {
    CAFFE_ENFORCE(place >= 0 && place < train_.rows[c], "element [", i, ", ", c,
                  "] of input 6 (indices) is ", place, ", want at least 0 and less than ",
                  train_.rows[c]);
    return place * train_.items(c);
  }

  Train train_;
  SegmentOffsets<CPUContext> segments_;
  std::vector<float> drow_, dsecond_;
};

class GetTTSparseLengthsSumGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("TTSparseLengthsSumGradient", "",
                             {I(0), I(1), I(2), I(4), O(1), O(2), O(3), GO(0)},
                             {GI(0), GI(1), GI(2)});
  }
};

std::vector<TensorShape> InferTTSparseLengthsSum(const OperatorDef& def,
                                                 const std::vector<TensorShape>& in) {
  if (in.size() < 5 || !IsKnown(in[3]) || !IsKnown(in[4])) return UnknownOutputs(def);
  const Train train{ArgumentHelper(def)};
  const auto shape = [](const std::vector<int64_t>& dims, TensorProto_DataType type) {
    return CreateTensorShape(dims, type);
  };
  const int64_t n = CheckedProduct(GetDimsVector(in[3])), s = CheckedProduct(GetDimsVector(in[4]));
  return {
      shape({s, train.width}, TensorProto_DataType_FLOAT),
      shape({n, train.columns[0], train.ranks[1]}, TensorProto_DataType_FLOAT),
      shape({n, train.columns[0] * train.columns[1], train.ranks[2]}, TensorProto_DataType_FLOAT),
      shape({n, 3}, TensorProto_DataType_INT64)};
}

}  // namespace

void RegisterTtSparseLengthsSum() {
  RegisterSchema("TTSparseLengthsSum", __FILE__)
      .NumInputs(5)
      .NumOutputs(4)
      .Args(kTrainRows, kTrainColumns, kTrainRanks, kTrainWidth)
      .Input(0, "core0", "float [I0, 1, J0, R1]")
      .Input(1, "core1", "float [I1, R1, J1, R2]")
      .Input(2, "core2", "float [I2, R2, J2, 1]")
      .Input(3, "index", "int64 [N]: rows of the table, at least 0 and less than I0 * I1 * I2")
      .Input(4, "lengths", "int32 [S]: the rows of each segment")
      .Output(0, "OUTPUT", "float [S, emb_size]: the sum of each segment's rows")
      .Output(1, "core0_output", "float [N, J0, R1], for the gradient: the matrices of core0")
      .Output(2, "core1_output",
              "float [N, J0 * J1, R2], for the gradient: their products with those of core1")
      .Output(3, "indices", "int64 [N, 3], for the gradient: the matrices of each row in the cores")
      .TensorInferenceFunction(InferTTSparseLengthsSum)
      .SetDoc(
          "Sums rows of a table that is stored as a tensor train: a row is the product of a matrix "
          "of each core.");
  RegisterCpuOperator<TTSparseLengthsSumOp>("TTSparseLengthsSum", __FILE__);
  RegisterSchema("TTSparseLengthsSumGradient", __FILE__)
      .NumInputs(8)
      .NumOutputs(3)
      .Arg(kTrainRows.name, kTrainRows.doc)
      .Arg(kTrainColumns.name, kTrainColumns.doc)
      .Arg(kTrainRanks.name, kTrainRanks.doc)
      .Arg(kTrainWidth.name, kTrainWidth.doc)
      .Input(0, "core0", "float [I0, 1, J0, R1]")
      .Input(1, "core1", "float [I1, R1, J1, R2]")
      .Input(2, "core2", "float [I2, R2, J2, 1]")
      .Input(3, "lengths", "int32 [S]")
      .Input(4, "core0_output", "output 1 of the operator")
      .Input(5, "core1_output", "output 2 of the operator")
      .Input(6, "indices", "output 3 of the operator")
      .Input(7, "dOUTPUT", "float [S, emb_size]: the gradient of OUTPUT")
      .Output(0, "dcore0", "the shape of core0")
      .Output(1, "dcore1", "the shape of core1")
      .Output(2, "dcore2", "the shape of core2")
      .IdenticalTypeAndShapeOfMultipleInputs({0, 1, 2})
      .SetDoc("Computes the gradients of TTSparseLengthsSum.");
  RegisterCpuOperator<TTSparseLengthsSumGradientOp>("TTSparseLengthsSumGradient", __FILE__);
  RegisterGradient<GetTTSparseLengthsSumGradient>("TTSparseLengthsSum", __FILE__);
}

}  // namespace caffe2rt
