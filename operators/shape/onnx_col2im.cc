// Col2Im: ONNX's operator (opset 18): adds columns of blocks up to images, of any number of axes.
//   columns float or double [N, C * block size, L], image_shape, block_shape (arguments, or int32 or
//   int64 inputs 1 and 2)  ->  Y [N, C, image_shape]
// Arguments dilations, pads, strides: one number for each axis, two of pads.

#include <array>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/common/strided_copy.h"
#include "operators/primitives/parallel_ranges.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<int64_t> kColumnsImageShape{
    "image_shape", "size of the image; required unless input 1 is given"};
constexpr RepeatedArgumentSpec<int64_t> kColumnsBlockShape{
    "block_shape", "size of a block; required unless input 2 is given"};
constexpr RepeatedArgumentSpec<int64_t> kColumnsDilations{
    "dilations", "distance of the elements of a block on each axis; default: 1"};
constexpr RepeatedArgumentSpec<int64_t> kColumnsPads{
    "pads", "elements around the image: before each axis, then after each; default: 0"};
constexpr RepeatedArgumentSpec<int64_t> kColumnsStrides{
    "strides", "distance of the blocks on each axis; default: 1"};

// One axis of the blocks of an image.
struct BlockAxis {
  int64_t image, block, dilation, pad, stride, count;
};

class Col2ImOp final : public Operator<CPUContext> {
 public:
  Col2ImOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        image_argument_(ReadArgument(kColumnsImageShape)),
        block_argument_(ReadArgument(kColumnsBlockShape)),
        dilations_(ReadArgument(kColumnsDilations)),
        pads_(ReadArgument(kColumnsPads)),
        strides_(ReadArgument(kColumnsStrides)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 3, "rank of input 0 (columns)");
    return DispatchByType<float, double>(X.dtype(), "input 0 (columns)", [&](auto element) {
      Plan(X);
      return RunWith<decltype(element)>(X);
    });
  }

 private:
  void Plan(const Tensor& X) {
    const IntArrayRef image =
        IntegersOf(*this, 1, "input 1 (image_shape)", image_argument_, &image_);
    const IntArrayRef block =
        IntegersOf(*this, 2, "input 2 (block_shape)", block_argument_, &block_);
    const size_t rank = image.size();
    CAFFE_ENFORCE(rank > 0 && block.size() == rank, "image_shape is ", image, " and block_shape ",
                  block, ", want one number for each axis");
    CAFFE_ENFORCE((dilations_.empty() || dilations_.size() == rank) &&
                      (strides_.empty() || strides_.size() == rank) &&
                      (pads_.empty() || pads_.size() == 2 * rank),
                  "dilations, strides or pads do not have the ", rank, " axes of image_shape");
    axes_.clear();
    blocks_ = elements_ = 1;
    counts_.clear();
    sizes_.assign(block.begin(), block.end());
    for (size_t i = 0; i < rank; ++i) axes_.push_back(AxisOf(i, image[i], block[i]));
    for (const BlockAxis& axis : axes_) {
      counts_.push_back(axis.count);
      blocks_ = CheckedMultiply(blocks_, axis.count);
      elements_ = CheckedMultiply(elements_, axis.block);
    }
    CAFFE_ENFORCE(X.dim(1) % elements_ == 0 && X.dim(2) == blocks_, "input 0 (columns) has shape ",
                  X.sizes(), ", want [N, a multiple of ", elements_, ", ", blocks_, "] for image ",
                  image, " and blocks ", block);
    dims_.assign({X.dim(0), X.dim(1) / elements_});
    dims_.insert(dims_.end(), image.begin(), image.end());
    pixels_ = CheckedProduct(image);
  }
  BlockAxis AxisOf(size_t i, int64_t image, int64_t block) const {
    const int64_t dilation = dilations_.empty() ? 1 : dilations_[i];
    const int64_t stride = strides_.empty() ? 1 : strides_[i];
    const int64_t before = pads_.empty() ? 0 : pads_[i];
    const int64_t after = pads_.empty() ? 0 : pads_[i + pads_.size() / 2];
    CAFFE_ENFORCE(
        image >= 0 && block >= 1 && dilation >= 1 && stride >= 1 && before >= 0 && after >= 0,
        "axis ", i, " has image size ", image, ", block size ", block, ", dilation ", dilation,
        ", stride ", stride, " and pads ", before, " and ", after,
        ", want positive numbers and pads of at least 0");
    const int64_t room =
        CheckedAdd(image, CheckedAdd(before, after)) - 1 - CheckedMultiply(dilation, block - 1);
    return {image, block, dilation, before, stride, room < 0 ? 0 : room / stride + 1};
  }

  // Each channel of Y is the sum of its rows of X: a row holds one element of all blocks.
  template <class T>
  bool RunWith(const Tensor& X) {
    T* const y = OutputData<T>(0, dims_);
    const int64_t channels = dims_[0] * dims_[1];
    if (channels * pixels_ == 0) return true;
    const T* const x = X.numel() > 0 ? X.data<T>() : nullptr;
    ParallelRanges(channels, elements_ * blocks_ + pixels_, [&](int64_t first, int64_t last) {
      for (int64_t c = first; c < last; ++c) {
        std::fill_n(y + c * pixels_, pixels_, T(0));
        if (x != nullptr) AddRows(x + c * elements_ * blocks_, y + c * pixels_);
      }
    });
    return true;
  }
  template <class T>
  void AddRows(const T* x, T* y) const {
    const IntArrayRef outer(counts_.data(), counts_.size() - 1);
    const BlockAxis& inner = axes_.back();
    ForEachRowOf(sizes_, 0, elements_, [&](int64_t, const int64_t* element) {
      ForEachRowOf(outer, 0, blocks_ / inner.count, [&](int64_t, const int64_t* block) {
        int64_t line = 0;
        bool inside = true;
        for (size_t i = 0; i < outer.size(); ++i) {
          const int64_t at = PixelOf(axes_[i], element[i], block[i]);
          inside = inside && at >= 0 && at < axes_[i].image;
          line = line * axes_[i].image + at;
        }
        const T* const row = x;
        x += inner.count;
        if (!inside) return;
        for (int64_t j = 0; j < inner.count; ++j) {
          const int64_t at = PixelOf(inner, element[outer.size()], j);
          if (at >= 0 && at < inner.image) y[line * inner.image + at] += row[j];
        }
      });
    });
  }
  static int64_t PixelOf(const BlockAxis& axis, int64_t element, int64_t block) {
    return block * axis.stride - axis.pad + element * axis.dilation;
  }

  const std::vector<int64_t> image_argument_, block_argument_, dilations_, pads_, strides_;
  std::vector<int64_t> image_, block_, dims_, counts_, sizes_;
  std::vector<BlockAxis> axes_;
  int64_t blocks_ = 0, elements_ = 0, pixels_ = 0;
};

std::vector<TensorShape> InferCol2Im(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const ArgumentHelper args(def);
  const std::vector<int64_t> image = args.Read(kColumnsImageShape);
  const std::vector<int64_t> block = args.Read(kColumnsBlockShape);
  if (!AreKnown(in, 1) || MayBeGiven(def, in, 1) || MayBeGiven(def, in, 2) ||
      in[0].dims_size() != 3 || CheckedProduct(block) == 0)
    return {in.empty() ? UnknownShape() : UnknownShapeLike(in[0])};
  std::vector<int64_t> dims = {in[0].dims(0), in[0].dims(1) / CheckedProduct(block)};
  dims.insert(dims.end(), image.begin(), image.end());
  return {CreateTensorShape(dims, in[0].data_type())};
}

}  // namespace

void RegisterOnnxCol2im() {
  OpSchema& schema = RegisterSchema("ONNXCol2Im", __FILE__);
  schema.NumInputs(1, 3)
      .NumOutputs(1)
      .Args(kColumnsImageShape, kColumnsBlockShape, kColumnsDilations, kColumnsPads,
            kColumnsStrides)
      .Input(0, "columns", "float or double [N, C * block size, L]")
      .Input(1, "image_shape", "(optional) int32 or int64, instead of the argument")
      .Input(2, "block_shape", "(optional) int32 or int64, instead of the argument")
      .Output(0, "Y", "[N, C, image_shape]")
      .TensorInferenceFunction(InferCol2Im)
      .InheritOnnxSchema("Col2Im")
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape is that of an input's values"})
      .SetDoc("Adds the blocks in the columns of a matrix up to an image, as ONNX's Col2Im does.");
  RegisterCpuOperator<Col2ImOp>("ONNXCol2Im", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("ONNXCol2Im", __FILE__);
}

}  // namespace caffe2rt
