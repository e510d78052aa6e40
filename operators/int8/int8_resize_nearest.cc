// Int8ResizeNearest: scales quantized images. Each output pixel is the nearest input pixel.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "caffe2_core/base/float_index.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/int8/int8_operator.h"

namespace caffe2rt {

namespace {

constexpr ArgumentCheck<float> kInt8ScaleCheck{
    [](float scale) { return scale > 0 && std::isfinite(scale); }, "above 0 and finite"};
constexpr ArgumentSpec<float> kInt8HeightScale{"height_scale", 1, "factor of the height, above 0",
                                               kInt8ScaleCheck};
constexpr ArgumentSpec<float> kInt8WidthScale{"width_scale", 1, "factor of the width, above 0",
                                              kInt8ScaleCheck};
constexpr RepeatedArgumentSpec<int> kInt8OutputSize{
    "output_size",
    "height and width of the output, instead of the factors; each is rounded down to a multiple of "
    "the input's",
    {[](const std::vector<int>& size) {
       return size.empty() || (size.size() == 2 && size[0] >= 0 && size[1] >= 0);
     },
     "two numbers, not negative"}};

// The factors, and the sizes that follow from them.
struct Int8ResizePlan {
  float height_scale = 1, width_scale = 1;
  int64_t height = 0, width = 0;
};

int64_t ScaledSize(int64_t size, float scale) {
  const float scaled = static_cast<float>(size) * scale;
  constexpr float kLimit = 1 << 30;
  CAFFE_ENFORCE(scaled >= 0 && scaled < kLimit, "an axis of ", size, " scaled by ", scale, " has ",
                scaled, " pixels, want at least 0 and below ", kLimit);
  return static_cast<int64_t>(scaled);
}

Int8ResizePlan PlanInt8Resize(const ArgumentHelper& args, IntArrayRef dims) {
  CAFFE_ENFORCE_EQ(dims.size(), 4u, "rank of input 0 (X) of shape ", dims, ", want [N, H, W, C]");
  Int8ResizePlan plan{args.Read(kInt8HeightScale), args.Read(kInt8WidthScale)};
  const std::vector<int> size = args.Read(kInt8OutputSize);
  if (!size.empty()) {
    CAFFE_ENFORCE(dims[1] > 0 && dims[2] > 0, "input 0 (X) has shape ", dims,
                  ", want pixels to scale to argument output_size");
    plan.height_scale = static_cast<float>(size[0] / dims[1]);
    plan.width_scale = static_cast<float>(size[1] / dims[2]);
  }
  plan.height = ScaledSize(dims[1], plan.height_scale);
  plan.width = ScaledSize(dims[2], plan.width_scale);
  return plan;
}

int64_t NearestIndex(int64_t i, float scale, int64_t size) {
  return ClampedIndex(static_cast<float>(i) / scale, size - 1);
}

class Int8ResizeNearestOp final : public Int8Operator {
 public:
  Int8ResizeNearestOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws, Int8Range::kAny) {
    (void)ReadArgument(kInt8HeightScale);
    (void)ReadArgument(kInt8WidthScale);
    (void)ReadArgument(kInt8OutputSize);
  }

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "X");
    CheckKeepsQuantization(x);
    if (dims_.empty() || x.tensor->dims() != dims_) Plan(*x.tensor);
    uint8_t* y = OutputInt8(0, out_dims_);
    if (OperatorBase::Output<Int8TensorCPU>(0)->t.numel() == 0) return true;
    const int64_t image_size = x.tensor->size_from_dim(1);
    const int64_t y_image_size = size_from_dim_(1, out_dims_);
    for (int64_t n = 0; n < dims_[0]; ++n) {
      ResizeImage(x.data() + n * image_size, y + n * y_image_size);
    }
    return true;
  }

 private:
  void Plan(const Tensor& x) {
    dims_.clear();  // if a check throws, the next run plans again
    plan_ = PlanInt8Resize(args(), x.sizes());
    out_dims_ = {x.dim(0), plan_.height, plan_.width, x.dim(3)};
    dims_ = x.dims();
  }

  void ResizeImage(const uint8_t* x, uint8_t* y) const {
    const int64_t channels = dims_[3], y_row_size = plan_.width * channels;
    int64_t previous = -1;
    for (int64_t i = 0; i < plan_.height; ++i, y += y_row_size) {
      const int64_t row = NearestIndex(i, plan_.height_scale, dims_[1]);
      if (row == previous) {
        std::memcpy(y, y - y_row_size, static_cast<size_t>(y_row_size));
        continue;
      }
      previous = row;
      const uint8_t* pixels = x + row * dims_[2] * channels;
      for (int64_t j = 0; j < plan_.width; ++j) {
        const int64_t column = NearestIndex(j, plan_.width_scale, dims_[2]);
        std::memcpy(y + j * channels, pixels + column * channels, static_cast<size_t>(channels));
      }
    }
  }

  std::vector<int64_t> dims_, out_dims_;  // shapes of the last input and output
  Int8ResizePlan plan_;
};

std::vector<TensorShape> InferInt8ResizeNearest(const OperatorDef& def,
                                                const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return {UnknownShape()};
  const std::vector<int64_t> dims = GetDimsVector(in[0]);
  const Int8ResizePlan plan = PlanInt8Resize(ArgumentHelper(def), dims);
  const std::vector<int64_t> result = {dims[0], plan.height, plan.width, dims[3]};
  return {CreateTensorShape(result, in[0].data_type())};
}

}  // namespace

void RegisterInt8ResizeNearest() {
  RegisterInt8Schema("Int8ResizeNearest", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kInt8HeightScale, kInt8WidthScale, kInt8OutputSize, kInt8UnusedOrder)
      .Input(0, "X", "a quantized tensor [N, H, W, C]")
      .Output(0, "Y", "a quantized tensor with the scale and zero point of X")
      .TensorInferenceFunction(InferInt8ResizeNearest)
      .SetDoc("Scales quantized images; each output pixel is the nearest input pixel.");
  RegisterCpuOperator<Int8ResizeNearestOp>("Int8ResizeNearest", __FILE__);
}

}  // namespace caffe2rt
