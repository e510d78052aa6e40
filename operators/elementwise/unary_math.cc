// Unary arithmetic, roots, exponentials and trigonometry. unary_functions.h contains the functions
// and the table of their operators.

#include "caffe2_core/graph/gradient.h"
#include "operators/elementwise/unary.h"
#include "operators/elementwise/unary_functions.h"

namespace caffe2rt {

namespace {

using Strings = std::vector<std::string>;

// dX = Y * dY
class GetExpGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("Mul", "", Strings{O(0), GO(0)}, Strings{GI(0)});
  }
};

// dX = dY / X
class GetLogGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("Div", "", Strings{GO(0), I(0)}, Strings{GI(0)});
  }
};

// For linear functions: the operator itself, with its arguments, applied to dY.
class GetLinearGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef(def_.type(), "", Strings{GO(0)}, Strings{GI(0)});
  }
};

// For a conversion: the opposite one, applied to dY.
class GetConversionGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const char* const opposite = def_.type() == "FloatToHalf" ? "HalfToFloat" : "FloatToHalf";
    return SingleGradientDef(opposite, "", Strings{GO(0)}, Strings{GI(0)});
  }
};

// dX = 2 * dY * X. Caffe2 scales dY in place, which changes the gradients of other blobs if Sum has
// given them the same name.
class GetSqrGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("Mul", "", Strings{GO(0), I(0)}, Strings{GI(0)}),
            CreateOperatorDef("Scale", "", Strings{GI(0)}, Strings{GI(0)},
                              std::vector<Argument>{MakeArgument(kScaleFactor.name, 2.0f)})};
  }
};

// dX = 0.5 * dY / Y
class GetSqrtGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("Scale", "", Strings{GO(0)}, Strings{GI(0)},
                              std::vector<Argument>{MakeArgument(kScaleFactor.name, 0.5f)}),
            CreateOperatorDef("Div", "", Strings{GI(0), O(0)}, Strings{GI(0)})};
  }
};

}  // namespace

void RegisterUnaryMath() {
  RegisterUnary(kUnaryMath, {.family = OperatorFamily::kElementwise}, __FILE__);
  // As in Caffe2, Mod and IsNaN have no gradient maker.
  RegisterGradient<GetExpGradient>("Exp", __FILE__);
  RegisterGradient<GetConversionGradient>("FloatToHalf", __FILE__);
  RegisterGradient<GetConversionGradient>("HalfToFloat", __FILE__);
  RegisterGradient<GetLogGradient>("Log", __FILE__);
  RegisterGradient<GetLinearGradient>("Negative", __FILE__);
  RegisterGradient<GetLinearGradient>("Scale", __FILE__);
  RegisterGradient<GetSqrGradient>("Sqr", __FILE__);
  RegisterGradient<GetSqrtGradient>("Sqrt", __FILE__);
}

}  // namespace caffe2rt
