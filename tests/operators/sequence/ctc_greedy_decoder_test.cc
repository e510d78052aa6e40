#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::ctc_greedy_decoder_test {
namespace {

TEST(CTCGreedyDecoderTest, MergesRepetitionsAndRemovesBlanks) {
  // The best classes are 1, 1, 0, 1 and 2.
  const std::string scores = "X f 5,1,3 = 0,1,0,0,1,0,1,0,0,0,1,0,0,0,1";
  ExpectResults({
      {"CTCGreedyDecoder X -> L V", scores, "L i 1 = 3; V i 3 = 1,1,2"},
      {"CTCGreedyDecoder X -> L V merge_repeated=0", scores, "L i 1 = 4; V i 4 = 1,1,1,2"},
      {"CTCGreedyDecoder X N -> L V", scores + "; N i 1 = 2", "L i 1 = 1; V i 1 = 1"},
      // Among equal classes the first one counts: of the second sequence, the blank.
      {"CTCGreedyDecoder X -> L V", "X f 1,2,3 = 0,2,2,3,3,3", "L i 2 = 1,0; V i 1 = 1"},
      {"CTCGreedyDecoder X N -> L V", "X f 2,2,2 = 0,1,0,1,0,1,0,1; N i 1,2 = 0,2",
       "L i 2 = 0,1; V i 1 = 1"},
      {"CTCGreedyDecoder X -> L V", "X f 0,2,3", "L i 2 = 0; V i 0"},
      {"CTCGreedyDecoder X -> L V", "X f 2,0,3", "L i 0; V i 0"},
  });
  ExpectInferred({{"CTCGreedyDecoder X -> L V", "X f 5,2,3", "int32 [2]; int32 ?"},
                  {"CTCGreedyDecoder X -> L V", "X f ?", "int32 ?; int32 ?"}});
}

TEST(CTCGreedyDecoderTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"CTCGreedyDecoder X -> L V", "X f 2,3",
       "rank of input 0 (INPUTS) of shape [2, 3]: got 2, want 3"},
      {"CTCGreedyDecoder X -> L V", "X f 2,2,0",
       "input 0 (INPUTS) has shape [2, 2, 0], want at least one class"},
      {"CTCGreedyDecoder X -> L V", "X d 1,1,2",
       "the tensor holds elements of type double, want float"},
      {"CTCGreedyDecoder X N -> L V", "X f 2,2,2; N l 2",
       "the tensor holds elements of type int64, want int32"},
      {"CTCGreedyDecoder X N -> L V", "X f 2,2,2; N i 1 = 1",
       "elements of input 1 (SEQ_LEN), want one for each sequence of input 0 (INPUTS) of shape [2, "
       "2, 2] (got 1, want 2)"},
      {"CTCGreedyDecoder X N -> L V", "X f 2,2,2; N i 2 = 2,3",
       "element 1 of input 1 (SEQ_LEN) is 3, want 0 to 2"},
      {"CTCGreedyDecoder X N -> L V", "X f 2,2,2; N i 2 = -1,2",
       "element 0 of input 1 (SEQ_LEN) is -1, want 0 to 2"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::ctc_greedy_decoder_test
