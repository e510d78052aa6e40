#include "operators/detectron/select_smooth_l1_loss.h"

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/detectron/gradient_maker.h"

namespace caffe2rt {

SelectedBoxes SelectedBoxesOf(float beta, const Tensor& Y_hat, const Tensor& Y,
                              const Tensor& locations) {
  CAFFE_ENFORCE_EQ(Y_hat.dim(), 4, "rank of input 0 (Y_hat) of shape ", Y_hat.sizes(),
                   ", want 4: [N, C, H, W]");
  CAFFE_ENFORCE(Y.dim() == 2 && Y.dim(1) == 4, "input 1 (Y) has shape ", Y.sizes(),
                ", want [M, 4]: a box in each row");
  CAFFE_ENFORCE(locations.dims() == Y.dims(), "input 2 (locations) has shape ", locations.sizes(),
                ", want ", Y.sizes(), ": a location for each row of input 1 (Y)");
  CAFFE_ENFORCE_LT(Y.dim(0), int64_t{1} << 29, "rows of input 1 (Y)");
  return {.images = Y_hat.dim(0),
          .channels = Y_hat.dim(1),
          .height = Y_hat.dim(2),
          .width = Y_hat.dim(3),
          .count = Y.dim(0),
          .loss = {beta},
          .y_hat = Y_hat.data<float>(),
          .y = Y.data<float>(),
          .locations = locations.data<float>()};
}

namespace {

// The element of y_hat that holds value i % 4 of box i / 4. THROWS if its location is out of range.
int64_t SelectedElement(const SelectedBoxes& boxes, int64_t i) {
  const int64_t element = boxes.ElementOf(i);
  if (element < 0) {
    const float* const at = boxes.locations + i / 4 * 4;
    CAFFE_THROW("row ", i / 4, " of input 2 (locations) is ", at[0], ", ", at[1], ", ", at[2], ", ",
                at[3], ", want an image below ", boxes.images,
                ", the first of four channels below ", boxes.channels, ", a row below ",
                boxes.height, " and a column below ", boxes.width);
  }
  return element;
}

}  // namespace

void SelectedSum(CPUContext&, const SelectedBoxes& boxes, const LossFactor& factor, Tensor*,
                 float* loss) {
  double sum = 0;
  for (int64_t i = 0; i < 4 * boxes.count; ++i) {
    sum += boxes.loss(boxes.y_hat[SelectedElement(boxes, i)] - boxes.y[i]);
  }
  *loss = static_cast<float>(sum * factor());
}

void SelectedGradients(CPUContext&, const SelectedBoxes& boxes, const LossFactor& factor,
                       const float* dloss, const SelectedScratch&, float* dx) {
  const float by = *dloss * factor();
  for (int64_t i = 0; i < 4 * boxes.count; ++i) {
    const int64_t element = SelectedElement(boxes, i);
    dx[element] += by * boxes.loss.Gradient(boxes.y_hat[element] - boxes.y[i]);
  }
}

void RegisterSelectSmoothL1Loss() {
  RegisterSchema("SelectSmoothL1Loss", __FILE__)
      .NumInputs(4)
      .NumOutputs(1)
      .Args(kSelectSmoothL1Beta, kSelectSmoothL1Scale)
      .Input(0, "Y_hat", "[N, C, H, W] float: predictions, four adjacent channels for each box")
      .Input(1, "Y", "[M, 4] float: targets")
      .Input(2, "locations",
             "[M, 4] float: image, first of four channels, row and column of each box in Y_hat")
      .Input(3, "normalizer", "scalar; the loss is divided by it if it is above 1")
      .Output(0, "loss", "float scalar: a tensor of rank 0")
      .ScalarType(TensorProto_DataType_FLOAT)
      .SetDoc(
          "Computes scale / max(1, normalizer) * the sum of SmoothL1(Y_hat - Y) over the boxes "
          "at the locations, where SmoothL1 is that of SmoothL1Loss.");
  RegisterSchema("SelectSmoothL1LossGradient", __FILE__)
      .NumInputs(5)
      .NumOutputs(1)
      .Args(kSelectSmoothL1Beta, kSelectSmoothL1Scale)
      .Input(0, "Y_hat", "as in SelectSmoothL1Loss")
      .Input(1, "Y", "as in SelectSmoothL1Loss")
      .Input(2, "locations", "as in SelectSmoothL1Loss")
      .Input(3, "normalizer", "as in SelectSmoothL1Loss")
      .Input(4, "d_loss", "the gradient of the loss, scalar")
      .Output(0, "d_Y_hat", "the gradient of Y_hat")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of SelectSmoothL1Loss.");
  RegisterCpuOperator<SelectSmoothL1LossOp<CPUContext>>("SelectSmoothL1Loss", __FILE__);
  RegisterCpuOperator<SelectSmoothL1LossGradientOp<CPUContext>>("SelectSmoothL1LossGradient",
                                                                __FILE__);
  RegisterGradient<GetDetectronGradient>("SelectSmoothL1Loss", __FILE__);
}

}  // namespace caffe2rt
