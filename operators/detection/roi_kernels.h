#pragma once
// Kernels of the operators on RoIs, on the CPU (<stem>.cc) and on CUDA (rois.cu). A RoI that is
// invalid is an error: the CPU THROWS; on CUDA the next wait for the stream throws.
//
// The gradients of all RoIs that cover an element of X are added up in the order of the RoIs, so
// they are the same in every run.

#include <cstdint>

#include "operators/detection/roi_geometry.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;
struct RoiScratch;

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// The message of a fault: a string literal with % for the RoI and, of kImage, for the number of
// images.
const char* RoiFaultText(RoiFault fault);
#pragma GCC visibility pop

void AlignRois(CPUContext& context, const RoiGeometry& geometry, const float* x, const float* rois,
               float* y, RoiScratch* scratch);
void AlignRois(CUDAContext& context, const RoiGeometry& geometry, const float* x, const float* rois,
               float* y, RoiScratch* scratch);
void AlignRoisGradient(CPUContext& context, const RoiGeometry& geometry, const float* rois,
                       const float* dy, float* dx, RoiScratch* scratch);
void AlignRoisGradient(CUDAContext& context, const RoiGeometry& geometry, const float* rois,
                       const float* dy, float* dx, RoiScratch* scratch);

// `argmax` receives the index in the plane of the largest element of each bin, or -1 for an empty
// bin. It may be null.
void MaxPoolRois(CPUContext& context, const RoiGeometry& geometry, const float* x,
                 const float* rois, float* y, int32_t* argmax);
void MaxPoolRois(CUDAContext& context, const RoiGeometry& geometry, const float* x,
                 const float* rois, float* y, int32_t* argmax);
// Adds the gradient of each bin to the element `argmax`. The CPU THROWS if an argmax is not an index
// of the plane; on CUDA such a bin has no effect.
void MaxPoolRoisGradient(CPUContext& context, const RoiGeometry& geometry, const float* rois,
                         const float* dy, const int32_t* argmax, float* dx);
void MaxPoolRoisGradient(CUDAContext& context, const RoiGeometry& geometry, const float* rois,
                         const float* dy, const int32_t* argmax, float* dx);

// `channel` receives the channel of X that each bin averages: (c * pooled_h + row) * pooled_w +
// column for channel c of the output, of which there are `outputs`.
void AveragePoolPositions(CPUContext& context, const RoiGeometry& geometry, int64_t outputs,
                          const float* x, const float* rois, float* y, int32_t* channel);
void AveragePoolPositions(CUDAContext& context, const RoiGeometry& geometry, int64_t outputs,
                          const float* x, const float* rois, float* y, int32_t* channel);
void AveragePoolPositionsGradient(CPUContext& context, const RoiGeometry& geometry, int64_t outputs,
                                  const float* rois, const float* dy, float* dx);
void AveragePoolPositionsGradient(CUDAContext& context, const RoiGeometry& geometry,
                                  int64_t outputs, const float* rois, const float* dy, float* dx);

}  // namespace caffe2rt
