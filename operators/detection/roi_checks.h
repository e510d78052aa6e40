#pragma once
// Arguments and checks that the operators on RoIs share.

#include <array>
#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/order_argument.h"
#include "operators/detection/roi_geometry.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<std::string> kRoiAlignOrder{
    "order", "NCHW", "layout of the data: NCHW; NHWC, or any other text"};
inline constexpr ArgumentSpec<float> kRoiSpatialScale{
    "spatial_scale",
    1.0f,
    "pixels of X per unit of a RoI, for example 1/16",
    {[](float scale) { return IsFiniteFloat(scale); }, "a finite number"}};
inline constexpr ArgumentSpec<int> kRoiPooledH{
    "pooled_h", 1, "rows of bins, at least 0", {[](int bins) { return bins >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<int> kRoiPooledW{"pooled_w",
                                               1,
                                               "columns of bins, at least 0",
                                               {[](int bins) { return bins >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<int> kRoiSamplingRatio{
    "sampling_ratio",
    -1,
    "samples of a bin along an axis, at most 4096; not above 0: one for each pixel of the bin, "
    "rounded up",
    {[](int ratio) { return ratio <= 4096; }, "at most 4096"}};
inline constexpr ArgumentSpec<bool> kRoiAligned{
    "aligned", false,
    "1: the center of the first pixel is at 0.5, and a RoI may be smaller than a pixel"};
// The pools accept only positive sizes and scales.
inline constexpr ArgumentSpec<float> kRoiPoolSpatialScale{
    "spatial_scale",
    1.0f,
    "pixels of X per unit of a RoI, above 0",
    {[](float scale) { return IsFiniteFloat(scale) && scale > 0; }, "finite and above 0"}};
inline constexpr ArgumentSpec<int> kRoiPoolPooledH{
    "pooled_h", 1, "rows of bins, above 0", {[](int bins) { return bins > 0; }, "above 0"}};
inline constexpr ArgumentSpec<int> kRoiPoolPooledW{
    "pooled_w", 1, "columns of bins, above 0", {[](int bins) { return bins > 0; }, "above 0"}};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Reads the arguments of RoIAlign, those of RoIAlignRotated, and those of RoIPool and RoIPoolF.
RoiGeometry ReadRoiAlign(const ArgumentHelper& args);
RoiGeometry ReadRoiAlignRotated(const ArgumentHelper& args);
RoiGeometry ReadRoiPool(const ArgumentHelper& args);

// Sets the sizes of X and of the RoIs. THROWS unless X has rank 4, the RoIs have rank 2, and a RoI
// has `columns` numbers or, with `or_fewer`, one less: no image.
void SetRoiSizes(IntArrayRef x, IntArrayRef rois, int64_t columns, bool or_fewer,
                 RoiGeometry* geometry);
// The shape of the output.
using RoiDims = std::array<int64_t, 4>;
RoiDims RoiOutputDims(const RoiGeometry& geometry);
inline IntArrayRef DimsRef(const RoiDims& dims) { return {dims.data(), dims.size()}; }
// THROWS if input `i` does not have the shape of the output.
void CheckRoiOutput(int i, const char* name, IntArrayRef dims, const RoiGeometry& geometry);
#pragma GCC visibility pop

// THROWS the error of a RoI.
[[noreturn]] void ThrowRoiFault(RoiFault fault, int64_t roi, int64_t images);
inline void CheckRoiFault(RoiFault fault, int64_t roi, int64_t images) {
  if (fault != RoiFault::kNone) ThrowRoiFault(fault, roi, images);
}

// Shape inference: the output has the shape RoiOutputDims(read(arguments)), and so has a second
// output, of int32.
std::vector<TensorShape> InferRoiOutput(const OperatorDef& def, const std::vector<TensorShape>& in,
                                        RoiGeometry (*read)(const ArgumentHelper&));

}  // namespace caffe2rt
