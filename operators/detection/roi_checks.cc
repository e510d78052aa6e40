#include "operators/detection/roi_checks.h"

#include "caffe2_core/base/checked_math.h"
#include "operators/common/inference.h"
#include "operators/detection/roi_kernels.h"

namespace caffe2rt {

const char* RoiFaultText(RoiFault fault) {
  switch (fault) {
    case RoiFault::kImage:
      return "RoI % of input 1 (RoIs) is of an image that does not exist, want at least 0 and "
             "below "
             "%";
    case RoiFault::kNotFinite:
      return "RoI % of input 1 (RoIs) is not finite, or becomes infinite when it is scaled";
    case RoiFault::kNegativeSize:
      return "RoI % of input 1 (RoIs) has a negative size, which argument aligned does not allow";
    case RoiFault::kTooLarge:
      return "RoI % of input 1 (RoIs) is too large, want bins of at most 16777216 pixels";
    case RoiFault::kManySamples:
      return "RoI % of input 1 (RoIs) has more than 1048576 samples in a bin";
    default:
      return "";
  }
}

void ThrowRoiFault(RoiFault fault, int64_t roi, int64_t images) {
  std::string text;
  int64_t number = roi;
  for (const char* c = RoiFaultText(fault); *c != '\0'; ++c) {
    if (*c != '%') {
      text += *c;
      continue;
    }
    text += MakeString(number);
    number = images;
  }
  CAFFE_THROW(text);
}

namespace {

RoiGeometry ReadAlignment(const ArgumentHelper& args) {
  RoiGeometry geometry;
  geometry.pooled_h = args.Read(kRoiPooledH);
  geometry.pooled_w = args.Read(kRoiPooledW);
  geometry.sampling_ratio = args.Read(kRoiSamplingRatio);
  geometry.scale = args.Read(kRoiSpatialScale);
  geometry.aligned = args.Read(kRoiAligned);
  return geometry;
}

}  // namespace

RoiGeometry ReadRoiAlign(const ArgumentHelper& args) {
  RoiGeometry geometry = ReadAlignment(args);
  geometry.last = ParseStorageOrder(args.Read(kRoiAlignOrder)) != StorageOrder::NCHW;
  return geometry;
}

RoiGeometry ReadRoiAlignRotated(const ArgumentHelper& args) {
  RoiGeometry geometry = ReadAlignment(args);
  geometry.last = ReadStorageOrder(args) == StorageOrder::NHWC;
  return geometry;
}

RoiGeometry ReadRoiPool(const ArgumentHelper& args) {
  RoiGeometry geometry;
  geometry.pooled_h = args.Read(kRoiPoolPooledH);
  geometry.pooled_w = args.Read(kRoiPoolPooledW);
  geometry.scale = args.Read(kRoiPoolSpatialScale);
  return geometry;
}

void SetRoiSizes(IntArrayRef x, IntArrayRef rois, int64_t columns, bool or_fewer,
                 RoiGeometry* geometry) {
  CAFFE_ENFORCE_EQ(x.size(), 4u, "rank of input 0 (X) of shape ", x);
  CAFFE_ENFORCE_EQ(rois.size(), 2u, "rank of input 1 (RoIs) of shape ", rois);
  CAFFE_ENFORCE(rois[1] == columns || (or_fewer && rois[1] == columns - 1),
                "input 1 (RoIs) has shape ", rois, ", want ", columns,
                or_fewer ? " columns, or one less without the image" : " columns");
  geometry->columns = rois[1];
  geometry->rois = rois[0];
  geometry->batch = x[0];
  geometry->channels = x[geometry->last ? 3 : 1];
  geometry->height = x[geometry->last ? 1 : 2];
  geometry->width = x[geometry->last ? 2 : 3];
  const int64_t out[] = {geometry->rois, geometry->channels, geometry->pooled_h,
                         geometry->pooled_w};
  static_cast<void>(CheckedProduct(out));
}

RoiDims RoiOutputDims(const RoiGeometry& g) {
  if (g.last) return {g.rois, g.pooled_h, g.pooled_w, g.channels};
  return {g.rois, g.channels, g.pooled_h, g.pooled_w};
}

void CheckRoiOutput(int i, const char* name, IntArrayRef dims, const RoiGeometry& geometry) {
  const RoiDims want = RoiOutputDims(geometry);
  CAFFE_ENFORCE(dims == DimsRef(want), "input ", i, " (", name, ") has shape ", dims,
                ", want that of the output ", DimsRef(want));
}

std::vector<TensorShape> InferRoiOutput(const OperatorDef& def, const std::vector<TensorShape>& in,
                                        RoiGeometry (*read)(const ArgumentHelper&)) {
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  RoiGeometry geometry = read(ArgumentHelper(def));
  const std::vector<int64_t> x = GetDimsVector(in[0]), rois = GetDimsVector(in[1]);
  CAFFE_ENFORCE_EQ(rois.size(), 2u, "rank of input 1 (RoIs) of shape ", IntArrayRef(rois));
  SetRoiSizes(x, rois, rois[1], false, &geometry);
  const RoiDims sizes = RoiOutputDims(geometry);
  const std::vector<int64_t> dims(sizes.begin(), sizes.end());
  std::vector<TensorShape> out{CreateTensorShape(dims, TensorProto::FLOAT)};
  if (def.output_size() > 1) out.push_back(CreateTensorShape(dims, TensorProto::INT32));
  return out;
}

}  // namespace caffe2rt
