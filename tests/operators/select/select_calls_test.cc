// Operators that select, at the bounds of their arguments and inputs, with whole messages, and in a second run on other
// sizes. Expected values are by hand.
#include <gtest/gtest.h>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/common/call_tables.h"
#include "tests/operators/common/failed_runs.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::select_calls_test {
namespace {

TEST(SelectCallsTest, MasksAndUnmasksRows) {
  ExpectResults({
      {"BooleanMask X M -> Y I", "X d 4,2 = 1,2,3,4,5,6,7,8; M b 4 = 0,1,0,1",
       "Y d 2,2 = 3,4,7,8; I l 2 = 1,3"},
      {"BooleanMask X M -> Y I", "X u 3,0,2; M b 3 = 0,0,1", "Y u 1,0,2; I l 1 = 2"},
      {"BooleanMask X M -> Y I", "X f 0,2; M b 0", "Y f 0,2; I l 0"},
      {"BooleanMaskGradient M G -> D", "M b 4 = 0,1,0,1; G i 2,2 = 1,2,3,4",
       "D i 4,2 = 0,0,1,2,0,0,3,4"},
      {"BooleanUnmask M V N W O U -> Y",
       "M b 4 = 0,1,0,0; V l 1 = 10; N b 4 = 0,1,1,0; W l 1 = 20; O b 4 = 1; U l 2 = 30,31",
       "Y l 4 = 30,10,20,31"},
      {"BooleanUnmask M V -> Y", "M b 2 = 1; V u 2 = 7,8", "Y u 2 = 7,8"},
      {"BooleanUnmask M V N W -> Y", "M b 0; V d 0; N b 0; W d 0", "Y d 0"},
  });
  ExpectLeftAsTheyWere(
      {"BooleanUnmask M V N W O U -> Y",
       "M b 3 = 1,0,0; V f 1; N b 3 = 0,1,0; W f 1; O b 3 = 0,0,1; U f 1",
       {{"V f 2", "values that mask 0 takes, want the elements of input 1 (got 1, want 2)"},
        {"W f 2", "values that mask 1 takes, want the elements of input 3 (got 1, want 2)"},
        {"U f 2", "values that mask 2 takes, want the elements of input 5 (got 1, want 2)"},
        {"V f 0", "position in input 1 (values), want one for each true element of its mask"},
        {"U f 0", "position in input 5 (values), want one for each true element of its mask"},
        {"O b 3 = 0,1,0", "All masks have False at position 2: want one that is true there"},
        {"W f 1,1", "rank of input 3 (values)"},
        {"U f 1,1", "rank of input 5 (values)"},
        {"U d 1", "input 5 (values) has elements of type double, want that of input 1, float"},
        {"N b 2 = 1", "elements of input 2 (a mask), want those of input 0"},
        {"O b 1,3", "rank of input 4 (a mask) of shape [1, 3]"},
        {"O i 3", "int32"}}});
  ExpectLeftAsTheyWere({"BooleanMaskGradient M G -> D",
                        "M b 3 = 0,1,1; G f 2,2",
                        {{"G f 3,2", "true elements of input 0 (mask), want the rows of input 1"},
                         {"G f 1,2", "true elements of input 0 (mask), want the rows of input 1"},
                         {"G u 2,2", "input 1 (dmasked_data) has elements of type uint8"},
                         {"G f -", "rank of input 1 (dmasked_data)"},
                         {"M b 1,3", "rank of input 0 (mask) of shape [1, 3]"},
                         {"M i 3", "int32"}}});
  ExpectInferred({{"BooleanMask X M -> Y I", "X d 3,2; M b 3", "double ?; int64 ?"},
                  {"BooleanMask X M -> Y", "X u 3,2; M b 3", "uint8 ?"}});
}

TEST(SelectCallsTest, MasksOfOtherSizesInALaterRun) {
  Workspace ws;
  const auto feed = [&](const std::vector<bool>& mask, const std::vector<float>& values) {
    Feed<bool>(&ws, "M", {static_cast<int64_t>(mask.size())}, mask);
    Feed<float>(&ws, "V", {static_cast<int64_t>(values.size())}, values);
  };
  feed({true, true, true}, {1, 2, 3});
  NetBase* const net = ws.CreateNet(
      ParseNet("name: 'n' op { type: 'BooleanUnmask' input: 'M' input: 'V' output: 'Y' } "
               "device_option {}"));
  for (const std::vector<float>& values :
       std::vector<std::vector<float>>{{1, 2, 3}, {}, {4}, {}, {5, 6, 7, 8}}) {
    feed(std::vector<bool>(values.size(), true), values);
    ASSERT_TRUE(net->Run());
    ExpectTensor<float>(ws, "Y", {static_cast<int64_t>(values.size())}, values);
  }
}

TEST(SelectCallsTest, CompressesUpToTheWholeInput) {
  ExpectResults({
      {"Compress X C -> Y", "X i 2,2 = 1,2,3,4; C b 4 = 1,0,0,1", "Y i 2 = 1,4"},
      {"Compress X C -> Y axis=0", "X i 2,2 = 1,2,3,4; C b 2 = 0,1", "Y i 1,2 = 3,4"},
      {"Compress X C -> Y axis=-2", "X i 3,1 = 1,2,3; C b 3 = 1,0,1", "Y i 2,1 = 1,3"},
      {"Compress X C -> Y", "X f 0,2; C b 0", "Y f 0"},
      {"NonZero X -> Y", "X c 2,3 = 0,-1,0,2,0,3", "Y l 2,3 = 0,1,1,1,0,2"},
  });
  const std::string too_many =
      "elements of input 1 (condition), want at most those of input 0 (X) of shape ";
  ExpectRejected({
      {"Compress X C -> Y", "X i 2,2; C b 5",
       too_many + "[2, 2] to select from (got 5, want at most 4)"},
      {"Compress X C -> Y axis=0", "X i 2,3; C b 3",
       too_many + "[2, 3] to select from (got 3, want at most 2)"},
      {"Compress X C -> Y axis=-1", "X i 2,3; C b 4",
       too_many + "[2, 3] to select from (got 4, want at most 3)"},
      {"Compress X C -> Y", "X i 2; C b 1,2",
       "rank of input 1 (condition), want a vector (got 2, want 1)"},
  });
}

TEST(SelectCallsTest, ComparesWholeSlices) {
  ExpectResults({
      // The columns differ in the last row alone; or in the first.
      {"ONNXUnique X -> Y I J C axis=1", "X i 3,3 = 1,1,1,2,2,2,4,3,4",
       "Y i 3,2 = 1,1,2,2,3,4; I l 2 = 1,0; J l 3 = 1,0,1; C l 2 = 1,2"},
      {"ONNXUnique X -> Y I J C axis=-1 sorted=0", "X i 3,3 = 1,1,1,2,2,2,4,3,4",
       "Y i 3,2 = 1,1,2,2,4,3; I l 2 = 0,1; J l 3 = 0,1,0; C l 2 = 2,1"},
      {"ONNXUnique X -> Y I J C axis=1", "X f 2,3,2 = 2,1,1,9,2,1,0,0,0,0,0,0",
       "Y f 2,2,2 = 1,9,2,1,0,0,0,0; I l 2 = 1,0; J l 3 = 1,0,1; C l 2 = 1,2"},
      {"ONNXUnique X -> Y I J C sorted=0", "X d 7 = 5,3,5,4,3,5,nan",
       "Y d 4 = 5,3,4,nan; I l 4 = 0,1,3,6; J l 7 = 0,1,0,2,1,0,3; C l 4 = 3,2,1,1"},
      {"ONNXUnique X -> Y I J C", "X f 5 = nan,-inf,inf,nan,0",
       "Y f 4 = -inf,0,inf,nan; I l 4 = 1,4,2,0; J l 5 = 3,0,2,3,1; C l 4 = 1,1,1,2"},
      {"ONNXUnique X -> Y I J C axis=0", "X u 2,0", "Y u 1,0; I l 1 = 0; J l 2 = 0; C l 1 = 2"},
      {"ONNXTopK X -> V I k=3 largest=0", "X f 5 = nan,2,nan,1,nan",
       "V f 3 = 1,2,nan; I l 3 = 3,1,0"},
      {"ONNXTopK X -> V I k=2", "X f 5 = 3,2,nan,inf,nan", "V f 2 = nan,nan; I l 2 = 2,4"},
      {"ONNXTopK X -> V I k=17 largest=0", "X i 18 = 17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0",
       "V i 17 = 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16; "
       "I l 17 = 17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1"},
      {"ONNXOneHot I D V -> Y", "I l 4 = -3,-4,2,3; D l 1 = 3; V f 2 = 0,1",
       "Y f 4,3 = 1,0,0,0,0,0,0,0,1,0,0,0"},
      {"ONNXOneHot I D V -> Y", "I f 4 = -0.5,-1.5,0.9,2.5; D f 1 = 2.9; V i 2 = 7,8",
       "Y i 4,2 = 8,7,7,8,8,7,7,7"},
      {"ONNXWhere C X Z -> Y", "C b 2,1 = 1,0; X i 1,0; Z i 1", "Y i 2,0"},
      {"ONNXWhere C X Z -> Y", "C b 0; X i 1; Z i 1", "Y i 0"},
      {"ONNXWhere C X Z -> Y", "C b 1 = 0; X d 2,1 = 1,2; Z d 3 = 4,5,6", "Y d 2,3 = 4,5,6,4,5,6"},
  });
}

TEST(SelectCallsTest, CountsGramsOfRows) {
  const std::string grams =
      "TfIdfVectorizer X -> Y ngram_counts=0,2 pool_int64s=1,2,1,2,1,3 ngram_indexes=0,1,2,3 ";
  const std::string two = grams + "min_gram_length=1 max_gram_length=2 ";
  ExpectResults({
      {two + "max_skip_count=0 mode=TF", "X l 4 = 1,2,3,1", "Y f 4 = 2,1,1,0"},
      // 1 and 3 are two apart.
      {two + "max_skip_count=1 mode=TF", "X l 4 = 1,2,3,1", "Y f 4 = 2,1,1,1"},
      {two + "max_skip_count=0 mode=TF", "X i 1,4 = 1,3,1,2", "Y f 1,4 = 2,1,1,1"},
      {two + "max_skip_count=0 mode=TF", "X i 0,4", "Y f 0,4"},
      {two + "max_skip_count=0 mode=TF", "X l 2,0", "Y f 2,4 = 0"},
      {two + "max_skip_count=0 mode=IDF weights=-1.5,2.0,-0.5,3.0", "X l 4 = 1,2,1,2",
       "Y f 4 = -1.5,2,-0.5,0"},
      {two + "max_skip_count=0 mode=TFIDF weights=-1.5,2.0,-0.5,3.0", "X l 4 = 1,2,1,2",
       "Y f 4 = -3,4,-1,0"},
      {two + "max_skip_count=0 mode=TF weights=-1.5,2.0,-0.5,3.0", "X l 4 = 1,2,1,2",
       "Y f 4 = 2,2,2,0"},
      {grams + "min_gram_length=2 max_gram_length=2 max_skip_count=2 mode=TF", "X l 4 = 1,9,9,2",
       "Y f 4 = 0,0,1,0"},
      {grams + "min_gram_length=2 max_gram_length=2 max_skip_count=1 mode=TF", "X l 4 = 1,9,9,2",
       "Y f 4 = 0"},
      {grams + "min_gram_length=1 max_gram_length=1 max_skip_count=5 mode=TF", "X l 3 = 1,2,1",
       "Y f 4 = 2,1,0,0"},
  });
  ExpectRejected({
      {grams + "min_gram_length=2 max_gram_length=1 max_skip_count=0 mode=TF", "X l 4",
       "min_gram_length, want at most max_gram_length (got 2, want at most 1)"},
      {two + "max_skip_count=0 mode=TF weights=1.0,2.0,3.0", "X l 4",
       "argument weights has 3 elements, want one for each of 4 n-grams"},
      {two + "max_skip_count=0 mode=TF", "X l -", "rank of input 0 (X) is 0, want 1 or 2"},
      {two + "max_skip_count=0 mode=TF", "X l 1,1,1", "rank of input 0 (X) is 3, want 1 or 2"},
  });
}

TEST(SelectCallsTest, MarksBucketsSegmentsAndClasses) {
  ExpectResults({
      {"SegmentOneHot L I N -> Y", "L i 2 = 0; I l 0; N l 1 = 0", "Y f 2,0"},
      {"SegmentOneHot L I N -> Y", "L i 2 = 0,1; I l 1 = 0; N l 1 = 1", "Y f 2,1 = 0,1"},
      {"SegmentOneHot L I N -> Y", "L i 0; I l 0; N l 1 = 3", "Y f 0,3"},
      {"BatchBucketOneHot X L B -> Y", "X f 1,2 = 0,5; L i 2 = 1,2; B f 3 = 0,4,6",
       "Y f 1,5 = 1,0,0,1,0"},
      {"BatchBucketOneHot X L B -> Y", "X f 2 = 3,5; L i 1 = 1; B f 1 = 4", "Y f 2,2 = 1,0,0,1"},
      {"KeySplit K -> A B C categorical_limit=3", "K l 5 = 2,0,2,2,0",
       "A i 2 = 1,4; B i 0; C i 3 = 0,2,3"},
      {"IndexHash X -> Y modulo=1", "X i 3 = 5,-5,0", "Y i 3 = 0"},
      {"IndexHash X -> Y modulo=7", "X l 2 = 0,7", "Y l 2 = 0,0"},
      {"MultiClassAccuracy P L -> A N", "P f 3,3 = 0,2,1,3,0,0,0,1,0; L i 3 = 1,0,0",
       "A f 3 = 0.5,1,0; N i 3 = 2,1,0"},
      {"TopK X -> V I F k=1", "X f 2,2 = 1,2,4,3", "V f 2,1 = 2,4; I l 2,1 = 1,0; F l 2 = 1,2"},
      {"TopK X K -> V I", "X f 3 = 1,3,2; K l 1 = 2", "V f 2 = 3,2; I l 2 = 1,2"},
      // The argument comes first.
      {"TopK X K -> V I k=1", "X f 3 = 1,3,2; K l 1 = 2", "V f 1 = 3; I l 1 = 1"},
      {"TopK X -> V I F k=1", "X f 1 = 5", "V f 1 = 5; I l 1 = 0; F l 1 = 0"},
      {"TopK X -> V I F k=2", "X f 1,1 = -5", "V f 1,2 = -5,0; I l 1,2 = 0,-1; F l 2 = 0,-1"},
      {"TopK X -> V I F k=2", "X f 2,0", "V f 2,2 = 0; I l 2,2 = -1; F l 4 = -1"},
      {"TopKGradient G I X -> D", "G f 1 = 5; I l 1 = 0; X f 1", "D f 1 = 5"},
      {"TopKGradient G I X -> D", "G f 1,2 = 5,6; I l 1,2 = 0,-1; X f 1,1", "D f 1,1 = 5"},
      {"Summarize X -> Y", "X f 2 = 1,3", "Y f 4 = 1,3,2,1.4142135"},
      {"Summarize X -> Y", "X f 3 = 1,3,5", "Y f 4 = 1,5,3,2"},
  });
  ExpectRejected({
      {"SegmentOneHot L I N -> Y", "L i 1 = 1; I l 1 = 0; N l 1 = 0",
       "element 0 of input 1 (indices) is 0, want at least 0 and less than index_size 0"},
      {"SegmentOneHot L I N -> Y", "L i 1 = 0; I l 0; N l 1 = -1",
       "input 2 (index_size_tensor): got -1, want at least 0"},
      {"BatchBucketOneHot X L B -> Y", "X f 1,2; L i 2 = 1,0; B f 1",
       "element 1 of input 1 (lengths), the boundaries of a column: got 0, want at least 1"},
      {"KeySplit K -> A B categorical_limit=2", "K l 2 = 0,-1",
       "element 1 of input 0 (keys) is -1, want at least 0 and less than categorical_limit 2"},
      {"KeySplit K -> A B categorical_limit=2", "K l 1 = 2",
       "element 0 of input 0 (keys) is 2, want at least 0 and less than categorical_limit 2"},
      {"TopK X -> V I V k=1", "X f 2", "output \"V\" is listed twice, want different blobs"},
      {"TopK X -> V I I k=1", "X f 2", "output \"I\" is listed twice, want different blobs"},
      {"TopK X -> V V k=1", "X f 2", "output \"V\" is listed twice, want different blobs"},
      {"MultiClassAccuracy P L -> A N", "P f 2,3; L i 2 = 0,3",
       "element 1 of input 1 (labels) is 3, want at least 0 and less than 3"},
      {"MultiClassAccuracy P L -> A N", "P f 2,3; L i 2 = -1,0",
       "element 0 of input 1 (labels) is -1, want at least 0 and less than 3"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::select_calls_test
