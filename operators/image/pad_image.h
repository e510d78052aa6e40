#pragma once
// PadImage: adds rows and columns around pictures, or crops where a pad is negative.
//   X [N, C, H, W] or [N, H, W, C]  ->  Y, height H + pad_t + pad_b, width W + pad_l + pad_r
// mode "constant" fills with `value`; "edge" repeats the border; "reflect" mirrors at the border
// without repeating it.

#include <string>
#include <vector>

#include "caffe2_core/base/host_device.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/conv_geometry.h"

namespace caffe2rt {

class CUDAContext;

enum class PadMode { kConstant, kReflect, kEdge };
// THROWS for an unknown name.
PadMode StringToPadMode(const std::string& name);

// Where index `i` of an axis that was `in` long comes from, counted from the first of those; -1 for
// the constant. Negative with kReflect: the mirror image is larger than the axis.
CAFFE2RT_HOST_DEVICE inline int64_t PadSource(int64_t i, int64_t in, PadMode mode) {
  if (mode == PadMode::kConstant) return i < 0 || i >= in ? -1 : i;
  if (mode == PadMode::kEdge) return i < 0 ? 0 : i >= in ? in - 1 : i;
  const int64_t away = i < 0 ? -i : i, back = 2 * in - away - 2;
  return away < back ? away : back;
}

// Where each index of a padded axis comes from; -1 for the constant. THROWS when a mirror image is
// larger than the axis.
void PadSources(const WindowAxis& axis, PadMode mode, std::vector<int32_t>* sources);

// `planes` pictures of `items` floats a pixel. `rows` and `columns` are PadSources of height and
// width, for the CPU; CUDA works them out.
void PadPixels(CPUContext& context, int64_t planes, int64_t items, const WindowAxis& height,
               const WindowAxis& width, PadMode mode, const std::vector<int32_t>& rows,
               const std::vector<int32_t>& columns, float value, const float* x, float* y);
void PadPixels(CUDAContext& context, int64_t planes, int64_t items, const WindowAxis& height,
               const WindowAxis& width, PadMode mode, const std::vector<int32_t>& rows,
               const std::vector<int32_t>& columns, float value, const float* x, float* y);

template <class Context>
class PadImageOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PadImageOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        window_(ParseWindowArguments(this->args(), WindowUse::kPad)),
        mode_(StringToPadMode(this->template GetSingleArgument<std::string>("mode", "constant"))),
        value_(this->template GetSingleArgument<float>("value", 0)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* x = X.template data<float>();
    if (dims_.empty() || dims_ != X.dims()) {
      dims_.clear();  // no plan until everything below succeeded
      geometry_ = MakeWindowGeometry(window_, X.sizes());
      out_dims_ = geometry_.OutputDims(geometry_.channels);
      // Memory for the output first: sizes beyond the limit end here.
      this->template OutputData<float>(0, out_dims_);
      if (geometry_.batch > 0) {
        PadSources(geometry_.axis[0], mode_, &rows_);
        PadSources(geometry_.axis[1], mode_, &columns_);
      }
      dims_ = X.dims();
    }
    float* y = this->template OutputData<float>(0, out_dims_);
    const bool last = geometry_.order == StorageOrder::NHWC;
    const int64_t planes = last ? geometry_.batch : geometry_.batch * geometry_.channels;
    PadPixels(context_, planes, last ? geometry_.channels : 1, geometry_.axis[0], geometry_.axis[1],
              mode_, rows_, columns_, value_, x, y);
    return true;
  }

 private:
  const WindowArguments window_;
  const PadMode mode_;
  const float value_;
  WindowGeometry geometry_;               // of dims_
  std::vector<int64_t> dims_, out_dims_;  // of the last input and its output
  std::vector<int32_t> rows_, columns_;   // sources
};

}  // namespace caffe2rt
