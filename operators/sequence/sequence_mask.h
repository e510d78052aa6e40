#pragma once
// SequenceMask: keeps an interval of each row of a tensor and replaces the other elements.
//   input [dims..] float (on CUDA also float16), optional sequence_lengths int32  ->  [dims..]
//
// The dimensions before `axis` count the rows, the others the positions of a row. Row i keeps
//   sequence   the positions below sequence_lengths[i]
//   window     the positions at most `radius` away from sequence_lengths[i], its center
//   upper      the positions up to i         upperdiag  the positions below i
//   lower      the positions from i on       lowerdiag  the positions above i
//
// With the argument batch, the dimensions up to `batch` are a batch of such tensors: i counts the
// rows in the dimensions between `batch` and `axis`. With repeat_from_axis, the dimensions from it
// on belong to one position. With grad, the other elements become 0 instead of fill_val: that is
// the gradient of the operator.

#include <limits>
#include <string>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/sequence/sequence_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<std::string> kMaskMode{
    .name = "mode",
    .doc = "sequence, window, upper, lower, upperdiag or lowerdiag",
    .required = true};
inline constexpr ArgumentSpec<int> kMaskAxis{
    "axis", 1, "first dimension of a row; a negative axis counts from the end"};
inline constexpr ArgumentSpec<int> kMaskRadius{
    "radius", 10, "distance of the kept positions from the center in mode window"};
inline constexpr ArgumentSpec<bool> kMaskGradient{
    "grad", false, "1: elements are replaced by 0 instead of fill_val"};
inline constexpr ArgumentSpec<float> kMaskFill{"fill_val", -std::numeric_limits<float>::infinity(),
                                               "what elements are replaced by"};
inline constexpr ArgumentSpec<int> kMaskBatch{
    "batch", 0,
    "last dimension of the batch, below axis; if not given there is no batch; a negative value "
    "counts from the end"};
inline constexpr ArgumentSpec<int> kMaskRepeat{"repeat_from_axis", -1,
                                               "in mode sequence: first dimension of a position; "
                                               "if not given, each element is one; a negative "
                                               "value counts from the end"};

struct MaskArguments {
  MaskMode mode = MaskMode::kSequence;
  int axis = 1;
  int radius = 0;
  float fill = 0;
  bool has_batch = false;
  int batch = 0;
  bool has_repeat = false;
  int repeat = 0;
  bool has_numbers() const { return mode == MaskMode::kSequence || mode == MaskMode::kWindow; }
};
#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the mode is unknown or the arguments exclude each other.
MaskArguments ReadMaskArguments(const ArgumentHelper& args);
// THROWS if the arguments do not fit the shape.
MaskSizes SizesOfMask(const MaskArguments& arguments, IntArrayRef dims);
template <class T>
void MaskRows(CPUContext& context, const MaskSizes& sizes, const int32_t* numbers, float fill,
              const T* x, T* y);
extern template void MaskRows(CPUContext&, const MaskSizes&, const int32_t*, float, const float*,
                              float*);
#pragma GCC visibility pop

template <class Context>
class SequenceMaskOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SequenceMaskOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), arguments_(ReadMaskArguments(this->args())) {}

  bool RunOnDevice() override {
    constexpr const char* kSubject = "input 0 (input)";
    if constexpr (Context::GetDeviceType() == CPU) {
      return DispatchByType<float>(Input(0).dtype(), kSubject,
                                   [&](auto element) { return RunWith<decltype(element)>(); });
    } else {
      return DispatchByType<float, float16>(
          Input(0).dtype(), kSubject, [&](auto element) { return RunWith<decltype(element)>(); });
    }
  }

 private:
  template <class T>
  bool RunWith() {
    const Tensor& x = Input(0);
    const MaskSizes sizes = SizesOfMask(arguments_, x.sizes());
    const int32_t* numbers = nullptr;
    if (arguments_.has_numbers()) {
      CAFFE_ENFORCE_GE(InputSize(), 2,
                       "number of inputs, want input 1 (sequence_lengths) in the "
                       "modes sequence and window");
      const Tensor& lengths = Input(1);
      CAFFE_ENFORCE(x.numel() == 0 || lengths.numel() >= sizes.cycle,
                    "input 1 (sequence_lengths) "
                    "has ",
                    lengths.numel(), " elements, want ", sizes.cycle,
                    ", one for each row "
                    "of input 0 of shape ",
                    x.sizes());
      numbers = lengths.template data<int32_t>();
    }
    T* const y = this->template OutputData<T>(0, x.sizes());
    if (x.numel() > 0) {
      MaskRows(context_, sizes, numbers, arguments_.fill, x.template data<T>(), y);
    }
    return true;
  }

  const MaskArguments arguments_;
};

}  // namespace caffe2rt
