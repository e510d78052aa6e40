#pragma once
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"

namespace caffe2rt::test {

// Makers of operators that exist only here. Direct needs the gradients only, UseOutput the outputs
// as well, UseInput the inputs as well.
class DirectMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override { return Gradient({}); }

 protected:
  std::vector<OperatorDef> Gradient(std::vector<std::string> inputs) {
    std::vector<std::string> outputs;
    for (int i = 0; i < def_.output_size(); ++i) inputs.push_back(GO(i));
    for (int i = 0; i < def_.input_size(); ++i) outputs.push_back(GI(i));
    return SingleGradientDef(def_.type() + "Gradient", "", inputs, outputs);
  }
};
class UseOutputMaker : public DirectMaker {
  using DirectMaker::DirectMaker;
  std::vector<OperatorDef> GetGradientDefs() override {
    return Gradient({def_.output().begin(), def_.output().end()});
  }
};
class UseInputMaker : public DirectMaker {
  using DirectMaker::DirectMaker;
  std::vector<OperatorDef> GetGradientDefs() override {
    return Gradient({def_.input().begin(), def_.input().end()});
  }
};
// Passes the gradient of its output to all inputs, without an operator.
class PassOnMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    for (int i = 0; i < def_.input_size(); ++i) SetDense(i, GO(0));
    return {};
  }
};
// y = rows `indices` (input 1) of a table (input 0).
class LookupMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    SetSparse(0, I(1), GO(0));
    return {};
  }
};
// Like Lookup, with an operator for the values, and one for the indices as well.
class LookupValuesMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    SetSparse(0, I(1), GI_V(0));
    return SingleGradientDef("LookupValuesGradient", "", {I(1), GO(0)}, {GI_V(0)});
  }
};
class LookupBothMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("LookupBothGradient", "", {GO(0)}, {GI_I(0), GI_V(0)});
  }
};
// Two operators, the second of which uses a blob of the first.
class TwoStepMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("Step1", "", {GO(0)}, {"between"}),
            CreateOperatorDef("Step2", "", {"between"}, {GI(0)})};
  }
};
class StepInPlaceMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("Step1", "", {GO(0)}, {GI(0)}),
            CreateOperatorDef("Step2", "", {GI(0)}, {GI(0)})};
  }
};
class TwoReadsMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return {CreateOperatorDef("First", "", {GO(0)}, {GI(0)}),
            CreateOperatorDef("Second", "", {GI(0), GO(0)}, {GI(0)})};
  }
};
class StrayMaker : public GradientMakerBase {
  using GradientMakerBase::GradientMakerBase;
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("StrayGradient", "", {"stray"}, {GI(0)});
  }
};

}  // namespace caffe2rt::test
