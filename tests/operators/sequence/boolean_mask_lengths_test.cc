#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::boolean_mask_lengths_test {
namespace {

TEST(BooleanMaskLengthsTest, CountsTrueElementsOfEachSegment) {
  ExpectResults({
      {"BooleanMaskLengths L M -> Y", "L i 4 = 2,0,3,1; M b 6 = 0,1,1,1,0,0", "Y i 4 = 1,0,2,0"},
      {"BooleanMaskLengths L M -> Y", "L l 1 = 5; M b 5 = 1,0,1,1,0", "Y l 1 = 3"},
      {"BooleanMaskLengths L M -> Y", "L i 0; M b 0", "Y i 0"},
  });
}

TEST(BooleanMaskLengthsTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"BooleanMaskLengths L M -> Y", "L i 1,1 = 1; M b 1",
       "rank of input 0 (lengths) of shape [1, 1]: got 2, want 1"},
      {"BooleanMaskLengths L M -> Y", "L i 1 = 1; M b 1,1",
       "rank of input 1 (mask) of shape [1, 1]: got 2, want 1"},
      {"BooleanMaskLengths L M -> Y", "L i 2 = 1,2; M b 2",
       "sum of the lengths, want the elements of input 1 (mask) (got 3, want 2)"},
      {"BooleanMaskLengths L M -> Y", "L i 2 = 4,-1; M b 3",
       "element 1 of input 0 (lengths), want at least 0 (got -1, want at least 0)"},
      {"BooleanMaskLengths L M -> Y", "L f 1; M b 1",
       "Unsupported type of tensor: input 0 (lengths) has elements of type float, want int32, "
       "int64"},
      {"BooleanMaskLengths L M -> Y", "L i 1 = 1; M u 1",
       "the tensor holds elements of type uint8, want bool"},
  });
  ExpectInferred({{"BooleanMaskLengths L M -> Y", "L l 4; M b 9", "int64 [4]"}});
  EXPECT_EQ(DescribeGradient(R"(type: "BooleanMaskLengths" input: "L" input: "M" output: "Y")"),
            " | - -");
}

}  // namespace
}  // namespace caffe2rt::test::boolean_mask_lengths_test
