#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::weighted_multi_sampling_test {
namespace {

TEST(WeightedMultiSamplingTest, DrawsIndicesByTheDifferencesOfWeights) {
  ExpectResults({
      // Only index 1 has a weight.
      {"WeightedMultiSampling C -> I num_samples=3", "C f 3 = 0,2,2", "I i 3 = 1"},
      {"WeightedMultiSampling C S -> I", "C f 1 = 0.5; S d 2,2", "I i 2,2 = 0"},
      {"WeightedMultiSampling C -> I num_samples=2", "C f 2 = 0", "I i 2 = 0"},
      {"WeightedMultiSampling C -> I", "C f 1 = 1", "I i 0"},
      {"WeightedMultiSampling C -> I num_samples=3", "C f 0", "I i 0"},
  });
  ExpectInferred({{"WeightedMultiSampling C -> I num_samples=3", "C f 2", "int32 [3]"},
                  {"WeightedMultiSampling C -> I num_samples=3", "C f 0", "int32 [0]"},
                  {"WeightedMultiSampling C S -> I", "C f 2; S f 4,5", "int32 [4, 5]"},
                  {"WeightedMultiSampling C S -> I", "C f 2; S f ?", "int32 ?"}});
}

// The sequence of Caffe2 for this seed.
TEST(WeightedMultiSamplingTest, RepeatsTheSequenceOfASeed) {
  Workspace ws;
  Feed<float>(&ws, "C", {4}, {0.2f, 0.5f, 0.8f, 1});
  ws.RunOperatorOnce(ParseOp(R"(type: "WeightedMultiSampling" input: "C" output: "I"
                                arg { name: "num_samples" i: 8 } device_option { random_seed: 5 })"));
  ExpectTensor<int32_t>(ws, "I", {8}, {3, 0, 3, 3, 3, 0, 0, 2});
}

TEST(WeightedMultiSamplingTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"WeightedMultiSampling C -> I num_samples=-1", "C f 1 = 1",
       "argument \"num_samples\" is -1, want at least 0"},
      {"WeightedMultiSampling C S -> I num_samples=1", "C f 1 = 1; S f 1",
       "input 1 (shape_tensor) and argument num_samples are given, want one of them"},
      {"WeightedMultiSampling C -> I num_samples=1", "C f 1,2 = 1",
       "rank of input 0 (sampling_cdf) of shape [1, 2]: got 2, want 1"},
      {"WeightedMultiSampling C -> I num_samples=1", "C f 2 = 1,-1",
       "element 1 of input 0 (sampling_cdf) is -1, want a finite number, at least 0"},
      {"WeightedMultiSampling C -> I num_samples=1", "C f 1 = nan",
       "element 0 of input 0 (sampling_cdf) is nan, want a finite number, at least 0"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::weighted_multi_sampling_test
