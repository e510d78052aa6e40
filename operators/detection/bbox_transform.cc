// BBoxTransform: applies the deltas of each class to the boxes of a batch of images.
//   rois [R, 5] (image, box) or [R, 4] (of one image), deltas [R, classes * 4], im_info [N, 3]
//   (height, width, scale)
//   ->  boxes [R, classes * 4], optional float [N]: the number of boxes of each image
// The boxes are divided by the scale of their image first, and multiplied by it in the end if
// apply_scale is set. Rotated boxes have five numbers.
//
// As in Caffe2, the boxes of an image follow those of the image before it: of the image numbers,
// only the counts are used.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/detection/box_decoder.h"
#include "operators/detection/roi_geometry.h"

namespace caffe2rt {

namespace {

constexpr RepeatedArgumentSpec<float> kBBoxTransformWeights{
    "weights",
    "the deltas of x, y, width and height are divided by these four numbers; default 1",
    {[](const std::vector<float>& weights) { return weights.size() == 4; }, "4 numbers"}};
constexpr ArgumentSpec<bool> kBBoxTransformApplyScale{
    "apply_scale", true, "1: the result is in the coordinates of the scaled image, as rois are"};
constexpr ArgumentSpec<bool> kBBoxTransformRotated{
    "rotated", false, "1: boxes are x, y, width, height and angle, where x and y are the center"};
constexpr ArgumentSpec<bool> kBBoxTransformCorrectCoords{
    "correct_transform_coords", false, "has no effect: the coordinates are always correct"};

class BBoxTransformOp final : public Operator<CPUContext> {
 public:
  using Context = CPUContext;
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  BBoxTransformOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        decoder_(ReadBoxDecoder(args())),
        apply_scale_(ReadArgument(kBBoxTransformApplyScale)) {
    decoder_.rotated = ReadArgument(kBBoxTransformRotated);
    if (HasArgument(kBBoxTransformWeights)) {
      const std::vector<float> weights = ReadArgument(kBBoxTransformWeights);
      std::copy(weights.begin(), weights.end(), decoder_.weights);
    }
  }

  bool RunOnDevice() override {
    const Tensor &rois = Input(0), &deltas = Input(1), &info = Input(2);
    CheckShapes(rois.sizes(), deltas.sizes(), info.sizes());
    const float* const roi = rois.data<float>();
    const float* const delta = deltas.data<float>();
    const float* const image = info.data<float>();
    CountBoxes(roi, rois.dims()[0], rois.dims()[1] > decoder_.dim(), info.dims()[0]);
    float* const out = OutputData<float>(0, deltas.sizes());
    const int64_t columns = rois.dims()[1], width = deltas.dims()[1];
    if (rois.dims()[0] > 0) decoder_.Check();
    int64_t row = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      for (const int64_t end = row + counts_[i]; row < end; ++row) {
        TransformRow(roi + (row + 1) * columns - decoder_.dim(), delta + row * width, width,
                     image + i * 3, out + row * width);
      }
    }
    if (OutputSize() > 1) {
      const int64_t dims[] = {static_cast<int64_t>(counts_.size())};
      float* const splits = OutputData<float>(1, dims);
      for (size_t i = 0; i < counts_.size(); ++i) splits[i] = static_cast<float>(counts_[i]);
    }
    return true;
  }

 private:
  void CheckShapes(IntArrayRef rois, IntArrayRef deltas, IntArrayRef info) const {
    const int64_t dim = decoder_.dim();
    CAFFE_ENFORCE(rois.size() == 2 && (rois[1] == dim || rois[1] == dim + 1),
                  "input 0 (rois) has shape ", rois, ", want [R, ", dim, "] or [R, ", dim + 1, "]");
    CAFFE_ENFORCE(deltas.size() == 2 && deltas[0] == rois[0] && deltas[1] % dim == 0,
                  "input 1 (deltas) has shape ", deltas, ", want a row for each row of input 0 ",
                  "(rois) of shape ", rois, ", and a multiple of ", dim, " columns");
    CAFFE_ENFORCE(info.size() == 2 && info[1] == 3, "input 2 (im_info) has shape ", info,
                  ", want [N, 3]: height, width and scale of each image");
    CAFFE_ENFORCE(rois[1] > dim || info[0] == 1, "input 2 (im_info) has shape ", info,
                  ", want [1, 3], because input 0 (rois) of shape ", rois, " names no images");
  }

  void CountBoxes(const float* roi, int64_t rows, bool has_image, int64_t images) {
    counts_.assign(static_cast<size_t>(images), 0);
    for (int64_t row = 0; row < rows; ++row) {
      int64_t image = 0;
      const float* const box = roi + row * (decoder_.dim() + (has_image ? 1 : 0));
      const RoiFault fault = ImageOfRoi(box, has_image, images, &image);
      CAFFE_ENFORCE(fault == RoiFault::kNone, "row ", row, " of input 0 (rois) is of image ",
                    box[0], ", want at least 0 and below ", images,
                    ", the number of rows of input 2 (im_info)");
      ++counts_[static_cast<size_t>(image)];
    }
  }

  void TransformRow(const float* box, const float* delta, int64_t width, const float* image,
                    float* out) const {
    const int64_t dim = decoder_.dim();
    const float scale = image[2], height = std::trunc(image[0] / scale + 0.5f),
                image_width = std::trunc(image[1] / scale + 0.5f);
    float unscaled[5];
    for (int64_t i = 0; i < dim; ++i) unscaled[i] = i < 4 ? box[i] / scale : box[i];
    for (int64_t c = 0; c < width; c += dim) {
      decoder_.Decode(unscaled, delta + c, out + c);
      decoder_.Clip(height, image_width, out + c);
      if (!apply_scale_) continue;
      for (int64_t i = 0; i < 4; ++i) out[c + i] *= scale;
    }
  }

  BoxDecoder decoder_;
  const bool apply_scale_;
  std::vector<int64_t> counts_;  // boxes of each image
};

std::vector<TensorShape> InferBBoxTransform(const OperatorDef& def,
                                            const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 3)) return UnknownOutputs(def);
  std::vector<TensorShape> out{CreateTensorShape(GetDimsVector(in[1]), TensorProto::FLOAT)};
  if (def.output_size() > 1 && in[2].dims_size() > 0) {
    out.push_back(CreateTensorShape(std::vector<int64_t>{in[2].dims(0)}, TensorProto::FLOAT));
  }
  return out;
}

}  // namespace

void RegisterBboxTransform() {
  RegisterSchema("BBoxTransform", __FILE__)
      .NumInputs(3)
      .NumOutputs(1, 2)
      .Args(kBBoxTransformWeights, kBBoxTransformApplyScale, kBBoxTransformRotated,
            kBBoxTransformCorrectCoords)
      .Args(kBoxLegacyPlusOne, kBoxAngleBoundOn, kBoxAngleBoundLo, kBoxAngleBoundHi,
            kBoxClipAngleThresh)
      .Input(0, "rois",
             "[R, 5]: image, x1, y1, x2, y2; or [R, 4], without the image; rotated boxes have one "
             "column more. The boxes of an image follow those of the image before it.")
      .Input(1, "deltas", "[R, classes * 4]; for rotated boxes [R, classes * 5]")
      .Input(2, "im_info", "[N, 3]: height, width and scale of each image")
      .Output(0, "box_out", "the shape of deltas: the boxes, clipped to their images")
      .Output(1, "roi_batch_splits", "float [N]: the number of boxes of each image")
      .TensorInferenceFunction(InferBBoxTransform)
      .SetDoc("Applies the predicted deltas of each class to boxes.");
  RegisterCpuOperator<BBoxTransformOp>("BBoxTransform", __FILE__);
  // The boxes of a detector are not trained through.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("BBoxTransform", __FILE__);
}

}  // namespace caffe2rt
