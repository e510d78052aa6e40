#include "tests/support/devices_agree.h"

namespace caffe2rt::test::optimizer_cuda_test {
namespace {

using OptimizerOnCudaTest = OnDeviceTest;

// Blobs: parameter, moments, gradient of all rows, gradient of 40 rows of 6 (with equal indices).
void FeedState(Workspace* ws, int64_t columns) {
  for (const char* name : {"P", "M", "S", "D", "G"}) {
    FeedRandom(ws, name, {6, columns}, 0.1f, 1, static_cast<uint32_t>(name[0]));
  }
  FeedRandom(ws, "R", {40, columns}, -1, 1, 7);
  FeedRandom(ws, "row", {6}, 0.1f, 1, 8);
  Feed<float>(ws, "L", {1}, {-0.25f});
  Feed<int64_t>(ws, "N", {1}, {3});
  int64_t* const wide = FeedRange<int64_t>(ws, "J", {40})->mutable_data<int64_t>();
  int32_t* const narrow = FeedRange<int32_t>(ws, "I", {40})->mutable_data<int32_t>();
  for (int32_t i = 0; i < 40; ++i) wide[i] = narrow[i] = (i * i + 1) % 6;
}

TEST_F(OptimizerOnCudaTest, AgreesWithTheCpu) {
  const char* const ops[] = {
      R"(type: "Adam" input: "P" input: "M" input: "S" input: "G" input: "L" input: "N"
         output: "P2" output: "M2" output: "S2" output: "Q")",
      R"(type: "Adagrad" input: "P" input: "S" input: "G" input: "L" output: "P2" output: "S2"
         output: "E" output: "U" arg { name: "weight_decay" f: 0.1 } arg { name: "decay" f: 0.9 })",
      R"(type: "RmsProp" input: "G" input: "S" input: "M" input: "L" output: "Q" output: "S2"
         output: "M2" arg { name: "momentum" f: 0.9 })",
      R"(type: "Adadelta" input: "P" input: "S" input: "D" input: "G" input: "L" output: "P2"
         output: "S2" output: "D2")",
      R"(type: "MomentumSGD" input: "G" input: "M" input: "L" output: "Q" output: "M2"
         arg { name: "momentum" f: 0.9 } arg { name: "nesterov" i: 1 })",
      R"(type: "Lars" input: "P" input: "G" input: "L" input: "L" input: "L" output: "Q")",
      R"(type: "LearningRate" input: "N" output: "Q" arg { name: "base_lr" f: 0.5 }
         arg { name: "policy" s: "exp" } arg { name: "gamma" f: 0.5 })",
      R"(type: "SparseAdagrad" input: "P" input: "S" input: "I" input: "R" input: "L" output: "P"
         output: "S")",
      R"(type: "SparseMomentumSGDUpdate" input: "R" input: "M" input: "L" input: "P" input: "J"
         output: "Q" output: "M" output: "P" arg { name: "momentum" f: 0.9 })",
      R"(type: "SparseAdam" input: "P" input: "M" input: "S" input: "J" input: "R" input: "L"
         input: "N" output: "P" output: "M" output: "S" output: "Q")",
      R"(type: "SparseAdadelta" input: "P" input: "S" input: "D" input: "I" input: "R" input: "L"
         output: "P" output: "S" output: "D")",
      R"(type: "RowWiseSparseAdagrad" input: "P" input: "row" input: "J" input: "R" input: "L"
         output: "P" output: "row" arg { name: "weight_decay" f: 0.1 })",
      R"(type: "RowWiseSparseAdam" input: "P" input: "M" input: "row" input: "I" input: "R"
         input: "L" input: "N" output: "P" output: "M" output: "row" output: "Q")",
  };
  for (const int64_t columns : {1, 7, 300}) {
    for (const char* op : ops) {
      SCOPED_TRACE(op);
      FeedState(&ws_, columns);
      ExpectDevicesAgree(&ws_, op, {.tolerance = 1e-5});
    }
  }
}

TEST_F(OptimizerOnCudaTest, CountsOnTheCpu) {
  Feed<int64_t>(&ws_, "N", {1}, {3});
  ExpectDevicesAgree(&ws_, R"(type: "Iter" input: "N" output: "N")",
                     {.stay = {"N"}, .on_cpu = {"N"}});
}

TEST_F(OptimizerOnCudaTest, ReportsAnIndexOutOfRange) {
  FeedState(&ws_, 3);
  Feed<int32_t>(&ws_, "I", {2}, {1, 6});
  FeedRandom(&ws_, "R", {2, 3});
  ExpectDeviceThrows(&ws_,
                     R"(type: "SparseAdagrad" input: "P" input: "S" input: "I" input: "R" input: "L"
                        output: "P" output: "S")",
                     "index 6 at position 1 is out of range, want at least 0 and below 6");
}

}  // namespace
}  // namespace caffe2rt::test::optimizer_cuda_test
