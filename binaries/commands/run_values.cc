#include "binaries/commands/run_values.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "binaries/commands/model.h"
#include "binaries/commands/number_text.h"
#include "binaries/table.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

bool FetchesAll(const CommandLine& line) {
  const std::vector<std::string> fetched = line.All("fetch");
  return std::find(fetched.begin(), fetched.end(), "all") != fetched.end();
}

}  // namespace

const std::vector<Option>& ValueOptions() {
  static const std::vector<Option> options = {
      {"stats", "", "", "print min, max, mean, NaNs per blob; net as written"},
      {"check-finite", "", "", "fail at the first NaN or infinity; net as written"},
  };
  return options;
}

RunValues::RunValues(const CommandLine& line, NetDef* net)
    : check_(line.Has("check-finite")),
      stats_(line.Has("stats")),
      all_(FetchesAll(line)),
      net_(watched() ? * net = NetToWatch(std::move(*net)) : NetDef()) {
  if (!watched()) return;
  values_ = ListBlobValues(net_);
  for (size_t i = 0; i < values_.size(); ++i) {
    by_key_[values_[i].key] = i;
    by_writer_[std::pair(values_[i].position, values_[i].blob)] = i;
  }
}

std::vector<std::string> RunValues::Outputs(std::vector<std::string> outputs,
                                            const std::vector<std::string>& fetched) const {
  if (all_) {
    outputs.clear();
    for (const BlobValue& value : values_) outputs.push_back(value.key);
    return outputs;
  }
  for (const std::string& name : fetched) {
    if (std::find(outputs.begin(), outputs.end(), name) == outputs.end()) outputs.push_back(name);
  }
  return outputs;
}

void RunValues::Watch(NetBase* net, const std::set<std::string>& fed, Workspace* ws) {
  fed_ = fed;
  ws_ = ws;
  watch_ = std::make_unique<BlobWatch>(net_, net, [this](const BlobWrite& write) {
    Look(values_[by_writer_.at(std::pair(write.position, write.name))], write.blob);
  });
}

void RunValues::BeginRun() {
  rows_.clear();
  milliseconds_ = 0;
  for (const BlobValue& value : values_) {
    if (value.position >= 0) break;
    const std::shared_ptr<Blob> blob = ws_->FindBlob(value.blob);
    if (blob != nullptr) Look(value, *blob);
  }
  milliseconds_ = 0;  // before the run
}

void RunValues::Look(const BlobValue& value, const Blob& blob) {
  const Timer timer;
  if (all_ && !value.stays) CopyBlobToCpu(blob, &kept_[value.key]);
  if (check_ || stats_) {
    const std::optional<TensorStats> stats = StatsOf(blob);
    if (check_ && stats.has_value()) Check(value, *stats);
    if (stats_) rows_.push_back({&value, BlobText(blob), stats});
  }
  milliseconds_ += timer.MilliSeconds();
}

void RunValues::Check(const BlobValue& value, const TensorStats& stats) const {
  if (stats.finite()) return;
  const char* const kind = value.position >= 0         ? "output"
                           : fed_.contains(value.blob) ? "input"
                                                       : "blob";
  CAFFE_THROW(
      kind, " \"", value.blob, "\" has ", stats.nan, " NaN and ", stats.infinite, " infinite of ",
      CountText(stats.count, "element"), ", the first at element ", stats.first_non_finite,
      value.position >= 0         ? ""
      : fed_.contains(value.blob) ? ", before the net runs"
                                  : ", before the net runs; an init net or the file sets it");
}

const Blob* RunValues::Find(const std::string& key) const {
  const auto kept = kept_.find(key);
  return kept == kept_.end() ? nullptr : &kept->second;
}

const BlobValue* RunValues::FindValue(const std::string& key) const {
  const auto found = by_key_.find(key);
  return all_ && found != by_key_.end() ? &values_[found->second] : nullptr;
}

std::string RunValues::TitleOf(const std::string& key) const {
  const BlobValue* const value = FindValue(key);
  return value == nullptr ? key : value->Title();
}

void RunValues::Describe(const std::string& key, Json* json) const {
  const BlobValue* const value = FindValue(key);
  if (value == nullptr) return;
  (*json)["name"] = value->blob;
  if (value->position >= 0) (*json)["operator"] = value->position;
}

std::string RunValues::WriterOf(const BlobValue& value) const {
  if (value.position >= 0) {
    return MakeString(value.position, " ", OperatorText(net_.op(value.position)));
  }
  return fed_.contains(value.blob) ? "input" : "before the run";
}

void RunValues::PrintStats() const {
  if (!stats_) return;
  Table table({{"blob", Column::kName},
               {"written by", Column::kText, 1},
               {"type", Column::kText, 2, kLeastShapeWidth},
               {"min", Column::kNumber},
               {"max", Column::kNumber},
               {"mean", Column::kNumber},
               {"NaN", Column::kNumber}});
  for (const Row& row : rows_) {
    std::vector<std::string> cells = {OneLine(row.value->blob), OneLine(WriterOf(*row.value)),
                                      OneLine(row.type)};
    if (row.stats.has_value()) {
      for (const auto& number : {&TensorStats::min, &TensorStats::max, &TensorStats::mean})
        cells.push_back(ShortNumberText((*row.stats).*number));
      cells.push_back(MakeString(row.stats->nan));
    }
    table.Add(std::move(cells));
  }
  table.Print();
}

void RunValues::WriteStats(Json* json) const {
  if (!stats_) return;
  Json& list = (*json)["stats"] = Json::array();
  for (const Row& row : rows_) {
    Json& entry = list.emplace_back();
    entry = {{"name", row.value->blob}};
    if (row.value->position >= 0) {
      entry["operator"] = row.value->position;
      entry["operator_type"] = net_.op(row.value->position).type();
    }
    entry["type"] = row.type;
    if (!row.stats.has_value()) continue;
    entry["elements"] = row.stats->count;
    entry["min"] = row.stats->min;
    entry["max"] = row.stats->max;
    entry["mean"] = row.stats->mean;
    entry["nan"] = row.stats->nan;
    entry["infinite"] = row.stats->infinite;
  }
}

}  // namespace caffe2rt
