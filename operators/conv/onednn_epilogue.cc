#include "operators/conv/onednn_epilogue.h"

#include <optional>

#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_version.h"
#include "operators/primitives/onednn_program.h"

namespace caffe2rt {
namespace {

// A function of oneDNN and its parameters.
struct Eltwise {
  dnnl::algorithm algorithm;
  float alpha = 0, beta = 0;
};

// The template is for activations that oneDNN does not have.
template <class Function>
std::optional<Eltwise> EltwiseOf(const Function&) {
  return std::nullopt;
}
std::optional<Eltwise> EltwiseOf(const Relu&) { return Eltwise{dnnl::algorithm::eltwise_relu}; }
std::optional<Eltwise> EltwiseOf(const Clip& f) {
  return Eltwise{dnnl::algorithm::eltwise_clip, f.min, f.max};
}
std::optional<Eltwise> EltwiseOf(const ReluN& f) {
  return Eltwise{dnnl::algorithm::eltwise_clip, 0, f.n};
}
std::optional<Eltwise> EltwiseOf(const LeakyRelu& f) {
  return Eltwise{dnnl::algorithm::eltwise_relu, f.alpha};
}
std::optional<Eltwise> EltwiseOf(const Elu& f) {
  return Eltwise{dnnl::algorithm::eltwise_elu, f.alpha};
}
std::optional<Eltwise> EltwiseOf(const Sigmoid&) {
  return Eltwise{dnnl::algorithm::eltwise_logistic};
}
std::optional<Eltwise> EltwiseOf(const Tanh&) { return Eltwise{dnnl::algorithm::eltwise_tanh}; }
std::optional<Eltwise> EltwiseOf(const Swish&) {
  return Eltwise{dnnl::algorithm::eltwise_swish, 1};
}
std::optional<Eltwise> EltwiseOf(const Gelu& f) {
  return Eltwise{f.fast ? dnnl::algorithm::eltwise_gelu_tanh : dnnl::algorithm::eltwise_gelu_erf};
}

std::optional<Eltwise> FindEltwise(const Activation& activation) {
  return std::visit([](const auto& f) { return EltwiseOf(f); }, activation);
}

}  // namespace

bool OnednnHas(const Activation& activation) {
  return std::holds_alternative<NoActivation>(activation) || FindEltwise(activation).has_value();
}

dnnl::primitive_attr AttributesOf(const ConvEpilogue& epilogue,
                                  const std::optional<OnednnQuantization>& result) {
  dnnl::post_ops post;
  if (epilogue.sum) post.append_sum(1.0f);
  if (const std::optional<Eltwise> f = FindEltwise(epilogue.activation)) {
    AppendEltwise(f->algorithm, f->alpha, f->beta, &post);
  }
  if (result && result != OnednnQuantization{}) {
    AppendEltwise(dnnl::algorithm::eltwise_linear, 1 / result->scale,
                  static_cast<float>(result->zero_point), &post);
  }
  dnnl::primitive_attr attributes = OnednnAttributes();
  attributes.set_post_ops(post);
  return attributes;
}

}  // namespace caffe2rt
