#include "operators/image/space_to_batch.h"

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kSpaceBatchPad{
    "pad", 0, "rows and columns of zeros on all sides of the large image"};
constexpr ArgumentSpec<int> kSpaceBatchPadTop{"pad_t", 0, "rows of zeros at the top; default: pad"};
constexpr ArgumentSpec<int> kSpaceBatchBlockSize{
    "block_size",
    2,
    "height and width of a block; each pixel of a block belongs to a different small image",
    {[](int size) { return size > 0; }, "above 0"}};
constexpr ArgumentSpec<std::string> kSpaceBatchOrder{
    "order",
    "NCHW",
    "layout of the data: NCHW",
    {[](const std::string& order) { return order == "NCHW" || order == "nchw"; }, "NCHW"}};

// REQUIRES: the dims are those of a tensor that has memory, so that the product cannot overflow.
int64_t SizeOf(const int64_t (&dims)[4]) { return dims[0] * dims[1] * dims[2] * dims[3]; }

// Calls copy(narrow offset, wide offset) for every pixel of the narrow images that lies in the wide
// image, and outside(narrow offset) for the others.
template <class Copy, class Outside>
void ForEachPixel(const SpaceBatchArguments& args, const SpaceBatchShape& shape, Copy copy,
                  Outside outside) {
  const int64_t b = args.block, N = shape.wide[0], C = shape.wide[1];
  const int64_t H = shape.wide[2], W = shape.wide[3];
  const int64_t height = shape.narrow[2], width = shape.narrow[3];
  int64_t at = 0;
  for (int64_t batch = 0; batch < shape.narrow[0]; ++batch) {
    const int64_t n = batch % N, row = batch / N / b, column = batch / N % b;
    for (int64_t c = 0; c < C; ++c) {
      for (int64_t y = 0; y < height; ++y) {
        const int64_t wide_y = y * b + row - args.top;
        for (int64_t x = 0; x < width; ++x, ++at) {
          const int64_t wide_x = x * b + column - args.left;
          if (wide_y >= 0 && wide_y < H && wide_x >= 0 && wide_x < W) {
            copy(at, ((n * C + c) * H + wide_y) * W + wide_x);
          } else {
            outside(at);
          }
        }
      }
    }
  }
}

std::vector<TensorShape> InferSpaceToBatch(const OperatorDef& def,
                                           const std::vector<TensorShape>& in, bool to_batch) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const SpaceBatchArguments args = ReadSpaceBatch(ArgumentHelper(def));
  const std::vector<int64_t> dims = GetDimsVector(in[0]);
  const SpaceBatchShape shape = to_batch ? FromWide(args, dims) : FromNarrow(args, dims);
  const int64_t* const out = to_batch ? shape.narrow : shape.wide;
  return {CreateTensorShape(std::vector<int64_t>(out, out + 4), in[0].data_type())};
}

// Each operator is the gradient of the other.
class GetSpaceBatchGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef(Def().type() == "SpaceToBatch" ? "BatchToSpace" : "SpaceToBatch", "",
                             std::vector<std::string>{GO(0)}, std::vector<std::string>{GI(0)});
  }
};

OpSchema& RegisterSpaceBatchSchema(const char* type, bool to_batch) {
  RegisterGradient<GetSpaceBatchGradient>(type, __FILE__);
  return RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kSpaceBatchPad, kSpaceBatchPadTop, kSpaceBatchBlockSize, kSpaceBatchOrder)
      .TensorInferenceFunction(
          [to_batch](const OperatorDef& def, const std::vector<TensorShape>& in) {
            return InferSpaceToBatch(def, in, to_batch);
          })
      .Traits({.family = OperatorFamily::kShape});
}

}  // namespace

SpaceBatchArguments ReadSpaceBatch(const ArgumentHelper& args) {
  (void)args.Read(kSpaceBatchOrder);
  SpaceBatchArguments parsed;
  parsed.block = args.Read(kSpaceBatchBlockSize);
  const int pad = args.Read(kSpaceBatchPad);
  parsed.top = args.HasArgument(kSpaceBatchPadTop) ? args.Read(kSpaceBatchPadTop) : pad;
  parsed.left = parsed.bottom = parsed.right = pad;
  return parsed;
}

SpaceBatchShape FromWide(const SpaceBatchArguments& args, IntArrayRef dims) {
  CAFFE_ENFORCE_EQ(dims.size(), 4u, "rank of input 0 (X) of shape ", dims, ", want 4");
  SpaceBatchShape shape;
  std::copy_n(dims.begin(), 4, shape.wide);
  const int64_t height = CheckedAdd(dims[2], args.top + args.bottom);
  const int64_t width = CheckedAdd(dims[3], args.left + args.right);
  CAFFE_ENFORCE(height >= 0 && width >= 0 && height % args.block == 0 && width % args.block == 0,
                "padded height ", height, " and width ", width, " of input 0 (X) of shape ", dims,
                ", want multiples of block_size ", args.block);
  shape.narrow[0] = CheckedMultiply(dims[0], args.block * args.block);
  shape.narrow[1] = dims[1];
  shape.narrow[2] = height / args.block;
  shape.narrow[3] = width / args.block;
  return shape;
}

SpaceBatchShape FromNarrow(const SpaceBatchArguments& args, IntArrayRef dims) {
  CAFFE_ENFORCE_EQ(dims.size(), 4u, "rank of input 0 (X) of shape ", dims, ", want 4");
  const int64_t blocks = args.block * args.block;
  CAFFE_ENFORCE_EQ(dims[0] % blocks, 0, "remainder of the batch of input 0 (X) of shape ", dims,
                   " divided by block_size squared ", blocks, ", want 0");
  SpaceBatchShape shape;
  std::copy_n(dims.begin(), 4, shape.narrow);
  shape.wide[0] = dims[0] / blocks;
  shape.wide[1] = dims[1];
  shape.wide[2] = CheckedAdd(CheckedMultiply(dims[2], args.block), -(args.top + args.bottom));
  shape.wide[3] = CheckedAdd(CheckedMultiply(dims[3], args.block), -(args.left + args.right));
  CAFFE_ENFORCE(shape.wide[2] >= 0 && shape.wide[3] >= 0, "height ", shape.wide[2], " and width ",
                shape.wide[3], " after cropping, want at least 0");
  return shape;
}

void SpaceToBatch(CPUContext&, const SpaceBatchArguments& args, const SpaceBatchShape& shape,
                  const float* wide, float* narrow) {
  if (SizeOf(shape.narrow) == 0) return;
  ForEachPixel(
      args, shape, [&](int64_t to, int64_t from) { narrow[to] = wide[from]; },
      [&](int64_t to) { narrow[to] = 0; });
}

void BatchToSpace(CPUContext&, const SpaceBatchArguments& args, const SpaceBatchShape& shape,
                  const float* narrow, float* wide) {
  const int64_t size = SizeOf(shape.wide);
  if (size == 0) return;
  std::fill_n(wide, size, 0.0f);  // with negative pads some pixels are not written below
  ForEachPixel(
      args, shape, [&](int64_t from, int64_t to) { wide[to] = narrow[from]; }, [](int64_t) {});
}

void RegisterSpaceToBatch() {
  RegisterSpaceBatchSchema("SpaceToBatch", true)
      .Input(0, "X", "[N, C, H, W]")
      .Output(0, "Y", "[N * block_size^2, C, padded H / block_size, padded W / block_size]")
      .SetDoc(
          "Divides each image into blocks of block_size x block_size pixels and makes one smaller "
          "image from the pixels at each position in the blocks. The images are padded with zeros "
          "first.");
  RegisterCpuOperator<SpaceBatchOp<CPUContext, true>>("SpaceToBatch", __FILE__);
  RegisterSpaceBatchSchema("BatchToSpace", false)
      .Input(0, "X", "[N * block_size^2, C, H, W]")
      .Output(0, "Y", "[N, C, H * block_size - pads, W * block_size - pads]")
      .SetDoc(
          "Combines block_size x block_size smaller images into one large image and crops it: the "
          "inverse of SpaceToBatch.");
  RegisterCpuOperator<SpaceBatchOp<CPUContext, false>>("BatchToSpace", __FILE__);
}

}  // namespace caffe2rt
