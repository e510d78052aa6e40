// Sums of rows of codes, read as code * scale + bias:
//   data, (weights,) indices, lengths, ...  ->  float [S, D]: a row for each length
//
// SparseLengthsSumFused8BitRowwise, -Mean, -WeightedSum: rows with scale and bias behind their bytes,
//   and the same with 4Bit and 2Bit. The scales of bytes are floats, those of smaller codes float16.
// SparseLengthsSum8BitRowwiseSparse, -Mean, -WeightedSum: such rows of a table of which rows were
//   removed, and the same with 4Bit and 2Bit. The last input maps each index to a row, or to -1 if the
//   row was removed and counts as zeros. The mapping [0] leaves all indices as they are.
// SparseLengthsSum8BitsRowwise, -Mean, -WeightedSum, -WeightedMean: rows of bytes whose scales and
//   biases are the last input [N, 2].
#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"
#include "operators/quantize/fused_rows.h"

namespace caffe2rt {
namespace {

enum class RowForm { kFused, kMapped, kSeparate };

struct LookUp {
  const char* type;
  int bits;
  RowForm form;
  bool weighted, mean;
};
using enum RowForm;
constexpr LookUp kLookUps[] = {
    {"SparseLengthsSumFused8BitRowwise", 8, kFused, false, false},
    {"SparseLengthsMeanFused8BitRowwise", 8, kFused, false, true},
    {"SparseLengthsWeightedSumFused8BitRowwise", 8, kFused, true, false},
    {"SparseLengthsSumFused4BitRowwise", 4, kFused, false, false},
    {"SparseLengthsMeanFused4BitRowwise", 4, kFused, false, true},
    {"SparseLengthsWeightedSumFused4BitRowwise", 4, kFused, true, false},
    {"SparseLengthsSumFused2BitRowwise", 2, kFused, false, false},
    {"SparseLengthsMeanFused2BitRowwise", 2, kFused, false, true},
    {"SparseLengthsWeightedSumFused2BitRowwise", 2, kFused, true, false},
    {"SparseLengthsSum8BitRowwiseSparse", 8, kMapped, false, false},
    {"SparseLengthsMean8BitRowwiseSparse", 8, kMapped, false, true},
    {"SparseLengthsWeightedSum8BitRowwiseSparse", 8, kMapped, true, false},
    {"SparseLengthsSum4BitRowwiseSparse", 4, kMapped, false, false},
    {"SparseLengthsMean4BitRowwiseSparse", 4, kMapped, false, true},
    {"SparseLengthsWeightedSum4BitRowwiseSparse", 4, kMapped, true, false},
    {"SparseLengthsSum2BitRowwiseSparse", 2, kMapped, false, false},
    {"SparseLengthsMean2BitRowwiseSparse", 2, kMapped, false, true},
    {"SparseLengthsWeightedSum2BitRowwiseSparse", 2, kMapped, true, false},
    {"SparseLengthsSum8BitsRowwise", 8, kSeparate, false, false},
    {"SparseLengthsMean8BitsRowwise", 8, kSeparate, false, true},
    {"SparseLengthsWeightedSum8BitsRowwise", 8, kSeparate, true, false},
    {"SparseLengthsWeightedMean8BitsRowwise", 8, kSeparate, true, true}};

const LookUp& LookUpOf(const std::string& type) {
  for (const LookUp& row : kLookUps) {
    if (type == row.type) return row;
  }
  CAFFE_THROW("\"", type, "\" is no look-up of quantized rows");
}

template <int kBits>
void AddRow(const uint8_t* x, int64_t n, const ScaleAndBias& row, float weight, float* y) {
  const float scale = weight * row.scale, bias = weight * row.bias;
  for (int64_t j = 0; j < n; ++j) y[j] += static_cast<float>(CodeAt<kBits>(x, j)) * scale + bias;
}

class LookUpRowsOp final : public Operator<CPUContext> {
 public:
  LookUpRowsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        spec_(LookUpOf(def.type())),
        add_row_(spec_.bits == 8   ? AddRow<8>
                 : spec_.bits == 4 ? AddRow<4>
                                   : AddRow<2>) {}
  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(Input(spec_.weighted + 1).dtype(), "INDICES",
                                            [&](auto index) { return Reduce<decltype(index)>(); });
  }

 private:
  template <class Index>
  bool Reduce() {
    const Tensor& data = Input(0);
    const int indices_at = spec_.weighted + 1, lengths_at = indices_at + 1;
    const Tensor& indices = Input(indices_at);
    const Tensor& lengths = Input(lengths_at);
    const bool fused = spec_.form != kSeparate;
    CAFFE_ENFORCE(data.dim() >= 1 && (!fused || data.dim() == 2), "input 0 (DATA) has shape ",
                  data.sizes(), fused ? ", want a matrix" : ", want rows");
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input ", indices_at, " (INDICES) of shape ",
                     indices.sizes());
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input ", lengths_at, " (LENGTHS) of shape ",
                     lengths.sizes());
    const uint8_t* const x = data.data<uint8_t>();
    const float* const scale_bias =
        fused ? nullptr : ScalesOfRows(data, Input(lengths_at + 1), lengths_at + 1);
    if (spec_.form == kMapped) ReadMapping(lengths_at + 1);
    const float* const weights = spec_.weighted ? Weights(indices.numel()) : nullptr;
    segments_.Read<int32_t>(*this, lengths_at, "LENGTHS");
    CAFFE_ENFORCE_EQ(segments_.total(), indices.numel(),
                     "sum of the lengths, want the elements of INDICES");
    const Index* const index = indices.data<Index>();
    const int64_t bytes = data.size_from_dim(1), n = fused ? Elements(bytes) : bytes;
    dims_.assign(data.dims().begin(), data.dims().end());
    dims_[0] = segments_.count();
    if (fused) dims_[1] = n;
    float* y = OutputData<float>(0, dims_);
    std::fill_n(y, segments_.count() * n, 0.0f);
    for (int64_t s = 0; s < segments_.count(); ++s, y += n) {
      for (int64_t i = segments_.offset(s); i < segments_.offset(s + 1); ++i) {
        const int64_t row = RowOf(i, index[i]);
        if (row < 0) continue;
        const uint8_t* const tail = x + (row + 1) * bytes;
        const ScaleAndBias scale =
            !fused            ? ScaleAndBias{scale_bias[2 * row], scale_bias[2 * row + 1]}
            : spec_.bits == 8 ? ReadTail<float>(tail - kTailBytes<float>)
                              : ReadTail<float16>(tail - kTailBytes<float16>);
        add_row_(x + row * bytes, n, scale, weights != nullptr ? weights[i] : 1.0f, y);
      }
      if (spec_.mean && segments_.length(s) > 0) {
        for (int64_t j = 0; j < n; ++j) y[j] /= static_cast<float>(segments_.length(s));
      }
    }
    return true;
  }

  int64_t Elements(int64_t bytes) const {
    return spec_.bits == 8   ? FusedElements<float, 8>(bytes)
           : spec_.bits == 4 ? FusedElements<float16, 4>(bytes)
                             : FusedElements<float16, 2>(bytes);
  }

  void ReadMapping(int at) {
    const Tensor& mapping = Input(at);
    CAFFE_ENFORCE_EQ(mapping.dim(), 1, "rank of input ", at,
                     " (COMPRESSED_INDICES_MAPPING) of shape ", mapping.sizes());
    mapping_ = mapping.data<int32_t>();
    mapped_ = mapping.numel();
    if (mapped_ == 1 && mapping_[0] == 0) mapping_ = nullptr;
  }

  // The row of DATA of element `i` of INDICES, or -1 if it was removed.
  int64_t RowOf(int64_t i, int64_t index) const {
    int64_t row = index;
    const bool is_mapped = spec_.form == kMapped && mapping_ != nullptr;
    if (is_mapped) {
      CAFFE_ENFORCE(index >= 0 && index < mapped_, "element ", i, " of INDICES is ", index,
                    ", want at least 0 and less than ", mapped_,
                    ", the elements of COMPRESSED_INDICES_MAPPING");
      row = mapping_[index];
      if (row == -1) return row;
    }
    CAFFE_ENFORCE(row >= 0 && row < Input(0).dim(0), is_mapped ? "the row of element " : "element ",
                  i, " of INDICES is ", row, ", want at least 0 and less than ", Input(0).dim(0),
                  ", the rows of input 0 (DATA)");
    return row;
  }

  const float* Weights(int64_t count) const {
    const Tensor& weights = Input(1);
    CAFFE_ENFORCE(weights.dim() == 1 && weights.numel() == count, "input 1 (weights) has shape ",
                  weights.sizes(), ", want one for each of the ", count, " elements of INDICES");
    return weights.data<float>();
  }

  const LookUp& spec_;
  void (*const add_row_)(const uint8_t*, int64_t, const ScaleAndBias&, float, float*);
  SegmentOffsets<CPUContext> segments_;
  const int32_t* mapping_ = nullptr;
  int64_t mapped_ = 0;
  std::vector<int64_t> dims_;
};

// The shape of the output for rows with `tail` bytes of scale and bias (0 if separate) and `per_byte`
// codes in a byte.
auto InferLookUp(int lengths_at, int64_t tail, int64_t per_byte) {
  return [=](const OperatorDef& def, const std::vector<TensorShape>& in) {
    if (!AreKnown(in, static_cast<size_t>(lengths_at) + 1) || in[0].dims_size() == 0)
      return UnknownOutputs(def);
    std::vector<int64_t> dims = GetDimsVector(in[0]);
    const TensorShape& lengths = in[static_cast<size_t>(lengths_at)];
    if (lengths.dims_size() != 1 || (tail > 0 && (dims.size() != 2 || dims[1] < tail)))
      return UnknownOutputs(def);
    dims[0] = lengths.dims(0);
    if (tail > 0) dims[1] = CheckedMultiply<int64_t>(dims[1] - tail, per_byte);
    return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto_DataType_FLOAT)};
  };
}

void RegisterLookUp(const LookUp& row) {
  const int indices_at = row.weighted + 1, lengths_at = indices_at + 1,
            inputs = lengths_at + (row.form == kFused ? 1 : 2);
  const bool fused = row.form != kSeparate;
  const int64_t tail = row.bits == 8 ? kTailBytes<float> : kTailBytes<float16>;
  const std::string codes = row.bits == 8 ? "bytes" : MakeString("codes of ", row.bits, " bits");
  const std::string width = row.bits == 8 ? "D + 8" : MakeString("D / ", 8 / row.bits, " + 4");
  OpSchema& schema =
      RegisterSchema(row.type, __FILE__)
          .NumInputs(inputs)
          .NumOutputs(1)
          .Input(0, "DATA",
                 fused ? "uint8 [N, " + width + "]: rows of " + codes + ", scale and bias"
                       : "uint8 [N, ...]")
          .Input(indices_at, "INDICES",
                 row.form == kMapped ? "[M] int32 or int64: elements of COMPRESSED_INDICES_MAPPING"
                                     : "[M] int32 or int64: rows of DATA")
          .Input(lengths_at, "LENGTHS", "[S] int32: the number of rows of each segment")
          .Output(0, "output", "float [S, ...]: a row for each segment, 0 if it is empty");
  if (row.weighted)
    schema.Input(1, fused ? "WEIGHTS" : "SCALARS", "[M] float: the factor of each row");
  if (row.form == kSeparate)
    schema.Input(lengths_at + 1, "scale_bias", "float [N, 2]: scale and bias of each row");
  if (row.form == kMapped) {
    schema.Input(
        lengths_at + 1, "COMPRESSED_INDICES_MAPPING",
        "[K] int32: the row of DATA of each index, or -1 if it was removed; [0]: each index "
        "is a row of DATA");
  }
  schema.TensorInferenceFunction(InferLookUp(lengths_at, fused ? tail : 0, 8 / row.bits))
      .SetDoc(std::string(row.mean ? "Averages" : "Adds") + " the rows of each segment, read as " +
              (row.bits == 8 ? "byte" : "code") + " * scale + bias" +
              (row.weighted ? ", each multiplied by its factor." : ".") +
              (row.form == kMapped ? " Rows that were removed count as zeros." : ""));
  RegisterCpuOperator<LookUpRowsOp>(row.type, __FILE__);
  RegisterGradient<NoGradient>(row.type, __FILE__);
}

}  // namespace

void RegisterSparseLengthsRowwise() {
  for (const LookUp& row : kLookUps) RegisterLookUp(row);
}

}  // namespace caffe2rt
