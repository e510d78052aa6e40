#include "caffe2_core/training/training_log.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {
namespace {

using Json = nlohmann::ordered_json;

struct Field {
  const char* name;
  std::optional<double> LogLine::*value;
};
constexpr Field kFields[] = {
    {"loss", &LogLine::loss},           {"accuracy", &LogLine::accuracy},
    {"rate", &LogLine::rate},           {"images_per_second", &LogLine::images_per_second},
    {"test_loss", &LogLine::test_loss}, {"test_accuracy", &LogLine::test_accuracy}};

LogLine ParseLine(const std::string& path, const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  const auto has_integer = [&](const char* name) {
    return json.contains(name) && json[name].is_number_integer();
  };
  CAFFE_ENFORCE(json.is_object() && has_integer("epoch") && has_integer("iteration"), "log \"",
                path, "\" is damaged: line \"", text,
                "\" is not an object with epoch and iteration");
  LogLine line;
  line.epoch = json["epoch"].get<int64_t>();
  line.iteration = json["iteration"].get<int64_t>();
  for (const Field& field : kFields) {
    const auto found = json.find(field.name);
    if (found != json.end() && found->is_number()) line.*field.value = found->get<double>();
  }
  line.best = json.contains("best") && json["best"] == true;
  return line;
}

}  // namespace

std::string LogLineAsJson(const LogLine& line) {
  Json json = {{"epoch", line.epoch}, {"iteration", line.iteration}};
  for (const Field& field : kFields) {
    const std::optional<double>& value = line.*field.value;
    if (!value.has_value()) continue;
    if (!std::isfinite(*value)) {
      json[field.name] = nullptr;
    } else if (*value == std::floor(*value) && std::fabs(*value) < 1e15) {
      json[field.name] = static_cast<int64_t>(*value);
    } else {
      double rounded = 0;  // to six digits
      CAFFE_ENFORCE(absl::SimpleAtod(absl::StrCat(*value), &rounded), "number ", *value);
      json[field.name] = rounded;
    }
  }
  if (line.best) json["best"] = true;
  return json.dump();
}

TrainingLog::TrainingLog(const std::string& path, int64_t bytes) : path_(path), bytes_(bytes) {
  std::string text;
  if (bytes > 0 && std::filesystem::exists(path)) text = ReadWholeFile(path);
  // The log is not synced, so that a machine that lost its power may have less of it.
  text.resize(std::min(text.size(), static_cast<size_t>(bytes)));
  text.resize(text.rfind('\n') + 1);
  bytes_ = static_cast<int64_t>(text.size());
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(text, '\n', absl::SkipEmpty())))
    lines_.push_back(ParseLine(path, line));
  WriteFileAtomically(path, text);
}

void TrainingLog::Add(const LogLine& line) {
  const std::string text = LogLineAsJson(line) + "\n";
  const FileDescriptor file(open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const ssize_t written = file ? write(file.get(), text.data(), text.size()) : -1;
  if (written != static_cast<ssize_t>(text.size())) {
    const std::string reason = written < 0 ? std::strerror(errno) : "no space left";
    // Part of the line may be in the file.
    std::error_code ignored;
    std::filesystem::resize_file(path_, static_cast<uintmax_t>(bytes_), ignored);
    CAFFE_THROW("cannot write to the log \"", path_, "\": ", reason);
  }
  bytes_ += static_cast<int64_t>(text.size());
  lines_.push_back(line);
}

}  // namespace caffe2rt
