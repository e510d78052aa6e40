#include "caffe2_core/graph/gradient.h"

#include <absl/strings/str_join.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::gradient_test {
namespace {

using test::ExpectThrows;
using test::ParseOp;

class DenseMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("DenseGradient", "", {I(0), O(0), GO(0)}, {GI(0)});
  }
};
REGISTER_GRADIENT(GradientTestDense, DenseMaker);

// Its operators have a device, an engine and an argument of their own.
class PlacedMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<OperatorDef> ops;
    for (const char* text :
         {R"(type: "First" input: "dy" output: "t" engine: "own" arg { name: "own" i: 2 }
             device_option { device_type: 5 random_seed: 3 })",
          R"(type: "Second" input: "t" output: "x_grad" device_option { device_id: 1 })"}) {
      ops.push_back(ParseOp(text));
    }
    SetDense(0, "x_grad");
    return ops;
  }
};
REGISTER_GRADIENT(GradientTestPlaced, PlacedMaker);

class SparseMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }
  bool CopyEngine() const override { return false; }
  bool CopyDeviceOption() const override { return false; }
  std::vector<OperatorDef> GetGradientDefs() override {
    SetDense(1, "other");
    return SingleGradientDef("SparseGradient", "", std::vector<std::string>{GO_I(0), GO_V(0)},
                             std::vector<std::string>{GI_I(0), GI_V(0)});
  }
};
REGISTER_GRADIENT(GradientTestSparse, SparseMaker)

class TwoKindsMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    SetSparse(0, "i", "v");
    GI(0);
    return {};
  }
};
REGISTER_GRADIENT_STR("GradientTestTwoKinds", TwoKindsMaker);

class HalfSparseMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    GI_I(0);
    return {};
  }
};
REGISTER_GRADIENT(GradientTestHalfSparse, HalfSparseMaker);

class FarMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("X", "", {I(7)}, {"y"});
  }
};
REGISTER_GRADIENT(GradientTestFar, FarMaker);

class EmptyMaker : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
};
REGISTER_GRADIENT(GradientTestEmpty, EmptyMaker);

// Uses the value of the input in the form that makers of Caffe2's style have.
class ReadsInputMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ReadsInputGradient", "", std::vector<std::string>{I(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};
REGISTER_GRADIENT(GradientTestReadsInput, ReadsInputMaker);

class ReadsOutputMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ReadsOutputGradient", "",
                             std::vector<std::string>{def_.output(0), ShapeOf(0), I(1), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};
REGISTER_GRADIENT(GradientTestReadsOutput, ReadsOutputMaker);

// Computes the input from the output if the operator works in place.
class InvertsMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    if (I(0) != O(0)) {
      return SingleGradientDef("PlainGradient", "", std::vector<std::string>{I(0), GO(0)},
                               std::vector<std::string>{GI(0)});
    }
    return SingleGradientDef("InvertingGradient", "", std::vector<std::string>{O(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};
REGISTER_GRADIENT(GradientTestInverts, InvertsMaker);

class InPlaceOnlyMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    CAFFE_ENFORCE_EQ(I(0), O(0), "works only in place");
    return SingleGradientDef("InPlaceOnlyGradient", "", std::vector<std::string>{O(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};
OPERATOR_SCHEMA(GradientTestInPlaceOnly).NumInputs(2).NumOutputs(1).EnforceInplace({{0, 0}});
REGISTER_GRADIENT(GradientTestInPlaceOnly, InPlaceOnlyMaker);

// Works only in place, and its gradient would need what it overwrites.
OPERATOR_SCHEMA(GradientTestEnforced).NumInputs(2).NumOutputs(1).EnforceInplace({{0, 0}});
REGISTER_GRADIENT(GradientTestEnforced, ReadsInputMaker);

// An operator whose gradient operator does not work in place.
OPERATOR_SCHEMA(NotInPlaceGradient).NumInputs(2).NumOutputs(1);
class NotInPlaceMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("NotInPlaceGradient", "", std::vector<std::string>{O(0), GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};
REGISTER_GRADIENT(GradientTestNotInPlace, NotInPlaceMaker);

NO_GRADIENT(GradientTestNone) SHOULD_NOT_DO_GRADIENT(GradientTestNever);
GRADIENT_NOT_IMPLEMENTED_YET(GradientTestLater);

OperatorDef Op(const std::string& type) {
  return ParseOp("type: \"" + type + R"(" input: "x" input: "w" output: "y" engine: "E"
                  arg { name: "k" i: 1 } device_option { device_type: 1 device_id: 2 })");
}
std::vector<GradientWrapper> Dense(const std::string& name) { return {{name, "", ""}}; }

// The second one is a conflict, which the next use of the registry reports once.
TEST(GradientTest, ATypeHasOneMaker) {
  EXPECT_TRUE(RegisterGradient<DenseMaker>("GradientTestOneMaker", __FILE__));
  EXPECT_FALSE(RegisterGradient<PlacedMaker>("GradientTestOneMaker", __FILE__));
  EXPECT_THAT([] { GetGradientForOp(Op("GradientTestOneMaker"), Dense("dy")); },
              testing::ThrowsMessage<EnforceNotMet>(testing::HasSubstr("GradientTestOneMaker")));
  EXPECT_EQ(GetGradientForOp(Op("GradientTestOneMaker"), Dense("dy")).ops_[0].type(),
            "DenseGradient");
}

TEST(GradientTest, GivesTheForwardOperatorsOptionsToGradientOperators) {
  const GradientOpsMeta meta = GetGradientForOp(Op("GradientTestDense"), Dense("dy"));
  ASSERT_EQ(meta.ops_.size(), 1u);
  const OperatorDef& op = meta.ops_[0];
  EXPECT_EQ(op.type(), "DenseGradient");
  EXPECT_EQ(absl::StrJoin(op.input(), ","), "x,y,dy");
  EXPECT_EQ(op.output(0), "x_grad");
  EXPECT_TRUE(op.is_gradient_op());
  EXPECT_EQ(op.engine(), "E");
  EXPECT_EQ(op.device_option().device_id(), 2);
  EXPECT_EQ(op.arg(0).name(), "k");
  ASSERT_EQ(meta.g_input_.size(), 2u);
  EXPECT_TRUE(meta.g_input_[0].IsDense());
  EXPECT_TRUE(meta.g_input_[1].IsEmpty());
}

// They replace those that the maker gave; arguments are added.
TEST(GradientTest, GivesTheForwardOperatorsOptionsToOperatorsWithOthers) {
  const GradientOpsMeta meta = GetGradientForOp(Op("GradientTestPlaced"), Dense("dy"));
  ASSERT_EQ(meta.ops_.size(), 2u);
  for (const OperatorDef& op : meta.ops_) {
    EXPECT_TRUE(op.is_gradient_op());
    EXPECT_EQ(op.engine(), "E");
    EXPECT_EQ(op.device_option().ShortDebugString(),
              Op("GradientTestPlaced").device_option().ShortDebugString());
    ASSERT_GE(op.arg_size(), 1);
    EXPECT_EQ(op.arg(op.arg_size() - 1).name(), "k");
  }
  EXPECT_EQ(meta.ops_[0].arg_size(), 2);
  EXPECT_EQ(meta.ops_[0].arg(0).name(), "own");
  OperatorDef plain = Op("GradientTestPlaced");
  plain.clear_device_option();
  plain.clear_engine();
  const GradientOpsMeta own = GetGradientForOp(plain, Dense("dy"));
  EXPECT_EQ(own.ops_[0].engine(), "own");
  EXPECT_EQ(own.ops_[0].device_option().random_seed(), 3u);
  EXPECT_EQ(own.ops_[1].device_option().device_id(), 1);
}

TEST(GradientTest, HandlesSparseGradientsAndMakersThatCopyNothing) {
  const GradientOpsMeta meta = GetGradientForOp(Op("GradientTestSparse"), {{"", "di", "dv"}});
  const OperatorDef& op = meta.ops_[0];
  EXPECT_EQ(absl::StrJoin(op.input(), ","), "di,dv");
  EXPECT_EQ(absl::StrJoin(op.output(), ","), "x_grad_indices,x_grad_values");
  EXPECT_FALSE(op.has_engine() || op.has_device_option() || op.arg_size() > 0);
  EXPECT_TRUE(meta.g_input_[0].IsSparse());
  EXPECT_EQ(meta.g_input_[1].dense_, "other");
}

TEST(GradientTest, NamesTheOutputWhoseGradientIsMissingOrOfTheOtherKind) {
  ExpectThrows(
      [] {
        GetGradientForOp(Op("GradientTestDense"), {{"", "i", "v"}});
      },
      "the gradient of output y is sparse, want a dense one");
  ExpectThrows([] { GetGradientForOp(Op("GradientTestDense"), {GradientWrapper()}); },
               "the gradient of output y is not given");
  ExpectThrows([] { GetGradientForOp(Op("GradientTestSparse"), Dense("dy")); },
               "the gradient of output y is dense, want a sparse one");
  ExpectThrows([] { GetGradientForOp(Op("GradientTestDense"), {}); }, "for 0 outputs");
}

TEST(GradientTest, RejectsGradientsOfAnotherShape) {
  ExpectThrows([] { GetGradientForOp(Op("GradientTestTwoKinds"), Dense("dy")); },
               "the gradient of input x is already set as sparse");
  ExpectThrows([] { GetGradientForOp(Op("GradientTestHalfSparse"), Dense("dy")); }, "want both");
  ExpectThrows([] { GetGradientForOp(Op("GradientTestFar"), Dense("dy")); }, "requests input 7");
  ExpectThrows([] { GetGradientForOp(Op("GradientTestEmpty"), Dense("dy")); },
               "overrides neither Get nor GetGradientDefs");
}

TEST(GradientTest, KnowsOperatorsWithoutGradient) {
  EXPECT_TRUE(GetGradientForOp(Op("GradientTestNone"), Dense("dy")).ops_.empty());
  ExpectThrows([] { GetGradientForOp(Op("GradientTestNever"), Dense("dy")); },
               "One should not call gradient for operator GradientTestNever.");
  ExpectThrows([] { GetGradientForOp(Op("GradientTestLater"), Dense("dy")); },
               "should have a gradient but is not implemented yet");
  ExpectThrows([] { GetGradientForOp(Op("Accuracy"), Dense("dy")); },
               "One should not call gradient for operator Accuracy.");
  const OperatorDef fill = ParseOp(R"(type: "ConstantFill" output: "y")");
  EXPECT_TRUE(GetGradientForOp(fill, Dense("dy")).g_input_.empty());
}

// The operator with its output in place of its first input.
OperatorDef InPlace(const std::string& type) {
  OperatorDef op = Op(type);
  op.set_output(0, "x");
  return op;
}

TEST(GradientTest, RejectsGradientsOfInputsThatTheOperatorOverwrites) {
  EXPECT_EQ(GetGradientForOp(Op("GradientTestReadsInput"), Dense("y_grad")).ops_.size(), 1u);
  ExpectThrows(
      [] { GetGradientForOp(InPlace("GradientTestReadsInput"), Dense("x_grad")); },
      "ReadsInputGradient needs the value of blob \"x\" that the operator read, but "
      "GradientTestReadsInput overwrites it; write the output of GradientTestReadsInput to "
      "another blob");
}

TEST(GradientTest, ReadsOutputsAndOtherInputsOfAnOperatorThatWorksInPlace) {
  const auto inputs_of = [](const char* type) {
    const GradientOpsMeta meta = GetGradientForOp(InPlace(type), Dense("x_grad"));
    return meta.ops_[0].type() + ": " + absl::StrJoin(meta.ops_[0].input(), ",");
  };
  EXPECT_EQ(inputs_of("GradientTestReadsOutput"), "ReadsOutputGradient: x,x,w,x_grad");
  EXPECT_EQ(inputs_of("GradientTestInverts"), "InvertingGradient: x,x_grad");
  EXPECT_EQ(inputs_of("GradientTestInPlaceOnly"), "InPlaceOnlyGradient: x,x_grad");
}

TEST(GradientTest, RejectsGradientsOfOverwrittenInputsIfTheSchemaEnforcesThat) {
  OperatorDef op = Op("GradientTestEnforced");
  op.set_output(0, "x");
  ExpectThrows([&] { GetGradientForOp(op, Dense("dy")); },
               "needs the value of blob \"x\" that the operator read, but GradientTestEnforced "
               "overwrites it");
}

TEST(GradientTest, RejectsGradientOperatorsThatDoNotWorkInPlace) {
  EXPECT_EQ(GetGradientForOp(InPlace("GradientTestNotInPlace"), Dense("dx")).ops_.size(), 1u);
  ExpectThrows([] { GetGradientForOp(InPlace("GradientTestNotInPlace"), Dense("x_grad")); },
               "NotInPlaceGradient does not support the gradients of an operator that works in "
               "place");
}

TEST(GradientTest, NamesWhatIsCloseToAnUnknownType) {
  ExpectThrows(
      [] { GetGradientForOp(Op("GradientTestDens"), Dense("dy")); },
      "Gradient maker for operator GradientTestDens not implemented; close: GradientTestDense");
}

TEST(GradientTest, MatchesGradientBlobsWithWhatTheyBelongTo) {
  const OperatorDef op = ParseOp(R"(type: "G" output: "a_grad" output: "b" output: "_grad")");
  const std::map<std::string, std::string> params = GradientMakerBase::MatchGradsToParams(op);
  EXPECT_EQ(params, (std::map<std::string, std::string>{{"a_grad", "a"}}));
}

}  // namespace
}  // namespace caffe2rt::gradient_test
