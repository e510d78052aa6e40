#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::sparse_lp_regularizer_test {
namespace {

TEST(SparseLpRegularizerTest, ShrinksTheRowsThatIndicesName) {
  ExpectResults({
      // Row 0 twice.
      {"SparseLpRegularizer P I -> P p=1.0 reg_lambda=0.1",
       "P f 3,2 = 1,-2,0,3,-0.05,0.2; I l 3 = 0,2,0", "P f 3,2 = 0.8,-1.8,0,3,0,0.1"},
      {"SparseLpRegularizer P I -> P p=2.0 reg_lambda=0.1",
       "P f 3,2 = 1,-2,0,3,-0.05,0.2; I i 3 = 0,2,0", "P f 3,2 = 0.81,-1.62,0,3,-0.045,0.18"},
      {"SparseLpRegularizer P I G -> P reg_lambda=0.5", "P f 2,1 = 4,8; I i 1 = 1; G f 1",
       "P f 2,1 = 4,4"},
      {"SparseLpRegularizer P I -> P", "P f 0,2; I i 0", "P f 0,2"},
  });
  ExpectInferred({{"SparseLpRegularizer P I -> P", "P f 3,2; I i 1", "float [3, 2]"}});
}

TEST(SparseLpRegularizerTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"SparseLpRegularizer P I -> P p=3.0", "P f 1,1; I i 1", "argument \"p\" is 3, want 1 or 2"},
      {"SparseLpRegularizer P I -> P reg_lambda=1.0", "P f 1,1; I i 1",
       "argument \"reg_lambda\" is 1, want between 0 and 1"},
      {"SparseLpRegularizer P I -> P reg_lambda=0.0", "P f 1,1; I i 1",
       "argument \"reg_lambda\" is 0, want between 0 and 1"},
      {"SparseLpRegularizer P I -> P", "P f 2,1; I i 2 = 0,2",
       "element 1 of input 1 (indices) is 2, want 0 to 1"},
      {"SparseLpRegularizer P I -> P", "P f 2,1; I l 1 = -1",
       "element 0 of input 1 (indices) is -1, want 0 to 1"},
      {"SparseLpRegularizer P I -> P", "P d 1,1; I i 1",
       "the tensor holds elements of type double, want float"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::sparse_lp_regularizer_test
