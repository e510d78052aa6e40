#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::lengths_split_test {
namespace {

TEST(LengthsSplitTest, SplitsLengthsEvenly) {
  ExpectResults({
      {"LengthsSplit L -> Y n_split=3", "L i 4 = 4,6,0,1", "Y i 12 = 2,1,1,2,2,2,0,0,0,1,0,0"},
      // The input counts, not the argument.
      {"LengthsSplit L N -> Y n_split=3", "L i 1 = 5; N i 1 = 2", "Y i 2 = 3,2"},
      {"LengthsSplit L N -> Y", "L i 1 = 5; N l 1 = 1", "Y i 1 = 5"},
      {"LengthsSplit L -> Y n_split=2", "L i 1 = 2147483647", "Y i 2 = 1073741824,1073741823"},
      {"LengthsSplit L -> Y n_split=2", "L i 0", "Y i 0"},
  });
}

TEST(LengthsSplitTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"LengthsSplit L -> Y", "L i 1", "argument n_split is missing, want it or input 1 (n_split)"},
      {"LengthsSplit L -> Y n_split=0", "L i 1", "argument \"n_split\" is 0, want above 0"},
      {"LengthsSplit L -> Y n_split=2", "L i 1,1",
       "rank of input 0 (LENGTHS) of shape [1, 1]: got 2, want 1"},
      {"LengthsSplit L -> Y n_split=2", "L l 1",
       "the tensor holds elements of type int64, want int32"},
      {"LengthsSplit L -> Y n_split=2", "L i 2 = 4,-5",
       "element 1 of input 0 (LENGTHS), want at least 0 (got -5, want at least 0)"},
      {"LengthsSplit L N -> Y", "L i 1; N i 2 = 1", "input 1 (n_split) has shape [2], want [1]"},
      {"LengthsSplit L N -> Y", "L i 1; N i 1 = 0", "input 1 (n_split): got 0, want more than 0"},
      {"LengthsSplit L N -> Y", "L i 2 = 1; N l 1 = 4611686018427387904",
       "size overflow: 2 * 4611686018427387904 does not fit into 64 bits"},
  });
  ExpectInferred({{"LengthsSplit L -> Y n_split=3", "L i 4", "int32 [12]"},
                  {"LengthsSplit L N -> Y n_split=3", "L i 4; N i 1", "int32 ?"},
                  {"LengthsSplit L -> Y n_split=3", "L i ?", "int32 ?"}});
  ExpectThrows(
      [] {
        DescribeGradient(R"(type: "LengthsSplit" input: "L" output: "Y"
                            arg { name: "n_split" i: 2 })");
      },
      "should have a gradient but is not implemented yet");
}

}  // namespace
}  // namespace caffe2rt::test::lengths_split_test
