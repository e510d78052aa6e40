#pragma once
// Finds files that tests read but that are not part of the repository, such as models and recorded
// cases. They are looked up in the folder that the environment variable CAFFE2_TEST_SHARED names,
// or else in ../shared, relative to the source tree. A test skips if a file that it needs is
// missing.
//
//   TEST(ModelsTest, ...) {
//     SKIP_WITHOUT_SHARED("models/CASES.tsv");
//     ... SharedPath("models/CASES.tsv") ...
//   }

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace caffe2rt::test {

// The path of the folder, or of a file in it, whether or not it exists.
std::string SharedPath(const std::string& relative = "");
// The path of a file of the source tree.
std::string SourcePath(const std::string& relative);
// The path of a file of the build tree: of a program or a library whose macro in CMake's definitions
// states it (caffe2rt_test_paths).
std::string BuildPath(const std::string& relative);

}  // namespace caffe2rt::test

#define SKIP_WITHOUT_SHARED(relative)                                   \
  if (!std::filesystem::exists(::caffe2rt::test::SharedPath(relative))) \
  GTEST_SKIP() << "needs " << ::caffe2rt::test::SharedPath(relative)    \
               << "; set CAFFE2_TEST_SHARED to the folder that has it"
