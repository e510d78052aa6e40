#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::ctc_beam_search_decoder_test {
namespace {

TEST(CTCBeamSearchDecoderTest, AddsUpThePathsOfAResult) {
  ExpectResults({
      // "1" is 01, 10 and 11: 1 - 0.4 * 0.4. Nothing is 00.
      {"CTCBeamSearchDecoder X -> L V P num_candidates=2", "X f 2,1,2 = 0.4,0.6",
       "L i 2 = 1,0; V i 1 = 1; P f 2 = 0.84,0.16"},
      // "1 1" is 101, and nothing 000.
      {"CTCBeamSearchDecoder X -> L V P num_candidates=3", "X f 3,1,2 = 0.4,0.6",
       "L i 3 = 1,2,0; V i 3 = 1,1,1; P f 3 = 0.792,0.144,0.064"},
      // Results that there are not have length and probability 0.
      {"CTCBeamSearchDecoder X -> L V P num_candidates=4", "X f 1,1,3 = 0.2,0.5,0.3",
       "L i 4 = 1,1,0,0; V i 2 = 1,2; P f 4 = 0.5,0.3,0.2,0"},
      {"CTCBeamSearchDecoder X -> L V", "X f 1,2,3 = 0.2,0.5,0.3,0.1,0.2,0.7",
       "L i 2 = 1,1; V i 2 = 1,2"},
      {"CTCBeamSearchDecoder X N -> L V P", "X f 2,2,2 = 0.4,0.6; N i 2 = 0,1",
       "L i 2 = 0,1; V i 1 = 1; P f 2 = 0,0.6"},
      {"CTCBeamSearchDecoder X -> L V P num_candidates=0", "X f 1,1,2 = 0.4,0.6",
       "L i 0; V i 0; P f 0"},
      {"CTCBeamSearchDecoder X -> L V P", "X f 0,2,3", "L i 2 = 0; V i 0; P f 2 = 0"},
  });
  ExpectInferred({{"CTCBeamSearchDecoder X -> L V P num_candidates=3", "X f 5,2,4",
                   "int32 [6]; int32 ?; float [6]"},
                  {"CTCBeamSearchDecoder X -> L V", "X f ?", "int32 ?; int32 ?"}});
}

// Recorded from Caffe2.
TEST(CTCBeamSearchDecoderTest, SearchesAsCaffe2) {
  const std::string scores =
      "X f 3,2,3 = 0.1,0.9,0,0.2,0.2,0.6,0.8,0.1,0.1,0.3,0.3,0.3,0.1,0.9,0,0,0,1";
  ExpectResults({
      {"CTCBeamSearchDecoder X -> L V P", scores, "L i 2 = 2,1; V i 3 = 1,1,2; P f 2 = 0.648,0.3"},
      {"CTCBeamSearchDecoder X -> L V P beam_width=1", scores,
       "L i 2 = 2,1; V i 3 = 1,1,2; P f 2 = 0.648,0.18"},
      {"CTCBeamSearchDecoder X -> L V P beam_width=2 num_candidates=3", scores,
       "L i 6 = 2,1,3,1,2,2; V i 11 = 1,1,1,1,2,1,2,1,2,2,2; P f 6 = "
       "0.648,0.172,0.081,0.24,0.18,0.18"},
      {"CTCBeamSearchDecoder X -> L V P prune_threshold=0.5", scores,
       "L i 2 = 2,1; V i 3 = 1,1,2; P f 2 = 0.648,0.18"},
      // All classes are below the threshold, so none is left out.
      {"CTCBeamSearchDecoder X -> L V P prune_threshold=2.0", scores,
       "L i 2 = 2,1; V i 3 = 1,1,2; P f 2 = 0.648,0.3"},
      {"CTCBeamSearchDecoder X -> L V P num_candidates=7 prune_threshold=0.0", scores,
       "L i 14 = 2,1,3,2,2,0,1,1,2,3,2,3,3,3; V i 28 = "
       "1,1,1,1,2,1,2,1,1,2,2,2,1,2,2,1,2,2,2,1,1,2,1,2,2,2,2,2; P f 14 = "
       "0.648,0.244,0.081,0.009,0.009,0.008,0.001,0.3,0.24,0.18,0.18,0,0,0"},
  });
}

TEST(CTCBeamSearchDecoderTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"CTCBeamSearchDecoder X -> L V beam_width=0", "X f 1,1,2",
       "argument \"beam_width\" is 0, want at least 1"},
      {"CTCBeamSearchDecoder X -> L V num_candidates=-1", "X f 1,1,2",
       "argument \"num_candidates\" is -1, want at least 0"},
      {"CTCBeamSearchDecoder X -> L V", "X f 2",
       "rank of input 0 (INPUTS) of shape [2]: got 1, want 3"},
      {"CTCBeamSearchDecoder X -> L V", "X f 2,1,0",
       "input 0 (INPUTS) has shape [2, 1, 0], want at least one class"},
      {"CTCBeamSearchDecoder X N -> L V", "X f 2,2,2; N i 1 = 1",
       "elements of input 1 (SEQ_LEN), want one for each sequence of input 0 (INPUTS) of shape [2, "
       "2, 2] (got 1, want 2)"},
      {"CTCBeamSearchDecoder X N -> L V", "X f 2,1,2; N i 1 = 3",
       "element 0 of input 1 (SEQ_LEN) is 3, want 0 to 2"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::ctc_beam_search_decoder_test
