#include "contexts/cpu/numa.h"

#include <gtest/gtest.h>

#include <vector>

#include "caffe2_core/base/enforce.h"
#include "contexts/cpu/cpu_allocator.h"

namespace caffe2rt::numa_test {
namespace {

TEST(NUMATest, DoesNothingWhenDisabled) {
  std::vector<char> memory(10000);
  EXPECT_FALSE(IsNUMAEnabled());
  EXPECT_EQ(GetNumNUMANodes(), -1);
  EXPECT_EQ(GetCurrentNUMANode(), -1);
  EXPECT_EQ(GetNUMANode(memory.data()), -1);
  NUMABind(5);
  NUMAMove(memory.data(), memory.size(), 5);
}

TEST(NUMATest, KnowsItsNodeWhereTheKernelHasNUMA) {
  GlobalCPUMemoryOptions().numa_enabled = true;
  if (!IsNUMAEnabled()) {
    GlobalCPUMemoryOptions().numa_enabled = false;
    GTEST_SKIP() << "the kernel has no NUMA nodes here";
  }
  EXPECT_GE(GetNumNUMANodes(), 1);
  const int node = GetCurrentNUMANode();
  EXPECT_GE(node, 0);
  EXPECT_LT(node, GetNumNUMANodes());
  NUMABind(-1);  // has no effect
  EXPECT_THROW(NUMABind(GetNumNUMANodes()), EnforceNotMet);
  {
    const DataPtr memory(NewCPUMemory(100000));
    EXPECT_GE(GetNUMANode(memory.get()), 0);
  }
  EXPECT_EQ(GetNUMANode(nullptr), -1);
  GlobalCPUMemoryOptions().numa_enabled = false;
}

}  // namespace
}  // namespace caffe2rt::numa_test
