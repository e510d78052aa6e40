// ResizeNearest3D: scales frames, height and width of videos by repeating or dropping pixels.
//   X [N, C, T, H, W]  ->  Y [N, C, trunc(T * temporal_scale), trunc(H * height_scale), trunc(W * width_scale)]
// Frame t of Y is frame min(trunc(t / temporal_scale), T - 1) of X; rows and columns as in ResizeNearest.
// ResizeNearest3DGradient: dY, X  ->  dX, the sums of the pixels that were copied from each pixel.

#include <algorithm>
#include <array>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/order_argument.h"
#include "operators/image/image_scales.h"
#include "operators/image/resize_nearest_kernels.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<float> kTemporalScale{
    "temporal_scale", 1, "scale factor of the number of frames", kPositiveScale};

struct VideoScales {
  explicit VideoScales(const ArgumentHelper& args)
      : frames(args.Read(kTemporalScale)),
        height(args.Read(kHeightScale)),
        width(args.Read(kWidthScale)) {
    CAFFE_ENFORCE(ReadStorageOrder(args) == StorageOrder::NCHW,
                  "argument order is NHWC, want NCHW: videos are [N, C, T, H, W]");
  }
  std::array<int64_t, 5> Resized(IntArrayRef dims, const char* input) const {
    CAFFE_ENFORCE_EQ(dims.size(), 5u, "rank of ", input, " of shape ", dims);
    return {dims[0], dims[1], ScaledSize(dims[2], frames), ScaledSize(dims[3], height),
            ScaledSize(dims[4], width)};
  }
  float frames, height, width;
};

class ResizeNearest3dOp final : public Operator<CPUContext> {
 public:
  ResizeNearest3dOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), scales_(args()) {
    CAFFE_ENFORCE(scales_.frames == 1 || scales_.frames == 2, "argument temporal_scale is ",
                  scales_.frames, ", want 1 or 2, as in Caffe2");
    CAFFE_ENFORCE(scales_.height == 2 && scales_.width == 2, "arguments height_scale and ",
                  "width_scale are ", scales_.height, " and ", scales_.width,
                  ", want 2 for both, as in Caffe2");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const std::array<int64_t, 5> dims = scales_.Resized(X.sizes(), "input 0 (X)");
    const float* const x = X.data<float>();
    float* y = OutputData<float>(0, IntArrayRef(dims.data(), dims.size()));
    if (Output(0)->numel() == 0) return true;
    const NearestAxis frames{X.dim(2), dims[2], scales_.frames};
    const NearestAxis height{X.dim(3), dims[3], scales_.height};
    const NearestAxis width{X.dim(4), dims[4], scales_.width};
    const int64_t in_frame = height.in * width.in, out_frame = height.out * width.out;
    for (int64_t p = 0; p < dims[0] * dims[1]; ++p) {
      for (int64_t t = 0; t < frames.out; ++t, y += out_frame) {
        const int64_t source = frames.Source(t);
        if (t > 0 && source == frames.Source(t - 1)) {
          std::copy_n(y - out_frame, out_frame, y);
        } else {
          TakePixels(context_, 1, 1, height, width, &tables_,
                     x + (p * frames.in + source) * in_frame, y);
        }
      }
    }
    return true;
  }

 private:
  const VideoScales scales_;
  PixelTables tables_;
};

class ResizeNearest3dGradientOp final : public Operator<CPUContext> {
 public:
  ResizeNearest3dGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), scales_(args()) {}

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    const Tensor& X = Input(1);
    const std::array<int64_t, 5> dims = scales_.Resized(X.sizes(), "input 1 (X)");
    const IntArrayRef want(dims.data(), dims.size());
    CAFFE_ENFORCE(dY.sizes() == want, "input 0 (dY) has shape ", dY.sizes(), ", want ", want,
                  " for input 1 (X) of shape ", X.sizes());
    RequireElements<float>(X);
    const float* dy = dY.data<float>();
    float* dx = OutputData<float>(0, X.sizes());
    const NearestAxis frames{X.dim(2), dY.dim(2), scales_.frames};
    const NearestAxis height{X.dim(3), dY.dim(3), scales_.height};
    const NearestAxis width{X.dim(4), dY.dim(4), scales_.width};
    const int64_t in_frame = height.in * width.in, out_frame = height.out * width.out;
    if (dY.numel() == 0) std::fill_n(dx, X.numel(), 0.0f);
    if (X.numel() == 0 || dY.numel() == 0) return true;
    for (int64_t p = 0; p < X.dim(0) * X.dim(1); ++p, dy += frames.out * out_frame) {
      for (int64_t t = 0; t < frames.in; ++t, dx += in_frame) {
        int64_t from, to;
        frames.Targets(t, &from, &to);
        TakePixelsGradient(context_, 1, 1, height, width, &tables_,
                           SumOfFrames(dy + from * out_frame, to - from, out_frame), dx);
      }
    }
    return true;
  }

 private:
  const float* SumOfFrames(const float* dy, int64_t frames, int64_t size) {
    if (frames == 1) return dy;
    sum_.assign(static_cast<size_t>(size), 0.0f);
    for (int64_t t = 0; t < frames; ++t, dy += size) {
      for (int64_t i = 0; i < size; ++i) sum_[static_cast<size_t>(i)] += dy[i];
    }
    return sum_.data();
  }

  const VideoScales scales_;
  PixelTables tables_;
  std::vector<float> sum_;
};

class GetResizeNearest3dGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ResizeNearest3DGradient", "", {GO(0), I(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterResizeNearest3d() {
  RegisterSchema("ResizeNearest3D", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kTemporalScale, kHeightScale, kWidthScale, kStorageOrder)
      .Input(0, "X", "[N, C, T, H, W] float")
      .Output(0, "Y", "X with T, H and W trunc(size * scale)")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputsOfInputType(def, in);
        const std::array<int64_t, 5> dims =
            VideoScales(ArgumentHelper(def)).Resized(GetDimsVector(in[0]), "input 0 (X)");
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>(dims.begin(), dims.end()), in[0].data_type())};
      })
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(
          "Resizes videos by nearest-neighbour sampling of frames, rows and columns. The order "
          "must be NCHW. As in Caffe2, height and width are doubled; frames are doubled or kept.");
  RegisterCpuOperator<ResizeNearest3dOp>("ResizeNearest3D", __FILE__);
  RegisterSchema("ResizeNearest3DGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kTemporalScale, kHeightScale, kWidthScale, kStorageOrder)
      .Input(0, "dY", "float: the gradient of the output of ResizeNearest3D")
      .Input(1, "X", "float: the input of ResizeNearest3D; only its shape is used")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(1)
      .SetDoc("The gradient of ResizeNearest3D: adds each pixel to the one that it is a copy of.");
  RegisterCpuOperator<ResizeNearest3dGradientOp>("ResizeNearest3DGradient", __FILE__);
  RegisterGradient<GetResizeNearest3dGradient>("ResizeNearest3D", __FILE__);
}

}  // namespace caffe2rt
