#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::sinusoid_position_encoding_test {
namespace {

TEST(SinusoidPositionEncodingTest, HasSinesAndCosines) {
  ExpectResults({
      // Recorded with Caffe2: sin(1), cos(1 / 10), sin(1 / 100), cos(1 / 1000).
      {"SinusoidPositionEncoding P -> Y embedding_size=4", "P i 2,1 = 1,5",
       "Y f 2,1,4 = 0.84147098,0.9950042,0.00999983,0.9999995,-0.9589243,0.8775825,0.04997917,"
       "0.9999875"},
      {"SinusoidPositionEncoding P -> Y embedding_size=2 alpha=1.0 amplitude=2.0", "P l 1,2 = 3",
       "Y f 1,2,2 = 0.28224,-1.979985,0.28224,-1.979985"},
      {"SinusoidPositionEncoding P -> Y embedding_size=3", "P i 1,1 = 1",
       "Y f 1,1,3 = 0.84147098,0.9989229,0.00215443"},
      {"SinusoidPositionEncoding P -> Y embedding_size=0", "P i 1,1 = 1", "Y f 1,1,0"},
      {"SinusoidPositionEncoding P -> Y embedding_size=2", "P i 0,2", "Y f 0,2,2"},
      {"SinusoidPositionEncoding P -> Y embedding_size=2", "P i 2,0", "Y f 2,0,2"},
      // Caffe2 has NaN.
      {"SinusoidPositionEncoding P -> Y embedding_size=2 alpha=1.0", "P i 2,1 = 0,-3",
       "Y f 2,1,2 = 0,1,-0.14112,-0.9899925"},
  });
  ExpectInferred({{"SinusoidPositionEncoding P -> Y", "P i 3,2", "float [3, 2, 100]"},
                  {"SinusoidPositionEncoding P -> Y", "P f ?", "float ?"}});
}

TEST(SinusoidPositionEncodingTest, RejectsPositionsThatDiffer) {
  ExpectRejected({
      {"SinusoidPositionEncoding P -> Y", "P i 2,2 = 0,0,1,2",
       "element 3 of input 0 (positions), want the first of its row (got 2, want 1)"},
      {"SinusoidPositionEncoding P -> Y", "P i 2",
       "rank of input 0 (positions) of shape [2]: got 1, want 2"},
      {"SinusoidPositionEncoding P -> Y", "P f 2,1",
       "Unsupported type of tensor: input 0 (positions) has elements of type float, want int32, "
       "int64"},
      {"SinusoidPositionEncoding P -> Y embedding_size=-1", "P i 2,1",
       "argument \"embedding_size\" is -1, want at least 0"},
      {"SinusoidPositionEncoding P -> Y alpha=0.0", "P i 2,1",
       "argument \"alpha\" is 0, want above 0"},
  });
}

TEST(SinusoidPositionEncodingTest, HasNoGradientAsInCaffe2) {
  EXPECT_THROW(DescribeGradient(R"(type: "SinusoidPositionEncoding" input: "P" output: "Y")"),
               EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::test::sinusoid_position_encoding_test
