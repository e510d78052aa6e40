#pragma once
// Files that the tests read but the repository does not hold: models, recorded cases. They are
// sought in the folder that the environment variable CAFFE2_TEST_SHARED names, else in ../shared
// beside the source tree. A test that needs one and does not find it skips, saying which.
//
//   TEST(ModelsTest, ...) {
//     SKIP_WITHOUT_SHARED("models/CASES.tsv");
//     ... SharedPath("models/CASES.tsv") ...
//   }

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace caffe2rt::test {

// The folder, or a file in it; whether it is there is the caller's question.
std::string SharedPath(const std::string& relative = "");
// A file of the source tree.
std::string SourcePath(const std::string& relative);

}  // namespace caffe2rt::test

#define SKIP_WITHOUT_SHARED(relative)                                   \
  if (!std::filesystem::exists(::caffe2rt::test::SharedPath(relative))) \
  GTEST_SKIP() << "needs " << ::caffe2rt::test::SharedPath(relative)    \
               << "; set CAFFE2_TEST_SHARED to the folder that has it"
