// Checks every row of the tables of element functions: what the row registers, and which element
// types its operator accepts. The values are tested by the tests of the individual operators.

#include "operators/primitives/function_table.h"

#include <map>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/elementwise/binary_functions.h"
#include "operators/elementwise/nary_kernels.h"
#include "operators/elementwise/unary_functions.h"
#include "operators/primitives/activation_functions.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::function_table_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectThrows;
using test::FeedRange;
using test::RunOp;

template <class Visit>
void ForEachUnaryRow(const Visit& visit) {
  kActivations.ForEach(visit);
  kUnaryMath.ForEach(visit);
}
template <class Visit>
void ForEachBinaryRow(const Visit& visit) {
  kArithmetic.ForEach(visit);
  kComparisons.ForEach(visit);
  kLogic.ForEach(visit);
}
template <class Visit>
void ForEachRow(const Visit& visit) {
  ForEachUnaryRow(visit);
  ForEachBinaryRow(visit);
  kNary.ForEach(visit);
}

const OpSchema& SchemaOf(const char* type) {
  EnsureBuiltinOperators();
  const OpSchema* const schema = OpSchemaRegistry::Schema(type);
  CAFFE_ENFORCE(schema != nullptr, "no schema of \"", type, "\"");
  return *schema;
}

// Returns "name type default" for each documented argument, or "name type!" for a required one.
std::vector<std::string> ArgumentsOf(const char* type) {
  std::vector<std::string> result;
  for (const OpSchema::Argument& argument : SchemaOf(type).args()) {
    EXPECT_FALSE(argument.doc.empty()) << type << " " << argument.name;
    EXPECT_TRUE(argument.read) << type << " " << argument.name << " is not checked";
    result.push_back(argument.name + ' ' + argument.type +
                     (argument.required ? "!" : ' ' + argument.default_value));
  }
  return result;
}

// The documented arguments, as in Caffe2.
const std::map<std::string, std::vector<std::string>> kArgumentsOfUnary = {
    {"Clip", {"min float -3.4028235e+38", "max float 3.4028235e+38"}},
    {"Elu", {"alpha float 1"}},
    {"FloatToHalf", {"clip bool 0"}},
    {"Gelu", {"fast_gelu bool 0"}},
    {"HalfToFloat", {"clip bool 0"}},
    {"HardSigmoid", {"alpha float 0.2", "beta float 0.5"}},
    {"IsInf", {"detect_negative bool 1", "detect_positive bool 1"}},
    {"LeakyRelu", {"alpha float 0.01"}},
    {"Logit", {"eps float 1e-06"}},
    {"Mod", {"divisor int!", "sign_follow_divisor bool 0"}},
    {"Relu", {"order string NCHW"}},
    {"ReluN", {"n float 6"}},
    {"ReplaceNaN", {"value float 0"}},
    {"Scale", {"scale float 1"}},
    {"Selu", {"alpha float 1.6732632", "scale float 1.050701"}},
    {"StumpFunc", {"threshold float 0", "low_value float 0", "high_value float 0"}},
    {"ThresholdedRelu", {"alpha float 1"}},
};

TEST(FunctionTableTest, RegistersSchemaAndCpuOperatorOfEveryRow) {
  int rows = 0;
  ForEachRow([&rows](const auto& row) {
    SCOPED_TRACE(row.type);
    EXPECT_EQ(std::string(SchemaOf(row.type).doc()).find(row.doc), 0u);
    EXPECT_TRUE(HasOperator(CPU, row.type));
    ++rows;
  });
  EXPECT_EQ(rows, 17 + 40 + 4 + 6 + 6 + 4);
}

TEST(FunctionTableTest, DocumentsTheArgumentsOfEveryRow) {
  ForEachUnaryRow([](const auto& row) {
    const auto want = kArgumentsOfUnary.find(row.type);
    EXPECT_EQ(ArgumentsOf(row.type),
              want == kArgumentsOfUnary.end() ? std::vector<std::string>() : want->second)
        << row.type;
  });
  ForEachBinaryRow([](const auto& row) {
    EXPECT_EQ(ArgumentsOf(row.type),
              (std::vector<std::string>{"broadcast bool 0", "axis int -1", "axis_str string ",
                                        "order string NCHW"}))
        << row.type;
  });
  kNary.ForEach([](const auto& row) {
    EXPECT_EQ(ArgumentsOf(row.type), std::vector<std::string>()) << row.type;
  });
}

TEST(FunctionTableTest, AllowsInPlaceOutputsAsEachRowDeclares) {
  ForEachUnaryRow([](const auto& row) {
    EXPECT_EQ(SchemaOf(row.type).inplace_allowed(0, 0), row.inplace) << row.type;
  });
  ForEachBinaryRow([](const auto& row) {
    const OpSchema& schema = SchemaOf(row.type);
    EXPECT_EQ(schema.inplace_allowed(0, 0), row.inplace != BinaryInplace::kNone) << row.type;
    EXPECT_EQ(schema.inplace_allowed(1, 0), row.inplace == BinaryInplace::kEither) << row.type;
  });
}

// Returns the arguments that the operator of a row requires.
std::string RequiredArguments(const std::string& type) {
  return type == "Mod" ? R"( arg { name: "divisor" i: 3 })" : "";
}

template <class T, class Result, class Row>
void ExpectRunsOn(const Row& row, bool unary) {
  SCOPED_TRACE(std::string(row.type) + " of " + std::string(TypeMeta::Name<T>()));
  Workspace ws;
  FeedRange<T>(&ws, "A", {2, 5}, 1);
  FeedRange<T>(&ws, "B", {5}, 1);
  FeedRange<T>(&ws, "C", {2, 5}, 1);
  const auto op = [&](const char* inputs) {
    return std::string("type: \"") + row.type + "\" input: \"A\" " + inputs + " output: \"Y\"" +
           RequiredArguments(row.type);
  };
  const auto run = [&](const char* inputs) {
    RunOp(&ws, op(inputs));
    const Tensor& y = ws.GetBlob("Y")->Get<Tensor>();
    EXPECT_EQ(y.dims(), (std::vector<int64_t>{2, 5}));
    EXPECT_TRUE(y.IsType<Result>()) << "elements are " << y.dtype().name();
    ExpectShapeInferred(&ws, op(inputs));
  };
  if (unary) {
    run("");
  } else {
    run(R"(input: "C")");
    run(R"(input: "B")");
  }
}

TEST(FunctionTableTest, RunsOnEveryElementTypeOfItsRows) {
  ForEachUnaryRow([]<class Function, class... Ts>(const UnaryRow<Function, Ts...>& row) {
    (ExpectRunsOn<Ts, ResultOf<Function, Ts>>(row, true), ...);
  });
  ForEachBinaryRow([]<class Function, class... Ts>(const BinaryRow<Function, Ts...>& row) {
    (ExpectRunsOn<Ts, ResultOf<Function, Ts, Ts>>(row, false), ...);
  });
  kNary.ForEach([]<NaryKind kKind, class... Ts>(const NaryRow<kKind, Ts...>& row) {
    (ExpectRunsOn<Ts, Ts>(row, true), ...);
  });
}

TEST(FunctionTableTest, RejectsOtherElementTypes) {
  ForEachRow([](const auto& row) {
    SCOPED_TRACE(row.type);
    Workspace ws;
    const std::string type = row.type;
    std::string wrong = "int16";
    if (type.starts_with("Bitwise")) {
      FeedRange<float>(&ws, "A", {2});
      wrong = "float";
    } else if (type == "ONNXAbs") {
      FeedRange<bool>(&ws, "A", {2});
      wrong = "bool";
    } else {
      FeedRange<int16_t>(&ws, "A", {2});
    }
    // Sum copies one input of any type.
    const bool pairs = SchemaOf(row.type).min_input() == 2 || type == "Sum";
    const std::string second = pairs ? R"(input: "A")" : "";
    ExpectThrows(
        [&] {
          RunOp(&ws, std::string("type: \"") + row.type + "\" input: \"A\" " + second +
                         " output: \"Y\"" + RequiredArguments(row.type));
        },
        "has elements of type " + wrong + ", want ");
  });
}

}  // namespace
}  // namespace caffe2rt::function_table_test
