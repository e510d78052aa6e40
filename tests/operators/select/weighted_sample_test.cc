#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::weighted_sample_test {
namespace {

TEST(WeightedSampleTest, DrawsColumnsByWeight) {
  ExpectResults({
      {"WeightedSample W V -> I J", "W f 3,3 = 0,1,0,0,0,2,3,0,0; V f 3,3 = 1,2,3,4,5,6,7,8,9",
       "I i 3,1 = 1,2,0; J f 3,1 = 2,6,7"},
      {"WeightedSample W -> I", "W f 2,3 = 0", "I i 2,1 = 0"},
      {"WeightedSample W -> I", "W f 2,2,1 = 0,1,1,0", "I i 2,1 = 1,0"},
      {"WeightedSample W -> I", "W f 0,3", "I i 0"},
      {"WeightedSample W V -> I J", "W f 2,0; V f 2,0", "I i 0; J f 0"},
  });
  ExpectInferred({{"WeightedSample W V -> I J", "W f 3,2; V f 3,2", "int32 [3, 1]; float [3, 1]"},
                  {"WeightedSample W -> I", "W f 3,0", "int32 [0]"},
                  {"WeightedSample W -> I", "W f ?", "int32 ?"}});
}

// The sequence of Caffe2 for this seed.
TEST(WeightedSampleTest, RepeatsTheSequenceOfASeed) {
  Workspace ws;
  FeedRange<float>(&ws, "W", {10, 4}, 1, 0);
  ws.RunOperatorOnce(ParseOp(R"(type: "WeightedSample" input: "W" output: "I"
                                device_option { random_seed: 1 })"));
  ExpectTensor<int32_t>(ws, "I", {10, 1}, {3, 1, 1, 2, 0, 3, 1, 3, 2, 1});
}

TEST(WeightedSampleTest, RejectsWeightsThatAreNoWeights) {
  ExpectRejected({
      {"WeightedSample W V -> I", "W f 2,2; V f 2,2",
       "inputs, want as many as outputs (got 2, want 1)"},
      {"WeightedSample W -> I", "W f 2", "input 0 (sampling_weights) has shape [2], want a matrix"},
      {"WeightedSample W -> I", "W f 2,2,2",
       "input 0 (sampling_weights) has shape [2, 2, 2], want a matrix"},
      {"WeightedSample W V -> I J", "W f 2,2; V f 2,3",
       "input 1 (sampling_values) has shape [2, 3], want that of input 0 (sampling_weights), [2, "
       "2]"},
      {"WeightedSample W -> I", "W f 2,2 = 1,1,2,-1",
       "element [1, 1] of input 0 (sampling_weights) is -1, want at least 0"},
      {"WeightedSample W -> I", "W f 1,2 = 1,inf",
       "sum of row 0 of input 0 (sampling_weights) is inf, want a finite number"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::weighted_sample_test
