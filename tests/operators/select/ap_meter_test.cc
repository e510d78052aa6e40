#include <string>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::ap_meter_test {
namespace {

struct Examples {
  int64_t classes;
  std::vector<float> scores;
  std::vector<int32_t> labels;
  std::vector<float> precisions;
};

// The operator remembers its runs, so the calls of a table, which are repeated, do not fit.
TEST(APMeterTest, ComputesTheAveragePrecisionOfEachClass) {
  const Examples rows[] = {
      // By score, the labels of class 0 are 1, 0, 1 and 1, those of class 1 are 1, 1, 1 and 0.
      {2,
       {0.4f, 0.7f, 0.9f, 0.1f, 0.8f, 0.3f, 0.7f, 0.4f},
       {1, 1, 1, 0, 0, 1, 1, 1},
       {0.8055556f, 1}},
      // Equal scores are in the order of the examples.
      {1, {0.5f, 0.5f, 0.5f}, {0, 1, 1}, {0.5833333f}},
      // Only the label 1 is positive, but all labels are added up, as in Caffe2: 1 / 1 and 4 / 4.
      {1, {0.5f, 0.5f, 0.5f}, {1, 5, -1}, {1}},
      {1, {4, 3, 2, 1}, {-1, 5, -1, 1}, {1}},
      {1, {4, 3, 2, 1}, {3, 1, 0, -1}, {2}},
      {2, {0.5f, 0.5f}, {0, 0}, {0, 0}},
      {2, {}, {}, {0, 0}},
      // Only the last three examples count.
      {1, {1, 2, 3, 4, 5}, {1, 0, 1, 0, 0}, {1.0f / 3}}};
  for (const Examples& row : rows) {
    const std::vector<int64_t> dims = {static_cast<int64_t>(row.scores.size()) / row.classes,
                                       row.classes};
    SCOPED_TRACE(dims[0]);
    Workspace ws;
    Feed<float>(&ws, "X", dims, row.scores);
    Feed<int32_t>(&ws, "L", dims, row.labels);
    const std::string size = dims[0] == 5 ? R"(arg { name: "buffer_size" i: 3 })" : "";
    ws.RunOperatorOnce(ParseOp(R"(type: "APMeter" input: "X" input: "L" output: "Y" )" + size));
    ExpectTensor<float>(ws, "Y", {row.classes}, row.precisions, 1e-6);
  }
  ExpectInferred({{"APMeter X L -> Y", "X f 4,2; L i 4,2", "float [2]"},
                  {"APMeter X L -> Y", "X f ?; L i 4,2", "float ?"}});
}

// As in Caffe2, new examples replace those with the greatest scores, not the oldest ones.
TEST(APMeterTest, RemembersExamplesOfEarlierRuns) {
  Workspace ws;
  Feed<float>(&ws, "X", {2, 2}, {0.4f, 0.4f, 0.5f, 0.2f});
  Feed<int32_t>(&ws, "L", {2, 2}, {0, 1, 1, 0});
  NetBase* const net =
      ws.CreateNet(ParseNet(R"(name: "n" op { type: "APMeter" input: "X" input: "L" output: "Y"
                                              arg { name: "buffer_size" i: 3 } })"));
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {2}, {1, 1});
  // Class 0: 0.5 (1) is gone; 0.6 (0), 0.4 (0) and 0.3 (1) remain. Class 1: 0.4 (1) is gone; 0.9 (0),
  // 0.2 (0) and 0.2 (1), in the order of the runs.
  Feed<float>(&ws, "X", {2, 2}, {0.6f, 0.9f, 0.3f, 0.2f});
  Feed<int32_t>(&ws, "L", {2, 2}, {0, 0, 1, 1});
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {2}, {1.0f / 3, 1.0f / 3}, 1e-6);
  // Class 0: 0.4 (0), 0.3 (1) and 0.1 (1). Class 1: 0.8 (1), 0.2 (0) and 0.2 (1).
  Feed<float>(&ws, "X", {1, 2}, {0.1f, 0.8f});
  Feed<int32_t>(&ws, "L", {1, 2}, {1, 1});
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {2}, {(1.0f / 2 + 2.0f / 3) / 2, (1 + 2.0f / 3) / 2}, 1e-6);
  // As many as are kept replace all.
  Feed<float>(&ws, "X", {4, 2}, {9, 9, 1, 4, 2, 3, 3, 2});
  Feed<int32_t>(&ws, "L", {4, 2}, {1, 1, 1, 0, 0, 0, 0, 1});
  ASSERT_TRUE(net->Run());
  ExpectTensor<float>(ws, "Y", {2}, {1.0f / 3, 1.0f / 3}, 1e-6);
  Feed<float>(&ws, "X", {2, 1}, {0.6f, 0.3f});
  Feed<int32_t>(&ws, "L", {2, 1}, {0, 1});
  ExpectThrows([&] { net->Run(); },
               "input 0 (predictions) has 1 columns, want 2, as in the run before");
}

TEST(APMeterTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"APMeter X L -> Y buffer_size=0", "X f 1,1; L i 1,1",
       "argument \"buffer_size\" is 0, want at least 1"},
      {"APMeter X L -> Y", "X f 2; L i 2",
       "rank of input 0 (predictions) of shape [2]: got 1, want 2"},
      {"APMeter X L -> Y", "X f 3,2; L i 2,2",
       "input 1 (labels) has shape [2, 2], want that of input 0 (predictions), [3, 2]"},
      {"APMeter X L -> Y", "X f 1,1; L l 1,1",
       "the tensor holds elements of type int64, want int32"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::ap_meter_test
