// The flags of CPU memory: what each sets, alone and with the others.
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/base/flags.h"
#include "caffe2_core/runtime/init.h"
#include "contexts/cpu/cpu_allocator.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::memory_flags_test {
namespace {

class MemoryFlagsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { RegisterContextFlags(); }
  MemoryFlagsTest() : before_(GlobalCPUMemoryOptions()) {}
  ~MemoryFlagsTest() override { GlobalCPUMemoryOptions() = before_; }
  const CPUMemoryOptions before_;
};

TEST_F(MemoryFlagsTest, AreListedWithTypeDefaultAndGroup) {
  struct Row {
    const char *name, *default_value;
  };
  const std::vector<FlagInfo> flags = RegisteredFlags();
  for (const Row& row :
       {Row{"caffe2_report_cpu_memory_usage", "false"}, Row{"caffe2_cpu_numa_enabled", "false"},
        Row{"caffe2_cpu_allocator_do_zero_fill", "true"},
        Row{"caffe2_cpu_allocator_do_junk_fill", "false"}}) {
    const auto found = std::find_if(flags.begin(), flags.end(),
                                    [&](const FlagInfo& flag) { return flag.name == row.name; });
    ASSERT_NE(found, flags.end()) << row.name;
    EXPECT_EQ(found->type, "bool");
    EXPECT_EQ(found->default_value, row.default_value) << row.name;
    EXPECT_EQ(found->group, "memory") << row.name;
    EXPECT_FALSE(found->help.empty()) << row.name;
    EXPECT_FALSE(found->idle) << row.name;
  }
}

TEST_F(MemoryFlagsTest, EachSetsItsOption) {
  CPUMemoryOptions& options = GlobalCPUMemoryOptions();
  for (const bool on : {true, false}) {
    SetFlag("caffe2_report_cpu_memory_usage", on ? "true" : "false");
    EXPECT_EQ(options.report_usage, on);
    EXPECT_FALSE(options.numa_enabled);
  }
  for (const bool on : {true, false}) {
    SetFlag("caffe2_cpu_numa_enabled", on ? "1" : "0");
    EXPECT_EQ(options.numa_enabled, on);
    EXPECT_FALSE(options.report_usage);
  }
  EXPECT_EQ(options.fill, before_.fill);
}

TEST_F(MemoryFlagsTest, TheLastOfTwoFillsCounts) {
  using enum CPUMemoryFill;
  CPUMemoryOptions& options = GlobalCPUMemoryOptions();
  struct Row {
    CPUMemoryFill before;
    const char *flag, *value;
    CPUMemoryFill want;
  };
  for (const Row& row : {Row{kZero, "zero", "0", kNone}, Row{kZero, "zero", "1", kZero},
                         Row{kNone, "zero", "1", kZero}, Row{kNone, "zero", "0", kNone},
                         Row{kJunk, "zero", "1", kZero}, Row{kJunk, "zero", "0", kNone},
                         Row{kZero, "junk", "1", kJunk}, Row{kNone, "junk", "1", kJunk},
                         Row{kJunk, "junk", "1", kJunk}, Row{kJunk, "junk", "0", kZero},
                         Row{kZero, "junk", "0", kZero}, Row{kNone, "junk", "0", kNone}}) {
    options.fill = row.before;
    SetFlag(MakeString("caffe2_cpu_allocator_do_", row.flag, "_fill"), row.value);
    EXPECT_EQ(options.fill, row.want)
        << static_cast<int>(row.before) << " " << row.flag << " " << row.value;
  }
}

TEST_F(MemoryFlagsTest, WordsThatAreNoBoolChangeNothing) {
  CPUMemoryOptions& options = GlobalCPUMemoryOptions();
  options.fill = CPUMemoryFill::kJunk;
  for (const std::string name :
       {"caffe2_report_cpu_memory_usage", "caffe2_cpu_numa_enabled",
        "caffe2_cpu_allocator_do_zero_fill", "caffe2_cpu_allocator_do_junk_fill"}) {
    ExpectRefusals({{[&] { SetFlag(name, "maybe"); },
                     "flag --" + name + ": \"maybe\" is neither true nor false"}});
  }
  EXPECT_EQ(options.fill, CPUMemoryFill::kJunk);
  EXPECT_EQ(options.numa_enabled, before_.numa_enabled);
  EXPECT_EQ(options.report_usage, before_.report_usage);
}

}  // namespace
}  // namespace caffe2rt::test::memory_flags_test
