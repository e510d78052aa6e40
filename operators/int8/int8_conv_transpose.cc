// Int8ConvTranspose: a transposed convolution of quantized images. Each pixel of the input, times
// the filter, is added to the pixels of the output under its window.

#include <algorithm>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/simd.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "operators/common/window_arguments.h"
#include "operators/int8/int8_operator.h"
#include "operators/int8/int8_product.h"
#include "operators/int8/int8_window.h"
#include "operators/int8/prepared_int8.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD void AddToInt8Pixel(const int32_t* x, int64_t n, int32_t* y) {
  for (int64_t i = 0; i < n; ++i) {
    y[i] = static_cast<int32_t>(static_cast<uint32_t>(y[i]) + static_cast<uint32_t>(x[i]));
  }
}

class Int8ConvTransposeOp final : public Int8Operator, public PlansAhead {
 public:
  Int8ConvTransposeOp(const OperatorDef& def, Workspace* ws)
      : Int8Operator(def, ws),
        window_(ReadNhwcWindow(args(), WindowUse::kConvTranspose)),
        isa_(BestInt8Isa()),
        prepared_(MakeString("Int8ConvTranspose filter for ", Int8IsaName(isa_))) {
    CAFFE_ENFORCE_EQ(window_.group, 1, "argument group of Int8ConvTranspose");
  }

  void PlanAhead(const AheadInputs& inputs) override {
    const QuantizedInput x = InputInt8(0, "X"), filter = InputInt8(1, "filter");
    Plan(*x.tensor, *filter.tensor);
    OutputInt8(0, out_dims_);
    const bool is_empty = OperatorBase::Output<Int8TensorCPU>(0)->t.numel() == 0;
    if (!is_empty && inputs.is_constant(1))
      (void)Prepare(filter, geometry_.kernel_size() * filter_dims_.back());
  }
  bool PreparesWeights() const override { return true; }

  bool RunOnDevice() override {
    const QuantizedInput x = InputInt8(0, "X"), filter = InputInt8(1, "filter");
    if (dims_.empty() || x.tensor->dims() != dims_ || filter.tensor->dims() != filter_dims_) {
      Plan(*x.tensor, *filter.tensor);
    }
    const int64_t outputs = filter_dims_.back();
    const int32_t* bias = InputInt8Bias(2, outputs);
    const Requantization requantization = MakeRequantization(
        x.quantization.scale * filter.quantization.scale / output().scale, output().zero_point, 0,
        "scale of input 0 (X) times that of input 1 (filter) divided by argument Y_scale");
    uint8_t* y = OutputInt8(0, out_dims_);
    if (OperatorBase::Output<Int8TensorCPU>(0)->t.numel() == 0) return true;
    const int64_t n = geometry_.kernel_size() * outputs;
    const Int8Weights weights = Prepare(filter, n);
    start_.resize(static_cast<size_t>(weights.padded_n()));
    StartOfSums(weights, nullptr, x.quantization.zero_point, start_.data());
    RunImages(weights, x.data(), bias, requantization, y);
    return true;
  }

 private:
  Int8Weights Prepare(const QuantizedInput& filter, int64_t n) {
    const int64_t k = geometry_.channels;
    const Int8FormOptions options = {.zero_point = filter.quantization.zero_point,
                                     .nbytes = Int8WeightBytes(isa_, n, k)};
    const char* const form = prepared_.Get(*filter.tensor, options, [&](void* to) {
      PackInt8Weights(isa_, {.n = n, .k = k, .n_stride = 1, .k_stride = n}, filter.data(),
                      options.zero_point, to);
    });
    return {isa_, n, k, options.zero_point, form};
  }

  void Plan(const Tensor& x, const Tensor& filter) {
    dims_.clear();  // if a check below throws, the next run plans again
    geometry_ = MakeImageGeometry(window_, x.sizes());
    CAFFE_ENFORCE_EQ(filter.dim(), 4, "rank of input 1 (filter) of shape ", filter.sizes(),
                     ", want [channels, height, width, outputs]");
    const int64_t want[] = {geometry_.channels, geometry_.axis[0].kernel, geometry_.axis[1].kernel,
                            filter.dim(3)};
    CAFFE_ENFORCE(filter.sizes() == IntArrayRef(want, 4), "input 1 (filter) has shape ",
                  filter.sizes(), ", want ", IntArrayRef(want, 4),
                  ": the channels of input 0 (X), and the kernel");
    out_dims_ = geometry_.OutputDims(filter.dim(3));
    filter_dims_ = filter.dims();
    dims_ = x.dims();
  }

  void RunImages(const Int8Weights& weights, const uint8_t* x, const int32_t* bias,
                 const Requantization& requantization, uint8_t* y) {
    const int64_t images = geometry_.batch, image = geometry_.in_size() * geometry_.channels;
    const int64_t y_image = geometry_.out_size() * filter_dims_.back();
    const int pieces = PiecesOf(images);
    if (sums_.size() < static_cast<size_t>(pieces)) {
      sums_.resize(static_cast<size_t>(pieces), Tensor(CPU));
    }
    const PieceScratch scratch = scratch_.ForPieces(pieces, Int8ProductScratchSize(weights));
    ParallelFor(pieces, [&](int piece) {
      const Int8ProductScratch memory = DivideScratch(weights, scratch[piece]);
      Tensor& sums = sums_[static_cast<size_t>(piece)];
      sums.Resize(y_image);
      auto* image_sums = sums.mutable_data<int32_t>();
      for (int64_t i = images * piece / pieces; i < images * (piece + 1) / pieces; ++i) {
        RunImage(weights, memory, x + i * image, bias, image_sums);
        Requantize(image_sums, y_image, requantization, y + i * y_image);
      }
    });
  }

  void RunImage(const Int8Weights& weights, const Int8ProductScratch& memory, const uint8_t* x,
                const int32_t* bias, int32_t* sums) const {
    const int64_t outputs = filter_dims_.back(), channels = geometry_.channels;
    for (int64_t pixel = 0; pixel < geometry_.out_size(); ++pixel) {
      std::copy(bias, bias + outputs, sums + pixel * outputs);
    }
    const int64_t pixels = geometry_.in_size();
    for (int64_t first = 0; first < pixels; first += Int8Weights::kTile) {
      const int64_t count = std::min(Int8Weights::kTile, pixels - first);
      const uint8_t* rows[Int8Weights::kTile];
      for (int64_t r = 0; r < count; ++r) {
        rows[r] = x + (first + r) * channels;
        if (channels == weights.padded_k()) continue;
        uint8_t* copy = memory.rows + r * weights.padded_k();
        std::copy(rows[r], rows[r] + channels, copy);
        rows[r] = copy;
      }
      weights.Multiply(rows, count, start_.data(), 0, weights.blocks(), memory.words, memory.sums);
      for (int64_t r = 0; r < count; ++r) {
        AddWindow(memory.sums + r * weights.padded_n(), first + r, sums);
      }
    }
  }

  // Adds the products of a pixel of the input to the output under its window.
  void AddWindow(const int32_t* products, int64_t pixel, int32_t* sums) const {
    const WindowAxis& height = geometry_.axis[0];
    const WindowAxis& width = geometry_.axis[1];
    const int64_t outputs = filter_dims_.back();
    const int64_t top = pixel / width.in * height.stride - height.pad_head;
    const int64_t left = pixel % width.in * width.stride - width.pad_head;
    // Neighbours in a row of the window are neighbours in the output.
    const int64_t first = std::max<int64_t>(0, -left);
    const int64_t end = std::min(width.kernel, width.out - left);
    if (first >= end) return;
    for (int64_t i = 0; i < height.kernel; ++i) {
      const int64_t row = top + i;
      if (row < 0 || row >= height.out) continue;
      AddToInt8Pixel(products + (i * width.kernel + first) * outputs, (end - first) * outputs,
                     sums + (row * width.out + left + first) * outputs);
    }
  }

  const WindowArguments window_;
  const Int8Isa isa_;
  PreparedInt8 prepared_;
  std::vector<int64_t> dims_, filter_dims_, out_dims_;  // shapes of the last run
  WindowGeometry geometry_;
  std::vector<int32_t> start_;
  ThreadScratch scratch_;
  std::vector<Tensor> sums_;  // of one image of the output, for each piece
};

}  // namespace

void RegisterInt8ConvTranspose() {
  OpSchema& schema =
      RegisterInt8Schema("Int8ConvTranspose", __FILE__)
          .NumInputs(3)
          .NumOutputs(1)
          .Input(0, "X", "a quantized tensor [N, H, W, C]")
          .Input(1, "filter", "quantized weights [C, kernel_h, kernel_w, M]")
          .Input(2, "bias",
                 "a quantized tensor of int32 elements [M]; its scale and zero point "
                 "have no effect")
          .Output(0, "Y", "a quantized tensor [N, rows, columns, M]")
          .TensorInferenceFunction(InferConvTransposeShape)
          .Traits({.multiply_adds = MultiplyAddCount::kConvTranspose})
          .Memory(MemoryOfInt8Weights())
          .SetDoc(
              "Computes the transposed convolution of quantized images, with sums of 32 bits. The "
              "argument order must be NHWC, group must be 1, and the scale of X times that of the "
              "filter must be below Y_scale.");
  DeclareWindowArguments(schema, WindowUse::kConvTranspose);
  RegisterCpuOperator<Int8ConvTransposeOp>("Int8ConvTranspose", __FILE__);
}

}  // namespace caffe2rt
