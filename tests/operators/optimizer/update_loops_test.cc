#include "caffe2_core/base/thread_pool.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::update_loops_test {
namespace {

struct Case {
  const char* op;
  std::vector<int64_t> param, moment, grad;
};

// Large enough for three threads, with rows that are updated several times.
const Case kCases[] = {
    {R"(type: "Adagrad" input: "P" input: "M" input: "G" input: "L" output: "P" output: "M")",
     {100001},
     {100001},
     {100001}},
    {R"(type: "SparseAdagrad" input: "P" input: "M" input: "I" input: "G" input: "L" output: "P"
        output: "M")",
     {7, 2049},
     {7, 2049},
     {60, 2049}},
    {R"(type: "RowWiseSparseAdagrad" input: "P" input: "M" input: "I" input: "G" input: "L"
        output: "P" output: "M")",
     {7, 2049},
     {7},
     {60, 2049}},
};

std::vector<float> RunWith(int threads, const Case& c) {
  Workspace ws;
  FeedRandom(&ws, "P", c.param);
  FeedRandom(&ws, "M", c.moment, 0, 1, 2);
  FeedRandom(&ws, "G", c.grad, -1, 1, 3);
  Feed<float>(&ws, "L", {1}, {-0.5f});
  Tensor* indices = FeedRange<int32_t>(&ws, "I", {60});
  for (int64_t i = 0; i < 60; ++i) indices->mutable_data<int32_t>()[i] = (i * i) % 7;
  SetNumThreads(threads);
  ws.RunOperatorOnce(ParseOp(c.op));
  SetNumThreads(1);
  return Fetch<float>(ws, "P");
}

TEST(UpdateLoopsTest, ComputeTheSameWithSeveralThreads) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.op);
    const std::vector<float> want = RunWith(1, c), got = RunWith(3, c);
    EXPECT_EQ(got, want);
  }
}

}  // namespace
}  // namespace caffe2rt::test::update_loops_test
