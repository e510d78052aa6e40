#include "caffe2_core/graph/accepted_inputs.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <map>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/builtin_operators.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

using Table = std::map<std::pair<std::string, int>, AcceptedInput>;

std::string NamesOf(const std::vector<TensorProto_DataType>& types, const char* separator) {
  return absl::StrJoin(types, separator, [](std::string* out, TensorProto_DataType type) {
    out->append(DataTypeName(type));
  });
}

std::vector<TensorProto_DataType> ParseTypes(const std::string& names) {
  const std::vector<std::string> listed = absl::StrSplit(names, ',');
  std::vector<TensorProto_DataType> types;
  for (const TensorProto_DataType type : TriedTypes()) {
    if (std::find(listed.begin(), listed.end(), DataTypeName(type)) != listed.end())
      types.push_back(type);
  }
  return types;
}

std::vector<int> ParseRanks(std::string_view digits) {
  std::vector<int> ranks;
  for (const char digit : digits) ranks.push_back(digit - '0');
  return ranks;
}

Table Parse(const char* text) {
  Table table;
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipEmpty());
  for (const std::string& line : lines) {
    const std::vector<std::string> cells = absl::StrSplit(line, '\t');
    int input = 0;
    CAFFE_ENFORCE(cells.size() == 4 && absl::SimpleAtoi(cells[1], &input),
                  "accepted inputs: line \"", line, "\", want type, input, element types, ranks");
    table[{cells[0], input}] = {ParseTypes(cells[2]), ParseRanks(cells[3])};
  }
  return table;
}

}  // namespace

const std::vector<TensorProto_DataType>& TriedTypes() {
  static const std::vector<TensorProto_DataType> types = {
      TensorProto::FLOAT, TensorProto::INT32,   TensorProto::STRING, TensorProto::BOOL,
      TensorProto::UINT8, TensorProto::INT8,    TensorProto::UINT16, TensorProto::INT16,
      TensorProto::INT64, TensorProto::FLOAT16, TensorProto::DOUBLE};
  return types;
}

std::optional<AcceptedInput> FindAcceptedInput(const std::string& type, int input) {
  static const Table table = Parse(BuiltinAcceptedInputs());
  const auto found = table.find({type, input});
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

std::string TypesText(const AcceptedInput& input) {
  if (input.types.size() == TriedTypes().size()) return "any type";
  return NamesOf(input.types, ", ");
}

std::string RanksText(const AcceptedInput& input) {
  std::vector<std::pair<int, int>> ranges;
  for (const int rank : input.ranks) {
    if (!ranges.empty() && ranges.back().second == rank - 1) {
      ranges.back().second = rank;
    } else {
      ranges.emplace_back(rank, rank);
    }
  }
  if (ranges == std::vector<std::pair<int, int>>{{0, kMostTriedRank}}) return "any rank";
  std::string text = "rank ";
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto [first, last] = ranges[i];
    if (i > 0) text += i + 1 == ranges.size() ? " or " : ", ";
    text += MakeString(first);
    if (last == kMostTriedRank && first < last) {
      text += " and more";
    } else if (first < last) {
      text += MakeString(last == first + 1 ? " or " : " to ", last);
    }
  }
  return text;
}

std::string AcceptedInputRow(const std::string& type, int input, const AcceptedInput& accepted) {
  return MakeString(type, '\t', input, '\t', NamesOf(accepted.types, ","), '\t',
                    absl::StrJoin(accepted.ranks, ""));
}

}  // namespace caffe2rt
