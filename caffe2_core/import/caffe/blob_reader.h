#pragma once
// Reads arrays of Caffe's files: BlobProto, in the wire format.

#include <string>
#include <vector>

#include "caffe2_core/io/wire_walk.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

// The dims of the blob in [begin, end), or those of the older format without a shape. `legacy` tells
// which; a blob with neither is a scalar.
std::vector<int64_t> ReadBlobDims(WireCursor* cursor, int64_t begin, int64_t end,
                                  const std::string& subject, bool* legacy);

// The elements as floats: `double_data` if there are any, else `data`, else those of `raw_data`,
// whose `raw_data_type` tells half, single and double precision. THROWS if their number is not that
// of `dims`.
Tensor ReadBlobValues(WireCursor* cursor, int64_t begin, int64_t end, const std::string& subject,
                      const std::vector<int64_t>& dims);

}  // namespace caffe2rt
