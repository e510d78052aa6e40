#pragma once
// MemoryDemand: which blobs of a net may live in planned memory, how large they are, and which
// copies a plan can avoid.
//
//   NetDependencies blobs(net);
//   MemoryDemand demand(net, blobs, sizes, kept);
//   MemoryPlan plan = PlanMemory(demand.request());
//   plan.offsets[demand.item_of(blob)];
//
// A blob may be planned if the net writes it before reading it, it is not read after a run, and
// the library knows all operators that use it. In particular, not planned are
//   - inputs and state: blobs that are read before they are written;
//   - outputs of the net and the blobs that the caller names, and blobs that share memory with one;
//   - blobs of operators without a built-in schema, of operators with nets in their arguments, of
//     operators that keep memory (memory_traits.h), and synchronized objects;
//   - blobs whose size or device is not known.
// A net with an operator that accesses unlisted blobs is not planned at all.

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/device/device_type.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/memory_plan.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// What is known about the memory of a blob.
struct BlobMemory {
  static constexpr int64_t kUnknown = -1;
  int64_t bytes = kUnknown;  // the largest value that the net writes to the blob
  int device_type = -1;      // of the values; -1 if they differ or are not known
  std::string problem = {};  // why the size is not known, or empty
};

// The memory of each blob, from inferred shapes. `shapes` has one entry for each operator of `net`,
// from InferOpShapes. Values on IDEEP are counted with channels in blocks of 16, and in bf16 if they
// are joined in it. THROWS if the size
// of a blob overflows; the message names the blob.
std::vector<BlobMemory> MemoryOfShapes(const NetDef& net, const NetBlobs& blobs,
                                       const std::vector<OpShapes>& shapes);

class MemoryDemand {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // `sizes` has one entry for each blob. `kept` are the names of blobs that are read after a run,
  // besides the outputs of the net. `shapes` may be empty; then no Concat or Split is placed.
  // REQUIRES: all arguments outlive the constructor only.
  MemoryDemand(const NetDef& net, const NetDependencies& blobs,
               const std::vector<BlobMemory>& sizes, const std::set<std::string>& kept,
               const std::vector<OpShapes>& shapes,
               const std::set<uint32_t>& without_placement = {});

  const MemoryRequest& request() const { return request_; }
  // The item of the blob's memory, or kNone if the blob is not planned.
  uint32_t item_of(uint32_t blob) const { return item_[blob]; }
  // The blob that receives the memory of an item. Blobs that share memory with it get it from their
  // operators.
  uint32_t root_of(uint32_t item) const { return roots_[item]; }
  DeviceType device_of(uint32_t item) const { return devices_[item]; }
  // The blobs that could be planned if their sizes were known, in the order of the blobs.
  const std::vector<uint32_t>& unknown() const { return unknown_; }

 private:
  static constexpr size_t kMostInPlace = 16;  // inputs and outputs of an operator that may share

  void AddItems(const NetDependencies& blobs, const std::vector<BlobMemory>& sizes,
                const std::function<uint32_t(uint32_t)>& root_of);
  void AddAccesses(const NetDependencies& blobs);
  void AddParts(const NetDef& net, const NetDependencies& blobs,
                const std::vector<OpShapes>& shapes, const std::set<uint32_t>& without_placement);
  void AddInPlace(const NetDef& net, const NetDependencies& blobs,
                  const std::vector<BlobMemory>& sizes);

  std::vector<uint32_t> item_;
  std::vector<uint32_t> roots_;
  std::vector<DeviceType> devices_;  // by item
  std::vector<uint32_t> unknown_;
  MemoryRequest request_;
};

// Whether tensors of this device type may get planned memory: those in host memory.
bool IsPlannedDevice(int device_type);

}  // namespace caffe2rt
