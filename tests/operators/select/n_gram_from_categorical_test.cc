#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::n_gram_from_categorical_test {
namespace {

const std::string kArguments = " col_ids=0,1 categorical_limits=2,3 vals=0,1,5,6,7";

TEST(NGramFromCategoricalTest, NumbersCombinations) {
  const std::string call = "NGramFromCategorical X -> Y" + kArguments;
  ExpectResults({
      // Place of the first value, plus 2 * place of the second one.
      {call, "X f 3,2 = 1,5,0,7,1,6", "Y l 3 = 1,4,3"},
      // Numbers are rounded; unknown ones count as the first of their column.
      {call, "X f 4,2 = 0.9,6.6,-1,5,3,7,0,9", "Y l 4 = 5,0,4,0"},
      {call, "X f 0,2", "Y l 0"},
      {"NGramFromCategorical X -> Y col_ids=2,0 categorical_limits=2,2 vals=3,4,8,9",
       "X f 1,3 = 9,0,4", "Y l 1 = 3"},
  });
  ExpectInferred({{call, "X f 5,2", "int64 [5]"}, {call, "X f ?", "int64 ?"}});
}

TEST(NGramFromCategoricalTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"NGramFromCategorical X -> Y" + kArguments, "X f 1,1",
       "columns of input 0 (floats) of shape [1, 1], want more than the greatest of col_ids (got "
       "1, want more than 1)"},
      {"NGramFromCategorical X -> Y" + kArguments, "X d 1,2",
       "the tensor holds elements of type double, want float"},
      {"NGramFromCategorical X -> Y", "X f 1,2",
       "elements of argument col_ids: got 0, want at least 1"},
      {"NGramFromCategorical X -> Y col_ids=0,1 categorical_limits=1,1 vals=4,5,6", "X f 1,2",
       "elements of argument vals, want the sum of categorical_limits (got 3, want 2)"},
      {"NGramFromCategorical X -> Y col_ids=0,1 categorical_limits=2,0 vals=4,5", "X f 1,2",
       "argument categorical_limits: got 0, want at least 1"},
      {"NGramFromCategorical X -> Y col_ids=0,-1 categorical_limits=1,1 vals=4,5", "X f 1,2",
       "argument col_ids: got -1, want at least 0"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::n_gram_from_categorical_test
