#pragma once
// The kernels of this family, on the CPU (<stem>.cc) and on CUDA (detectron.cu). `scratch` is
// device memory, not used on the CPU.

#include <cstdint>

#include "operators/detectron/losses.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;
class Tensor;

// *loss = the sum of n losses, times the factor.
// dx[i] = the derivative of loss i, times the factor and *dloss.
void SmoothL1Sum(CPUContext& context, int64_t n, const SmoothL1Terms& terms,
                 const LossFactor& factor, Tensor* scratch, float* loss);
void SmoothL1Sum(CUDAContext& context, int64_t n, const SmoothL1Terms& terms,
                 const LossFactor& factor, Tensor* scratch, float* loss);
void SmoothL1Gradients(CPUContext& context, int64_t n, const SmoothL1Terms& terms,
                       const LossFactor& factor, const float* dloss, float* dx);
void SmoothL1Gradients(CUDAContext& context, int64_t n, const SmoothL1Terms& terms,
                       const LossFactor& factor, const float* dloss, float* dx);

// *count = the number of targets that are not kIgnoredLabel.
void CountTargets(CPUContext& context, int64_t n, const int32_t* targets, Tensor* scratch,
                  float* count);
void CountTargets(CUDAContext& context, int64_t n, const int32_t* targets, Tensor* scratch,
                  float* count);
void SigmoidSum(CPUContext& context, int64_t n, const SigmoidTerms& terms, const LossFactor& factor,
                Tensor* scratch, float* loss);
void SigmoidSum(CUDAContext& context, int64_t n, const SigmoidTerms& terms,
                const LossFactor& factor, Tensor* scratch, float* loss);
void SigmoidGradients(CPUContext& context, int64_t n, const SigmoidTerms& terms,
                      const LossFactor& factor, const float* dloss, float* dx);
void SigmoidGradients(CUDAContext& context, int64_t n, const SigmoidTerms& terms,
                      const LossFactor& factor, const float* dloss, float* dx);

// The inputs of a focal loss over `groups` groups of `classes` values at each of `positions`
// positions, each group and position with a label. `x` are logits [groups, classes, positions].
struct SigmoidFocalInputs {
  int64_t groups, classes, positions;
  SigmoidFocal loss;
  const float* x;
  const int32_t* labels;
};
void SigmoidFocalSum(CPUContext& context, const SigmoidFocalInputs& inputs,
                     const LossFactor& factor, Tensor* scratch, float* loss);
void SigmoidFocalSum(CUDAContext& context, const SigmoidFocalInputs& inputs,
                     const LossFactor& factor, Tensor* scratch, float* loss);
void SigmoidFocalGradients(CPUContext& context, const SigmoidFocalInputs& inputs,
                           const LossFactor& factor, const float* dloss, float* dx);
void SigmoidFocalGradients(CUDAContext& context, const SigmoidFocalInputs& inputs,
                           const LossFactor& factor, const float* dloss, float* dx);

// The same for probabilities. A negative label is ignored. A label that is not a class is an error:
// the CPU THROWS; on CUDA the next wait for the stream throws.
struct SoftmaxFocalInputs {
  int64_t groups, classes, positions;
  SoftmaxFocal loss;
  const float* probabilities;
  const int32_t* labels;
};
void SoftmaxFocalSum(CPUContext& context, const SoftmaxFocalInputs& inputs,
                     const LossFactor& factor, Tensor* scratch, float* loss);
void SoftmaxFocalSum(CUDAContext& context, const SoftmaxFocalInputs& inputs,
                     const LossFactor& factor, Tensor* scratch, float* loss);
void SoftmaxFocalGradients(CPUContext& context, const SoftmaxFocalInputs& inputs,
                           const LossFactor& factor, const float* dloss, float* dx);
void SoftmaxFocalGradients(CUDAContext& context, const SoftmaxFocalInputs& inputs,
                           const LossFactor& factor, const float* dloss, float* dx);

// Selected boxes: four channels of y_hat [images, channels, height, width] at each of `count`
// locations (image, first channel, row, column), compared with y [count, 4]. A location out of
// range is an error, as above.
struct SelectedBoxes {
  int64_t images, channels, height, width;
  int64_t count;
  SmoothL1 loss;
  const float* y_hat;
  const float* y;
  const float* locations;

  // The element of y_hat that holds value `i % 4` of box `i / 4`, or -1 if its location is out of
  // range.
  CAFFE2RT_HOST_DEVICE int64_t ElementOf(int64_t i) const {
    const float* const at = locations + i / 4 * 4;
    const int64_t image = Index(at[0], images), channel = Index(at[1], channels - 3);
    const int64_t row = Index(at[2], height), column = Index(at[3], width);
    if (image < 0 || channel < 0 || row < 0 || column < 0) return -1;
    return ((image * channels + channel + i % 4) * height + row) * width + column;
  }

 private:
  // The integral part of a number from 0 to below `size`, or -1 for any other number.
  CAFFE2RT_HOST_DEVICE static int64_t Index(float number, int64_t size) {
    const double value = number;
    return value >= 0 && value < static_cast<double>(size) ? static_cast<int64_t>(value) : -1;
  }
};
void SelectedSum(CPUContext& context, const SelectedBoxes& boxes, const LossFactor& factor,
                 Tensor* scratch, float* loss);
void SelectedSum(CUDAContext& context, const SelectedBoxes& boxes, const LossFactor& factor,
                 Tensor* scratch, float* loss);
// Scratch memory for sorting the locations, used on CUDA.
struct SelectedScratch {
  Tensor* keys;
  Tensor* places;
  Tensor* temporary;
};
// Adds up the derivatives of equal locations in their order. Sets all other elements to 0.
void SelectedGradients(CPUContext& context, const SelectedBoxes& boxes, const LossFactor& factor,
                       const float* dloss, const SelectedScratch& scratch, float* dx);
void SelectedGradients(CUDAContext& context, const SelectedBoxes& boxes, const LossFactor& factor,
                       const float* dloss, const SelectedScratch& scratch, float* dx);

// The gradient of SoftmaxChannels: dx = (dy - the sum of y * dy over the channels) * y at each
// position of [batch, channels, positions].
void SoftmaxChannelsGradient(CPUContext& context, int64_t batch, int64_t channels,
                             int64_t positions, const float* y, const float* dy, float* dx);
void SoftmaxChannelsGradient(CUDAContext& context, int64_t batch, int64_t channels,
                             int64_t positions, const float* y, const float* dy, float* dx);

// `planes` images of from_height * from_width words, and their first `height` rows and `width`
// columns.
struct NarrowedImages {
  int64_t planes, from_height, from_width, height, width;
};
void NarrowImages(CPUContext& context, const NarrowedImages& images, const uint32_t* a,
                  uint32_t* c);
void NarrowImages(CUDAContext& context, const NarrowedImages& images, const uint32_t* a,
                  uint32_t* c);
// The reverse. Sets the other words of `a` to 0.
void WidenImages(CPUContext& context, const NarrowedImages& images, const uint32_t* c, uint32_t* a);
void WidenImages(CUDAContext& context, const NarrowedImages& images, const uint32_t* c,
                 uint32_t* a);

}  // namespace caffe2rt
