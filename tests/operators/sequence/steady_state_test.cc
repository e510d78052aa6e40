#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::steady_state_test {
namespace {

constexpr char kNet[] = R"(
  name: "sequence"
  op { type: "PackSegments" input: "L" input: "X" output: "packed" output: "mask"
       arg { name: "return_presence_mask" i: 1 } }
  op { type: "UnpackSegments" input: "L" input: "packed" output: "unpacked" }
  op { type: "AddPadding" input: "X" input: "L" output: "padded" output: "padded_lengths" }
  op { type: "RemovePadding" input: "padded" input: "padded_lengths" output: "trimmed" output: "lengths" }
  op { type: "GatherPadding" input: "padded" input: "padded_lengths" output: "start" output: "end" }
  op { type: "ReversePackedSegs" input: "packed" input: "T" output: "reversed" }
  op { type: "SequenceMask" input: "X" output: "masked" arg { name: "mode" s: "upper" } }
  op { type: "VariableLengthSequencePadding" input: "packed" input: "T" output: "cleared" }
  op { type: "LengthsTopK" input: "V" input: "N" output: "top" output: "places" arg { name: "k" i: 3 } }
  op { type: "LengthsTopKGradient" input: "N" input: "places" input: "top" output: "top_grad" arg { name: "k" i: 3 } }
  op { type: "PackRNNSequence" input: "X" input: "L" output: "steps" }
  op { type: "UnpackRNNSequence" input: "steps" input: "L" output: "rows" }
  op { type: "GatherRanges" input: "V" input: "R" output: "gathered" output: "counts" }
  op { type: "GatherRangesToDense" input: "V" input: "R" input: "K" output: "first" output: "second"
       arg { name: "lengths" ints: 2 ints: 1 } }
  op { type: "PadEmptySamples" input: "N" input: "V" output: "samples" output: "features" }
  op { type: "LengthsSplit" input: "N" output: "parts" arg { name: "n_split" i: 2 } }
  op { type: "BooleanMaskLengths" input: "L" input: "M" output: "kept" }
  op { type: "MergeDenseFeatureTensors" input: "X" input: "B" output: "f0" output: "k0" output: "v0"
       arg { name: "feature_ids" ints: 5 ints: 6 } }
  op { type: "MergeSingleMapFeatureTensors" input: "N" input: "K" input: "V" input: "M"
       output: "f1" output: "k1" output: "w1" output: "z1" output: "v1" arg { name: "feature_ids" ints: 5 } }
  op { type: "MergeMultiListFeatureTensors" input: "F" input: "I" input: "N" input: "V"
       output: "f2" output: "k2" output: "w2" output: "v2" }
  op { type: "MergeMultiListFeatureTensorsGradient" input: "F" input: "N" input: "v2" output: "v2_grad" }
  op { type: "DenseVectorToIdList" input: "X" output: "set" output: "ids" }
  op { type: "CTCGreedyDecoder" input: "C" output: "label_counts" output: "labels" }
  op { type: "CTCBeamSearchDecoder" input: "C" input: "E" output: "result_counts" output: "results" output: "chances"
       arg { name: "num_candidates" i: 2 } }
  op { type: "ViterbiPath" input: "X" input: "Q" output: "path" }
  op { type: "SwapBestPath" input: "X" input: "path" output: "swapped" }
)";

TEST(SequenceOperatorsTest, AllocateNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 2}, 1);
  Feed<int32_t>(&ws, "L", {2}, {1, 2});
  Feed<int32_t>(&ws, "T", {2}, {1, 2});
  FeedRange<float>(&ws, "V", {6}, 1);
  Feed<int32_t>(&ws, "N", {3}, {4, 0, 2});
  Feed<int32_t>(&ws, "R", {1, 2, 2}, {0, 2, 3, 1});
  FeedRange<int64_t>(&ws, "K", {6}, 9, -1);
  Feed<bool>(&ws, "M", {3}, {true, false, true});
  FeedRange<bool>(&ws, "B", {3, 2});
  Feed<int32_t>(&ws, "F", {2}, {1, 2});
  FeedRange<int64_t>(&ws, "I", {3}, 7);
  // Two sequences of three steps; class 0 is the blank.
  FeedRandom(&ws, "C", {3, 2, 4}, 0.1f, 1);
  Feed<int32_t>(&ws, "E", {2}, {3, 2});
  Feed<float>(&ws, "Q", {2, 2}, {0, 0, 0, 0});
  NetBase* net = ws.CreateNet(ParseNet(kNet));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
  EXPECT_EQ(counter.Counts().locks, 0);
  ExpectTensor<float>(ws, "unpacked", {3, 2}, {1, 2, 3, 4, 5, 6});
  ExpectTensor<float>(ws, "rows", {3, 2}, {1, 2, 3, 4, 5, 6});
  ExpectTensor<float>(ws, "first", {1, 2}, {2, 1});
  ExpectTensor<float>(ws, "v2_grad", {6}, {1, 2, 3, 4, 5, 6});
  ExpectTensor<int32_t>(ws, "path", {3}, {1, 1, 1});
  ExpectTensor<float>(ws, "trimmed", {3, 2}, {1, 2, 3, 4, 5, 6});
}

}  // namespace
}  // namespace caffe2rt::test::steady_state_test
