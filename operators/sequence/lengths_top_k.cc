// LengthsTopK: the k largest elements of each segment, in descending order. LengthsTopKGradient:
// the gradient of the elements.
//   DATA float [N], LENGTHS int32 [S]  ->  TopKValue float [S, k], TopKIndices int32 [S, k]
// A segment with fewer elements is filled up with the value 0 and the index -1.
#include <algorithm>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/segment_offsets.h"
#include "operators/primitives/largest_entries.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kLengthsTopK{"k",
                                         -1,
                                         "the elements of each segment; must be given, at least 1",
                                         {[](int k) { return k >= 1; }, "at least 1"}};

int64_t ReadTopK(const ArgumentHelper& args) {
  const int k = args.Read(kLengthsTopK);
  CAFFE_ENFORCE_GE(k, 1, "argument k");
  return k;
}

class LengthsTopKOp final : public Operator<CPUContext> {
 public:
  LengthsTopKOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), k_(ReadTopK(args())) {}

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 0 (DATA)");
    CAFFE_ENFORCE_EQ(Input(1).dim(), 1, "rank of input 1 (LENGTHS) of shape ", Input(1).sizes());
    RequireElements<float>(data);
    segments_.Read<int32_t>(*this, 1, "input 1 (LENGTHS)");
    CAFFE_ENFORCE_EQ(segments_.total(), data.numel(),
                     "sum of the lengths, want the elements of input 0 (DATA) of shape ",
                     data.sizes());
    const float* const x = data.data<float>();
    float* value = OutputData<float>(0, {segments_.count(), k_});
    int32_t* index = OutputData<int32_t>(1, {segments_.count(), k_});
    for (int64_t s = 0; s < segments_.count(); ++s) {
      largest_.Select(x + segments_.offset(s), segments_.length(s), k_);
      for (const auto& [largest, position] : largest_.entries()) {
        *value++ = largest;
        *index++ = static_cast<int32_t>(position);
      }
      const int64_t missing = k_ - static_cast<int64_t>(largest_.entries().size());
      value = std::fill_n(value, missing, 0.0f);
      index = std::fill_n(index, missing, -1);
    }
    return true;
  }

 private:
  const int64_t k_;
  SegmentOffsets<CPUContext> segments_;
  LargestEntries largest_;
};

class LengthsTopKGradientOp final : public Operator<CPUContext> {
 public:
  LengthsTopKGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), k_(ReadTopK(args())) {}

  bool RunOnDevice() override {
    const Tensor& lengths = Input(0);
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input 0 (LENGTHS) of shape ", lengths.sizes());
    CheckShape(1, "input 1 (TopKIndices)");
    CheckShape(2, "input 2 (dTopKValue)");
    RequireElements<int32_t>(Input(1));
    RequireElements<float>(Input(2));
    segments_.Read<int32_t>(*this, 0, "input 0 (LENGTHS)");
    const int32_t* index = Input(1).data<int32_t>();
    const float* dy = Input(2).data<float>();
    float* const dx = OutputData<float>(0, {segments_.total()});
    std::fill_n(dx, segments_.total(), 0.0f);
    for (int64_t s = 0; s < segments_.count(); ++s) {
      for (int64_t i = 0; i < k_; ++i, ++index, ++dy) {
        if (*index < 0) continue;
        CAFFE_ENFORCE_LT(*index, segments_.length(s), "element ", s * k_ + i,
                         " of input 1 (TopKIndices), want less than the length of the segment");
        dx[segments_.offset(s) + *index] = *dy;
      }
    }
    return true;
  }

 private:
  void CheckShape(int i, const char* subject) const {
    const Tensor& tensor = Input(i);
    CAFFE_ENFORCE(tensor.dim() == 2 && tensor.dim(0) == Input(0).numel() && tensor.dim(1) == k_,
                  subject, " has shape ", tensor.sizes(), ", want [", Input(0).numel(), ", ", k_,
                  "]: a row of k for each of LENGTHS");
  }

  const int64_t k_;
  SegmentOffsets<CPUContext> segments_;
};

class GetLengthsTopKGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("LengthsTopKGradient", "", {I(1), O(1), GO(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterLengthsTopK() {
  RegisterSchema("LengthsTopK", __FILE__)
      .NumInputs(2)
      .NumOutputs(2)
      .Arg(kLengthsTopK)
      .Input(0, "DATA", "float, as many elements as LENGTHS add up to: all segments, in order")
      .Input(1, "LENGTHS", "[S] int32: the number of elements of each segment")
      .Output(0, "TopKValue",
              "[S, k]: the largest elements of each segment, in descending order, then zeros")
      .Output(1, "TopKIndices", "[S, k] int32: their positions in the segment, then -1")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT32}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = {UnknownShapeOf(TensorProto::FLOAT),
                                        UnknownShapeOf(TensorProto::INT32)};
        if (in.size() < 2 || !IsKnown(in[1]) || in[1].dims_size() != 1) return out;
        for (TensorShape& shape : out) {
          const std::vector<int64_t> dims = {in[1].dims(0), ReadTopK(ArgumentHelper(def))};
          shape = CreateTensorShape(dims, shape.data_type());
        }
        return out;
      })
      .SetDoc(
          "Computes the k largest elements of each segment, in descending order. Among equal "
          "elements, those with lower positions come first.");
  RegisterCpuOperator<LengthsTopKOp>("LengthsTopK", __FILE__);
  RegisterGradient<GetLengthsTopKGradient>("LengthsTopK", __FILE__);

  RegisterSchema("LengthsTopKGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Arg(kLengthsTopK)
      .Input(0, "LENGTHS", "[S] int32, as in LengthsTopK")
      .Input(1, "TopKIndices", "[S, k] int32: output 1 of LengthsTopK; negative ones are skipped")
      .Input(2, "dTopKValue", "[S, k] float: the gradient of TopKValue")
      .Output(0, "dDATA", "[sum of LENGTHS]: the gradients at their positions, 0 elsewhere")
      .TypesOfInput(0, {.accepted = {TensorProto::INT32}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT32}})
      .TypesOfInput(2, {.accepted = {TensorProto::FLOAT}})
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{UnknownShapeOf(TensorProto::FLOAT)};
      })
      .SetDoc("Computes the gradient of LengthsTopK.");
  RegisterCpuOperator<LengthsTopKGradientOp>("LengthsTopKGradient", __FILE__);
}

}  // namespace caffe2rt
