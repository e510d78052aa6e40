#pragma once
// Blobs of recorded cases: into a workspace, and compared with what a workspace holds.

#include <stdexcept>
#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"
#include "oracle.pb.h"

namespace caffe2rt::test {

// A blob of a kind that is not here (quantised, or no tensor).
class UnsupportedBlob : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Makes the blob as recorded. THROWS UnsupportedBlob.
void MakeBlob(const oracle::Blob& recorded, Workspace* ws);

struct CompareRules {
  double rtol = 0;  // of the largest finite value of the record; 0: the same bits, but 0 equals -0
  bool values = true;  // false: type and dims alone
  bool moments =
      false;  // without values: mean and deviation must be those of the same distribution
  bool dims = true;
  bool any_order = false;  // the elements may stand in any order
};

// What differs, "" when nothing does. THROWS UnsupportedBlob.
std::string CompareBlob(const oracle::Blob& recorded, const Workspace& ws,
                        const CompareRules& rules);

// The recorded tensor's shape; unknown_shape for what is no tensor, data_type UNDEFINED for one
// that had no type.
TensorShape ShapeOfRecord(const oracle::Blob& recorded);

std::string DimsText(const std::vector<int64_t>& dims);

}  // namespace caffe2rt::test
