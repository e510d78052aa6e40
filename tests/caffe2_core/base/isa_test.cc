#include "caffe2_core/base/isa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>

namespace caffe2rt::isa_test {
namespace {

TEST(IsaTest, PicksTheFunctionOfTheSetItNames) {
  EXPECT_STREQ(IsaName(Isa::kAvx512), "avx512");
  EXPECT_EQ(PickByIsa<const char>("avx512", "avx2", "plain"), std::string(IsaName(CpuIsa())));
}

// Sets CAFFE2RT_ISA for the duration of a test.
class IsaLimit {
 public:
  explicit IsaLimit(const char* value) {
    if (const char* const now = std::getenv("CAFFE2RT_ISA")) before_ = now;
    if (value != nullptr) {
      setenv("CAFFE2RT_ISA", value, 1);
    } else {
      unsetenv("CAFFE2RT_ISA");
    }
  }
  ~IsaLimit() {
    if (before_.has_value()) {
      setenv("CAFFE2RT_ISA", before_->c_str(), 1);
    } else {
      unsetenv("CAFFE2RT_ISA");
    }
  }

 private:
  std::optional<std::string> before_;
};

TEST(IsaTest, TheEnvironmentLowersTheInstructionSetAndNeverRaisesIt) {
  Isa machine = Isa::kPlain;
  {
    const IsaLimit none(nullptr);
    machine = internal::DetectIsa();
  }
#if defined(__x86_64__)
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  EXPECT_EQ(machine >= Isa::kAvx2, has_avx2);
#endif
  const struct {
    const char* limit;
    Isa most;
  } rows[] = {{"plain", Isa::kPlain},
              {"avx2", Isa::kAvx2},
              {"avx512", Isa::kAvx512},
              {"", Isa::kAvx512},
              {"AVX2", Isa::kAvx512}};
  for (const auto& row : rows) {
    const IsaLimit limit(row.limit);
    EXPECT_EQ(internal::DetectIsa(), std::min(machine, row.most)) << row.limit;
  }
}

TEST(IsaTest, PicksTheImplementationForTheInstructionSet) {
  const int wide = 0, middle = 0, plain = 0;
  EXPECT_EQ(PickByIsa(&wide, &middle, &plain, Isa::kAvx512), &wide);
  EXPECT_EQ(PickByIsa(&wide, &middle, &plain, Isa::kAvx2), &middle);
  EXPECT_EQ(PickByIsa(&wide, &middle, &plain, Isa::kPlain), &plain);
}

TEST(IsaTest, NamesEachInstructionSet) {
  EXPECT_STREQ(IsaName(Isa::kPlain), "plain");
  EXPECT_STREQ(IsaName(Isa::kAvx2), "avx2");
  EXPECT_STREQ(IsaName(Isa::kAvx512), "avx512");
}

}  // namespace
}  // namespace caffe2rt::isa_test
