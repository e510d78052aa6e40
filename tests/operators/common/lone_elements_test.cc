// Functions of elements give an element the same value wherever it lies: alone, in a vector, in the last,
// incomplete vector.
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/graph/builtin_operators.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::lone_elements_test {
namespace {

constexpr int64_t kSizes[] = {2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 130};
constexpr int64_t kMost = 130;

bool IsFunctionOfElements(const OpSchema& schema) {
  // These sum over elements, or draw random numbers.
  static const std::set<std::string> others = {"Softmax", "CumSum", "Hardmax", "Dropout"};
  const bool elementwise = schema.file().find("operators/elementwise/") != std::string::npos;
  return (elementwise || schema.traits().same_shape) && schema.min_input() == 1 &&
         schema.min_output() == 1 && !others.contains(schema.type());
}

// The result of a run over `x`. Empty if the operator rejects floats or returns another type.
std::vector<float> ResultOf(const std::string& type, const std::vector<float>& x) {
  Workspace ws;
  Feed<float>(&ws, "X", {static_cast<int64_t>(x.size())}, x);
  try {
    RunOp(&ws, "type: \"" + type + R"(" input: "X" output: "Y" arg { name: "is_test" i: 1 })");
  } catch (const EnforceNotMet&) {
    return {};
  }
  if (!ws.GetBlob("Y")->Get<Tensor>().IsType<float>()) return {};
  return Fetch<float>(ws, "Y");
}

bool AreNear(float a, float b) {
  if (std::isnan(a) || std::isnan(b) || std::isinf(a) || std::isinf(b))
    return (std::isnan(a) && std::isnan(b)) || a == b;
  return std::abs(a - b) <= 4e-6f * std::max(1.0f, std::abs(b));
}

TEST(LoneElementsTest, HaveTheSameValueAsAmongOthers) {
  const std::vector<float> x = RandomValues(kMost, -3, 3);
  std::set<std::string> compared;
  for (const std::string& type : RegisteredOperatorTypes(CPU)) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    if (schema == nullptr || !IsBuiltinOperator(type) || !IsFunctionOfElements(*schema)) continue;
    std::vector<float> alone;
    for (const float value : x) {
      const std::vector<float> y = ResultOf(type, {value});
      if (y.size() != 1) break;
      alone.push_back(y[0]);
    }
    if (alone.size() != x.size()) continue;
    compared.insert(type);
    for (const int64_t n : kSizes) {
      const std::vector<float> y = ResultOf(type, std::vector<float>(x.end() - n, x.end()));
      ASSERT_EQ(y.size(), static_cast<size_t>(n)) << type;
      for (int64_t i = 0; i < n; ++i) {
        const float want = alone[static_cast<size_t>(kMost - n + i)];
        ASSERT_TRUE(AreNear(y[static_cast<size_t>(i)], want))
            << type << ", element " << i << " of " << n << " is " << y[static_cast<size_t>(i)]
            << ", alone " << want;
      }
    }
  }
  EXPECT_GT(compared.size(), 40u) << absl::StrJoin(compared, " ");
}

}  // namespace
}  // namespace caffe2rt::test::lone_elements_test
