#include "tests/oracle/report.h"

#include <fstream>
#include <iomanip>
#include <nlohmann/json.hpp>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test {
Reasons ReadKnownWrong(const std::string& path) {
  std::ifstream in(path);
  CAFFE_ENFORCE(in.good(), "cannot read \"", path, "\"");
  Reasons known;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t tab = line.find('\t');
    CAFFE_ENFORCE(tab != std::string::npos && tab + 1 < line.size(), "\"", path, "\": line \"",
                  line, "\" has no reason after a tab");
    known[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return known;
}

void Report::Add(const CaseEntry& entry, const CaseResult& result) {
  Counts& counts = types_[entry.type];
  switch (result.status) {
    case CaseStatus::kPassed:
      ++counts.passed;
      return;
    case CaseStatus::kNotImplemented:
      ++counts.not_implemented;
      return;
    case CaseStatus::kNeedsHardware:
      ++counts.need_hardware;
      lines_.push_back({"needs hardware", entry.id, entry.type, result.what});
      return;
    case CaseStatus::kBeyondOriginal:
      ++counts.beyond_original;
      return;
    case CaseStatus::kKnownWrong:
      ++counts.known_wrong;
      lines_.push_back({"known wrong", entry.id, entry.type, result.what});
      return;
    case CaseStatus::kFailed:
      break;
  }
  if (const auto known = known_wrong_.find(entry.id); known != known_wrong_.end()) {
    ++counts.known_wrong;
    lines_.push_back({"known wrong", entry.id, entry.type, known->second});
  } else if (const auto differs = may_differ_.find(entry.id); differs != may_differ_.end()) {
    ++counts.differ;
    lines_.push_back({"differs on the device", entry.id, entry.type, differs->second});
  } else {
    ++counts.failed;
    lines_.push_back({"FAIL", entry.id, entry.type, result.what});
  }
}

void Report::PrintNews(std::ostream& out) {
  for (; printed_ < lines_.size(); ++printed_) {
    const Line& line = lines_[printed_];
    out << line.kind << ' ' << line.id << ' ' << line.type << ": " << line.what << std::endl;
  }
}

void Report::PrintTable(std::ostream& out) const {
  out << std::left << std::setw(40) << "type" << std::right << std::setw(8) << "passed"
      << std::setw(8) << "failed" << std::setw(17) << "not implemented" << std::setw(13)
      << "known wrong" << std::setw(15) << "need hardware" << '\n';
  for (const auto& [type, counts] : types_) {
    out << std::left << std::setw(40) << type << std::right << std::setw(8) << counts.passed
        << std::setw(8) << counts.failed << std::setw(17) << counts.not_implemented << std::setw(13)
        << counts.known_wrong << std::setw(15) << counts.need_hardware << '\n';
  }
}

void Report::PrintJson(std::ostream& out) const {
  using Json = nlohmann::ordered_json;
  const auto json_of = [](const Counts& counts) -> Json {
    return {{"passed", counts.passed},
            {"failed", counts.failed},
            {"not_implemented", counts.not_implemented},
            {"known_wrong", counts.known_wrong},
            {"need_hardware", counts.need_hardware},
            {"not_implemented_by_original", counts.beyond_original}};
  };
  Json json = json_of(Total());
  json["summary"] = Summary();
  Json& types = json["types"] = Json::object();
  for (const auto& [type, counts] : types_) types[type] = json_of(counts);
  Json& cases = json["cases"] = Json::array();
  for (const Line& line : lines_) {
    cases.emplace_back() = {{"result", line.kind == "FAIL" ? "failed" : line.kind},
                            {"id", line.id},
                            {"type", line.type},
                            {"what", line.what}};
  }
  out << json.dump(1, ' ', true, Json::error_handler_t::replace) << std::endl;
}

std::string Report::Summary() const {
  const Counts total = Total();
  return MakeString(
      total.passed, " passed, ", total.failed, " failed, ", total.not_implemented,
      " not implemented", hardware_ ? MakeString(", ", total.need_hardware, " need hardware") : "",
      total.differ > 0 ? MakeString(", ", total.differ, " differ on the device") : "",
      total.beyond_original > 0
          ? MakeString(", ", total.beyond_original, " not implemented by the original")
          : "");
}

Report::Counts Report::Total() const {
  Counts total;
  for (const auto& [type, counts] : types_) {
    total.passed += counts.passed;
    total.failed += counts.failed;
    total.not_implemented += counts.not_implemented;
    total.known_wrong += counts.known_wrong;
    total.need_hardware += counts.need_hardware;
    total.beyond_original += counts.beyond_original;
    total.differ += counts.differ;
  }
  return total;
}

}  // namespace caffe2rt::test
