#include "operators/conv/conv_tuning.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_state.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/io/atomic_file.h"
#include "operators/common/conv_geometry.h"

namespace caffe2rt {

namespace {

constexpr double kFarthest = 4;  // rows at a greater distance are not considered

// The shipped table has 800 rows, which the first convolution of a process reads: no part is copied.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  parts.reserve(12);  // the fields of a row
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

int64_t ParseNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  CAFFE_ENFORCE(error == std::errc() && end == text.data() + text.size() && value >= -(1 << 24) &&
                    value <= (int64_t{1} << 40),
                "\"", text, "\" is not a number, or is out of range");
  return value;
}

std::vector<int64_t> ParseSizes(std::string_view text, size_t count) {
  std::vector<int64_t> sizes;
  sizes.reserve(2 * count);  // pads have heads and tails
  for (const std::string_view part : Split(text, 'x')) sizes.push_back(ParseNumber(part));
  CAFFE_ENFORCE_EQ(sizes.size(), count, "sizes \"", text,
                   "\", want one for each axis of the input");
  return sizes;
}

Isa ParseIsa(std::string_view text) {
  for (const Isa isa : {Isa::kPlain, Isa::kAvx2, Isa::kAvx512}) {
    if (text == IsaName(isa)) return isa;
  }
  CAFFE_THROW("instruction set \"", text, "\", want plain, avx2 or avx512");
}

ConvTuningRow ParseRow(std::string_view line) {
  const std::vector<std::string_view> fields = Split(line, '\t');
  CAFFE_ENFORCE_EQ(fields.size(), 12u, "number of fields");
  WindowArguments window;
  ConvTuningRow row;
  row.isa = ParseIsa(fields[0]);
  window.order = StringToStorageOrder(std::string(fields[1]));
  const std::vector<std::string_view> input = Split(fields[2], 'x');
  CAFFE_ENFORCE(input.size() >= 3 && input.size() <= kMaxWindowAxes + 2, "input \"", fields[2],
                "\", want batch, channels and axes");
  const size_t axes = input.size() - 2;
  std::vector<int64_t> dims = ParseSizes(fields[2], axes + 2);
  window.kernel = ParseSizes(fields[4], axes);
  window.stride = ParseSizes(fields[5], axes);
  window.pads = ParseSizes(fields[6], axes);
  for (const int64_t tail : ParseSizes(fields[7], axes)) window.pads.push_back(tail);
  window.dilation = ParseSizes(fields[8], axes);
  window.adj.assign(axes, 0);
  for (size_t i = 0; i < axes; ++i) {
    CAFFE_ENFORCE(window.kernel[i] > 0 && window.stride[i] > 0 && window.dilation[i] >= 0,
                  "kernel, stride and dilation of axis ", i, ", want at least 1, 1 and 0");
  }
  if (window.order == StorageOrder::NHWC) {  // the table has batch, channels, axes in both orders
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  }
  row.shape.window = MakeWindowGeometry(window, dims);
  row.shape.out_channels = ParseNumber(fields[3]);
  row.shape.group = ParseNumber(fields[9]);
  CAFFE_ENFORCE(row.shape.group >= 1 && row.shape.out_channels >= 1 &&
                    row.shape.window.channels % row.shape.group == 0 &&
                    row.shape.out_channels % row.shape.group == 0,
                "group ", row.shape.group, ", want a divisor of the channels and filters");
  CAFFE_ENFORCE(ParseConvAlgorithm(fields[10], &row.algorithm), "algorithm \"", fields[10],
                "\" is not known");
  CAFFE_ENFORCE(caffe2rt::ParseNumber(fields[11], &row.microseconds) && row.microseconds >= 0 &&
                    std::isfinite(row.microseconds),
                "time \"", fields[11], "\", want microseconds");
  return row;
}

constexpr std::string_view kLayouts = "layouts\t";

bool ParsePlainLayouts(std::string_view text) {
  CAFFE_ENFORCE(text == "plain" || text == "onednn", "layouts \"", text,
                "\", want plain or onednn");
  return text == "plain";
}

enum class Grouping { kNone, kDepthwise, kGroups };
Grouping GroupingOf(const ConvShape& shape) {
  if (shape.group == 1) return Grouping::kNone;
  return shape.in_group() == 1 ? Grouping::kDepthwise : Grouping::kGroups;
}

double Octaves(double a, double b) { return std::abs(std::log2(a / b)); }

// Distance between two shapes, infinite for shapes of different kinds: another order, number of
// axes, grouping, stride, or only one of them with kernel 1 or with dilation 1. Otherwise a
// weighted sum of the base-2 logarithms of the ratios of their sizes.
double Distance(const ConvShape& a, const ConvShape& b) {
  if (a.window.order != b.window.order || a.window.axes != b.window.axes ||
      GroupingOf(a) != GroupingOf(b)) {
    return HUGE_VAL;
  }
  double distance = 0;
  for (size_t i = 0; i < static_cast<size_t>(a.window.axes); ++i) {
    const WindowAxis &p = a.window.axis[i], &q = b.window.axis[i];
    if ((p.kernel == 1) != (q.kernel == 1) || p.stride != q.stride ||
        (p.dilation == 1) != (q.dilation == 1)) {
      return HUGE_VAL;
    }
    distance += 2 * Octaves(static_cast<double>(p.kernel), static_cast<double>(q.kernel));
    distance += 0.5 * Octaves(static_cast<double>(p.out), static_cast<double>(q.out));
    if (p.pad_head != q.pad_head) distance += 0.1;
  }
  distance += Octaves(static_cast<double>(a.in_group()), static_cast<double>(b.in_group()));
  distance += Octaves(static_cast<double>(a.out_group()), static_cast<double>(b.out_group()));
  distance += 0.5 * Octaves(static_cast<double>(a.group), static_cast<double>(b.group));
  distance +=
      0.25 * Octaves(static_cast<double>(a.window.batch), static_cast<double>(b.window.batch));
  return distance;
}

struct CurrentTuning {
  Mutex mutex;
  std::shared_ptr<const ConvTuning> table ABSL_GUARDED_BY(mutex);  // shared with the callers
};
CurrentTuning& Tuning() {
  static auto* const tuning = new CurrentTuning;
  return *tuning;
}

void AppendSizes(const WindowGeometry& window, int64_t WindowAxis::*field, std::string* line) {
  const auto append_size = [field](std::string* text, const WindowAxis& axis) {
    absl::StrAppend(text, axis.*field);
  };
  const auto first = window.axis.begin();
  absl::StrAppend(line, "\t", absl::StrJoin(first, first + window.axes, "x", append_size));
}

}  // namespace

bool IsSameShape(const ConvShape& a, const ConvShape& b) {
  ConvShape same = a;
  same.bias = b.bias;
  return same == b;
}

ConvTuning::ConvTuning(const std::string& text) {
  int number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    try {
      if (line.starts_with(kLayouts)) {
        plain_layouts_ = ParsePlainLayouts(line.substr(kLayouts.size()));
      } else {
        rows_.push_back(ParseRow(line));
      }
    } catch (const EnforceNotMet& error) {
      CAFFE_THROW("line ", number, " of a convolution table: ", error.message());
    }
  }
}

std::vector<const ConvTuningRow*> ConvTuning::Near(const ConvShape& shape, Isa isa) const {
  std::vector<std::pair<double, const ConvTuningRow*>> near;
  for (const ConvTuningRow& row : rows_) {
    if (row.isa != isa) continue;
    const double distance = Distance(shape, row.shape);
    if (distance <= kFarthest) near.emplace_back(distance, &row);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const ConvTuningRow*> rows;
  for (const auto& [distance, row] : near) rows.push_back(row);
  return rows;
}

void ConvTuning::Append(const ConvTuning& other) {
  rows_.insert(rows_.end(), other.rows_.begin(), other.rows_.end());
}

std::string ConvTuningLine(const ConvTuningRow& row) {
  const WindowGeometry& window = row.shape.window;
  std::string line = MakeString(IsaName(row.isa), "\t", row.shape.channels_last() ? "NHWC" : "NCHW",
                                "\t", window.batch, "x", window.channels);
  for (int i = 0; i < window.axes; ++i) {
    line += MakeString("x", window.axis[static_cast<size_t>(i)].in);
  }
  line += MakeString("\t", row.shape.out_channels);
  for (const auto field : {&WindowAxis::kernel, &WindowAxis::stride, &WindowAxis::pad_head,
                           &WindowAxis::pad_tail, &WindowAxis::dilation}) {
    AppendSizes(window, field, &line);
  }
  return MakeString(line, "\t", row.shape.group, "\t", ConvAlgorithmName(row.algorithm), "\t",
                    FixedText(row.microseconds, 1), "\n");
}

std::shared_ptr<const ConvTuning> GetConvTuning() {
  // That of a WorkScope outlives the work.
  if (const ConvTuning* const own = t_thread_state.conv_tuning)
    return {std::shared_ptr<const ConvTuning>(), own};
  CurrentTuning& tuning = Tuning();
  const MutexLock lock(tuning.mutex);
  if (tuning.table == nullptr) {
    tuning.table = std::make_shared<const ConvTuning>(ShippedConvTuning());
  }
  return tuning.table;
}

void SetConvTuning(std::shared_ptr<const ConvTuning> tuning) {
  const MutexLock lock(Tuning().mutex);
  Tuning().table = std::move(tuning);
}

std::shared_ptr<const ConvTuning> ParseConvTuning(const std::string& text) {
  const std::string first = text.substr(0, text.find('\n'));
  CAFFE_ENFORCE(first == kConvTuningVersionLine, "the first line is \"",
                Shortened(OneLine(first), 80), "\", want \"", kConvTuningVersionLine,
                "\"; `caffe2 bench --tune` writes such a table");
  auto tuning = std::make_shared<ConvTuning>(text);
  tuning->Append(ConvTuning(ShippedConvTuning()));
  return tuning;
}

size_t UseConvTuning(const std::string& text) {
  const std::shared_ptr<const ConvTuning> tuning = ParseConvTuning(text);
  const size_t own = tuning->rows().size() - ConvTuning(ShippedConvTuning()).rows().size();
  const auto last = tuning->rows().begin() + static_cast<ptrdiff_t>(own);
  SetConvTuning(tuning);
  return static_cast<size_t>(std::count_if(
      tuning->rows().begin(), last, [](const ConvTuningRow& row) { return row.isa == CpuIsa(); }));
}

size_t LoadConvTuning(const std::string& path) {
  constexpr int64_t kMostBytes = 16 << 20;
  const std::string text = ReadWholeFile(path, kMostBytes);
  try {
    return UseConvTuning(text);
  } catch (const EnforceNotMet& error) {
    CAFFE_THROW("file \"", path, "\": ", error.message());
  }
}

bool PrefersPlainConvLayouts() {
  if (const ConvTuning* const own = t_thread_state.conv_tuning) return own->plain_layouts();
  // The compiled-in table states no layouts, and reading it takes as long as loading a packed net.
  const MutexLock lock(Tuning().mutex);
  return Tuning().table != nullptr && Tuning().table->plain_layouts();
}

std::shared_ptr<const ConvTuning> ReadConvTuning(const std::string& path) {
  return std::make_shared<const ConvTuning>(ReadWholeFile(path));
}

}  // namespace caffe2rt
