// A plan with nested, repeated and concurrent steps produces the same blobs as the original.
#include <gtest/gtest.h>

#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::plan_files_test {
namespace {

TEST(PlanFilesTest, NestedStepsCountAsRecorded) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  PlanDef plan;
  LoadProto(SharedPath("models/c2_files/plan_nested.pb"), &plan);
  Workspace ws;
  ASSERT_TRUE(ws.RunPlan(plan));
  const Tensor want = ReadNpy(SharedPath("models/c2_files/expected/plan_nested_a_b_c_d_e.npy"));
  const char* const names[] = {"a", "b", "c", "d", "e"};
  ASSERT_EQ(want.numel(), 5);
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(ws.HasBlob(names[i])) << names[i];
    const Tensor& got = ws.GetBlob(names[i])->Get<Tensor>();
    ASSERT_EQ(got.numel(), 1) << names[i];
    EXPECT_EQ(got.data<float>()[0], want.data<float>()[i]) << names[i];
  }
}

}  // namespace
}  // namespace caffe2rt::test::plan_files_test
