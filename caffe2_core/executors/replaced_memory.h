#pragma once
// ReplacedMemory: keeps memory of the CPU that a device still uses after its blob has moved there.
//
// A device reads and writes memory of the CPU when it copies, some time after the operator was started. If
// an operator on a device then writes the same blob, the blob gets a tensor of the device at once, on
// the host, and the memory of the CPU would be freed before the copy has run. Operators on the CPU need
// no such care: they start after the host has waited.

#include <cstddef>
#include <utility>
#include <vector>

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

// One thread at a time may call the functions.
class ReplacedMemory {
 public:
  // `operators` are in the order of their positions, and must outlive this object.
  explicit ReplacedMemory(const std::vector<OperatorBase*>& operators);
  ReplacedMemory(const ReplacedMemory&) = delete;
  ReplacedMemory& operator=(const ReplacedMemory&) = delete;

  // Whether no blob of the net can move so.
  bool empty() const { return outputs_.empty(); }
  // Keeps what the operator replaces. Call it before the operator starts.
  void Keep(size_t position);
  // Call it when the devices have finished all work of a run.
  void Free() { kept_.clear(); }

 private:
  std::vector<std::pair<size_t, const Blob*>> outputs_;  // with their operators, in ascending order
  std::vector<Tensor> kept_;
};

}  // namespace caffe2rt
