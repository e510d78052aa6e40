#include "operators/elementwise/copies.h"

#include <string_view>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/onednn_argument.h"

namespace caffe2rt {

namespace {

// The schema of an operator whose output has the shape and type of input 0.
OpSchema& CopySchema(const char* type, int inputs, const char* doc) {
  return RegisterSchema(type, __FILE__)
      .NumInputs(inputs)
      .NumOutputs(1)
      .Input(0, "X", "any shape and type")
      .Output(0, "Y", "shape, type and values of X")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        return AreKnown(in, 1) ? MoveCost({in[0]}, {in[0]}) : OpSchema::Cost();
      })
      .SetDoc(doc);
}

void RegisterCopy(const char* type, int inputs, const char* doc, bool inplace,
                  const OperatorTraits& traits = {}) {
  OpSchema& schema = CopySchema(type, inputs, doc).Traits(traits);
  if (inplace) schema.AllowInplace({{0, 0}});
  if (std::string_view(type) == "Copy" || std::string_view(type) == "CopyFromCPUInput") {
    schema.Args(kOnednnLayout, kOutputPrecision);
  }
  if (inputs == 2) schema.Input(1, "like", "a tensor on the device to which X is copied");
  RegisterCpuOperator<CopyOp<CPUContext>>(type, __FILE__);
}

constexpr ArgumentSpec<float> kZeroGradientFill{"value", 0.0f, "the value of ConstantFill"};

using Strings = std::vector<std::string>;

class GetCopyGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("CopyOnDeviceLike", "", Strings{GO(0), I(0)}, Strings{GI(0)});
  }
};

// Copies a dense or a sparse gradient back.
class GetCopyBetweenDevicesGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const std::string back = def_.type() == "CopyCPUToGPU" ? "CopyGPUToCPU" : "CopyCPUToGPU";
    if (!GradOut(0).IsSparse()) {
      return SingleGradientDef(back, "", Strings{GO(0)}, Strings{GI(0)});
    }
    return {CreateOperatorDef(back, "", Strings{GO_I(0)}, Strings{GI_I(0)}),
            CreateOperatorDef(back, "", Strings{GO_V(0)}, Strings{GI_V(0)})};
  }
};

// The gradient of X is that of Y.
class GetAliasGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    SetDense(0, GO(0));
    return {};
  }
};

class GetNegateGradientGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    if (!GradOut(0).IsSparse()) {
      return SingleGradientDef("Negative", "", Strings{GO(0)}, Strings{GI(0)});
    }
    const std::string values = GI_V(0);
    SetSparse(0, GO_I(0), values);
    return SingleGradientDef("Negative", "", Strings{GO_V(0)}, Strings{values});
  }
};

class GetZeroGradientGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ConstantFill", "", Strings{I(0)}, Strings{GI(0)},
                             std::vector<Argument>{MakeArgument(kZeroGradientFill.name, 0.0f)});
  }
};

void RegisterGradientsOfCopies() {
  RegisterGradient<GetCopyGradient>("Copy", __FILE__);
  RegisterGradient<GetCopyBetweenDevicesGradient>("CopyCPUToGPU", __FILE__);
  RegisterGradient<GetCopyBetweenDevicesGradient>("CopyGPUToCPU", __FILE__);
  RegisterGradient<GetAliasGradient>("Alias", __FILE__);
  RegisterGradient<GetNegateGradientGradient>("NegateGradient", __FILE__);
  RegisterGradient<GetZeroGradientGradient>("ZeroGradient", __FILE__);
  // StopGradient ends the backward pass, and as in Caffe2, EnsureCPUOutput does too. The makers of
  // CopyFromCPUInput and CopyOnDeviceLike are missing in Caffe2.
  RegisterGradient<NoGradient>("StopGradient", __FILE__);
  RegisterGradient<NoGradient>("EnsureCPUOutput", __FILE__);
}

}  // namespace

void RegisterCopies() {
  constexpr OperatorTraits kNoOp{
      .family = OperatorFamily::kElementwise, .same_shape = true, .passes_on = AlwaysPassesOn};
  RegisterCopy("Copy", 1, "Y = a copy of X.", false, kNoOp);
  RegisterCopy("CopyFromCPUInput", 1, "Y = X, from the CPU to the operator's device.", false);
  RegisterCopy("CopyOnDeviceLike", 2, "Y = X, on the device of input 1.", false);
  RegisterCopy("EnsureCPUOutput", 1, "Y = X, on the CPU.", false);
  // Caffe2 has no CPU implementation of these two, because on the CPU they would be the same as
  // Copy.
  CopySchema("CopyCPUToGPU", 1, "Y = X, from the CPU to the operator's device, which is CUDA.");
  CopySchema("CopyGPUToCPU", 1, "Y = X, from the operator's device, which is CUDA, to the CPU.");
  RegisterCopy("StopGradient", 1, "Y = X. The backward pass ends here.", true, kNoOp);
  RegisterCopy("NegateGradient", 1, "Y = X. In the backward pass the gradient is negated.", true,
               {.passes_on = AlwaysPassesOn});

  CopySchema("Alias", 1, "Y = X, sharing the memory of X.")
      .OutputSharesInput(0, 0)
      .Traits({.family = OperatorFamily::kElementwise, .passes_on = AlwaysPassesOn});
  RegisterCpuOperator<AliasOp<CPUContext>>("Alias", __FILE__);
  CopySchema("AliasWithName", 1, "Y = X, sharing the memory of X, as Alias.")
      .AllowInplace({{0, 0}})
      .Args(kAliasName, kAliasBackward)
      .OutputSharesInput(0, 0)
      .Traits({.family = OperatorFamily::kElementwise, .passes_on = AlwaysPassesOn});
  RegisterCpuOperator<AliasOp<CPUContext, true>>("AliasWithName", __FILE__);

  RegisterSchema("ZeroGradient", __FILE__)
      .NumInputs(1)
      .NumOutputs(0)
      .Input(0, "X", "anything")
      .SetDoc("Does nothing. In the backward pass the gradient of X is 0.");
  RegisterCpuOperator<NoOutputOp<CPUContext>>("ZeroGradient", __FILE__);
  RegisterGradientsOfCopies();
}

}  // namespace caffe2rt
