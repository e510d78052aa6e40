#pragma once

// The graphs of operations that the fake computes: a forward convolution, and one to whose result a
// bias is added.

#include <optional>

#include "cudnn/backend.h"
#include "cudnn/convolution.h"

namespace fakecuda {

struct BackendTensor {
  int64_t id = 0;
  int64_t alignment = 1;
  bool is_virtual = false;
  cudnnDataType_t data_type = CUDNN_DATA_FLOAT;
  Layout layout;
  bool operator==(const BackendTensor&) const = default;
};

struct BackendGraph {
  Convolution convolution;
  BackendTensor x, w, y;
  std::optional<BackendTensor> bias;
};

// What cudnnBackendFinalize does with descriptors of these types.
cudnnStatus_t FinalizeTensor(const BackendNode& node);
cudnnStatus_t FinalizeOperation(const BackendNode& node);
cudnnStatus_t FinalizeGraph(BackendNode* node);

}  // namespace fakecuda
