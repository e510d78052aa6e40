// GatherRanges: ranges of elements, one after the other.
//   DATA [N], RANGES int32 or int64 [rows, ranges, 2]: start and length
//     -> OUTPUT [sum of lengths], LENGTHS int32 [rows]: the elements of each row of ranges
// GatherRangesToDense: ranges of a given length as rows of matrices, one for each column of RANGES.
//   DATA [N], RANGES [rows, ranges, 2], (optional) KEY int64 [N]
//     -> ranges matrices [rows, lengths[i]]
// A range of another length becomes a row of zeros. With KEY, the elements of a range are in the
// order of their keys.
#include <algorithm>
#include <climits>
#include <utility>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentCheck<float> kRatioCheck{[](float ratio) { return ratio >= 0; }, "at least 0"};
constexpr RepeatedArgumentSpec<int> kDenseLengths{
    "lengths",
    "the length of each range of a row, one for each output; must be given, each above 0",
    {[](const std::vector<int>& lengths) {
       return !lengths.empty() &&
              std::all_of(lengths.begin(), lengths.end(), [](int length) { return length > 0; });
     },
     "at least one, each above 0"},
    true};
constexpr ArgumentSpec<int64_t> kMinObservation{
    "min_observation",
    10000,
    "ratios are those to at least so many ranges; above 0",
    {[](int64_t count) { return count > 0; }, "above 0"}};
constexpr ArgumentSpec<float> kMaxMismatchedRatio{
    "max_mismatched_ratio", 0.01f,
    "how many ranges of an output, in all runs so far, may have a wrong length but 0", kRatioCheck};
constexpr ArgumentSpec<float> kMaxEmptyRatio{"max_empty_ratio", 1.0f, "how many may be empty",
                                             kRatioCheck};

void CheckDataAndRanges(const Tensor& data, const Tensor& ranges) {
  CAFFE_ENFORCE_EQ(data.dim(), 1, "rank of input 0 (DATA) of shape ", data.sizes());
  CAFFE_ENFORCE(ranges.dim() == 3 && ranges.dim(1) > 0 && ranges.dim(2) == 2,
                "input 1 (RANGES) has shape ", ranges.sizes(),
                ", want [rows, ranges, 2] with at least one range");
}

struct DataRange {
  int64_t start = 0, length = 0;
};

// THROWS unless the range is one of the `size` elements of DATA.
template <class Index>
DataRange RangeAt(const Index* ranges, int64_t i, int64_t size) {
  const DataRange range{ranges[2 * i], ranges[2 * i + 1]};
  CAFFE_ENFORCE(range.length == 0 ||
                    (range.length > 0 && range.start >= 0 && range.start <= size - range.length),
                "range ", i, " of input 1 (RANGES) starts at ", range.start, " and has ",
                range.length, " elements, want a range of the ", size,
                " elements of input 0 (DATA)");
  return range;
}

class GatherRangesOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    CheckDataAndRanges(Input(0), Input(1));
    return DispatchByType<int32_t, int64_t>(Input(1).dtype(), "input 1 (RANGES)",
                                            [&](auto index) { return Gather<decltype(index)>(); });
  }

 private:
  template <class Index>
  bool Gather() {
    const Tensor& data = Input(0);
    const int64_t rows = Input(1).dim(0), columns = Input(1).dim(1);
    const Index* const ranges = Input(1).data<Index>();
    int32_t* const lengths = OutputData<int32_t>(1, {rows});
    int64_t total = 0;
    for (int64_t row = 0; row < rows; ++row) {
      int64_t sum = 0;
      for (int64_t i = row * columns; i < (row + 1) * columns; ++i)
        sum = CheckedAdd(sum, RangeAt(ranges, i, data.numel()).length);
      lengths[row] = CheckedCast<int32_t>(sum, "sum of the lengths of a row of input 1 (RANGES)");
      total += sum;
    }
    const TypeMeta type = data.dtype();
    Tensor* const output = Output(0);
    output->Resize(total);
    void* const y = OutputMemory(output, type);
    const void* const x = total > 0 ? data.raw_data() : nullptr;
    for (int64_t i = 0, next = 0; next < total; ++i) {
      const DataRange range = RangeAt(ranges, i, data.numel());
      if (range.length == 0) continue;
      CopyRow(context_, type, range.length, ItemAt(x, type, range.start), ItemAt(y, type, next));
      next += range.length;
    }
    return true;
  }
};

class GatherRangesToDenseOp final : public Operator<CPUContext> {
 public:
  GatherRangesToDenseOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        lengths_(ReadArgument(kDenseLengths)),
        min_observation_(ReadArgument(kMinObservation)),
        max_mismatched_ratio_(ReadArgument(kMaxMismatchedRatio)),
        max_empty_ratio_(ReadArgument(kMaxEmptyRatio)),
        mismatched_(lengths_.size()),
        empty_(lengths_.size()) {
    CAFFE_ENFORCE_EQ(lengths_.size(), OutputSize(), "values of argument lengths, want the outputs");
  }
  bool RunOnDevice() override {
    CheckDataAndRanges(Input(0), Input(1));
    CAFFE_ENFORCE_EQ(Input(1).dim(1), OutputSize(), "dim 1 of input 1 (RANGES) of shape ",
                     Input(1).sizes(), ", want the values of argument lengths");
    if (InputSize() > 2) {
      RequireElements<int64_t>(Input(2));
      CAFFE_ENFORCE_EQ(Input(2).dim(), 1, "rank of input 2 (KEY) of shape ", Input(2).sizes());
      CAFFE_ENFORCE_EQ(Input(2).numel(), Input(0).numel(),
                       "elements of input 2 (KEY), want those of input 0 (DATA)");
    }
    return DispatchByType<int32_t, int64_t>(Input(1).dtype(), "input 1 (RANGES)",
                                            [&](auto index) { return Gather<decltype(index)>(); });
  }

 private:
  template <class Index>
  bool Gather() {
    const int64_t rows = Input(1).dim(0), columns = Input(1).dim(1);
    const Index* const ranges = Input(1).data<Index>();
    const int64_t size = Input(0).numel();
    for (int64_t i = 0; i < rows * columns; ++i) RangeAt(ranges, i, size);
    const TypeMeta type = Input(0).dtype();
    for (int column = 0; column < OutputSize(); ++column) {
      const auto c = static_cast<size_t>(column);
      const int64_t length = lengths_[c];
      Tensor* const output = Output(column);
      output->Resize(rows, length);
      void* const y = OutputMemory(output, type);
      for (int64_t row = 0; row < rows; ++row) {
        const DataRange range = RangeAt(ranges, row * columns + column, size);
        void* const to = ItemAt(y, type, row * length);
        if (range.length == length) {
          CopyRange(range.start, length, to);
          continue;
        }
        FillBlanks(type, length, to);
        ++(range.length == 0 ? empty_ : mismatched_)[c];
      }
    }
    ranges_so_far_ += rows;
    CheckRatios("of another length than the argument states", mismatched_, max_mismatched_ratio_);
    CheckRatios("empty", empty_, max_empty_ratio_);
    return true;
  }

  void CopyRange(int64_t start, int64_t length, void* to) {
    const Tensor& data = Input(0);
    const TypeMeta type = data.dtype();
    if (InputSize() == 2) {
      CopyRow(context_, type, length, ItemAt(data.raw_data(), type, start), to);
      return;
    }
    const int64_t* const key = Input(2).data<int64_t>();
    order_.clear();
    for (int64_t i = start; i < start + length; ++i) order_.emplace_back(key[i], i);
    std::sort(order_.begin(), order_.end());
    for (int64_t i = 0; i < length; ++i) {
      CopyRow(context_, type, 1,
              ItemAt(data.raw_data(), type, order_[static_cast<size_t>(i)].second),
              ItemAt(to, type, i));
    }
  }

  void CheckRatios(const char* what, const std::vector<int64_t>& counts, float ratio) const {
    const auto observed = static_cast<float>(std::max(ranges_so_far_, min_observation_));
    for (size_t c = 0; c < counts.size(); ++c) {
      CAFFE_ENFORCE_LE(static_cast<float>(counts[c]), observed * ratio, "ranges of output ", c,
                       " that were ", what, ", of ", ranges_so_far_, " so far");
    }
  }

  const std::vector<int> lengths_;
  const int64_t min_observation_;
  const float max_mismatched_ratio_, max_empty_ratio_;
  // Of all runs: the ranges of each output, and those that are not copied.
  int64_t ranges_so_far_ = 0;
  std::vector<int64_t> mismatched_, empty_;
  std::vector<std::pair<int64_t, int64_t>> order_;  // keys and positions of a range
};

}  // namespace

void RegisterGatherRanges() {
  const InputTypes integers{.accepted = {TensorProto::INT32, TensorProto::INT64}};
  RegisterSchema("GatherRanges", __FILE__)
      .NumInputs(2)
      .NumOutputs(2)
      .Input(0, "DATA", "[N], elements of any type")
      .Input(1, "RANGES", "[rows, ranges, 2] int32 or int64: start and length of each range")
      .Output(0, "OUTPUT", "[sum of the lengths]: the elements of all ranges, in order")
      .Output(1, "LENGTHS", "[rows] int32: the number of elements of each row of ranges")
      .TypesOfInput(1, integers)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = UnknownOutputsOfInputType(def, in);
        out[1] = UnknownShapeOf(TensorProto::INT32);
        if (in.size() > 1 && IsKnown(in[1]) && in[1].dims_size() == 3)
          out[1] = CreateTensorShape(std::vector<int64_t>{in[1].dims(0)}, TensorProto::INT32);
        return out;
      })
      .SetDoc("Gathers ranges of elements. Caffe2 has no gradient either.");
  RegisterCpuOperator<GatherRangesOp>("GatherRanges", __FILE__);

  RegisterSchema("GatherRangesToDense", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1, INT_MAX)
      .Args(kDenseLengths, kMinObservation, kMaxMismatchedRatio, kMaxEmptyRatio)
      .Input(0, "DATA", "[N], elements of any type")
      .Input(1, "RANGES", "[rows, ranges, 2] int32 or int64: start and length of each range")
      .Input(2, "KEY", "(optional) [N] int64: elements of a range are sorted by these")
      .Output(0, "OUTPUT",
              "[rows, lengths[i]], one output for each column of RANGES: the elements of its "
              "ranges, zeros for ranges of another length")
      .TypesOfInput(1, integers)
      .TypesOfInput(2, {.accepted = {TensorProto::INT64}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = UnknownOutputsOfInputType(def, in);
        const std::vector<int> lengths = ArgumentHelper(def).Read(kDenseLengths);
        if (!AreKnown(in, 2) || in[1].dims_size() != 3 || lengths.size() != out.size()) return out;
        for (size_t i = 0; i < out.size(); ++i) {
          const std::vector<int64_t> dims = {in[1].dims(0), lengths[i]};
          out[i] = CreateTensorShape(dims, in[0].data_type());
        }
        return out;
      })
      .SetDoc(
          "Gathers ranges of given lengths as rows of matrices. A range of another length gives a "
          "row of zeros; too many of these are an error.");
  RegisterCpuOperator<GatherRangesToDenseOp>("GatherRangesToDense", __FILE__);
  RegisterGradient<NoGradient>("GatherRangesToDense", __FILE__);  // as in Caffe2
}

}  // namespace caffe2rt
