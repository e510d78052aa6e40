// Random plans whose blobs share memory in all ways that operators offer. A plan gives what it gives
// when its steps run sequentially, or it is rejected. CAFFE2_TEST_SHARING_PLANS sets the number of
// plans, CAFFE2_TEST_SHARING_SEED the first seed. Run many of them with the sanitizers.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "caffe2_core/plan/plan_executor.h"
#include "tests/caffe2_core/plan/sharing_plans.h"
#include "tests/support/operator_test.h"
#include "tests/support/sanitizers.h"

namespace caffe2rt::plan_sharing_test {
namespace {

unsigned Number(const char* variable, unsigned value) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : value;
}

// The serialized tensors by name, except those whose values depend on the order.
std::map<std::string, std::string> Values(const Workspace& ws) {
  std::map<std::string, std::string> values;
  for (const std::string& name : ws.Blobs()) {
    if (name.starts_with("any_")) continue;
    const Blob& blob = *ws.FindBlob(name);
    if (!blob.IsType<Tensor>() || !blob.Get<Tensor>().HasData()) continue;
    values[name] = blob.Serialize(name);
  }
  return values;
}

struct Outcome {
  std::string error;
  std::map<std::string, std::string> values;
};

Outcome OutcomeOf(const PlanDef& plan, const std::string& folder) {
  Workspace ws(folder);
  try {
    EXPECT_TRUE(ws.RunPlan(plan));
  } catch (const EnforceNotMet& error) {
    return {.error = error.message(), .values = {}};
  }
  return {.error = "", .values = Values(ws)};
}

TEST(PlanSharingTest, PlansGiveWhatTheyGiveSequentiallyOrAreRejected) {
  const unsigned first = Number("CAFFE2_TEST_SHARING_SEED", 1);
  // With ThreadSanitizer a plan takes many times as long.
  const unsigned count = Number("CAFFE2_TEST_SHARING_PLANS", test::kHasThreadSanitizer ? 150 : 500);
  const test::TempDir dir;
  test::InitSharingPlans(dir.path());
  unsigned same = 0, rejected = 0, invalid = 0;
  std::map<std::string, int> errors;
  for (unsigned seed = first; seed < first + count; ++seed) {
    const PlanDef plan = test::MakeSharingPlan(seed);
    PlanDef sequential = plan;
    for (ExecutionStep& step : *sequential.mutable_execution_step()) test::MakeSequential(&step);
    const Outcome want = OutcomeOf(sequential, dir.path());
    const Outcome got = OutcomeOf(plan, dir.path());
    if (!want.error.empty()) {
      ++invalid;
      ++errors[want.error
                   .substr(want.error.rfind(": ") == std::string::npos
                               ? 0
                               : want.error.rfind("): ") + 3)
                   .substr(0, 90)];
      continue;  // it must not crash
    }
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + plan.ShortDebugString());
    if (got.error.find("--allow-races") != std::string::npos) {
      ++rejected;
      continue;
    }
    ++same;
    ASSERT_EQ(got.error, "");
    ASSERT_EQ(got.values, want.values);
  }
  RecordProperty("same", static_cast<int>(same));
  RecordProperty("rejected", static_cast<int>(rejected));
  std::printf("%u plans: %u as in sequence, %u rejected, %u invalid\n", count, same, rejected,
              invalid);
  if (std::getenv("CAFFE2_TEST_SHARING_ERRORS") != nullptr) {
    for (const auto& [error, n] : errors) std::printf("%5d %s\n", n, error.c_str());
  }
  EXPECT_GE(same, count / 20);
  EXPECT_GE(rejected, count / 20);
}

}  // namespace
}  // namespace caffe2rt::plan_sharing_test
