#pragma once
// OpSchema: the inputs, outputs and arguments of operator types.
#include <climits>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <set>
#include <vector>

#include "c10/util/Registry.h"
#include "caffe2/core/common.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/types.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2/utils/math/functions.h"
#include "caffe2/utils/proto_utils.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/op_schema.h"

namespace caffe2 {
using ::caffe2rt::CreateTensorShape;
using ::caffe2rt::GetDimsVector;
using ::caffe2rt::InferOpInputOutputDevice;
using ::caffe2rt::OpSchema;
using ::caffe2rt::OpSchemaRegistry;
using ::caffe2rt::PointwiseCostInference;

constexpr int kCannotComputeNumOutputs = OpSchema::kCannotComputeNumOutputs;

// The product of the dimensions from axis `start` on.
inline uint64_t nElemFromDim(const TensorShape& shape, int start = 0) {
  uint64_t count = 1;
  for (int i = start; i < shape.dims_size(); ++i) count *= static_cast<uint64_t>(shape.dims(i));
  return count;
}

// The product of the dimensions start to stop - 1; of all from `start` on if `stop` is -1.
inline uint64_t nElemBetweenDim(const TensorShape& shape, int start = 0, int stop = -1) {
  const int end = stop == -1 ? shape.dims_size() : stop;
  CAFFE_ENFORCE(start >= 0 && start <= end && end <= shape.dims_size(), "dimensions ", start,
                " to ", end, " of a shape with ", shape.dims_size());
  uint64_t count = 1;
  for (int i = start; i < end; ++i) count *= static_cast<uint64_t>(shape.dims(i));
  return count;
}
}  // namespace caffe2
