// QuantDecode: the entries of a codebook that codes name. QuantDecodeGradient: the gradient of the
// codebook, the sum of the gradients of an entry's uses.
//   codebook float, codes_0 ... codes_n uint8, uint16 or int32
//   ->  decoded_0 ... decoded_n float, of the shapes of the codes
#include <algorithm>
#include <climits>
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

// Calls function(i, code) for each element of input `input`. THROWS if a code is out of range.
template <class Function>
void ForEachCode(const Tensor& codes, int input, int64_t entries, const Function& function) {
  DispatchByType<uint8_t, uint16_t, int32_t>(codes.dtype(), "an input with codes", [&](auto first) {
    const auto* const code = codes.data<decltype(first)>();
    for (int64_t i = 0; i < codes.numel(); ++i) {
      const auto entry = static_cast<int64_t>(code[i]);
      CAFFE_ENFORCE(entry >= 0 && entry < entries, "element ", i, " of input ", input, " (codes_",
                    input - 1, ") is ", entry, ", want 0 to ", entries - 1);
      function(i, entry);
    }
  });
}

class QuantDecodeOp final : public Operator<CPUContext> {
 public:
  QuantDecodeOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    RequireElements<float>(Input(0));
    for (int i = 1; i < InputSize(); ++i) {
      RequireElementsOf<uint8_t, uint16_t, int32_t>(Input(i), "an input with codes");
    }
    const float* const codebook = Input(0).data<float>();
    for (int i = 1; i < InputSize(); ++i) {
      float* const y = OutputData<float>(i - 1, Input(i).sizes());
      ForEachCode(Input(i), i, Input(0).numel(),
                  [&](int64_t place, int64_t entry) { y[place] = codebook[entry]; });
    }
    return true;
  }
};

class QuantDecodeGradientOp final : public Operator<CPUContext> {
 public:
  QuantDecodeGradientOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const int lists = (InputSize() - 1) / 2;
    RequireElements<float>(Input(0));
    for (int i = 1; i <= lists; ++i) {
      RequireElementsOf<uint8_t, uint16_t, int32_t>(Input(i), "an input with codes");
      RequireElements<float>(Input(lists + i));
      CAFFE_ENFORCE_EQ(Input(lists + i).numel(), Input(i).numel(), "elements of input ", lists + i,
                       " (the gradient of decoded_", i - 1, "), want those of its codes");
    }
    const int64_t entries = Input(0).numel();
    float* const sums = OutputData<float>(0, Input(0).sizes());
    std::fill_n(sums, entries, 0.0f);
    for (int i = 1; i <= lists; ++i) {
      const float* const dy = Input(lists + i).data<float>();
      ForEachCode(Input(i), i, entries,
                  [&](int64_t place, int64_t entry) { sums[entry] += dy[place]; });
    }
    return true;
  }
};

class GetQuantDecodeGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs;
    for (int i = 0; i < Def().input_size(); ++i) inputs.push_back(I(i));
    for (int i = 0; i < Def().output_size(); ++i) inputs.push_back(GO(i));
    return SingleGradientDef("QuantDecodeGradient", "", inputs, {GI(0)});
  }
};

}  // namespace

void RegisterQuantDecode() {
  RegisterSchema("QuantDecode", __FILE__)
      .NumInputsOutputs([](int in, int out) { return in >= 2 && out == in - 1; })
      .Input(0, "codebook", "float")
      .Input(1, "codes_0", "uint8, uint16 or int32: positions in the codebook")
      .Input(2, "codes_1", "the same, and so on (optional)")
      .Input(3, "codes_n", "the last ones (optional)")
      .Output(0, "decoded_0", "float, of the shape of codes_0: the entries of the codebook")
      .Output(1, "decoded_1", "the same of codes_1, and so on")
      .Output(2, "decoded_n", "the last ones")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out(static_cast<size_t>(def.output_size()),
                                     UnknownShapeOf(TensorProto::FLOAT));
        for (size_t i = 0; i < out.size() && i + 1 < in.size(); ++i) {
          if (!IsKnown(in[i + 1])) continue;
          out[i] = CreateTensorShape(GetDimsVector(in[i + 1]), TensorProto::FLOAT);
        }
        return out;
      })
      .SetDoc("Decodes lists of codes: replaces each code by the entry of the codebook.");
  RegisterCpuOperator<QuantDecodeOp>("QuantDecode", __FILE__);
  RegisterGradient<GetQuantDecodeGradient>("QuantDecode", __FILE__);

  RegisterSchema("QuantDecodeGradient", __FILE__)
      .NumInputsOutputs([](int in, int out) { return in % 2 == 1 && out == 1; })
      .NumInputs(3, INT_MAX)
      .NumOutputs(1)
      .Input(0, "codebook", "float: only the shape is used")
      .Input(1, "codes_0", "the lists of codes, and behind them the gradients of what they decode")
      .Output(0, "codebook_grad", "of the shape of codebook: sums of gradients")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of QuantDecode for the codebook.");
  RegisterCpuOperator<QuantDecodeGradientOp>("QuantDecodeGradient", __FILE__);
}

}  // namespace caffe2rt
