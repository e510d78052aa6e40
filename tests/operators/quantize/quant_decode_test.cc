#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::quant_decode_test {
namespace {

TEST(QuantDecodeTest, ReplacesCodesByEntriesOfTheCodebook) {
  ExpectResults({
      {"QuantDecode B C D -> X Y", "B f 4 = 0.5,1,2,3; C u 2 = 3,0; D i 2,1 = 1,2",
       "X f 2 = 3,0.5; Y f 2,1 = 1,2"},
      {"QuantDecode B C -> X", "B f 2,2 = 0.5,1,2,3; C i - = 2", "X f - = 2"},
      {"QuantDecode B C -> X", "B f 0; C u 0", "X f 0"},
  });
  ExpectInferred({{"QuantDecode B C D -> X Y", "B f 4; C u 2; D i ?", "float [2]; float ?"},
                  {"QuantDecodeGradient B C G -> Y", "B f 4; C u 2; G f 2", "float [4]"}});
}

TEST(QuantDecodeTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"QuantDecode B C -> X", "B f 4; C u 2 = 3,4",
       "element 1 of input 1 (codes_0) is 4, want 0 to 3"},
      {"QuantDecode B C D -> X Y", "B f 4; C u 1 = 0; D i 1 = -1",
       "element 0 of input 2 (codes_1) is -1, want 0 to 3"},
      {"QuantDecode B C -> X", "B d 4; C u 1",
       "the tensor holds elements of type double, want float"},
      {"QuantDecodeGradient B C G -> Y", "B f 4; C u 2; G f 1",
       "elements of input 2 (the gradient of decoded_0), want those of its codes (got 1, want 2)"},
      {"QuantDecodeGradient B C G -> Y", "B f 4; C i 1 = -1; G f 1",
       "element 0 of input 1 (codes_0) is -1, want 0 to 3"},
      {"QuantDecodeGradient B C G -> Y", "B f 4; C u 2 = 0,4; G f 2",
       "element 1 of input 1 (codes_0) is 4, want 0 to 3"},
  });
}

TEST(QuantDecodeGradientTest, AddsUpTheGradientsOfEachEntry) {
  ExpectResults(
      {{"QuantDecodeGradient B C D G H -> Y",
        "B f 2,2; C u 3 = 3,0,3; D i 2 = 1,3; G f 3 = 1,2,3; H f 2 = 4,5", "Y f 2,2 = 2,4,0,9"}});
  EXPECT_EQ(DescribeGradient(R"(type: "QuantDecode" input: "B" input: "C" input: "D"
                                output: "X" output: "Y")"),
            "QuantDecodeGradient(B,C,D,X_grad,Y_grad)->B_grad | B_grad - -");
}

}  // namespace
}  // namespace caffe2rt::test::quant_decode_test
