#include "caffe2_core/io/double_fills.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/given_values.h"

namespace caffe2rt {
namespace {

constexpr int kParts = 3;  // 53 bits of a double, 24 of a float

// A float near x, or 0 if there is none.
float Nearest(double x) { return std::abs(x) > FLT_MAX ? 0.0f : static_cast<float>(x); }

bool IsFloat(double x) { return std::isinf(x) || static_cast<double>(Nearest(x)) == x; }

// The floats whose sum is `doubles`: part 0 is near it, part 1 near the rest, and so on. Returns
// nothing if there are no such floats.
std::vector<Tensor> PartsOf(const Tensor& doubles) {
  std::vector<Tensor> parts;
  Tensor rest = doubles.Clone();
  double* const left = rest.mutable_data<double>();
  for (bool is_done = false; !is_done;) {
    if (parts.size() == kParts) return {};
    Tensor part(doubles.dims(), CPU);
    double* const to = part.mutable_data<double>();
    is_done = true;
    for (int64_t i = 0; i < rest.numel(); ++i) {
      to[i] = IsFloat(left[i]) ? left[i] : Nearest(left[i]);
      left[i] = to[i] == left[i] ? -0.0 : left[i] - to[i];  // -0 + -0 is -0
      is_done = is_done && left[i] == 0;
    }
    parts.push_back(std::move(part));
  }
  return parts;
}

OperatorDef WithOutput(OperatorDef op, const std::string& name) {
  op.set_output(0, name);
  return op;
}

OperatorDef Joined(const OperatorDef& fill, const char* type,
                   const std::vector<std::string>& inputs) {
  OperatorDef op = fill;
  op.set_type(type);
  op.clear_arg();
  op.clear_input();
  for (const std::string& input : inputs) op.add_input(input);
  return op;
}

Tensor BitsOf(const Tensor& doubles) {
  Tensor bits(doubles.dims(), CPU);
  const double* from = doubles.data<double>();
  int64_t* to = bits.mutable_data<int64_t>();
  for (int64_t i = 0; i < doubles.numel(); ++i) to[i] = std::bit_cast<int64_t>(from[i]);
  return bits;
}

}  // namespace

bool AreFloats(const Tensor& doubles) {
  const double* from = doubles.data<double>();
  for (int64_t i = 0; i < doubles.numel(); ++i) {
    if (!IsFloat(from[i])) return false;
  }
  return true;
}

std::vector<OperatorDef> ExactFills(const OperatorDef& fill, int arg, const Tensor& doubles,
                                    const std::string& unused, bool on_cpu) {
  std::vector<OperatorDef> ops;
  const std::vector<Tensor> parts = PartsOf(doubles);
  CAFFE_ENFORCE(
      !parts.empty() || on_cpu, "blob \"", fill.output(0),
      "\" has doubles that no floats add up to, which no operator fills on a device; want "
      "operator ",
      fill.type(), " on the CPU");
  if (parts.empty()) {
    OperatorDef bits = WithOutput(fill, unused + "bits");
    bits.set_type(GivenFillOf(TypeMeta::Make<int64_t>()));
    EncodeGivenValues(BitsOf(doubles), bits.type(), bits.mutable_arg(arg));
    OperatorDef cast = Joined(fill, "BitCast", {bits.output(0)});
    Argument* const to = cast.add_arg();
    to->set_name("to");
    to->set_i(TensorProto::DOUBLE);
    return {std::move(bits), std::move(cast)};
  }
  std::vector<std::string> names;
  for (const Tensor& part : parts) {
    names.push_back(MakeString(unused, ops.size()));
    ops.push_back(WithOutput(fill, names.back()));
    EncodeGivenValues(part, fill.type(), ops.back().mutable_arg(arg));
  }
  // The rests are smaller than a bit of the part before, so that no sum rounds.
  ops.push_back(Joined(fill, "Sum", names));
  return ops;
}

}  // namespace caffe2rt
