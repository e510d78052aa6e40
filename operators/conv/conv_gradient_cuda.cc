#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/conv/conv_gradient.h"
#include "operators/conv/cuda_conv.h"
#include "operators/primitives/device_scratch.h"

namespace caffe2rt {

namespace {

// Runner policy of ConvGradientOp. The gradient of X of a transposed convolution is the convolution
// of dY, and in the gradient of its filter X and dY change places.
template <CudaEngine kEngine, bool kTransposed>
class CudaConvGradient {
 public:
  using Shape = std::conditional_t<kTransposed, ConvTransposeShape, ConvShape>;

  explicit CudaConvGradient(OperatorBase& op) : filter_(op), x_(op) {}

  void Plan(const Shape& shape, bool) {
    shape_ = shape;
    if constexpr (kTransposed) {
      filter_.Plan({Transposed(shape)});
      x_.Plan(Transposed(shape));
    } else {
      filter_.Plan({shape});
      x_.Plan({shape});
    }
  }

  void Run(CUDAContext& context, const ConvGradientTensors& tensors) {
    const float* const filter = tensors.filter->data<float>();
    const float* const x = kTransposed ? tensors.dy : tensors.x;
    const float* const dy = kTransposed ? tensors.x : tensors.dy;
    filter_.Run(context, x, dy, nullptr, tensors.dfilter);
    if (tensors.dx != nullptr) x_.Run(context, tensors.dy, filter, nullptr, tensors.dx);
    if (tensors.dbias == nullptr) return;
    const ChannelSums sums{shape_.channels_last(), shape_.window.batch, shape_.out_channels,
                           shape_.window.out_size(), tensors.dy};
    const int64_t nbytes =
        sums.channels * ChannelPieces(sums) * static_cast<int64_t>(sizeof(float));
    SumChannels(context, sums, static_cast<float*>(ScratchBytes(&scratch_, nbytes)), tensors.dbias);
  }

 private:
  CudaConv<ConvFilterGradientShape, kEngine> filter_;
  CudaConv<std::conditional_t<kTransposed, ConvShape, ConvDataGradientShape>, kEngine> x_;
  Shape shape_;
  Tensor scratch_{CUDA};
};

template <CudaEngine kEngine, bool kTransposed>
void RegisterConvGradientType(const char* type, const char* engine) {
  RegisterOperator<
      ConvGradientOp<CUDAContext, CudaConvGradient<kEngine, kTransposed>, kTransposed>>(
      CUDA, type, __FILE__, engine);
}

template <CudaEngine kEngine>
void RegisterConvGradientEngine(const char* engine) {
  for (const char* type : {"ConvGradient", "Conv1DGradient", "Conv2DGradient", "Conv3DGradient"}) {
    RegisterConvGradientType<kEngine, false>(type, engine);
  }
  RegisterConvGradientType<kEngine, true>("ConvTransposeGradient", engine);
}

}  // namespace

void RegisterConvGradientCuda() {
  RegisterConvGradientEngine<CudaEngine::kAny>("");
  RegisterConvGradientEngine<CudaEngine::kAny>("CUDNN");
  RegisterConvGradientEngine<CudaEngine::kNative>("NATIVE");
}

}  // namespace caffe2rt
