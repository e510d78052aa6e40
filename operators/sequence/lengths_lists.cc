// Lists of items, one after the other, and the length of each list:
// LengthsGather: the items of some of the lists.
//   items [N, ...], lengths int32 [S], indices int32 or int64 [M]  ->  [sum of these lengths, ...]
// LengthsPad: lists of the same length.
//   data [N, ...], lengths int32 [S]  ->  [S * target_length, ...]
// MergeIdLists: the union of lists of several inputs, ascending.
//   lengths_0 int32 [S], values_0 [N_0], lengths_1, values_1, ...  ->  int32 [S], [M]
// SparseDropoutWithReplacement: replaces whole lists, at random, by a list of one number.
//   X int64 [N], Lengths int32 [S]  ->  int64 [M], int32 [S]
#include <algorithm>
#include <climits>
#include <random>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<float> kLengthsPadValue{"padding_value", -1.0f,
                                               "the value of added elements"};
constexpr ArgumentSpec<int> kLengthsPadTarget{
    "target_length",
    -1,
    "the length of each list; must be given, at least 1",
    {[](int length) { return length >= 1; }, "at least 1"},
    true};
constexpr ArgumentSpec<float> kReplacementRatio{
    "ratio",
    0.0f,
    "the probability that a list is replaced, from 0 to 1",
    {[](float ratio) { return ratio >= 0 && ratio <= 1; }, "from 0 to 1"}};
constexpr ArgumentSpec<int64_t> kReplacementValue{"replacement_value", 0,
                                                  "the number of a list that is replaced"};

class LengthsGatherOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(Input(2).dtype(), "input 2 (INDICES)",
                                            [&](auto index) { return Gather<decltype(index)>(); });
  }

 private:
  template <class Index>
  bool Gather() {
    const Tensor& items = Input(0);
    const Tensor& indices = Input(2);
    CAFFE_ENFORCE_GE(items.dim(), 1, "rank of input 0 (ITEMS)");
    CAFFE_ENFORCE_EQ(Input(1).dim(), 1, "rank of input 1 (LENGTHS) of shape ", Input(1).sizes());
    CAFFE_ENFORCE_EQ(indices.dim(), 1, "rank of input 2 (INDICES) of shape ", indices.sizes());
    const Index* const index = indices.data<Index>();
    lists_.Read<int32_t>(*this, 1, "input 1 (LENGTHS)");
    CAFFE_ENFORCE_EQ(lists_.total(), items.dim(0),
                     "sum of the lengths, want the rows of input 0 (ITEMS) of shape ",
                     items.sizes());
    dims_.assign(items.dims().begin(), items.dims().end());
    dims_[0] = 0;
    for (int64_t i = 0; i < indices.numel(); ++i) {
      CAFFE_ENFORCE(index[i] >= 0 && index[i] < lists_.count(), "element ", i,
                    " of input 2 (INDICES) is ", index[i], ", want at least 0 and less than ",
                    lists_.count(), ", the elements of LENGTHS");
      dims_[0] = CheckedAdd(dims_[0], lists_.length(index[i]));
    }
    Tensor* const output = Output(0);
    output->Resize(dims_);
    void* const y = OutputMemory(output, items.dtype());
    if (output->numel() == 0) return true;
    const int64_t block = items.size_from_dim(1);
    for (int64_t i = 0, row = 0; i < indices.numel(); ++i) {
      const int64_t rows = lists_.length(index[i]);
      if (rows == 0) continue;
      CopyRow(context_, items.dtype(), rows * block,
              ItemAt(items.raw_data(), items.dtype(), lists_.offset(index[i]) * block),
              ItemAt(y, items.dtype(), row * block));
      row += rows;
    }
    return true;
  }
  SegmentOffsets<CPUContext> lists_;
  std::vector<int64_t> dims_;
};

class LengthsPadOp final : public Operator<CPUContext> {
 public:
  LengthsPadOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        value_(ReadArgument(kLengthsPadValue)),
        target_(ReadArgument(kLengthsPadTarget)) {}
  bool RunOnDevice() override {
    return DispatchByType<float, double, int32_t, int64_t>(
        Input(0).dtype(), "input 0 (DATA)", [&](auto element) { return Pad<decltype(element)>(); });
  }

 private:
  template <class T>
  bool Pad() {
    const Tensor& data = Input(0);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 0 (DATA)");
    CAFFE_ENFORCE_EQ(Input(1).dim(), 1, "rank of input 1 (LENGTHS) of shape ", Input(1).sizes());
    lists_.Read<int32_t>(*this, 1, "input 1 (LENGTHS)");
    CAFFE_ENFORCE_LE(lists_.longest(), target_,
                     "longest of input 1 (LENGTHS), want at most target_length");
    CAFFE_ENFORCE_EQ(lists_.total(), data.dim(0),
                     "sum of the lengths, want the rows of input 0 (DATA) of shape ", data.sizes());
    dims_.assign(data.dims().begin(), data.dims().end());
    dims_[0] = CheckedMultiply<int64_t>(lists_.count(), target_);
    const T* x = data.data<T>();
    T* y = OutputData<T>(0, dims_);
    const int64_t block = data.size_from_dim(1);
    for (int64_t s = 0; s < lists_.count(); ++s) {
      const int64_t items = lists_.length(s) * block, added = target_ * block - items;
      y = std::copy_n(x, items, y);
      y = std::fill_n(y, added, static_cast<T>(value_));
      x += items;
    }
    return true;
  }
  const float value_;
  const int64_t target_;
  SegmentOffsets<CPUContext> lists_;
  std::vector<int64_t> dims_;
};

class MergeIdListsOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(Input(1).dtype(), "input 1 (values_0)",
                                            [&](auto value) { return Merge<decltype(value)>(); });
  }

 private:
  template <class T>
  bool Merge() {
    const int pairs = InputSize() / 2;
    lists_.resize(static_cast<size_t>(pairs));
    for (int p = 0; p < pairs; ++p) {
      const Tensor& lengths = Input(2 * p);
      const Tensor& values = Input(2 * p + 1);
      CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input ", 2 * p, " (lengths) of shape ",
                       lengths.sizes());
      CAFFE_ENFORCE_EQ(lengths.numel(), Input(0).numel(), "elements of input ", 2 * p,
                       " (lengths), want those of input 0");
      CAFFE_ENFORCE_EQ(values.dim(), 1, "rank of input ", 2 * p + 1, " (values) of shape ",
                       values.sizes());
      RequireElements<T>(values);
      SegmentOffsets<CPUContext>& lists = lists_[static_cast<size_t>(p)];
      lists.template Read<int32_t>(*this, 2 * p, "lengths");
      CAFFE_ENFORCE_EQ(lists.total(), values.numel(), "sum of the lengths of input ", 2 * p,
                       ", want the elements of input ", 2 * p + 1);
    }
    int32_t* const merged_lengths = OutputData<int32_t>(0, Input(0).sizes());
    std::vector<T> merged;
    for (int64_t s = 0; s < Input(0).numel(); ++s) {
      const auto begin = static_cast<ptrdiff_t>(merged.size());
      for (int p = 0; p < pairs; ++p) {
        const SegmentOffsets<CPUContext>& lists = lists_[static_cast<size_t>(p)];
        const T* const values = Input(2 * p + 1).data<T>();
        merged.insert(merged.end(), values + lists.offset(s), values + lists.offset(s + 1));
      }
      std::sort(merged.begin() + begin, merged.end());
      merged.erase(std::unique(merged.begin() + begin, merged.end()), merged.end());
      merged_lengths[s] = static_cast<int32_t>(static_cast<ptrdiff_t>(merged.size()) - begin);
    }
    std::copy(merged.begin(), merged.end(),
              OutputData<T>(1, {static_cast<int64_t>(merged.size())}));
    return true;
  }
  std::vector<SegmentOffsets<CPUContext>> lists_;
};

class SparseDropoutWithReplacementOp final : public Operator<CPUContext> {
 public:
  SparseDropoutWithReplacementOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        ratio_(ReadArgument(kReplacementRatio)),
        value_(ReadArgument(kReplacementValue)) {}
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 1, "rank of input 0 (X) of shape ", X.sizes());
    CAFFE_ENFORCE_EQ(Input(1).dim(), 1, "rank of input 1 (Lengths) of shape ", Input(1).sizes());
    RequireElements<int64_t>(X);
    lists_.Read<int32_t>(*this, 1, "input 1 (Lengths)");
    CAFFE_ENFORCE_EQ(lists_.total(), X.numel(),
                     "sum of the lengths, want the elements of input 0 (X)");
    const int64_t* const x = X.data<int64_t>();
    int32_t* const lengths = OutputData<int32_t>(1, {lists_.count()});
    std::bernoulli_distribution replaced(static_cast<double>(ratio_));
    int64_t total = 0;
    for (int64_t s = 0; s < lists_.count(); ++s) {
      // -1 marks a list that is replaced.
      lengths[s] = replaced(context_.RandGenerator()) ? -1 : static_cast<int32_t>(lists_.length(s));
      total += lengths[s] < 0 ? 1 : lengths[s];
    }
    int64_t* y = OutputData<int64_t>(0, {total});
    for (int64_t s = 0; s < lists_.count(); ++s) {
      if (lengths[s] < 0) {
        *y++ = value_;
        lengths[s] = 1;
      } else {
        y = std::copy_n(x + lists_.offset(s), lengths[s], y);
      }
    }
    return true;
  }

 private:
  const float ratio_;
  const int64_t value_;
  SegmentOffsets<CPUContext> lists_;
};

void RegisterLengthsGather() {
  RegisterSchema("LengthsGather", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "ITEMS", "[N, ...], elements of any type: the items of all lists")
      .Input(1, "LENGTHS", "[S] int32: the items of each list")
      .Input(2, "INDICES", "[M] int32 or int64: the lists to gather")
      .Output(0, "OUTPUT", "[sum of their lengths, ...]: their items")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return UnknownOutputsOfInputType(def, in);
      })
      .SetDoc("Gathers lists of items.");
  RegisterCpuOperator<LengthsGatherOp>("LengthsGather", __FILE__);
  // Caffe2 has no gradient either.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("LengthsGather", __FILE__);
}

void RegisterLengthsPad() {
  RegisterSchema("LengthsPad", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kLengthsPadValue, kLengthsPadTarget)
      .Input(0, "DATA", "[N, ...] float, double, int32 or int64: the items of all lists")
      .Input(1, "LENGTHS", "[S] int32: the items of each list, at most target_length")
      .Output(0, "OUTPUT", "[S * target_length, ...]: each list, followed by padding")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2) || in[0].dims_size() == 0) return UnknownOutputs(def);
        std::vector<int64_t> dims = GetDimsVector(in[0]);
        dims[0] = CheckedMultiply<int64_t>(CheckedProduct(GetDimsVector(in[1])),
                                           ArgumentHelper(def).Read(kLengthsPadTarget));
        return std::vector<TensorShape>{CreateTensorShape(dims, in[0].data_type())};
      })
      .SetDoc("Pads lists of items to the same length.");
  RegisterCpuOperator<LengthsPadOp>("LengthsPad", __FILE__);
  // As in Caffe2, the gradient is absent without an error.
  RegisterGradient<NoGradient>("LengthsPad", __FILE__);
}

void RegisterMergeIdLists() {
  RegisterSchema("MergeIdLists", __FILE__)
      .NumInputs([](int n) { return n > 0 && n % 2 == 0; })
      .NumOutputs(2)
      .Input(0, "lengths_0, values_0, lengths_1, ...",
             "lengths int32 [S], each followed by its ids, int32 or int64 [N]")
      .Output(0, "merged_lengths", "[S] int32: the ids of each merged list")
      .Output(1, "merged_values", "[M]: the different ids of each list, ascending")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2)) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            CreateTensorShape(GetDimsVector(in[0]), TensorProto_DataType_INT32),
            UnknownShapeOf(in[1].data_type())};
      })
      .SetDoc("Merges lists of ids. An id occurs once in a list.");
  RegisterCpuOperator<MergeIdListsOp>("MergeIdLists", __FILE__);
  RegisterGradient<NoGradient>("MergeIdLists", __FILE__);
}

void RegisterSparseDropout() {
  RegisterSchema("SparseDropoutWithReplacement", __FILE__)
      .NumInputs(2)
      .NumOutputs(2)
      .Args(kReplacementRatio, kReplacementValue)
      .Input(0, "X", "[N] int64: the numbers of all lists")
      .Input(1, "Lengths", "[S] int32: the numbers of each list")
      .Output(0, "Y",
              "[M] int64: the numbers of all lists, replacement_value for a list that is replaced")
      .Output(1, "OutputLengths",
              "[S] int32: the numbers of each list, 1 for a list that is replaced")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 2)) return UnknownOutputs(def);
        return std::vector<TensorShape>{
            UnknownShapeOf(TensorProto_DataType_INT64),
            CreateTensorShape(GetDimsVector(in[1]), TensorProto_DataType_INT32)};
      })
      .HasEffect(Effect::kRandom)
      .SetDoc("Replaces each list with the probability ratio by a list of replacement_value.");
  RegisterCpuOperator<SparseDropoutWithReplacementOp>("SparseDropoutWithReplacement", __FILE__);
  RegisterGradient<NoGradient>("SparseDropoutWithReplacement", __FILE__);
}

}  // namespace

void RegisterLengthsLists() {
  RegisterLengthsGather();
  RegisterLengthsPad();
  RegisterMergeIdLists();
  RegisterSparseDropout();
}

}  // namespace caffe2rt
