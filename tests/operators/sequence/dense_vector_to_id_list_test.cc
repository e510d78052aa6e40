#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::dense_vector_to_id_list_test {
namespace {

TEST(DenseVectorToIdListTest, ListsTheColumnsThatAreSet) {
  ExpectResults({
      {"DenseVectorToIdList X -> L V", "X f 3,3 = 0,1,1,0,0,0,1,0,0",
       "L i 3 = 2,0,1; V i 3 = 1,2,0"},
      // Recorded with Caffe2.
      {"DenseVectorToIdList X -> L V", "X f 2,3 = 0.5,0.5000001,0.49,-0.6,1e-7,-0.5",
       "L i 2 = 2,0; V i 2 = 0,1"},
      {"DenseVectorToIdList X -> L V", "X f 1,6 = -2,-1.5,-1.49,1e10,nan,inf",
       "L i 1 = 5; V i 5 = 0,1,3,4,5"},
      {"DenseVectorToIdList X -> L V", "X f 0,3", "L i 0; V i 0"},
      {"DenseVectorToIdList X -> L V", "X f 2,0", "L i 2 = 0; V i 0"},
  });
  ExpectInferred({{"DenseVectorToIdList X -> L V", "X f 2,3", "int32 [2]; int32 ?"}});
}

TEST(DenseVectorToIdListTest, RejectsOtherRanksAndTypes) {
  ExpectRejected({
      {"DenseVectorToIdList X -> L V", "X f 3",
       "rank of input 0 (values) of shape [3]: got 1, want 2"},
      {"DenseVectorToIdList X -> L V", "X d 1,3",
       "the tensor holds elements of type double, want float"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::dense_vector_to_id_list_test
