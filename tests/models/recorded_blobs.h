#pragma once
// Statistics of blobs and of losses that were recorded with Caffe2 (golden/blobs.tsv and
// golden/train_log.tsv beside a model).

#include <map>
#include <string>
#include <vector>

#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::test {

// The rows of a file of tab-separated columns below a line of column names, which is left out.
// THROWS if the file cannot be read.
std::vector<std::vector<std::string>> ReadTsv(const std::string& path);

struct RecordedBlob {
  std::string net, step, blob, shape;
  double min = 0, max = 0, mean = 0, norm = 0;
  std::vector<double> first;  // the first elements, at most 4
};
// The rows of `path` whose first column is `net` and whose second one is `step`.
std::vector<RecordedBlob> ReadRecordedBlobs(const std::string& path, const std::string& net,
                                            const std::string& step);

// Compares shape, minimum, maximum, L2 norm and the first elements. Each may differ by `tolerance`
// times the largest absolute element of the record.
void ExpectRecorded(const Tensor& tensor, const RecordedBlob& recorded, double tolerance);

}  // namespace caffe2rt::test
