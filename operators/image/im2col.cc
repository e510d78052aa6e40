// Im2Col, Col2Im.
#include "operators/image/im2col.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentCheck<int> kAboveZero{[](int value) { return value > 0; }, "above 0"};
constexpr ArgumentSpec<int> kColumnKernel{"kernel", 0, "size of the window in both axes"};
constexpr ArgumentSpec<int> kColumnKernels[] = {
    {"kernel_h", 0, "window height; default: kernel", kAboveZero},
    {"kernel_w", 0, "window width; default: kernel", kAboveZero}};
constexpr ArgumentSpec<int> kColumnStride{"stride", 1, "distance between windows in both axes"};
constexpr ArgumentSpec<int> kColumnStrides[] = {
    {"stride_h", 1, "vertical distance; default: stride", kAboveZero},
    {"stride_w", 1, "horizontal distance; default: stride", kAboveZero}};
constexpr ArgumentSpec<int> kColumnDilation{"dilation", 1, "distance between taps in both axes"};
constexpr ArgumentSpec<int> kColumnDilations[] = {
    {"dilation_h", 1, "vertical distance; default: dilation", kAboveZero},
    {"dilation_w", 1, "horizontal distance; default: dilation", kAboveZero}};
constexpr ArgumentSpec<int> kColumnPad{"pad",
                                       0,
                                       "padding of all four sides with zeros",
                                       {[](int pad) { return pad >= 0; }, "0 or more"}};

// The numbers of both axes: those of the single axes, else that of both.
void ReadPair(const ArgumentHelper& args, const ArgumentSpec<int>& both,
              const ArgumentSpec<int> (&single)[2], int* pair) {
  for (int i = 0; i < 2; ++i) {
    pair[i] = args.HasArgument(single[i]) ? args.Read(single[i]) : args.Read(both);
    CAFFE_ENFORCE_GT(pair[i], 0, "argument ", both.name, " (", single[i].name, ")");
  }
}

class GetColumnsGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    if (def_.type() == "Col2Im") return SingleGradientDef("Im2Col", "", {GO(0)}, {GI(0)});
    return SingleGradientDef("Col2Im", "", {GO(0), ShapeOf(0)}, {GI(0)});
  }
};

OpSchema& DeclareColumns(const char* type) {
  return RegisterSchema(type, __FILE__)
      .NumOutputs(1)
      .Args(kColumnKernel, kColumnKernels[0], kColumnKernels[1], kColumnStride, kColumnStrides[0],
            kColumnStrides[1])
      .Args(kColumnDilation, kColumnDilations[0], kColumnDilations[1], kColumnPad, kStorageOrder);
}

}  // namespace

ColumnWindow ReadColumnWindow(const ArgumentHelper& args) {
  ColumnWindow window;
  ReadPair(args, kColumnKernel, kColumnKernels, window.kernel);
  ReadPair(args, kColumnStride, kColumnStrides, window.stride);
  ReadPair(args, kColumnDilation, kColumnDilations, window.dilation);
  window.pad = args.Read(kColumnPad);
  window.order = ReadStorageOrder(args);
  return window;
}

void PlanColumns(IntArrayRef x, const ColumnWindow& window, ColumnSizes* sizes) {
  CAFFE_ENFORCE_EQ(x.size(), 4, "rank of X of shape ", x, ", want images");
  const size_t spatial = window.order == NCHW ? 2 : 1;
  const int64_t channels = x[window.order == NCHW ? 1 : 3];
  int64_t places[2], taps = 1;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t size = CheckedAdd(x[spatial + i], 2 * int64_t{window.pad});
    const int64_t extent = int64_t{window.dilation[i]} * (window.kernel[i] - 1) + 1;
    CAFFE_ENFORCE_GE(size, extent, "dim ", spatial + i, " of X of shape ", x,
                     " with its padding, want at least the extent of the window");
    places[i] = (size - extent) / window.stride[i] + 1;
    taps = CheckedMultiply<int64_t>(taps, window.kernel[i]);
  }
  sizes->channels = CheckedCast<int>(channels, "channels of X");
  sizes->height = CheckedCast<int>(x[spatial], "height of X");
  sizes->width = CheckedCast<int>(x[spatial + 1], "width of X");
  // The functions that copy count rows and columns with int.
  (void)CheckedCast<int>(CheckedAdd(x[spatial], 2 * int64_t{window.pad}), "padded height of X");
  (void)CheckedCast<int>(CheckedAdd(x[spatial + 1], 2 * int64_t{window.pad}), "padded width of X");
  const int64_t rows = CheckedMultiply(channels, taps);
  sizes->columns.assign({x[0], places[0], places[1]});
  sizes->columns.insert(sizes->columns.begin() + (window.order == NCHW ? 1 : 3), rows);
  (void)CheckedProduct(sizes->columns);
  sizes->image_size = x[1] * x[2] * x[3];
  sizes->column_size = sizes->columns[1] * sizes->columns[2] * sizes->columns[3];
}

void RegisterIm2col() {
  DeclareColumns("Im2Col")
      .NumInputs(1)
      .Input(0, "X", "images, float, [N, C, H, W], or [N, H, W, C] in order NHWC")
      .Output(0, "Y",
              "the elements of each window: [N, C * kernel_h * kernel_w, rows, columns], or [N, "
              "rows, columns, kernel_h * kernel_w * C]")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputsOfInputType(def, in);
        ColumnSizes sizes;
        PlanColumns(GetDimsVector(in[0]), ReadColumnWindow(ArgumentHelper(def)), &sizes);
        return std::vector<TensorShape>{CreateTensorShape(sizes.columns, in[0].data_type())};
      })
      .CostInferenceFunction(PointwiseCostInference<0>)
      .SetDoc(
          "Copies the elements of each window of an image, so that a convolution is a "
          "multiplication of matrices. Col2Im is its gradient.");
  DeclareColumns("Col2Im")
      .NumInputs(2)
      .Input(0, "columns", "as Y of Im2Col")
      .Input(1, "X", "images; only their shape is read")
      .Output(0, "image",
              "the sums of the elements of all windows at each place, in the shape of X")
      .IdenticalTypeAndShapeOfInput(1)
      .CostInferenceFunction(PointwiseCostInference<1>)
      .SetDoc("Adds windows up to images: the gradient of Im2Col.");
  RegisterCpuOperator<ColumnsOp<CPUContext, false>>("Im2Col", __FILE__);
  RegisterCpuOperator<ColumnsOp<CPUContext, true>>("Col2Im", __FILE__);
  RegisterGradient<GetColumnsGradient>("Im2Col", __FILE__);
  RegisterGradient<GetColumnsGradient>("Col2Im", __FILE__);
}

}  // namespace caffe2rt
