#include "tests/models/recorded_blobs.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test {

std::vector<std::vector<std::string>> ReadTsv(const std::string& path) {
  std::ifstream in(path);
  CAFFE_ENFORCE(in.good(), "cannot read \"", path, "\"");
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) rows.push_back(absl::StrSplit(line, '\t'));
  return rows;
}

std::vector<RecordedBlob> ReadRecordedBlobs(const std::string& path, const std::string& net,
                                            const std::string& step) {
  std::vector<RecordedBlob> blobs;
  for (const std::vector<std::string>& row : ReadTsv(path)) {
    if (row[0] != net || row[1] != step) continue;
    RecordedBlob blob{row[0], row[1], row[3], row[4], 0, 0, 0, 0, {}};
    blob.min = std::stod(row[6]);
    blob.max = std::stod(row[7]);
    blob.mean = std::stod(row[8]);
    blob.norm = std::stod(row[9]);
    const std::vector<std::string> first = absl::StrSplit(row[10], ' ', absl::SkipEmpty());
    for (const std::string& value : first) blob.first.push_back(std::stod(value));
    blobs.push_back(std::move(blob));
  }
  return blobs;
}

void ExpectRecorded(const Tensor& tensor, const RecordedBlob& recorded, double tolerance) {
  SCOPED_TRACE("blob \"" + recorded.blob + "\" of " + recorded.net + ' ' + recorded.step);
  EXPECT_EQ(tensor.dim() == 0 ? "()" : absl::StrJoin(tensor.dims(), "x"), recorded.shape);
  ASSERT_TRUE(tensor.IsType<float>());
  const float* const data = tensor.data<float>();
  const auto [min, max] = std::minmax_element(data, data + tensor.numel());
  double squares = 0;
  for (int64_t i = 0; i < tensor.numel(); ++i) squares += double{data[i]} * double{data[i]};
  const double near = tolerance * std::max(std::abs(recorded.min), std::abs(recorded.max));
  EXPECT_NEAR(*min, recorded.min, near);
  EXPECT_NEAR(*max, recorded.max, near);
  EXPECT_NEAR(std::sqrt(squares), recorded.norm, tolerance * recorded.norm);
  for (size_t i = 0; i < recorded.first.size(); ++i) EXPECT_NEAR(data[i], recorded.first[i], near);
}

}  // namespace caffe2rt::test
