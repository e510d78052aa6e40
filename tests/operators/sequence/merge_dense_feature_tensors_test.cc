#include "tests/operators/common/call_tables.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::merge_dense_feature_tensors_test {
namespace {

TEST(MergeDenseFeatureTensorsTest, ListsTheFeaturesOfEachExample) {
  ExpectResults({
      // From Caffe2's own tests.
      {"MergeDenseFeatureTensors A P -> L K V feature_ids=11,12,13,14",
       "A d 2,4 = 11.1,12.1,13.1,14.1,11.2,12.2,13.2,14.2; P b 2,4 = 1,0,0,1,0,1,1,0",
       "L i 2 = 2,2; K l 4 = 11,14,12,13; V d 4 = 11.1,14.1,12.2,13.2"},
      {"MergeDenseFeatureTensors A P -> L K V feature_ids=5,", "A f 2,1 = 1; P b 2,1 = 0",
       "L i 2 = 0; K l 0; V f 0"},
      {"MergeDenseFeatureTensors A P -> L K V feature_ids=5,6", "A l 0,2; P b 0,2",
       "L i 0; K l 0; V l 0"},
  });
  ExpectInferred({{"MergeDenseFeatureTensors A P -> L K V feature_ids=5,6", "A i 3,2; P b 3,2",
                   "int32 [3]; int64 ?; int32 ?"}});
}

TEST(MergeDenseFeatureTensorsTest, RejectsInputsThatDoNotFit) {
  const char* const op = "MergeDenseFeatureTensors A P -> L K V feature_ids=5,6";
  ExpectRejected({
      {op, "A f 2; P b 2", "rank of input 0 (in1) of shape [2]: got 1, want 2"},
      {op, "A f 2,3; P b 2,3",
       "dim 1 of input 0 (in1) of shape [2, 3], want the values of argument feature_ids (got 3, "
       "want 2)"},
      {op, "A f 2,2; P b 2,1",
       "elements of input 1 (in1_presence) of shape [2, 1], want those of input 0 (in1) of shape "
       "[2, 2] (got 2, want 4)"},
      {op, "A f 1,2; P i 1,2", "the tensor holds elements of type int32, want bool"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::merge_dense_feature_tensors_test
