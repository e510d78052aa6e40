#include "binaries/commands/bench_report.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "binaries/commands/number_text.h"
#include "binaries/table.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

// Enough digits to be meaningful for short and long times.
std::string TimeText(double ms) { return FixedText(ms, ms < 10 ? 4 : ms < 1000 ? 2 : 0); }

std::string PercentText(double percent) { return FixedText(percent, 1) + "%"; }

// "-" if it is not known.
std::string SpeedText(double per_second) {
  return per_second > 0 ? FixedText(per_second, per_second < 10 ? 2 : 1) : "-";
}

Style StyleOfShare(double percent) {
  if (percent >= 25) return Style::kRed;
  return percent >= 10 ? Style::kYellow : Style::kPlain;
}

// "Conv", or "Conv CUDNN" if the device has several engines for it.
std::string TypeOf(const OperatorProfile& op) {
  return OneLine(op.engine.empty() ? op.type : absl::StrCat(op.type, " ", op.engine));
}

void PrintOperators(const NetProfile& profile, size_t top) {
  Table table({{"#", Column::kNumber},
               {"type", Column::kName},
               {"output", Column::kName},
               {"ms", Column::kNumber},
               {"share", Column::kNumber},
               {"cold ms", Column::kNumber, 3},
               {"mult-adds", Column::kNumber, 4},
               {"GFLOP/s", Column::kNumber, 1},
               {"GB/s", Column::kNumber, 2}});
  const std::vector<const OperatorProfile*> sorted = profile.ByCost();
  const size_t shown = top == 0 ? sorted.size() : std::min(top, sorted.size());
  for (size_t i = 0; i < shown; ++i) {
    const OperatorProfile& op = *sorted[i];
    const double share = profile.ShareOf(op.warm_ms);
    table.Add({absl::StrCat(op.index), TypeOf(op), BlobText(op.output), TimeText(op.warm_ms),
               PercentText(share), TimeText(op.cold_ms),
               op.multiply_adds > 0 ? ShortCount(op.multiply_adds) : "-",
               SpeedText(op.GigaflopsPerSecond()), SpeedText(op.GigabytesPerSecond())},
              StyleOfShare(share));
  }
  double hidden_ms = 0;
  for (size_t i = shown; i < sorted.size(); ++i) hidden_ms += sorted[i]->warm_ms;
  const auto add_sum = [&](const std::string& label, double ms) {
    table.Add({"", label, "", TimeText(ms), PercentText(profile.ShareOf(ms))}, Style::kDim);
  };
  const size_t hidden = sorted.size() - shown;
  if (hidden > 0) add_sum(CountText(hidden, "other"), hidden_ms);
  // What the net does between operators; negative if operators run concurrently, or if each of them
  // waits for its device.
  add_sum("overhead", profile.warm.median_ms - profile.SumOfOperators());
  table.Print();
}

void PrintTypes(const NetProfile& profile) {
  Table table({{"type", Column::kName},
               {"operators", Column::kNumber},
               {"ms", Column::kNumber},
               {"share", Column::kNumber}});
  for (const NetProfile::TypeTotal& total : profile.ByType()) {
    table.Add({OneLine(total.type), absl::StrCat(total.operators), TimeText(total.warm_ms),
               PercentText(profile.ShareOf(total.warm_ms))});
  }
  table.Print();
}

}  // namespace

std::string BlobText(const std::string& blob) {
  return OneLine(std::string(absl::StripSuffix(blob, "_ideep")));
}

void PrintProfile(const NetProfile& profile, size_t top) {
  std::cout << "net \"" << OneLine(profile.net) << "\": median " << TimeText(profile.warm.median_ms)
            << " ms, least " << TimeText(profile.warm.least_ms) << " ms, mean "
            << TimeText(profile.warm.mean_ms) << " ms of "
            << CountText(profile.timed_runs, "warm run") << ", "
            << CountText(GetNumThreads(), "thread") << "\n"
            << "first run (cold): " << TimeText(profile.cold_ms) << " ms, after "
            << TimeText(profile.ahead_ms)
            << " ms of preparation (weights, memory, cheap\n"
               "operators once on zeros)\n"
            << "operators by cost (ms: warm median; share: of the net's median; overhead: the\n"
               "net minus its operators, which are timed one by one):\n";
  PrintOperators(profile, top);
  std::cout << "by type:\n";
  PrintTypes(profile);
}

void WriteProfile(const NetProfile& profile, Json* json) {
  const double overhead_ms = profile.warm.median_ms - profile.SumOfOperators();
  *json = {{"net", profile.net},
           {"median_ms", profile.warm.median_ms},
           {"min_ms", profile.warm.least_ms},
           {"mean_ms", profile.warm.mean_ms},
           {"cold_ms", profile.cold_ms},
           {"ahead_ms", profile.ahead_ms},
           {"overhead_ms", overhead_ms},
           {"iterations", profile.timed_runs},
           {"threads", GetNumThreads()},
           {"instruction_set", IsaName(CpuIsa())}};
  Json& list = (*json)["operators"] = Json::array();
  for (const OperatorProfile& op : profile.operators) {
    Json& entry = list.emplace_back();
    entry = {{"index", op.index},       {"type", op.type},
             {"name", op.name},         {"output", op.output},
             {"median_ms", op.warm_ms}, {"share_percent", profile.ShareOf(op.warm_ms)},
             {"cold_ms", op.cold_ms}};
    if (!op.engine.empty()) entry["engine"] = op.engine;
    // Absent if they are not known.
    if (op.multiply_adds > 0) entry["multiply_adds"] = op.multiply_adds;
    if (op.flops > 0) {
      entry["flops"] = op.flops;
      entry["gflops_per_second"] = op.GigaflopsPerSecond();
    }
    if (op.bytes > 0) {
      entry["bytes"] = op.bytes;
      entry["gb_per_second"] = op.GigabytesPerSecond();
    }
  }
  Json& types = (*json)["types"] = Json::object();
  for (const NetProfile::TypeTotal& total : profile.ByType()) types[total.type] = total.warm_ms;
}

}  // namespace caffe2rt
