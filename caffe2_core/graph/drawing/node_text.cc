#include "caffe2_core/graph/drawing/node_text.h"

#include <absl/strings/str_cat.h>

#include <algorithm>

#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/drawing/markup.h"
#include "caffe2_core/graph/drawing/node_box.h"

namespace caffe2rt {
namespace {

constexpr size_t kMostLines = 4;
constexpr size_t kMostName = 200;  // bytes; the boxes have room for fewer

constexpr char kEllipsis[] = "\xE2\x80\xA6";

// Whether the shapes differ in nothing but their dims.
bool AreAlike(const TensorShape& a, const TensorShape& b) {
  return a.unknown_shape() == b.unknown_shape() && a.data_type() == b.data_type() &&
         a.dims_size() == b.dims_size();
}

// The text of the shapes that output `k` has in all of `ops`; "" if it is not known.
std::string ShapesText(const NetSummary& summary, const std::vector<uint32_t>& ops, size_t k) {
  const TensorShape& first = summary.ops[ops.front()].outputs[k];
  const TensorShape& last = summary.ops[ops.back()].outputs[k];
  const auto differs = [&](uint32_t op) { return !AreAlike(first, summary.ops[op].outputs[k]); };
  if (first.unknown_shape() || std::any_of(ops.begin(), ops.end(), differs)) return "";
  std::string text = ShapeText(first);
  const size_t bracket = text.find('[');
  if (bracket == std::string::npos) return text;
  text.resize(bracket + 1);
  for (int i = 0; i < first.dims_size(); ++i) {
    absl::StrAppend(&text, i > 0 ? ", " : "", first.dims(i));
    if (last.dims(i) != first.dims(i)) absl::StrAppend(&text, kEllipsis, last.dims(i));
  }
  return text + "]";
}

}  // namespace

std::vector<std::string> OutputLines(const NetSummary& summary, const std::vector<uint32_t>& ops) {
  const OpSummary& op = summary.ops[ops.front()];
  std::vector<std::string> lines;
  for (size_t k = 0; k < op.output_names.size(); ++k) {
    if (k == kMostLines - 1 && op.output_names.size() > kMostLines) {
      lines.push_back(absl::StrCat("+ ", op.output_names.size() - k, " more"));
      break;
    }
    const std::string name = Shortened(op.output_names[k], kMostName);
    const std::string shape = ShapesText(summary, ops, k);
    const std::string both = absl::StrCat(name, ": ", shape);
    if (op.output_names.size() > 1 && !shape.empty() &&
        TextWidth(Printable(both), kTextPx, false) <= kMostTextPx) {
      lines.push_back(both);
    } else {
      lines.push_back(name);
      if (!shape.empty()) lines.push_back(shape);
    }
  }
  return lines;
}

std::vector<std::string> NameLines(const std::vector<std::string>& names) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i == kMostLines - 1 && names.size() > kMostLines) {
      lines.push_back(absl::StrCat("+ ", names.size() - i, " more"));
      break;
    }
    lines.push_back(Shortened(names[i], kMostName));
  }
  return lines;
}

}  // namespace caffe2rt
