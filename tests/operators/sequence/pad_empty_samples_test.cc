#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::pad_empty_samples_test {
namespace {

TEST(PadEmptySamplesTest, GivesEmptySamplesABlankRow) {
  ExpectResults({
      {"PadEmptySamples L X Z -> K Y W", "L i 4 = 0,1,0,2; X f 3,2 = 1,2,3,4,5,6; Z l 3 = 4,5,6",
       "K i 4 = 1,1,1,2; Y f 5,2 = 0,0,1,2,0,0,3,4,5,6; W l 5 = 0,4,0,5,6"},
      {"PadEmptySamples L -> K", "L i 3 = 2,0,1", "K i 3 = 2,1,1"},
      {"PadEmptySamples L X -> K Y", "L i 2 = 0; X d 0,2", "K i 2 = 1; Y d 2,2 = 0"},
      {"PadEmptySamples L X -> K Y", "L i 2 = 1,0; X f 1,0", "K i 2 = 1; Y f 2,0"},
      {"PadEmptySamples L X -> K Y", "L i 0; X f 0,2", "K i 0; Y f 0,2"},
  });
  Workspace ws;
  Feed<int32_t>(&ws, "L", {3}, {1, 0, 1});
  Feed<std::string>(&ws, "X", {2}, {"a", "b"});
  Feed<std::string>(&ws, "Y", {3}, {"old", "old", "old"});
  RunOp(&ws, R"(type: "PadEmptySamples" input: "L" input: "X" output: "K" output: "Y")");
  ExpectTensor<std::string>(ws, "Y", {3}, {"a", "", "b"});
}

TEST(PadEmptySamplesTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"PadEmptySamples L X -> K", "L i 1 = 1; X f 1",
       "outputs, want one for each input (got 1, want 2)"},
      {"PadEmptySamples L X -> K Y", "L i 1,1 = 1; X f 1",
       "rank of input 0 (lengths) of shape [1, 1]: got 2, want 1"},
      {"PadEmptySamples L X -> K Y", "L l 1 = 1; X f 1",
       "the tensor holds elements of type int64, want int32"},
      {"PadEmptySamples L X Z -> K Y W", "L i 1 = 1; X f 1; Z f -",
       "rank of input 2 (features): got 0, want at least 1"},
      {"PadEmptySamples L X -> K Y", "L i 2 = 1,0; X f 2,3",
       "dim 0 of input 1 (features) of shape [2, 3], want the sum of the lengths (got 2, want 1)"},
      {"PadEmptySamples L X -> K Y", "L i 2 = 3,-1; X f 2",
       "element 1 of input 0 (lengths), want at least 0 (got -1, want at least 0)"},
  });
  ExpectInferred({{"PadEmptySamples L X -> K Y", "L i 4; X d 3,2", "int32 [4]; double ?"},
                  {"PadEmptySamples L X -> K Y", "L i ?; X d ?", "int32 ?; ? ?"}});
}

}  // namespace
}  // namespace caffe2rt::test::pad_empty_samples_test
