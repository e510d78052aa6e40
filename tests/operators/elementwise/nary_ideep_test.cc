#include "tests/operators/common/onednn_run.h"

namespace caffe2rt::nary_ideep_test {
namespace {

using namespace test;  // used throughout this file

class OnednnNaryTest : public OnednnTest {};

TEST_P(OnednnNaryTest, CombinesInputsInDifferentLayouts) {
  FeedImage("X", 1);
  FeedImage("Z", dims(), "nchw", 2);
  FeedImage("V", dims(), "nhwc", 3);
  for (const char* type : {"Sum", "Mean", "Max", "Min"}) {
    const std::string start = std::string("type: \"") + type;
    ExpectSameAsCpu(start + R"(" input: "X" input: "Z" input: "V" output: "Y")", 1e-6);
    ExpectSameAsCpu(start + R"(" input: "Z" input: "X" output: "Y")", 1e-6);
    ExpectSameAsCpu(start + R"(" input: "X" output: "Y")");
    FeedImage("X", 1);
    ExpectSameAsCpu(start + R"(" input: "X" input: "V" output: "X")", 1e-6, "X");
  }
}

TEST_P(OnednnNaryTest, RejectsOtherShapes) {
  FeedImage("X");
  FeedImage("Z", {1, 2, 3, 4}, "nchw");
  ExpectThrows([&] { RunOnednn(R"(type: "Sum" input: "X" input: "Z" output: "Y")"); },
               "input 1 has shape [1, 2, 3, 4]");
  // As many elements in another order of the dimensions.
  FeedImage("X", {1, 4, 3, 2}, GetParam().layout);
  FeedImage("V", {1, 2, 3, 4}, "nhwc");
  for (const char* type : {"Sum", "Mean", "Max", "Min"}) {
    ExpectThrows(
        [&] {
          RunOnednn(std::string("type: \"") + type + R"(" input: "X" input: "Z" output: "Y")");
        },
        "input 1 has shape [1, 2, 3, 4], want [1, 4, 3, 2] as input 0");
    ExpectThrows(
        [&] {
          RunOnednn(std::string("type: \"") + type +
                    R"(" input: "X" input: "X" input: "V" output: "Y")");
        },
        "input 2 has shape [1, 2, 3, 4], want [1, 4, 3, 2] as input 0");
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, OnednnNaryTest, testing::ValuesIn(OnednnCases()));

}  // namespace
}  // namespace caffe2rt::nary_ideep_test
