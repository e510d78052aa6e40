#include "caffe2_core/base/isa.h"

#include <gtest/gtest.h>

#include <string>

namespace caffe2rt::isa_test {
namespace {

TEST(IsaTest, PicksTheFunctionOfTheSetItNames) {
  EXPECT_STREQ(IsaName(Isa::kAvx512), "avx512");
  EXPECT_EQ(PickByIsa<const char>("avx512", "avx2", "plain"), std::string(IsaName(CpuIsa())));
}

}  // namespace
}  // namespace caffe2rt::isa_test
