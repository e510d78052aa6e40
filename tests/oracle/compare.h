#pragma once
// Creates the blobs of recorded cases in a workspace, and compares recorded blobs with those of a
// workspace.

#include <stdexcept>
#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"
#include "oracle.pb.h"

namespace caffe2rt::test {

// A blob of an unsupported kind (neither a tensor nor a quantized tensor).
class UnsupportedBlob : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Creates the recorded blob. THROWS UnsupportedBlob.
void MakeBlob(const oracle::Blob& recorded, Workspace* ws);

struct CompareRules {
  // Relative to the largest finite recorded value. 0 means the same bits, except that 0 equals -0.
  double rtol = 0;
  bool values = true;      // false: compare only type and dims
  bool moments = false;    // without `values`: compare mean and standard deviation
  bool dims = true;        // false: compare only the type
  bool any_order = false;  // the order of elements does not matter
  bool quantized = false;  // set by CompareBlob: rtol applies to bytes too
};

// Returns the difference as text, or "" if there is none. THROWS UnsupportedBlob.
std::string CompareBlob(const oracle::Blob& recorded, const Workspace& ws,
                        const CompareRules& rules);

// The shape of the recorded tensor. It is unknown_shape if the blob is not a tensor, and data_type
// is UNDEFINED if the tensor had no type.
TensorShape ShapeOfRecord(const oracle::Blob& recorded);

std::string DimsText(const std::vector<int64_t>& dims);

}  // namespace caffe2rt::test
