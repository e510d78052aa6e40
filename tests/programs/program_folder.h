#pragma once
// A folder for the files of a test that runs `caffe2`. In command lines and in what is printed, its path is "DIR/".

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test {

using Words = std::vector<std::string>;

class ProgramFolder : public ::testing::Test {
 protected:
  ProgramResult Run(const Words& words) const {
    Words args;
    for (const std::string& word : words) args.push_back(Replaced(word, "DIR/", dir_.path("")));
    ProgramResult result = RunCaffe2(args);
    for (std::string* text : {&result.out, &result.err})
      *text = Replaced(*text, dir_.path(""), "DIR/");
    return result;
  }
  // The standard output of a command that succeeds without a warning.
  std::string Out(const Words& words) const {
    const ProgramResult result = Run(words);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    return result.out;
  }
  // Writes an array. Returns its path.
  std::string Array(const std::string& name, const std::vector<int64_t>& dims,
                    const std::vector<float>& values) const {
    Tensor tensor(dims, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
    dir_.Write(name, "");
    WriteNpy(dir_.path(name), tensor);
    return "DIR/" + name;
  }
  static Words Joined(Words first, const Words& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  const TempDir dir_;

 private:
  static std::string Replaced(std::string text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
    return text;
  }
};

}  // namespace caffe2rt::test
