#include "operators/sequence/sequence_mask.h"

#include <algorithm>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

namespace {

MaskMode ModeNamed(const std::string& name) {
  if (name == "sequence") return MaskMode::kSequence;
  if (name == "window") return MaskMode::kWindow;
  if (name == "upper") return MaskMode::kUpper;
  if (name == "lower") return MaskMode::kLower;
  if (name == "upperdiag") return MaskMode::kUpperDiagonal;
  if (name == "lowerdiag") return MaskMode::kLowerDiagonal;
  CAFFE_THROW("argument \"mode\" is \"", name,
              "\", want sequence, window, upper, lower, upperdiag or lowerdiag");
}

}  // namespace

MaskArguments ReadMaskArguments(const ArgumentHelper& args) {
  MaskArguments result;
  result.mode = ModeNamed(args.Read(kMaskMode));
  result.axis = args.Read(kMaskAxis);
  result.radius = args.Read(kMaskRadius);
  result.fill = args.Read(kMaskGradient) ? 0.0f : args.Read(kMaskFill);
  result.has_batch = args.HasArgument(kMaskBatch);
  result.batch = args.Read(kMaskBatch);
  result.has_repeat = args.HasArgument(kMaskRepeat);
  result.repeat = args.Read(kMaskRepeat);
  CAFFE_ENFORCE(!result.has_repeat || result.mode == MaskMode::kSequence,
                "argument repeat_from_axis is given, want mode sequence");
  CAFFE_ENFORCE(!result.has_repeat || !result.has_batch,
                "arguments batch and repeat_from_axis are both given: remove one");
  return result;
}

MaskSizes SizesOfMask(const MaskArguments& arguments, IntArrayRef dims) {
  const int rank = static_cast<int>(dims.size());
  const int axis = canonical_axis_index_(arguments.axis, rank);
  MaskSizes sizes;
  sizes.mode = arguments.mode;
  sizes.radius = arguments.radius;
  sizes.rows = size_to_dim_(axis, dims);
  sizes.cycle = sizes.rows;
  sizes.width = size_from_dim_(axis, dims);
  sizes.repeat = 1;
  if (arguments.has_batch) {
    const int batch = canonical_axis_index_(arguments.batch, rank);
    CAFFE_ENFORCE_LT(batch, axis, "argument batch, want a dimension before axis");
    sizes.cycle = 1;
    for (int i = batch + 1; i < axis; ++i) sizes.cycle *= dims[static_cast<size_t>(i)];
  }
  if (arguments.has_repeat) {
    const int repeat = canonical_axis_index_(arguments.repeat, rank);
    CAFFE_ENFORCE_GE(repeat, axis, "argument repeat_from_axis, want axis or a later dimension");
    sizes.repeat = size_from_dim_(repeat, dims);
    if (sizes.repeat > 0) sizes.width /= sizes.repeat;
  }
  return sizes;
}

template <class T>
void MaskRows(CPUContext&, const MaskSizes& sizes, const int32_t* numbers, float fill, const T* x,
              T* y) {
  const T value = static_cast<T>(fill);
  const int64_t length = sizes.width * sizes.repeat;
  int64_t row = 0;  // in the cycle
  for (int64_t r = 0; r < sizes.rows; ++r, x += length, y += length) {
    const MaskInterval kept = KeptPositions(sizes, row, numbers != nullptr ? numbers[row] : 0);
    const int64_t first = std::clamp<int64_t>(kept.first, 0, sizes.width) * sizes.repeat;
    const int64_t last =
        std::clamp<int64_t>(kept.last, first / sizes.repeat, sizes.width) * sizes.repeat;
    std::fill(y, y + first, value);
    std::copy(x + first, x + last, y + first);
    std::fill(y + last, y + length, value);
    if (++row == sizes.cycle) row = 0;
  }
}
template void MaskRows(CPUContext&, const MaskSizes&, const int32_t*, float, const float*, float*);

namespace {

class GetSequenceMaskGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs = {GO(0)};
    const std::string mode = ArgumentHelper(def_).Read(kMaskMode);
    if (mode == "sequence" || mode == "window") inputs.push_back(I(1));
    std::vector<Argument> args = {MakeArgument(kMaskGradient.name, true)};
    for (const Argument& arg : def_.arg()) {
      if (arg.name() != kMaskGradient.name) args.push_back(arg);
    }
    return SingleGradientDef("SequenceMask", "", inputs, std::vector<std::string>{GI(0)}, args);
  }
};

}  // namespace

void RegisterSequenceMask() {
  RegisterSchema("SequenceMask", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(1)
      .Args(kMaskMode, kMaskAxis, kMaskRadius, kMaskGradient, kMaskFill, kMaskBatch, kMaskRepeat)
      .Input(0, "input", "[dims..] float; on CUDA also float16")
      .Input(1, "sequence_lengths",
             "int32: the length of each row in mode sequence, or the center in mode window")
      .Output(0, "masked_tensor", "the shape of the input")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc(
          "Keeps an interval of each row and replaces the other elements by fill_val. Row i keeps "
          "the positions below its length (sequence), around its center (window), up to i (upper), "
          "from i on (lower), below i (upperdiag) or above i (lowerdiag).");
  RegisterCpuOperator<SequenceMaskOp<CPUContext>>("SequenceMask", __FILE__);
  RegisterGradient<GetSequenceMaskGradient>("SequenceMask", __FILE__);
}

}  // namespace caffe2rt
