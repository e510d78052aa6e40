// How the check of a net finds all wrong arguments of an operator, of which its constructor reports one: it tries
// the defaults of the schema, and follows the argument that explains an error best.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/inspect/argument_problems.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::argument_causes_test {
namespace {

using ::testing::ElementsAre;

constexpr ArgumentSpec<int> kCausesRows{
    "rows", 4, "rows", {[](int rows) { return rows > 0; }, "above 0"}};
constexpr ArgumentSpec<float> kCausesShare{"share", 0.25f, "share"};
constexpr ArgumentSpec<std::string> kCausesMode{"mode", "whole", "mode"};
OPERATOR_SCHEMA(ArgumentCauses).Args(kCausesRows, kCausesShare, kCausesMode).Arg("other", "other");

const OpSchema* CausesSchema() { return OpSchemaRegistry::Schema("ArgumentCauses"); }

// The problems of an operator with these arguments, whose constructor is `create`.
std::vector<std::string> Problems(const OpSchema* schema, const std::string& args,
                                  const ArgumentProblems::Create& create) {
  const OperatorDef op = ParseOp("type: 'ArgumentCauses' " + args);
  try {
    create(op);
  } catch (const EnforceNotMet& error) {
    return ArgumentProblems().Of(schema, op, error.message(), create);
  }
  return {};
}

// Accepts one value of an argument alone.
void WantValue(const OperatorDef& op, const std::string& name, const std::string& value) {
  const Argument* const arg = GetArgumentPtr(op, name);
  CAFFE_ENFORCE(arg != nullptr, "argument ", name, " is missing");
  const OperatorDef want = ParseOp("arg { name: '" + name + "' " + value + " }");
  CAFFE_ENFORCE(arg->SerializeAsString() == want.arg(0).SerializeAsString(), "argument ", name,
                " is wrong");
}

TEST(ArgumentCausesTest, DefaultsOfEachTypeAreTried) {
  const struct {
    const char *name, *wrong, *by_default;
  } rows[] = {
      {"rows", "i: 7", "i: 4"}, {"share", "f: 7", "f: 0.25"}, {"mode", "s: 'part'", "s: 'whole'"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const std::string args = std::string("arg { name: '") + row.name + "' " + row.wrong +
                             " } arg { name: 'other' s: 'a' }";
    const auto create = [&](const OperatorDef& op) {
      WantValue(op, row.name, row.by_default);
      CAFFE_ENFORCE(GetArgumentPtr(op, "other") == nullptr, "argument other is there");
    };
    const std::string first = std::string("argument ") + row.name + " is wrong";
    EXPECT_THAT(Problems(CausesSchema(), args, create),
                ElementsAre(first, "argument other is there"));
    // Without a schema there is no default.
    EXPECT_THAT(Problems(nullptr, args, create),
                ::testing::Not(::testing::Contains("argument other is there")));
  }
}

// An argument that has its default is removed instead.
TEST(ArgumentCausesTest, ArgumentsWithTheirDefaultAreRemoved) {
  const char* const args[] = {"name: 'rows' i: 4", "name: 'share' f: 0.25",
                              "name: 'mode' s: 'whole'", "name: 'other' s: 'q'"};
  for (const char* const arg : args) {
    SCOPED_TRACE(arg);
    const auto create = [&](const OperatorDef& op) {
      for (const char* name : {"rows", "share", "mode", "other", "hidden"}) {
        CAFFE_ENFORCE(GetArgumentPtr(op, name) == nullptr, "argument ", name, " is there");
      }
    };
    const auto problems = Problems(
        CausesSchema(), std::string("arg { ") + arg + " } arg { name: 'hidden' i: 9 }", create);
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(problems[1], "argument hidden is there");
  }
}

// What the schema finds wrong itself is replaced before the constructor is asked again.
TEST(ArgumentCausesTest, ErrorsBehindThoseOfTheSchemaAreFound) {
  const auto create = [&](const OperatorDef& op) {
    const ArgumentHelper args(op);
    (void)args.Read(kCausesRows);
    CAFFE_ENFORCE(args.Read(kCausesMode) == "whole", "argument mode is bad");
  };
  // A value out of range, and one of another type.
  for (const char* const rows : {"i: 0", "s: 'four'"}) {
    SCOPED_TRACE(rows);
    for (const bool mode_first : {true, false}) {
      const std::string mode = "arg { name: 'mode' s: 'part' } ";
      const std::vector<std::string> problems =
          Problems(CausesSchema(),
                   (mode_first ? mode : "") + "arg { name: 'rows' " + rows + " } " +
                       (mode_first ? "" : mode),
                   create);
      ASSERT_EQ(problems.size(), 2u);
      EXPECT_THAT(problems[0], ::testing::HasSubstr("rows"));
      EXPECT_EQ(problems[1], "argument mode is bad");
    }
    // Nothing else is wrong: the schema's problem alone.
    EXPECT_EQ(
        Problems(CausesSchema(),
                 std::string("arg { name: 'rows' ") + rows + " } arg { name: 'mode' s: 'whole' }",
                 create)
            .size(),
        1u);
  }
}

bool IsChanged(const OperatorDef& op, const std::string& name) {
  const Argument* const arg = GetArgumentPtr(op, name);
  return arg == nullptr || arg->i() != 7;
}

// Without b, which the error mentions, there is another error than without a. The mentioned one is the cause,
// in either order.
TEST(ArgumentCausesTest, AMentionedArgumentIsTheCause) {
  const auto create = [](const OperatorDef& op) {
    const bool a = IsChanged(op, "a"), b = IsChanged(op, "b"), d = IsChanged(op, "d");
    CAFFE_ENFORCE(a || b, "argument b is wrong");
    CAFFE_ENFORCE(b || !a, "the size is odd");
    CAFFE_ENFORCE(d, "argument d is wrong");
  };
  for (const char* const args :
       {"arg { name: 'a' i: 7 } arg { name: 'b' i: 7 } arg { name: 'd' i: 7 }",
        "arg { name: 'b' i: 7 } arg { name: 'a' i: 7 } arg { name: 'd' i: 7 }",
        "arg { name: 'd' i: 7 } arg { name: 'b' i: 7 } arg { name: 'a' i: 7 }"}) {
    SCOPED_TRACE(args);
    EXPECT_THAT(Problems(nullptr, args, create),
                ElementsAre("argument b is wrong", "argument d is wrong"));
  }
}

// An argument without which there is no error precedes the one that the error mentions.
TEST(ArgumentCausesTest, AnArgumentWithoutWhichAllIsWellIsTheCause) {
  const auto create = [](const OperatorDef& op) {
    CAFFE_ENFORCE(IsChanged(op, "a") || IsChanged(op, "b"), "argument b is wrong");
    CAFFE_ENFORCE(!IsChanged(op, "b"), "the size is odd");
  };
  for (const char* const args : {"arg { name: 'a' i: 7 } arg { name: 'b' i: 7 }",
                                 "arg { name: 'b' i: 7 } arg { name: 'a' i: 7 }"}) {
    EXPECT_THAT(Problems(nullptr, args, create), ElementsAre("argument b is wrong"));
  }
}

// Three errors, each of which hides the next one.
TEST(ArgumentCausesTest, EachErrorHidesTheNext) {
  const auto create = [](const OperatorDef& op) {
    for (const char* name : {"c", "a", "b"})
      CAFFE_ENFORCE(IsChanged(op, name), "argument ", name, " is wrong");
  };
  EXPECT_THAT(
      Problems(nullptr, "arg { name: 'a' i: 7 } arg { name: 'b' i: 7 } arg { name: 'c' i: 7 }",
               create),
      ElementsAre("argument c is wrong", "argument a is wrong", "argument b is wrong"));
}

// An argument that the error mentions and without which there is another error about it explains
// less than one without which the next error is about something else.
TEST(ArgumentCausesTest, AnErrorAboutOthersCountsMoreThanAMention) {
  const auto create = [](const OperatorDef& op) {
    const bool a = IsChanged(op, "a"), b = IsChanged(op, "b");
    CAFFE_ENFORCE(a || b, "argument a is wrong");
    CAFFE_ENFORCE(b, "argument a is missing");
    CAFFE_ENFORCE(IsChanged(op, "d"), "argument d is wrong");
  };
  for (const char* const args :
       {"arg { name: 'a' i: 7 } arg { name: 'b' i: 7 } arg { name: 'd' i: 7 }",
        "arg { name: 'b' i: 7 } arg { name: 'd' i: 7 } arg { name: 'a' i: 7 }"}) {
    SCOPED_TRACE(args);
    EXPECT_THAT(Problems(nullptr, args, create),
                ElementsAre("argument a is wrong", "argument d is wrong"));
  }
}

constexpr ArgumentSpec<int> kCausesNeeded{
    "needed", 0, "needed", {[](int n) { return n > 0; }, "above 0"}, true};
OPERATOR_SCHEMA(ArgumentCausesNeeded)
    .Arg(kCausesNeeded)
    .Arg("plain", "plain", true)
    .Arg("free", "free");

// A missing argument is one problem, whether or not its declaration reads it.
TEST(ArgumentCausesTest, EachMissingArgumentIsOneProblem) {
  const OpSchema& schema = *OpSchemaRegistry::Schema("ArgumentCausesNeeded");
  const auto problems = [&](const std::string& args) {
    return SchemaProblemsOf(schema, ParseOp("type: 'ArgumentCausesNeeded' " + args));
  };
  const std::string needed = "arg { name: 'needed' i: 1 } ", plain = "arg { name: 'plain' i: 1 } ";
  const std::string missing = "argument \"plain\" is required but missing";
  EXPECT_THAT(problems(needed + plain), ElementsAre());
  EXPECT_THAT(problems(needed), ElementsAre(missing));
  EXPECT_THAT(problems(plain), ElementsAre(::testing::HasSubstr("needed")));
  EXPECT_THAT(problems("arg { name: 'free' i: 1 }"),
              ElementsAre(::testing::HasSubstr("needed"), missing));
  EXPECT_THAT(problems("arg { name: 'needed' i: 0 } " + plain),
              ElementsAre("argument \"needed\" is 0, want above 0"));
}

}  // namespace
}  // namespace caffe2rt::test::argument_causes_test
