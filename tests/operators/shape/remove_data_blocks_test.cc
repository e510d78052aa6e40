#include <string>

#include "tests/operators/common/call_tables.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::remove_data_blocks_test {
namespace {

const char* const kRemove = R"(type: "RemoveDataBlocks" input: "X" input: "I" output: "Y")";

TEST(RemoveDataBlocksTest, KeepsTheOtherRows) {
  ExpectResults({
      {"RemoveDataBlocks X I -> Y", "X f 5 = 1,2,3,4,5; I l 3 = 3,1,3", "Y f 3 = 1,3,5"},
      {"RemoveDataBlocks X I -> Y", "X i 3,2 = 1,2,3,4,5,6; I i 1 = 0", "Y i 2,2 = 3,4,5,6"},
      {"RemoveDataBlocks X I -> Y", "X u 2 = 1,2; I i 0", "Y u 2 = 1,2"},
      {"RemoveDataBlocks X I -> Y", "X d 2,3; I i 2 = 1,0", "Y d 0,3"},
      {"RemoveDataBlocks X I -> Y", "X f 0,2; I i 0", "Y f 0,2"},
      {"RemoveDataBlocks X I -> Y", "X f 2,0; I l 1 = 1", "Y f 1,0"},
  });
  Workspace ws;
  Feed<std::string>(&ws, "X", {2}, {"a", "b"});
  Feed<int32_t>(&ws, "I", {1}, {0});
  RunOp(&ws, kRemove);
  ExpectTensor<std::string>(ws, "Y", {1}, {"b"});
}

TEST(RemoveDataBlocksTest, RejectsInvalidCalls) {
  ExpectRejected({
      {"RemoveDataBlocks X I -> Y", "X f -; I i 0",
       "rank of input 0 (data): got 0, want at least 1"},
      {"RemoveDataBlocks X I -> Y", "X f 2; I i - = 1",
       "rank of input 1 (indices) of shape []: got 0, want 1"},
      {"RemoveDataBlocks X I -> Y", "X f 2; I i 2 = 1,2",
       "element 1 of input 1 (indices) is 2, want at least 0 and less than 2, the rows of input 0 "
       "(data)"},
      {"RemoveDataBlocks X I -> Y", "X f 2; I l 1 = -1",
       "element 0 of input 1 (indices) is -1, want at least 0 and less than 2, the rows of input 0 "
       "(data)"},
      {"RemoveDataBlocks X I -> Y", "X f 2; I f 1",
       "Unsupported type of tensor: input 1 (indices) has elements of type float, want int32, "
       "int64"},
  });
  ExpectInferred({{"RemoveDataBlocks X I -> Y", "X d 5,2; I i 2", "double ?"}});
  ExpectThrows([] { DescribeGradient(kRemove); },
               "One should not call gradient for operator RemoveDataBlocks.");
}

}  // namespace
}  // namespace caffe2rt::test::remove_data_blocks_test
