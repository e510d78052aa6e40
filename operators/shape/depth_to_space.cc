// DepthToSpace, SpaceToDepth: ONNX's operators (opset 13): move elements between channels and blocks of
// pixels, of `blocksize` by `blocksize`.
//   DepthToSpace: X [N, C, H, W]  ->  Y [N, C / blocksize^2, H * blocksize, W * blocksize]
//   SpaceToDepth: the reverse, for mode DCR
// DepthToSpace has two modes: in DCR channel (i * blocksize + j) * C' + c, in CRD channel
// (c * blocksize + i) * blocksize + j, goes to pixel (i, j) of each block of channel c. The modes are
// also known to SpaceToDepth, whose mode in ONNX is DCR.

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/strided_copy.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int64_t> kDepthBlockSize{
    .name = "blocksize",
    .doc = "height and width of a block, at least 1",
    .check = {[](int64_t size) { return size >= 1 && size <= 1 << 15; }, "1 to 32768"},
    .required = true};
constexpr ArgumentSpec<std::string> kDepthMode{
    "mode",
    "DCR",
    "order of the channels: DCR (block rows, block columns, channels) or CRD (channels first)",
    {[](const std::string& mode) { return mode == "DCR" || mode == "CRD"; }, "DCR or CRD"}};

// The shape of the output. THROWS if the blocks do not divide the input.
template <bool kToSpace>
std::vector<int64_t> BlockDims(IntArrayRef x, int64_t block) {
  CAFFE_ENFORCE_EQ(x.size(), 4, "rank of input 0 (X) of shape ", x);
  if (kToSpace) {
    CAFFE_ENFORCE_EQ(x[1] % (block * block), 0, "channels of input 0 (X) of shape ", x,
                     ", want a multiple of blocksize * blocksize");
    return {x[0], x[1] / (block * block), CheckedMultiply(x[2], block),
            CheckedMultiply(x[3], block)};
  }
  CAFFE_ENFORCE(x[2] % block == 0 && x[3] % block == 0, "input 0 (X) has shape ", x,
                ", want height and width that are multiples of blocksize ", block);
  return {x[0], CheckedMultiply(x[1], block * block), x[2] / block, x[3] / block};
}

template <bool kToSpace>
class DepthSpaceOp final : public Operator<CPUContext> {
 public:
  DepthSpaceOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        block_(ReadArgument(kDepthBlockSize)),
        channels_first_(ReadArgument(kDepthMode) == "CRD") {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (X.dims() != input_dims_) {
      output_dims_ = BlockDims<kToSpace>(X.sizes(), block_);
      input_dims_ = X.dims();
    }
    Tensor* const Y = Output(0);
    Y->Resize(output_dims_);
    void* const y = OutputMemory(Y, X.dtype());
    if (X.numel() == 0) return true;
    const std::vector<int64_t>& image = kToSpace ? output_dims_ : input_dims_;
    const std::vector<int64_t>& depth = kToSpace ? input_dims_ : output_dims_;
    const int64_t channels = image[1], height = depth[2], width = depth[3], plane = height * width;
    // Strides of a channel and of the row and the column of a block in the deep tensor.
    const int64_t channel = plane * (channels_first_ ? block_ * block_ : 1);
    const int64_t column = plane * (channels_first_ ? 1 : channels);
    const int64_t row = column * block_;
    StridedCopy copy;
    const auto add = [&](int64_t size, int64_t deep, int64_t wide) {
      copy.Add(size, kToSpace ? deep : wide, kToSpace ? wide : deep);
    };
    const int64_t line = width * block_;  // of the image
    add(image[0], channels * block_ * block_ * plane, channels * height * block_ * line);
    add(channels, channel, height * block_ * line);
    add(height, width, block_ * line);
    add(block_, row, line);
    // The longer of the two loops inside.
    if (width >= block_) {
      add(block_, column, 1);
      add(width, 1, block_);
    } else {
      add(width, 1, block_);
      add(block_, column, 1);
    }
    copy.Run(X.dtype(), X.raw_data(), y);
    return true;
  }

 private:
  const int64_t block_;
  const bool channels_first_;
  std::vector<int64_t> input_dims_, output_dims_;
};

template <bool kToSpace>
std::vector<TensorShape> InferDepthSpace(const OperatorDef& def,
                                         const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const int64_t block = ArgumentHelper(def).Read(kDepthBlockSize);
  return {CreateTensorShape(BlockDims<kToSpace>(GetDimsVector(in[0]), block), in[0].data_type())};
}

template <bool kToSpace>
class GetDepthSpaceGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef(kToSpace ? "SpaceToDepth" : "DepthToSpace", "", {GO(0)}, {GI(0)});
  }
};

template <bool kToSpace>
void RegisterDepthSpace(const char* type, const char* input, const char* output, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kDepthBlockSize, kDepthMode)
      .Input(0, "X", input)
      .Output(0, "Y", output)
      .TensorInferenceFunction(InferDepthSpace<kToSpace>)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(doc);
  RegisterCpuOperator<DepthSpaceOp<kToSpace>>(type, __FILE__);
  RegisterGradient<GetDepthSpaceGradient<kToSpace>>(type, __FILE__);
}

}  // namespace

void RegisterDepthToSpace() {
  RegisterDepthSpace<true>("DepthToSpace", "[N, C, H, W], of any type",
                           "[N, C / blocksize^2, H * blocksize, W * blocksize]",
                           "Moves channels to blocks of pixels, as ONNX's DepthToSpace does.");
  RegisterDepthSpace<false>("SpaceToDepth", "[N, C, H, W], of any type",
                            "[N, C * blocksize^2, H / blocksize, W / blocksize]",
                            "Moves blocks of pixels to channels, as ONNX's SpaceToDepth does.");
}

}  // namespace caffe2rt
