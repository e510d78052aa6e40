#include "operators/detectron/spatial_narrow_as.h"

#include <cstring>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/detectron/gradient_maker.h"

namespace caffe2rt {

void NarrowedDims(IntArrayRef a, IntArrayRef b, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE(a.size() == 3 || a.size() == 4, "input 0 (A) has shape ", a,
                ", want [N, C, H, W] or [N, H, W]");
  CAFFE_ENFORCE(b.size() == 3 || b.size() == 4, "input 1 (B) has shape ", b,
                ", want [N, C, H, W] or [N, H, W]");
  const int64_t height = b[b.size() - 2], width = b[b.size() - 1];
  CAFFE_ENFORCE(a[0] == b[0] && height <= a[a.size() - 2] && width <= a[a.size() - 1],
                "input 1 (B) has shape ", b, ", input 0 (A) ", a,
                ", want the same N and images that are not larger than those of A");
  dims->assign(a.begin(), a.end());
  (*dims)[a.size() - 2] = height;
  (*dims)[a.size() - 1] = width;
}

NarrowedImages NarrowedImagesOf(IntArrayRef a, IntArrayRef c) {
  const size_t rank = a.size();
  return {.planes = CheckedProduct(a.slice(0, rank - 2)),
          .from_height = a[rank - 2],
          .from_width = a[rank - 1],
          .height = c[rank - 2],
          .width = c[rank - 1]};
}

void CheckNarrowedGradient(const Tensor& dC, const std::vector<int64_t>& dims) {
  CAFFE_ENFORCE(dC.dims() == dims, "input 2 (dC) has shape ", dC.sizes(), ", want ",
                IntArrayRef(dims), ": input 0 (A), narrowed to input 1 (B)");
}

void NarrowImages(CPUContext&, const NarrowedImages& images, const uint32_t* a, uint32_t* c) {
  const size_t bytes = static_cast<size_t>(images.width) * sizeof(uint32_t);
  for (int64_t plane = 0; plane < images.planes; ++plane) {
    const uint32_t* from = a + plane * images.from_height * images.from_width;
    for (int64_t row = 0; row < images.height; ++row, from += images.from_width) {
      std::memcpy(c, from, bytes);
      c += images.width;
    }
  }
}

void WidenImages(CPUContext&, const NarrowedImages& images, const uint32_t* c, uint32_t* a) {
  const size_t bytes = static_cast<size_t>(images.width) * sizeof(uint32_t);
  const size_t rest = static_cast<size_t>(images.from_width - images.width) * sizeof(uint32_t);
  const int64_t removed = (images.from_height - images.height) * images.from_width;
  for (int64_t plane = 0; plane < images.planes; ++plane) {
    for (int64_t row = 0; row < images.height; ++row) {
      if (bytes > 0) std::memcpy(a, c, bytes);
      std::memset(a + images.width, 0, rest);
      c += images.width;
      a += images.from_width;
    }
    std::memset(a, 0, static_cast<size_t>(removed) * sizeof(uint32_t));
    a += removed;
  }
}

namespace {

std::vector<TensorShape> InferSpatialNarrowAs(const OperatorDef& def,
                                              const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  std::vector<int64_t> dims;
  NarrowedDims(GetDimsVector(in[0]), GetDimsVector(in[1]), &dims);
  return {CreateTensorShape(dims, in[0].data_type())};
}

}  // namespace

void RegisterSpatialNarrowAs() {
  RegisterSchema("SpatialNarrowAs", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "A", "[N, C, H0, W0] or [N, H0, W0], float or int32")
      .Input(1, "B", "[N, *, H, W] or [N, H, W], where H <= H0 and W <= W0; only its shape is used")
      .Output(0, "C", "[N, C, H, W] or [N, H, W]: the first H rows and W columns of A")
      .TensorInferenceFunction(InferSpatialNarrowAs)
      .SetDoc(
          "Removes rows at the bottom and columns at the right of A, so that its images have "
          "the size of those of B.");
  RegisterSchema("SpatialNarrowAsGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "A", "as in SpatialNarrowAs")
      .Input(1, "B", "as in SpatialNarrowAs")
      .Input(2, "dC", "the gradient of C")
      .Output(0, "dA", "the gradient of A: zeros in the removed rows and columns")
      .TensorInferenceFunction(InferShapeAndType(0, 2))
      .SetDoc("Computes the gradient of SpatialNarrowAs.");
  RegisterCpuOperator<SpatialNarrowAsOp<CPUContext>>("SpatialNarrowAs", __FILE__);
  RegisterCpuOperator<SpatialNarrowAsGradientOp<CPUContext>>("SpatialNarrowAsGradient", __FILE__);
  RegisterGradient<GetDetectronGradient>("SpatialNarrowAs", __FILE__);
}

}  // namespace caffe2rt
