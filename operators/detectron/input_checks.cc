#include "operators/detectron/input_checks.h"

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

const float* OneFloat(const Tensor& tensor, int place, const char* name) {
  CAFFE_ENFORCE_EQ(tensor.numel(), 1, "elements of input ", place, " (", name, ") of shape ",
                   tensor.sizes(), ", want a scalar");
  return tensor.data<float>();
}

void CheckAsManyElements(const Tensor& tensor, int place, const char* name, const Tensor& first,
                         const char* first_name) {
  CAFFE_ENFORCE_EQ(tensor.numel(), first.numel(), "elements of input ", place, " (", name,
                   ") of shape ", tensor.sizes(), ", want as many as input 0 (", first_name,
                   ") of shape ", first.sizes());
}

ClassGroups ClassGroupsOf(const Tensor& X, const char* name, int num_classes) {
  CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (", name, ") of shape ", X.sizes(),
                   ", want 4: [N, A * num_classes, H, W]");
  CAFFE_ENFORCE_EQ(X.dim(1) % num_classes, 0, "input 0 (", name, ") of shape ", X.sizes(), " has ",
                   X.dim(1), " channels, want a multiple of the argument num_classes, ",
                   num_classes);
  if (X.numel() == 0) return {.classes = num_classes};
  return {.groups = X.dim(0) * (X.dim(1) / num_classes),
          .classes = num_classes,
          .positions = X.dim(2) * X.dim(3)};
}

void CheckGroupLabels(const Tensor& labels, const Tensor& X, const ClassGroups& groups) {
  const int64_t anchors = X.dim(1) / groups.classes;
  CAFFE_ENFORCE_EQ(labels.numel(), groups.groups * groups.positions,
                   "elements of input 1 (labels) of shape ", labels.sizes(), ", want [", X.dim(0),
                   ", ", anchors, ", ", X.dim(2), ", ", X.dim(3), "]");
}

}  // namespace caffe2rt
