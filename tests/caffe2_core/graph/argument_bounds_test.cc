// Arguments accept exactly the numbers that their errors ask for: those next to each bound are tried, for every
// type of operator.
#include <absl/strings/str_split.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt::test::argument_bounds_test {
namespace {

struct Bounds {
  std::optional<double> least, most;
  bool above = false, below = false;  // the bound itself is out of range
};

std::optional<double> NumberOf(const std::string& text) {
  double number = 0;
  if (!ParseNumber(text, &number)) return std::nullopt;
  return number;
}

// Removes the beginning of the text if it is `part`.
bool Consume(const std::string& part, std::string* text) {
  if (!text->starts_with(part)) return false;
  text->erase(0, part.size());
  return true;
}

// Reads "above 0 and below 1", "at least 1", "0 or above", "from 1 to 9", "0 or 1" and their like. Returns false for
// other texts.
bool ReadBounds(const std::string& text, Bounds* bounds) {
  for (std::string clause : std::vector<std::string>(absl::StrSplit(text, " and "))) {
    Consume("from ", &clause);
    const std::vector<std::string> range = absl::StrSplit(clause, " to ");
    const std::vector<std::string> either = absl::StrSplit(clause, " or ");
    if (range.size() == 2) {
      bounds->least = NumberOf(range[0]);
      bounds->most = NumberOf(range[1]);
      if (!bounds->least.has_value() || !bounds->most.has_value()) return false;
    } else if (either.size() == 2 && (either[1] == "above" || either[1] == "more")) {
      bounds->least = NumberOf(either[0]);
    } else if (either.size() == 2) {
      bounds->least = NumberOf(either[0]);
      bounds->most = NumberOf(either[1]);
      if (!bounds->least.has_value() || bounds->most != *bounds->least + 1) return false;
    } else if (Consume("above ", &clause)) {
      bounds->least = NumberOf(clause);
      bounds->above = true;
    } else if (Consume("at least ", &clause)) {
      bounds->least = NumberOf(clause);
    } else if (Consume("below ", &clause)) {
      bounds->most = NumberOf(clause);
      bounds->below = true;
    } else if (Consume("at most ", &clause)) {
      bounds->most = NumberOf(clause);
    } else {
      return false;
    }
  }
  return bounds->least.has_value() || bounds->most.has_value();
}

class NumberArgument {
 public:
  explicit NumberArgument(const OpSchema::Argument& argument) : argument_(argument) {}

  bool is_float() const { return argument_.type == "float"; }
  bool is_number() const {
    return argument_.read && (is_float() || argument_.type.starts_with("int"));
  }

  // The error of reading it; "" if there is none.
  std::string ErrorOf(double value) const {
    OperatorDef def;
    Argument* const arg = def.add_arg();
    arg->set_name(argument_.name);
    if (is_float()) {
      arg->set_f(static_cast<float>(value));
    } else {
      arg->set_i(static_cast<int64_t>(value));
    }
    try {
      argument_.read(ArgumentHelper(def));
      return "";
    } catch (const EnforceNotMet& error) {
      return error.message();
    }
  }

  // What the error of some number asks for; "" if none is an error.
  std::string Wanted() const {
    for (const double value : {-1e6, 0.0, 1e6}) {
      const std::string error = ErrorOf(value);
      const size_t want = error.find(", want ");
      if (want != std::string::npos) return error.substr(want + 7);
    }
    return "";
  }

  void ExpectBounds(const Bounds& bounds) const {
    const double step = is_float() ? 1e-3 : 1;
    if (bounds.least.has_value()) {
      EXPECT_EQ(ErrorOf(*bounds.least + (bounds.above ? step : 0)), "");
      EXPECT_NE(ErrorOf(*bounds.least - (bounds.above ? 0 : step)), "") << "at the lower bound";
    }
    if (bounds.most.has_value()) {
      EXPECT_EQ(ErrorOf(*bounds.most - (bounds.below ? step : 0)), "");
      EXPECT_NE(ErrorOf(*bounds.most + (bounds.below ? 0 : step)), "") << "at the upper bound";
    }
  }

 private:
  const OpSchema::Argument& argument_;
};

TEST(ArgumentBoundsTest, AreThoseThatErrorsState) {
  EnsureBuiltinOperators();
  int bounded = 0;
  for (const std::string& type : OpSchemaRegistry::Types()) {
    for (const OpSchema::Argument& argument : OpSchemaRegistry::Schema(type)->args()) {
      const NumberArgument number(argument);
      Bounds bounds;
      if (!number.is_number() || !ReadBounds(number.Wanted(), &bounds)) continue;
      SCOPED_TRACE(MakeString(type, ", argument ", argument.name, ", want ", number.Wanted()));
      number.ExpectBounds(bounds);
      ++bounded;
    }
  }
  EXPECT_GT(bounded, 100);
}

}  // namespace
}  // namespace caffe2rt::test::argument_bounds_test
