#include "binaries/commands/outputs.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "binaries/commands/model.h"
#include "binaries/commands/number_text.h"
#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/display_width.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"

namespace caffe2rt {
namespace {

constexpr int64_t kPrintedValues = 10;
constexpr int64_t kPrintedRows = 10;  // of probabilities, if --top is not given
constexpr int64_t kJsonValues = 100000;

// Calls `write` with element i, if its type has a printable value. Returns false for other types.
template <class Write>
bool ForElement(const Tensor& tensor, int64_t i, Write&& write) {
  const TypeMeta meta = tensor.meta();
  const auto as = [&](auto example) {
    using T = decltype(example);
    if (!meta.Match<T>()) return false;
    if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
      write(static_cast<float>(tensor.data<T>()[i]));
    } else {
      write(tensor.data<T>()[i]);
    }
    return true;
  };
  return as(float{}) || as(double{}) || as(int64_t{}) || as(int32_t{}) || as(int16_t{}) ||
         as(int8_t{}) || as(uint8_t{}) || as(uint16_t{}) || as(bool{}) || as(std::string{}) ||
         as(float16{}) || as(bfloat16{}) || as(uint32_t{}) || as(uint64_t{});
}

std::string ValueText(const Tensor& tensor, int64_t i) {
  std::string text = "?";
  ForElement(tensor, i, [&](const auto& value) {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::string>) {
      text = MakeString('"', OneLine(value), '"');
    } else if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>) {
      text = NumberText(value);
    } else {
      text = MakeString(+value);
    }
  });
  return text;
}

// The rows of scores in a tensor: the first dimension counts rows, all others form one row.
struct Rows {
  int64_t count = 0, size = 0;
};
Rows RowsOfScores(const Tensor& tensor) {
  if (tensor.numel() <= 0) return {};
  const int64_t count = tensor.dim() > 1 ? tensor.dim(0) : 1;
  return {count, tensor.numel() / count};
}

// Whether the tensor contains class scores: floats, and as many per row as there are labels.
bool HoldsClasses(const Blob& blob, const OutputOptions& options) {
  if (options.top == 0 || !blob.IsType<Tensor>() || !blob.Get<Tensor>().IsType<float>())
    return false;
  const Rows rows = RowsOfScores(blob.Get<Tensor>());
  return options.labels.empty() ? rows.size > 1
                                : rows.size == static_cast<int64_t>(options.labels.size());
}

// Whether every row looks like the probabilities of a classifier.
bool HoldsProbabilities(const Blob& blob) {
  if (!blob.IsType<Tensor>() || !blob.Get<Tensor>().IsType<float>()) return false;
  const Tensor& tensor = blob.Get<Tensor>();
  const Rows rows = RowsOfScores(tensor);
  for (int64_t row = 0; row < rows.count; ++row) {
    const float* const scores = tensor.data<float>() + row * rows.size;
    if (!std::all_of(scores, scores + rows.size, [](float x) { return x >= 0 && x <= 1; }))
      return false;
    if (std::abs(std::accumulate(scores, scores + rows.size, 0.0) - 1) > 1e-3) return false;
  }
  return rows.size > 1;
}

std::string LabelOf(const OutputOptions& options, int64_t index) {
  return options.labels.empty() ? MakeString("class ", index)
                                : options.labels[static_cast<size_t>(index)];
}

// Prints the highest classes of at most `most_rows` rows.
void PrintClasses(const Tensor& tensor, const OutputOptions& options, int64_t most_rows) {
  const Rows rows = RowsOfScores(tensor);
  for (int64_t row = 0; row < std::min(rows.count, most_rows); ++row) {
    if (rows.count > 1) std::cout << "  row " << row << "\n";
    for (const TopClass& top :
         TopClasses(tensor.data<float>() + row * rows.size, rows.size, options.top)) {
      std::cout << (rows.count > 1 ? "  " : "") << "  " << FixedText(top.score, 3) << "  "
                << LabelOf(options, top.index) << "\n";
    }
  }
  if (rows.count > most_rows) {
    std::cout << "  ... --top " << options.top << " prints all " << CountText(rows.count, "row")
              << "\n";
  }
}

void WriteClasses(const Tensor& tensor, const OutputOptions& options, Json* json) {
  const Rows rows = RowsOfScores(tensor);
  *json = Json::array();
  for (int64_t row = 0; row < rows.count; ++row) {
    Json& classes = json->emplace_back(Json::array());
    for (const TopClass& top :
         TopClasses(tensor.data<float>() + row * rows.size, rows.size, options.top)) {
      Json& entry = classes.emplace_back();
      entry = {{"index", top.index}, {"score", JsonNumber(top.score)}};
      if (!options.labels.empty()) entry["label"] = LabelOf(options, top.index);
    }
  }
}

void WriteValues(const Tensor& tensor, Json* json) {
  *json = Json::array();
  auto& values = json->get_ref<Json::array_t&>();
  values.reserve(static_cast<size_t>(tensor.numel()));
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const bool known = ForElement(tensor, i, [&](const auto& value) {
      if constexpr (std::is_same_v<std::decay_t<decltype(value)>, float>) {
        values.emplace_back(JsonNumber(value));
      } else {
        values.emplace_back(value);
      }
    });
    if (!known) return;
  }
}

// Prints the elements of a tensor: a line for each row, and the position of each matrix above it.
// The middle of long rows and of many rows is left out.
void PrintRows(const Tensor& tensor) {
  constexpr int64_t kMostColumns = 10, kMostRows = 20;
  const int64_t columns = tensor.dim() > 0 ? tensor.dim(tensor.dim() - 1) : 1;
  const int64_t rows = tensor.numel() / columns;
  const int64_t matrix_rows = tensor.dim() > 1 ? tensor.dim(tensor.dim() - 2) : 1;
  std::vector<std::vector<std::string>> cells;
  size_t width = 0;
  for (int64_t row = 0; row < std::min(rows, kMostRows); ++row) {
    std::vector<std::string>& line = cells.emplace_back();
    for (int64_t column = 0; column < std::min(columns, kMostColumns); ++column) {
      line.push_back(ValueText(tensor, row * columns + column));
      width = std::max(width, DisplayWidth(line.back()));
    }
  }
  for (int64_t row = 0; row < static_cast<int64_t>(cells.size()); ++row) {
    if (tensor.dim() > 2 && row % matrix_rows == 0) {
      std::vector<std::string> position = {":", ":"};
      int64_t rest = row / matrix_rows;
      for (int dim = tensor.dim() - 3; dim >= 0; --dim) {
        position.insert(position.begin(), MakeString(rest % tensor.dim(dim)));
        rest /= tensor.dim(dim);
      }
      std::cout << "  [" << absl::StrJoin(position, ", ") << "]\n";
    }
    std::cout << " ";
    for (const std::string& cell : cells[static_cast<size_t>(row)])
      std::cout << " " << std::string(width - DisplayWidth(cell), ' ') << cell;
    std::cout << (columns > kMostColumns ? " ...\n" : "\n");
  }
  if (rows > kMostRows) std::cout << "  ... " << CountText(rows - kMostRows, "more row") << "\n";
}

// Whether the label begins with a WordNet id, as "n02123159 tiger cat" does.
bool BeginsWithWordNetId(const std::string& label) {
  constexpr size_t kDigits = 8;
  if (label.size() < kDigits + 3 || label[0] != 'n' || label[kDigits + 1] != ' ') return false;
  return std::all_of(label.begin() + 1, label.begin() + 1 + kDigits,
                     [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::vector<std::string> ReadLabels(const std::string& path) {
  constexpr int64_t kMaxLabelBytes = 64 << 20;
  std::vector<std::string> labels = absl::StrSplit(ReadWholeFile(path, kMaxLabelBytes), '\n');
  for (std::string& label : labels) {
    if (label.ends_with('\r')) label.pop_back();
  }
  while (!labels.empty() && labels.back().empty()) labels.pop_back();
  if (std::all_of(labels.begin(), labels.end(), BeginsWithWordNetId)) {
    for (std::string& label : labels) label.erase(0, label.find(' ') + 1);
  }
  CAFFE_ENFORCE(!labels.empty(), "file \"", path, "\" contains no labels, want one per line");
  return labels;
}

std::vector<TopClass> TopClasses(const float* scores, int64_t size, int64_t count) {
  std::vector<TopClass> classes(static_cast<size_t>(size));
  for (int64_t i = 0; i < size; ++i) classes[static_cast<size_t>(i)] = {i, scores[i]};
  count = std::min(count, size);
  // NaN sorts below all numbers, so that this is a strict weak ordering.
  const auto before = [](const TopClass& a, const TopClass& b) {
    const bool a_nan = a.score != a.score, b_nan = b.score != b.score;
    if (a_nan != b_nan) return b_nan;
    return a_nan || a.score == b.score ? a.index < b.index : a.score > b.score;
  };
  std::partial_sort(classes.begin(), classes.begin() + count, classes.end(), before);
  classes.resize(static_cast<size_t>(count));
  return classes;
}

OutputOptions OutputOptionsOf(const CommandLine& line) {
  OutputOptions options;
  if (line.Has("labels")) options.labels = ReadLabels(line.Text("labels"));
  options.finds_probabilities = true;
  if (line.Has("labels") || line.Has("top")) options.top = line.Integer("top", 1, 1000000);
  return options;
}

const Blob& OnCpu(const Blob& blob, Blob* copy) {
  if (!blob.IsType<Tensor>() || blob.Get<Tensor>().GetDeviceType() == CPU) return blob;
  copy->GetMutableTensor(CPU)->CopyFrom(blob.Get<Tensor>());
  return *copy;
}

size_t WiderNames(size_t width, const std::string& name) {
  constexpr size_t kMost = 100;
  const size_t columns = DisplayWidth(OneLine(name));
  return columns > kMost ? width : std::max(width, columns);
}

std::string PaddedName(const std::string& name, size_t width) {
  const std::string line = OneLine(name);
  return line + std::string(2 + width - std::min(width, DisplayWidth(line)), ' ');
}

void PrintOutput(const std::string& name, const Blob& blob, const OutputOptions& options,
                 size_t name_width) {
  std::cout << PaddedName(name, name_width) << BlobText(blob) << "\n";
  const Tensor* const found = FindTensor(blob);
  if (found == nullptr || !found->IsShaped()) return;
  const Tensor& tensor = *found;
  if (HoldsClasses(blob, options)) {
    PrintClasses(tensor, options, INT64_MAX);
    return;
  }
  if (options.finds_probabilities && options.top == 0 && HoldsProbabilities(blob)) {
    PrintClasses(tensor, {.labels = {}, .top = 5}, kPrintedRows);
    return;
  }
  if (tensor.numel() == 0) return;
  if (options.prints_rows) return PrintRows(tensor);
  std::cout << " ";
  for (int64_t i = 0; i < std::min(tensor.numel(), kPrintedValues); ++i)
    std::cout << " " << ValueText(tensor, i);
  std::cout << (tensor.numel() > kPrintedValues ? " ...\n" : "\n");
}

void WriteOutput(const std::string& name, const Blob& blob, const OutputOptions& options,
                 Json* json) {
  *json = {{"name", name}};
  const Tensor* const found = FindTensor(blob);
  if (found == nullptr || !found->IsShaped()) {
    (*json)["type"] = BlobText(blob);
    return;
  }
  const Tensor& tensor = *found;
  if (blob.IsType<Int8TensorCPU>()) {
    const auto& quantized = blob.Get<Int8TensorCPU>();
    (*json)["scale"] = JsonNumber(quantized.scale);
    (*json)["zero_point"] = quantized.zero_point;
  }
  (*json)["type"] = DataTypeName(tensor.meta());
  (*json)["dims"] = tensor.dims();
  if (HoldsClasses(blob, options)) {
    WriteClasses(tensor, options, &(*json)["top"]);
  } else if (tensor.numel() <= kJsonValues) {
    WriteValues(tensor, &(*json)["values"]);
  }
}

}  // namespace caffe2rt
