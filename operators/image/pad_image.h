#pragma once
// PadImage: adds rows and columns around images, or removes them where a pad is negative.
//   X [N, C, H, W] or [N, H, W, C]  ->  Y, height H + pad_t + pad_b, width W + pad_l + pad_r
// Mode "constant" fills the new pixels with `value`; "edge" repeats the border; "reflect" mirrors
// the image at the border without repeating the border.
//
// PadImageGradient: dY -> dX. Each element of dX is the sum of the elements of dY that were copied
// from it.

#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/conv_geometry.h"
#include "operators/image/pad_image_kernels.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Returns nullopt for an unknown name.
std::optional<PadMode> ParsePadMode(const std::string& name);
#pragma GCC visibility pop

inline constexpr ArgumentSpec<std::string> kPadMode{
    "mode",
    "constant",
    "value of the new pixels: constant, reflect or edge",
    {[](const std::string& mode) { return ParsePadMode(mode).has_value(); },
     "constant, reflect or edge"}};
inline constexpr ArgumentSpec<float> kPadValue{"value", 0,
                                               "value of the new pixels in mode constant"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Computes, for each index of a padded axis, the index of the input to copy from, or -1 for the
// constant. THROWS if the axis is too short to be reflected.
void PadSources(const WindowAxis& axis, PadMode mode, std::vector<int32_t>* sources);
#pragma GCC visibility pop

template <class Context>
class PadImageOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PadImageOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        window_(ParseWindowArguments(this->args(), WindowUse::kPad)),
        mode_(*ParsePadMode(this->ReadArgument(kPadMode))),
        value_(this->ReadArgument(kPadValue)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const float* x = X.template data<float>();
    if (dims_.empty() || dims_ != X.dims()) {
      dims_.clear();  // if a check below throws, the next run plans again
      geometry_ = MakeWindowGeometry(window_, X.sizes());
      out_dims_ = geometry_.OutputDims(geometry_.channels);
      // Allocate the output first: a size above the memory limit is reported here.
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
    PadPixels(context_, planes, last ? geometry_.channels : 1, AxisOf(geometry_.axis[0]),
              AxisOf(geometry_.axis[1]), mode_, rows_.data(), columns_.data(), value_, x, y);
    return true;
  }

 private:
  static PadAxis AxisOf(const WindowAxis& axis) { return {axis.in, axis.out, axis.pad_head}; }

  const WindowArguments window_;
  const PadMode mode_;
  const float value_;
  WindowGeometry geometry_;               // geometry for dims_
  std::vector<int64_t> dims_, out_dims_;  // shapes of the last input and output
  std::vector<int32_t> rows_, columns_;   // PadSource of each row and column
};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The geometry of the forward operator for dY of shape `dims`. THROWS if dY cannot be its output.
WindowGeometry PadGeometryOfOutput(const WindowArguments& window, IntArrayRef dims);
#pragma GCC visibility pop

template <class Context>
class PadImageGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  PadImageGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        window_(ParseWindowArguments(this->args(), WindowUse::kPad)),
        mode_(*ParsePadMode(this->ReadArgument(kPadMode))) {}

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    const float* dy = dY.template data<float>();
    if (dims_.empty() || dims_ != dY.dims()) {
      dims_.clear();  // if a check below throws, the next run plans again
      geometry_ = PadGeometryOfOutput(window_, dY.sizes());
      const bool last = geometry_.order == StorageOrder::NHWC;
      x_dims_ = dY.dims();
      x_dims_[last ? 1 : 2] = geometry_.axis[0].in;
      x_dims_[last ? 2 : 3] = geometry_.axis[1].in;
      PadSources(geometry_.axis[0], mode_, &rows_);
      PadSources(geometry_.axis[1], mode_, &columns_);
      dims_ = dY.dims();
    }
    float* dx = this->template OutputData<float>(0, x_dims_);
    if (Output(0)->numel() == 0) return true;
    const bool last = geometry_.order == StorageOrder::NHWC;
    const int64_t planes = last ? geometry_.batch : geometry_.batch * geometry_.channels;
    const PadAxis height = AxisOf(geometry_.axis[0]), width = AxisOf(geometry_.axis[1]);
    PadPixelsGradient(context_, planes, last ? geometry_.channels : 1, height, width, mode_,
                      rows_.data(), columns_.data(), dy, dx);
    return true;
  }

 private:
  static PadAxis AxisOf(const WindowAxis& axis) { return {axis.in, axis.out, axis.pad_head}; }

  const WindowArguments window_;
  const PadMode mode_;
  WindowGeometry geometry_;              // geometry for dims_
  std::vector<int64_t> dims_, x_dims_;   // shapes of the last dY and dX
  std::vector<int32_t> rows_, columns_;  // PadSource of each row and column
};

}  // namespace caffe2rt
