// caffe2 bench --against: compares with an earlier result.
#include <absl/strings/str_cat.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "binaries/commands/bench_report.h"
#include "binaries/commands/number_text.h"
#include "binaries/commands/model.h"
#include "binaries/table.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {
namespace {

struct OperatorChange {
  std::string type, output;
  std::optional<double> old_ms, new_ms;  // null if only the other side has the operator

  double Change() const { return new_ms.value_or(0) - old_ms.value_or(0); }
  std::optional<double> Ratio() const {
    if (!old_ms || !new_ms || *old_ms <= 0) return std::nullopt;
    return *new_ms / *old_ms;
  }
};

// The largest change first.
std::vector<OperatorChange> ChangesOf(const NetProfile& profile, const EarlierProfile& earlier) {
  std::map<std::pair<std::string, std::string>, std::deque<size_t>> unmatched;
  for (size_t i = 0; i < earlier.operators.size(); ++i) {
    unmatched[{earlier.operators[i].type, earlier.operators[i].output}].push_back(i);
  }
  std::vector<OperatorChange> changes;
  for (const OperatorProfile& op : profile.operators) {
    OperatorChange change{op.type, op.output, std::nullopt, op.warm_ms};
    if (std::deque<size_t>& same = unmatched[{op.type, op.output}]; !same.empty()) {
      change.old_ms = earlier.operators[same.front()].ms;
      same.pop_front();
    }
    changes.push_back(std::move(change));
  }
  for (const auto& [name, positions] : unmatched) {
    for (const size_t i : positions) {
      changes.push_back({name.first, name.second, earlier.operators[i].ms, std::nullopt});
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const OperatorChange& a, const OperatorChange& b) {
                     return std::abs(a.Change()) > std::abs(b.Change());
                   });
  return changes;
}

// Reads a field of the earlier result. THROWS if it is absent or has another type.
double NumberOf(const Json& json, const char* key) {
  const auto it = json.find(key);
  // The parser accepts finite numbers only.
  CAFFE_ENFORCE(it != json.end() && it->is_number() && it->get<double>() >= 0, "key \"", key,
                "\" is not a number of at least 0");
  return it->get<double>();
}

std::string StringOf(const Json& json, const char* key) {
  const auto it = json.find(key);
  CAFFE_ENFORCE(it != json.end() && it->is_string(), "key \"", key, "\" is not a string");
  return it->get<std::string>();
}

EarlierProfile ProfileOf(const Json& json) {
  CAFFE_ENFORCE(json.is_object(), "it is not a JSON object");
  EarlierProfile profile{.net = StringOf(json, "net"), .median_ms = NumberOf(json, "median_ms")};
  profile.threads = static_cast<int64_t>(std::min(NumberOf(json, "threads"), 1e6));
  const auto operators = json.find("operators");
  CAFFE_ENFORCE(operators != json.end() && operators->is_array(),
                "key \"operators\" is not an array");
  for (const Json& op : *operators) {
    CAFFE_ENFORCE(op.is_object(), "an operator is not a JSON object");
    profile.operators.push_back(
        {StringOf(op, "type"), StringOf(op, "output"), NumberOf(op, "median_ms")});
    if (op.contains("multiply_adds")) profile.multiply_adds += NumberOf(op, "multiply_adds");
  }
  return profile;
}

std::string TimeText(std::optional<double> ms) { return ms ? FixedText(*ms, 4) : "-"; }
std::string RatioText(std::optional<double> ratio) { return ratio ? FixedText(*ratio, 2) : "-"; }

// Differences of a few percent are noise.
Style StyleOfRatio(std::optional<double> ratio) {
  if (!ratio) return Style::kPlain;
  return *ratio > 1.1 ? Style::kRed : *ratio < 0.9 ? Style::kGreen : Style::kPlain;
}

std::optional<double> NetRatio(const NetProfile& profile, const EarlierProfile& earlier) {
  if (earlier.median_ms <= 0) return std::nullopt;
  return profile.warm.median_ms / earlier.median_ms;
}

std::string ShortCountText(double count) {
  return ShortCount(static_cast<int64_t>(std::min(count, 1e18)));
}

void WarnOfDifferences(const NetProfile& profile, const EarlierProfile& earlier) {
  if (earlier.net != profile.net) {
    Warn(MakeString("file \"", earlier.file, "\" has times of net \"", Shortened(earlier.net),
                    "\", this is net \"", Shortened(profile.net), "\""));
  }
  if (earlier.threads != GetNumThreads()) {
    Warn(MakeString("file \"", earlier.file, "\" was measured with --threads ", earlier.threads,
                    ", this run with --threads ", GetNumThreads()));
  }
  double multiply_adds = 0;
  for (const OperatorProfile& op : profile.operators) {
    multiply_adds += static_cast<double>(op.multiply_adds);
  }
  if (earlier.multiply_adds > 0 && multiply_adds > 0 && earlier.multiply_adds != multiply_adds) {
    Warn(MakeString("file \"", earlier.file, "\" was measured with ",
                    ShortCountText(earlier.multiply_adds), " multiply-adds, this run has ",
                    ShortCountText(multiply_adds), ": the inputs or the net differ"));
  }
}

}  // namespace

EarlierProfile ReadEarlierProfile(const std::string& file) {
  constexpr int64_t kMostBytes = 16 << 20;
  const std::string text = ReadWholeFile(file, kMostBytes);
  const JsonDocument json = NewJson();
  *json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  try {
    CAFFE_ENFORCE(!json->is_discarded(), "it is not JSON");
    EarlierProfile profile = ProfileOf(*json);
    profile.file = file;
    return profile;
  } catch (const EnforceNotMet& error) {
    CAFFE_THROW("file \"", file, "\" is not a result of `caffe2 bench --json`: ", error.message());
  }
}

void PrintComparison(const NetProfile& profile, const EarlierProfile& earlier, size_t top) {
  WarnOfDifferences(profile, earlier);
  const std::optional<double> ratio = NetRatio(profile, earlier);
  std::cout << "against " << OneLine(earlier.file) << ", medians of the warm runs: net "
            << TimeText(earlier.median_ms) << " ms before, " << TimeText(profile.warm.median_ms)
            << " ms now, ratio ";
  PrintStyled(StyleOfRatio(ratio), RatioText(ratio));
  std::cout << "\noperators, largest change first:\n";
  Table table({{"type", Column::kName},
               {"output", Column::kName},
               {"before ms", Column::kNumber, 1},
               {"now ms", Column::kNumber},
               {"change ms", Column::kNumber},
               {"ratio", Column::kNumber}});
  std::vector<OperatorChange> changes = ChangesOf(profile, earlier);
  if (top > 0 && top < changes.size()) changes.resize(top);
  for (const OperatorChange& change : changes) {
    const std::optional<double> op_ratio = change.Ratio();
    table.Add({OneLine(change.type), BlobText(change.output), TimeText(change.old_ms),
               TimeText(change.new_ms),
               absl::StrCat(change.Change() > 0 ? "+" : "", FixedText(change.Change(), 4)),
               RatioText(op_ratio)},
              StyleOfRatio(op_ratio));
  }
  table.Print();
}

void WriteComparison(const NetProfile& profile, const EarlierProfile& earlier, Json* json) {
  WarnOfDifferences(profile, earlier);
  *json = {{"file", earlier.file}, {"median_ms", earlier.median_ms}};
  if (const auto ratio = NetRatio(profile, earlier)) (*json)["ratio"] = *ratio;
  Json& list = (*json)["operators"] = Json::array();
  for (const OperatorChange& change : ChangesOf(profile, earlier)) {
    Json& entry = list.emplace_back();
    entry = {{"type", change.type}, {"output", change.output}, {"change_ms", change.Change()}};
    if (change.old_ms) entry["before_ms"] = *change.old_ms;
    if (change.new_ms) entry["now_ms"] = *change.new_ms;
    if (const auto ratio = change.Ratio()) entry["ratio"] = *ratio;
  }
}

}  // namespace caffe2rt
