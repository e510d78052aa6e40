#include "operators/sequence/add_padding.h"

#include <cstring>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

// Writes `count` copies of a row, or zeros if it is null. Returns the end of what it wrote.
char* FillRows(int64_t count, const void* row, size_t bytes, char* to) {
  for (int64_t i = 0; i < count; ++i, to += bytes) {
    if (row != nullptr) {
      std::memcpy(to, row, bytes);
    } else {
      std::memset(to, 0, bytes);
    }
  }
  return to;
}

}  // namespace

void PadRowBytes(CPUContext&, const PaddedSizes& sizes, const int64_t* offsets, const void* x,
                 const void* before, const void* after, void* y) {
  const size_t bytes = static_cast<size_t>(sizes.block_bytes);
  const char* from = static_cast<const char*>(x);
  char* to = static_cast<char*>(y);
  for (int64_t s = 0; s < sizes.segments; ++s) {
    to = FillRows(sizes.start, before, bytes, to);
    const size_t count = static_cast<size_t>(offsets[s + 1] - offsets[s]) * bytes;
    if (count > 0) std::memcpy(to, from, count);
    from += count;
    to = FillRows(sizes.end, after, bytes, to + count);
  }
  const int64_t done = offsets[sizes.segments] + sizes.segments * (sizes.start + sizes.end);
  FillRows(sizes.rows - done, nullptr, bytes, to);
}

namespace {

// The shape is known if there is one segment, and if the padding has no rows.
std::vector<TensorShape> InferAdded(const OperatorDef& def, const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out = UnknownOutputs(def);
  const PaddingWidths widths = ReadPaddingWidths(ArgumentHelper(def));
  if (in.empty() || !IsKnown(in[0]) || in[0].dims_size() < 1 || widths.both() == 0) return out;
  if (in.size() > 1 && !IsKnown(in[1])) return out;
  const int64_t segments = in.size() > 1 ? NumElements(in[1]) : 1;
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  dims[0] = CheckedAdd(dims[0], CheckedMultiply(segments, widths.both()));
  out[0] = CreateTensorShape(dims, in[0].data_type());
  if (out.size() > 1) {
    out[1] = CreateTensorShape(std::vector<int64_t>{segments}, TensorProto::INT32);
  }
  return out;
}

class GetAddPaddingGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const std::vector<std::string> inputs = PaddingGradientInputs(Def(), GO(0));
    std::vector<OperatorDef> ops = SingleGradientDef("RemovePadding", "", inputs, {GI(0)});
    if (Def().input_size() > 2) {
      std::vector<std::string> paddings = {GI(2)};
      if (Def().input_size() > 3) paddings.push_back(GI(3));
      ops.push_back(CreateOperatorDef("GatherPadding", "", inputs, paddings));
    }
    return ops;
  }
};

}  // namespace

void RegisterAddPadding() {
  RegisterSchema("AddPadding", __FILE__)
      .NumInputs(1, 4)
      .NumOutputs(1, 2)
      .Args(kPaddingWidth, kEndPaddingWidth)
      .Input(0, "data_in", "[rows, inner..] float, double, int32, int64 or bool")
      .Input(1, "lengths",
             "(optional) int32: the number of rows of each segment; default: one segment")
      .Input(2, "start_padding",
             "(optional) [inner..]: the row to add before each segment; default: zeros")
      .Input(3, "end_padding",
             "(optional) [inner..]: the row to add after each segment; default: start_padding")
      .Output(0, "data_out", "[rows + padding, inner..]: the padded segments")
      .Output(1, "lengths_out", "(optional) the lengths of the padded segments")
      .TensorInferenceFunction(InferAdded)
      .SetDoc("Adds rows of padding before and after each segment of rows.");
  RegisterCpuOperator<AddPaddingOp<CPUContext>>("AddPadding", __FILE__);
  RegisterGradient<GetAddPaddingGradient>("AddPadding", __FILE__);
}

}  // namespace caffe2rt
