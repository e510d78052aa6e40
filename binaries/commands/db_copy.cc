// caffe2 db convert and split.

#include <iostream>
#include <nlohmann/json.hpp>

#include "binaries/commands/db.h"
#include "binaries/commands/progress.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

DatabaseCopyOptions WithProgress(Progress* progress) {
  return {.progress = [progress](int64_t records) { progress->Show(records); }};
}

}  // namespace

int ConvertDatabase(const CommandLine& line, const std::vector<std::string>& arguments) {
  const DatabasePlace from = GivenDatabase(arguments);
  const std::string path = GivenOutput(line);
  Progress progress(0, "records");
  const int64_t records = CopyDatabase(from, {NewDatabaseType(line.Text("db-type"), path), path},
                                       WithProgress(&progress));
  progress.Clear();
  PrintMade(line, path, records);
  return 0;
}

int DivideDatabase(const CommandLine& line, const std::vector<std::string>& arguments) {
  const DatabasePlace from = GivenDatabase(arguments);
  const auto parts = static_cast<int>(line.Integer("parts", 1, 1000));
  const std::string prefix = line.Has("output") ? line.Text("output") : from.path + "_split_";
  Progress progress(0, "records");
  const std::vector<std::string> paths =
      SplitDatabase(from, parts, prefix, WithProgress(&progress));
  progress.Clear();
  if (line.Has("json")) {
    const JsonDocument json = NewJson();
    *json = {{"databases", paths}};
    PrintJson(*json);
  } else {
    for (const std::string& path : paths) std::cout << path << "\n";
  }
  return 0;
}

}  // namespace caffe2rt
