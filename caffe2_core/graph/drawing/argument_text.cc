#include "caffe2_core/graph/drawing/argument_text.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <set>
#include <vector>

#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

constexpr size_t kMostDetail = 60;

// The elements that fit into `most` bytes, and the number of all if some do not.
template <class List, class Format>
std::string ListText(const List& list, size_t most, const Format& format) {
  std::string text = "[";
  for (int i = 0; i < list.size(); ++i) {
    const std::string element = format(list.Get(i));
    if (text.size() + element.size() > most) {
      return absl::StrCat(text, "\xE2\x80\xA6, ", list.size(), " values]");
    }
    absl::StrAppend(&text, i > 0 ? ", " : "", element);
  }
  return text + "]";
}

std::string NumberText(int64_t value) { return absl::StrCat(value); }
std::string FloatText(float value) { return absl::StrCat(value); }

std::optional<int64_t> IntegerOf(const OperatorDef& op, const std::string& name) {
  const Argument* arg = GetArgumentPtr(op, name);
  if (arg == nullptr || !arg->has_i()) return std::nullopt;
  return arg->i();
}

// The values of a window argument for each axis: NAMEs (a list), NAME_h and NAME_w, or NAME.
std::vector<int64_t> WindowOf(const OperatorDef& op, const std::string& name) {
  const Argument* list = GetArgumentPtr(op, name + "s");
  if (list != nullptr && list->ints_size() > 0 && list->ints_size() <= 8)
    return {list->ints().begin(), list->ints().end()};
  const auto h = IntegerOf(op, name + "_h"), w = IntegerOf(op, name + "_w");
  if (h && w) return {*h, *w};
  if (const auto both = IntegerOf(op, name)) return {*both, *both};
  return {};
}

std::vector<int64_t> PadsOf(const OperatorDef& op) {
  const auto t = IntegerOf(op, "pad_t"), l = IntegerOf(op, "pad_l"), b = IntegerOf(op, "pad_b"),
             r = IntegerOf(op, "pad_r");
  if (t || l || b || r) return {t.value_or(0), l.value_or(0), b.value_or(0), r.value_or(0)};
  return WindowOf(op, "pad");
}

// "2" if all values are equal, "" if all are `default_value`, else "2/1".
std::string ShortList(const std::vector<int64_t>& values, int64_t default_value) {
  if (values.empty()) return "";
  if (std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == values[0]; })) {
    return values[0] == default_value ? "" : absl::StrCat(values[0]);
  }
  return absl::StrJoin(values, "/");
}

void AddPart(const std::string& name, const std::string& value, std::string* text) {
  if (value.empty()) return;
  absl::StrAppend(text, text->empty() ? "" : ", ", name, name.empty() ? "" : " ", value);
}

// Kernel, stride and so on; empty if the operator has no window.
std::string WindowText(const OperatorDef& op) {
  std::string text;
  AddPart("", absl::StrJoin(WindowOf(op, "kernel"), "\xC3\x97"), &text);  // a multiplication sign
  if (IntegerOf(op, "global_pooling").value_or(0) != 0) AddPart("", "global", &text);
  AddPart("stride", ShortList(WindowOf(op, "stride"), 1), &text);
  AddPart("pad", ShortList(PadsOf(op), 0), &text);
  AddPart("dilation", ShortList(WindowOf(op, "dilation"), 1), &text);
  const int64_t group = IntegerOf(op, "group").value_or(1);
  if (group != 1) AddPart("group", absl::StrCat(group), &text);
  return text;
}

// Arguments that say little about what the operator computes.
bool IsMinor(const std::string& name) {
  static const std::set<std::string> names = {"order",
                                              "is_test",
                                              "epsilon",
                                              "momentum",
                                              "exhaustive_search",
                                              "ws_nbytes_limit",
                                              "values",
                                              "legacy_pad",
                                              "cudnn_exhaustive_search",
                                              "Y_scale",
                                              "Y_zero_point",
                                              "use_cudnn",
                                              "init_params",
                                              "net_position",
                                              "debug_info",
                                              "broadcast",
                                              "beta",
                                              "bias",
                                              "size",
                                              "float16_compute",
                                              "shared_buffer",
                                              "allow_broadcast_fastpath",
                                              "deterministic",
                                              "dtype"};
  return names.contains(name);
}

// Whether the argument is the number of an element type.
bool IsElementType(const OperatorDef& op, const Argument& arg) {
  const char* const name = TraitsOf(op.type()).type_argument;
  return name != nullptr && arg.name() == name && arg.has_i() && arg.i() <= INT_MAX &&
         TensorProto_DataType_IsValid(static_cast<int>(arg.i()));
}

}  // namespace

std::string ArgumentText(const Argument& arg, size_t most) {
  if (arg.has_f()) return FloatText(arg.f());
  if (arg.has_i()) return NumberText(arg.i());
  if (arg.has_s()) return absl::StrCat("\"", Shortened(arg.s(), most), "\"");
  if (arg.has_n()) return absl::StrCat("a net of ", CountText(arg.n().op_size(), "operator"));
  if (arg.floats_size() > 0) return ListText(arg.floats(), most, FloatText);
  if (arg.ints_size() > 0) return ListText(arg.ints(), most, NumberText);
  if (arg.strings_size() > 0) {
    return ListText(arg.strings(), most, [&](const std::string& text) {
      return absl::StrCat("\"", Shortened(text, most), "\"");
    });
  }
  if (arg.nets_size() > 0) return CountText(arg.nets_size(), "net");
  if (arg.has_t() || arg.tensors_size() > 0) return "a tensor";
  return "[]";
}

std::string DetailText(const OperatorDef& op) {
  std::string text = WindowText(op);
  if (!text.empty()) return Shortened(text, kMostDetail);
  for (const Argument& arg : op.arg()) {
    const bool is_flag = arg.has_i() && arg.i() == 0;
    if (IsMinor(arg.name()) || is_flag || arg.has_n() || arg.nets_size() > 0) continue;
    const std::string value = IsElementType(op, arg)
                                  ? DataTypeName(static_cast<TensorProto_DataType>(arg.i()))
                                  : ArgumentText(arg, 24);
    if (text.size() + arg.name().size() + value.size() > kMostDetail) continue;
    AddPart(arg.name(), value, &text);
  }
  return text;
}

}  // namespace caffe2rt
