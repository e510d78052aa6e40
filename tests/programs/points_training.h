#pragma once
// A training of a second or less for the tests of caffe2 train: points of the plane, labelled by
// whether they are above the diagonal.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test {

class PointsTraining : public testing::Test {
 protected:
  // Writes the definition and a database of `rows` points.
  void MakePoints(const std::string& definition, int64_t rows) {
    Tensor x({rows, 2}, CPU), y({rows}, CPU);
    std::mt19937 random(3);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < rows; ++i) {
      float* const point = x.mutable_data<float>() + 2 * i;
      point[0] = uniform(random);
      point[1] = uniform(random);
      y.mutable_data<int32_t>()[i] = point[1] > point[0] ? 1 : 0;
    }
    WriteNpy(dir_.path("x.npy"), x);
    WriteNpy(dir_.path("y.npy"), y);
    definition_ = dir_.Write("points.pbtxt", definition);
    ASSERT_EQ(RunCaffe2({"db", "make", "arrays", dir_.path("x.npy"), dir_.path("y.npy"), "--output",
                         data_})
                  .code,
              0);
  }

  // The command that trains in `folder`, with `more` options.
  std::vector<std::string> Command(const std::string& folder, const std::string& epochs,
                                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args = {"train", definition_, "--data", data_,      "--test",
                                     data_,   "--epochs",  epochs,   "--output", dir_.path(folder)};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  // The bytes of the trained net.
  std::string Model(const std::string& folder) const {
    return ReadWholeFile(dir_.path(folder + "/model.minidb"));
  }

  const TempDir dir_;
  const std::string data_ = dir_.path("points.minidb");
  std::string definition_;
};

}  // namespace caffe2rt::test
