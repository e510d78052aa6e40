#include "binaries/commands/compare_report.h"

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "binaries/commands/model.h"
#include "binaries/commands/number_text.h"
#include "binaries/json_output.h"
#include "binaries/table.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/inspect/blob_watch.h"

namespace caffe2rt {
namespace {

using Presence = ComparedValue::Presence;

std::vector<std::string> NamesOf(const std::vector<const ComparedValue*>& values) {
  std::vector<std::string> names;
  for (const ComparedValue* value : values) names.push_back(value->name);
  return names;
}

void PrintMissing(const Comparison& comparison, Presence presence, const std::string& path) {
  const auto values = comparison.Having(presence);
  if (values.empty()) return;
  std::cout << "only in " << path << ": " << OneLine(FirstNames(NamesOf(values))) << "\n";
}

// "3 Conv": the operator of the first net that writes the value.
std::string WriterOf(const Comparison& comparison, const ComparedValue& value) {
  if (!comparison.first_net.has_value() || value.first < 0) return "input";
  return MakeString(value.first, " ", OneLine(comparison.first_net->op(value.first).type()));
}

// The ratio of signal to noise in dB; equal blobs have none.
std::string SnrText(const TensorDifference& difference) {
  const double snr = difference.SnrDb();
  if (std::isinf(snr) && snr > 0) return "equal";
  return ShortNumberText(snr);
}

void PrintValues(const Comparison& comparison, const std::vector<const ComparedValue*>& values) {
  const bool has_net = comparison.first_net.has_value();
  std::vector<Column> columns = {{""}, {"blob", Column::kName}};
  if (has_net) columns.push_back({"written by"});
  columns.insert(columns.end(), {{"max abs", Column::kNumber},
                                 {"max rel", Column::kNumber, 1},
                                 {"SNR dB", Column::kNumber, 1},
                                 {"beyond", Column::kNumber},
                                 {"of", Column::kNumber, 2},
                                 {"type", Column::kNumber, 3}});
  Table table(std::move(columns));
  for (const ComparedValue* value : values) {
    const TensorDifference& difference = value->difference;
    std::vector<std::string> cells = {value->within() ? "" : "!",
                                      OneLine(has_net ? value->blob : value->name)};
    if (has_net) cells.push_back(WriterOf(comparison, *value));
    if (difference.mismatch.empty()) {
      for (const double number : {difference.max_absolute, difference.max_relative}) {
        cells.push_back(NumberText(number));
      }
      cells.push_back(SnrText(difference));
      for (const int64_t count : {difference.beyond, difference.count}) {
        cells.push_back(MakeString(count));
      }
    } else {
      cells.insert(cells.end(), 5, "-");
    }
    cells.push_back(OneLine(value->type));
    table.Add(std::move(cells), value->within() ? Style::kPlain : Style::kRed);
  }
  table.Print();
  for (const ComparedValue* value : values) {
    if (value->difference.mismatch.empty()) continue;
    std::cout << "blob \"" << OneLine(value->name) << "\": " << value->difference.mismatch << "\n";
  }
}

void PrintComparison(const Comparison& comparison, size_t failures, const ComparedValue* parting) {
  const auto both = comparison.Having(Presence::kBoth);
  if (!both.empty()) PrintValues(comparison, both);
  PrintMissing(comparison, Presence::kFirstOnly, "the first, " + comparison.first);
  PrintMissing(comparison, Presence::kSecondOnly, "the second, " + comparison.second);
  const std::string tolerance =
      MakeString(" (tolerance: |first - second| <= ", ShortText(comparison.tolerance.absolute),
                 " + ", ShortText(comparison.tolerance.relative), " * |second|)\n");
  if (failures == 0) {
    std::cout << CountText(both.size(), "blob agrees", "blobs agree") << tolerance;
    return;
  }
  std::cout << failures << " of "
            << CountText(comparison.values.size(), "blob differs", "blobs differ") << tolerance;
  if (parting == nullptr) return;
  const std::string writer = comparison.OperatorOf(*parting);
  std::cout << "first difference: blob \"" << OneLine(parting->name) << "\""
            << (writer.empty() ? "" : ", " + OneLine(writer)) << "\n";
}

void WriteValue(const ComparedValue& value, Json* json) {
  *json = {{"name", value.blob}, {"within", value.within()}};
  if (value.first >= 0) (*json)["first_operator"] = value.first;
  if (value.second >= 0) (*json)["second_operator"] = value.second;
  if (!value.type.empty()) (*json)["type"] = value.type;
  if (!value.difference.mismatch.empty()) {
    (*json)["mismatch"] = value.difference.mismatch;
    return;
  }
  (*json)["elements"] = value.difference.count;
  (*json)["beyond"] = value.difference.beyond;
  (*json)["max_absolute"] = value.difference.max_absolute;
  (*json)["max_relative"] = value.difference.max_relative;
  (*json)["largest"] = value.difference.largest;
  const double snr = value.difference.SnrDb();
  if (std::isfinite(snr)) (*json)["snr_db"] = snr;  // equal blobs have none
}

void PrintJsonOf(const Comparison& comparison, size_t failures, const ComparedValue* parting) {
  const JsonDocument json = NewJson();
  *json = {{"first", comparison.first},
           {"second", comparison.second},
           {"within", failures == 0},
           {"absolute_tolerance", comparison.tolerance.absolute},
           {"relative_tolerance", comparison.tolerance.relative}};
  Json& blobs = (*json)["blobs"] = Json::array();
  for (const ComparedValue* value : comparison.Having(Presence::kBoth)) {
    WriteValue(*value, &blobs.emplace_back());
  }
  (*json)["only_in_first"] = NamesOf(comparison.Having(Presence::kFirstOnly));
  (*json)["only_in_second"] = NamesOf(comparison.Having(Presence::kSecondOnly));
  if (parting != nullptr) {
    Json& first = (*json)["first_difference"];
    first = {{"name", parting->blob}};
    if (comparison.first_net.has_value() && parting->first >= 0) {
      first["operator"] = parting->first;
      first["operator_text"] = OperatorText(comparison.first_net->op(parting->first));
    }
  }
  PrintJson(*json);
}

}  // namespace

bool Comparison::Fails(const ComparedValue& value) const {
  if (value.presence == Presence::kBoth) return !value.within();
  if (!first_net.has_value() || !second_net.has_value()) return true;
  return value.last && outputs.contains(value.blob);
}

std::vector<const ComparedValue*> Comparison::Having(Presence presence) const {
  std::vector<const ComparedValue*> found;
  for (const ComparedValue& value : values) {
    if (value.presence == presence) found.push_back(&value);
  }
  return found;
}

std::string Comparison::OperatorOf(const ComparedValue& value) const {
  if (!first_net.has_value() || value.first < 0) return "";
  return MakeString("operator ", value.first, " (", OperatorText(first_net->op(value.first)), ")");
}

int Report(const Comparison& comparison, bool json) {
  size_t failures = 0;
  const ComparedValue* parting = nullptr;
  for (const ComparedValue& value : comparison.values) {
    if (!comparison.Fails(value)) continue;
    ++failures;
    if (parting == nullptr && value.presence == Presence::kBoth) parting = &value;
  }
  if (json) {
    PrintJsonOf(comparison, failures, parting);
  } else {
    PrintComparison(comparison, failures, parting);
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace caffe2rt
