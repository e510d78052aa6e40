// LengthsToRanges, LengthsToOffsets, LengthsToSegmentIds, LengthsToWeights, LengthsToShape,
// SegmentIdsToLengths, SegmentIdsToRanges: other descriptions of segments of consecutive rows.
//
//   LengthsToRanges      lengths [N]              ->  [N, 2]: the first row and the length
//   LengthsToOffsets     lengths [N]              ->  [N], or with include_last_offset [N + 1]
//   LengthsToSegmentIds  lengths [N]              ->  [rows]: the segment of each row
//   LengthsToWeights     lengths [N]              ->  [rows] float: 1 / length^power of its segment
//   LengthsToShape       lengths [N], all equal   ->  [2]: N and the length
//   SegmentIdsToLengths  segment_ids [rows], data ->  [segments]
//   SegmentIdsToRanges   segment_ids [rows], data ->  [segments, 2]
//
// Lengths and results are int32 unless stated; segment ids are int32 or int64, sorted, and start
// with 0 or more. As many segments exist as the last id plus 1, or as data has rows if it is given.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<bool> kIncludeLastOffset{"include_last_offset", false,
                                                "append the number of rows"};
constexpr ArgumentSpec<float> kLengthsPower{"power", 0.5f, "the exponent of the length"};

int32_t Fitting(int64_t rows) {
  CAFFE_ENFORCE_LE(rows, std::numeric_limits<int32_t>::max(), "rows of all segments");
  return static_cast<int32_t>(rows);
}

// Lengths: checked, with their sum.
struct Lengths {
  const int32_t* data;
  int64_t count;
  int32_t rows = 0;

  explicit Lengths(const Tensor& tensor) : data(nullptr), count(tensor.numel()) {
    CAFFE_ENFORCE_EQ(tensor.dim(), 1, "rank of input 0 (lengths) of shape ", tensor.sizes());
    data = tensor.data<int32_t>();
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      CAFFE_ENFORCE_GE(data[i], 0, "element ", i, " of input 0 (lengths), want at least 0");
      sum = Fitting(sum + data[i]);
    }
    rows = static_cast<int32_t>(sum);
  }
};

class LengthsToRangesOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Lengths lengths(Input(0));
    int32_t* out = OutputData<int32_t>(0, {lengths.count, 2});
    int32_t offset = 0;
    for (int64_t i = 0; i < lengths.count; ++i) {
      *out++ = offset;
      *out++ = lengths.data[i];
      offset += lengths.data[i];
    }
    return true;
  }
};

class LengthsToOffsetsOp final : public Operator<CPUContext> {
 public:
  LengthsToOffsetsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), include_last_(ReadArgument(kIncludeLastOffset)) {}
  bool RunOnDevice() override {
    const Lengths lengths(Input(0));
    int32_t* const out = OutputData<int32_t>(0, {lengths.count + (include_last_ ? 1 : 0)});
    int32_t offset = 0;
    for (int64_t i = 0; i < lengths.count; ++i) {
      out[i] = offset;
      offset += lengths.data[i];
    }
    if (include_last_) out[lengths.count] = offset;
    return true;
  }

 private:
  const bool include_last_;
};

class LengthsToSegmentIdsOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Lengths lengths(Input(0));
    int32_t* out = OutputData<int32_t>(0, {lengths.rows});
    for (int64_t i = 0; i < lengths.count; ++i) {
      out = std::fill_n(out, lengths.data[i], static_cast<int32_t>(i));
    }
    return true;
  }
};

class LengthsToWeightsOp final : public Operator<CPUContext> {
 public:
  LengthsToWeightsOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), power_(ReadArgument(kLengthsPower)) {}
  bool RunOnDevice() override {
    if (Input(0).IsType<int64_t>()) {
      // As in Caffe2, lengths may be int64 here.
      const Tensor& wide = Input(0);
      narrow_.Resize(wide.sizes());
      int32_t* const narrow = narrow_.mutable_data<int32_t>();
      for (int64_t i = 0; i < wide.numel(); ++i) {
        const int64_t length = wide.data<int64_t>()[i];
        // Below the range of int32, a conversion would give another number.
        CAFFE_ENFORCE_GE(length, 0, "element ", i, " of input 0 (lengths), want at least 0");
        narrow[i] = Fitting(length);
      }
      Fill(narrow_);
    } else {
      Fill(Input(0));
    }
    return true;
  }

 private:
  void Fill(const Tensor& input) {
    const Lengths lengths(input);
    float* out = OutputData<float>(0, {lengths.rows});
    for (int64_t i = 0; i < lengths.count; ++i) {
      const float weight = 1 / std::pow(static_cast<float>(lengths.data[i]), power_);
      out = std::fill_n(out, lengths.data[i], weight);
    }
  }

  const float power_;
  Tensor narrow_{CPU};
};

class LengthsToShapeOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Lengths lengths(Input(0));
    CAFFE_ENFORCE_GT(lengths.count, 0, "elements of input 0 (lengths)");
    for (int64_t i = 1; i < lengths.count; ++i) {
      CAFFE_ENFORCE_EQ(lengths.data[i], lengths.data[0], "element ", i,
                       " of input 0 (lengths), want all to be equal");
    }
    int32_t* const out = OutputData<int32_t>(0, {2});
    out[0] = Fitting(lengths.count);
    out[1] = lengths.data[0];
    return true;
  }
};

// The base class of operators on segment ids: counts the rows of each segment.
class SegmentIdsOp : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

 protected:
  const std::vector<int32_t>& Count() {
    const Tensor& ids = Input(0);
    if (ids.IsType<int64_t>()) {
      CountIds<int64_t>(ids);
    } else {
      CountIds<int32_t>(ids);
    }
    return lengths_;
  }

 private:
  template <class Id>
  void CountIds(const Tensor& ids) {
    CAFFE_ENFORCE(ids.dim() == 1 || (ids.dim() == 2 && (ids.dim(0) == 1 || ids.dim(1) == 1)),
                  "input 0 (segment_ids) has shape ", ids.sizes(), ", want a vector");
    const Id* const id = ids.data<Id>();
    const int64_t rows = Fitting(ids.numel());
    int64_t segments = 0;
    for (int64_t i = 0; i < rows; ++i) {
      CAFFE_ENFORCE(id[i] >= (i == 0 ? 0 : id[i - 1]), "element ", i,
                    " of input 0 (segment_ids) is ", id[i],
                    ", want sorted numbers that are at least 0");
    }
    if (rows > 0) segments = int64_t{Fitting(id[rows - 1])} + 1;
    if (InputSize() > 1) {
      CAFFE_ENFORCE_GE(Input(1).dim(), 1, "rank of input 1 (data)");
      CAFFE_ENFORCE_LE(segments, Input(1).dim(0),
                       "segments of input 0 (segment_ids), want at most the rows of input 1 "
                       "(data)");
      segments = Input(1).dim(0);
    }
    lengths_.assign(static_cast<size_t>(segments), 0);
    for (int64_t i = 0; i < rows; ++i) ++lengths_[static_cast<size_t>(id[i])];
  }

  std::vector<int32_t> lengths_;
};

class SegmentIdsToLengthsOp final : public SegmentIdsOp {
 public:
  using SegmentIdsOp::SegmentIdsOp;
  bool RunOnDevice() override {
    const std::vector<int32_t>& lengths = Count();
    std::copy(lengths.begin(), lengths.end(),
              OutputData<int32_t>(0, {static_cast<int64_t>(lengths.size())}));
    return true;
  }
};

class SegmentIdsToRangesOp final : public SegmentIdsOp {
 public:
  using SegmentIdsOp::SegmentIdsOp;
  bool RunOnDevice() override {
    const std::vector<int32_t>& lengths = Count();
    int32_t* out = OutputData<int32_t>(0, {static_cast<int64_t>(lengths.size()), 2});
    // Segments behind the last row begin at 0, as in Caffe2.
    const auto used = std::find_if(lengths.rbegin(), lengths.rend(),
                                   [](int32_t length) { return length != 0; });
    int32_t offset = 0;
    for (auto length = lengths.begin(); length != lengths.end(); ++length) {
      *out++ = length < used.base() ? offset : 0;
      *out++ = *length;
      offset += *length;
    }
    return true;
  }
};

OpSchema& LengthsSchema(const char* type, const char* output, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "lengths", "the rows of each segment, [N] int32")
      .Output(0, output, doc);
}

// The shape of a result with `columns` columns, or a vector if that is 0, and `more` rows than the
// input has elements.
OpSchema::TensorInference InferRows(int64_t columns, int64_t more) {
  return [columns, more](const OperatorDef&, const std::vector<TensorShape>& in) {
    TensorShape out;
    out.set_unknown_shape(true);
    if (in[0].unknown_shape() || in[0].dims_size() != 1) return std::vector{out};
    std::vector<int64_t> dims = {in[0].dims(0) + more};
    if (columns > 0) dims.push_back(columns);
    return std::vector{CreateTensorShape(dims, TensorProto::INT32)};
  };
}

std::vector<TensorShape> InferOffsets(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const bool last = ArgumentHelper(def).Read(kIncludeLastOffset);
  return InferRows(0, last ? 1 : 0)(def, in);
}

std::vector<TensorShape> InferLengthsShape(const OperatorDef&, const std::vector<TensorShape>&) {
  return {CreateTensorShape(std::vector<int64_t>{2}, TensorProto::INT32)};
}

OpSchema& SegmentIdsSchema(const char* type, const char* output, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .Input(0, "segment_ids", "the segment of each row, [rows] int32 or int64, sorted")
      .Input(1, "data", "as many segments exist as it has rows; without it, the last id plus 1")
      .Output(0, output, doc);
}

}  // namespace

void RegisterLengthsToRanges() {
  LengthsSchema("LengthsToRanges", "ranges", "[N, 2] int32: the first row and the length")
      .TensorInferenceFunction(InferRows(2, 0))
      .SetDoc("Converts lengths of segments to ranges of rows.");
  RegisterCpuOperator<LengthsToRangesOp>("LengthsToRanges", __FILE__);
  LengthsSchema("LengthsToOffsets", "offsets", "the first row of each segment, [N] int32")
      .Arg(kIncludeLastOffset)
      .TensorInferenceFunction(&InferOffsets)
      .SetDoc("Converts lengths of segments to the numbers of their first rows.");
  RegisterCpuOperator<LengthsToOffsetsOp>("LengthsToOffsets", __FILE__);
  LengthsSchema("LengthsToSegmentIds", "segment_ids", "the segment of each row, [rows] int32")
      .SetDoc("Converts lengths of segments to the segment of each row.");
  RegisterCpuOperator<LengthsToSegmentIdsOp>("LengthsToSegmentIds", __FILE__);
  LengthsSchema("LengthsToWeights", "weights", "[rows] float: 1 / length^power")
      .Arg(kLengthsPower)
      .SetDoc("Gives each row a weight that falls with the length of its segment.");
  RegisterCpuOperator<LengthsToWeightsOp>("LengthsToWeights", __FILE__);
  LengthsSchema("LengthsToShape", "shape", "[2] int32: N and the length")
      .TensorInferenceFunction(&InferLengthsShape)
      .SetDoc("Returns the shape of a tensor whose rows are segments of equal length.");
  RegisterCpuOperator<LengthsToShapeOp>("LengthsToShape", __FILE__);
  SegmentIdsSchema("SegmentIdsToLengths", "lengths", "[segments] int32")
      .SetDoc("Converts the segment of each row to lengths of segments.");
  RegisterCpuOperator<SegmentIdsToLengthsOp>("SegmentIdsToLengths", __FILE__);
  SegmentIdsSchema("SegmentIdsToRanges", "ranges", "[segments, 2] int32")
      .SetDoc("Converts the segment of each row to ranges of rows.");
  RegisterCpuOperator<SegmentIdsToRangesOp>("SegmentIdsToRanges", __FILE__);
  // Integers are not differentiable. As in Caffe2, the other types have no gradient maker.
  for (const char* type :
       {"LengthsToSegmentIds", "LengthsToShape", "SegmentIdsToLengths", "SegmentIdsToRanges"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
