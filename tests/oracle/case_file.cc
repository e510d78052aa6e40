#include "tests/oracle/case_file.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt::test {
namespace {

namespace fs = std::filesystem;

constexpr char kSequences[] = "sequences.pb";
constexpr char kNetGradients[] = "net_gradients.pb";

void AddProtoFiles(const fs::path& folder, std::vector<std::string>* paths) {
  if (!fs::is_directory(folder)) return;
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".pb" && name != kSequences && name != kNetGradients) {
      found.push_back(entry.path().string());
    }
  }
  std::sort(found.begin(), found.end());
  paths->insert(paths->end(), found.begin(), found.end());
}

template <class Message>
std::shared_ptr<Message> Read(const std::string& path) {
  std::string bytes;
  CAFFE_ENFORCE(ReadStringFromFile(path.c_str(), &bytes), "cannot read \"", path, "\"");
  auto message = std::make_shared<Message>();  // shared by the entries that replay its cases
  CAFFE_ENFORCE(message->ParseFromString(bytes), "\"", path, "\" does not contain ",
                message->GetDescriptor()->name());
  return message;
}

std::string TypeOf(const std::string& op_bytes) {
  OperatorDef def;
  return def.ParseFromString(op_bytes) ? def.type() : "?";
}

bool Uses(const std::string& net_bytes, const std::string& type) {
  NetDef net;
  if (!net.ParseFromString(net_bytes)) return false;
  return std::any_of(net.op().begin(), net.op().end(),
                     [&](const OperatorDef& op) { return op.type() == type; });
}

template <class Cases, class Replay, class TypeFunction>
std::vector<CaseEntry> Entries(const std::shared_ptr<Cases>& cases, const CaseFilter& filter,
                               Replay replay, TypeFunction type_of) {
  std::vector<CaseEntry> entries;
  for (const auto& recorded : cases->case_()) {
    if (!filter.id.empty() && recorded.id() != filter.id) continue;
    const std::string type = type_of(recorded);
    if (type.empty()) continue;
    entries.push_back(
        {recorded.id(), type, [cases, &recorded, replay] { return replay(recorded); }});
  }
  return entries;
}

}  // namespace

std::vector<std::string> ListCaseFiles(const std::string& folder) {
  CAFFE_ENFORCE(fs::is_directory(folder), "\"", folder, "\" is not a folder");
  std::vector<std::string> paths;
  AddProtoFiles(fs::path(folder) / "operators", &paths);
  AddProtoFiles(folder, &paths);
  AddProtoFiles(fs::path(folder) / "gradients", &paths);
  for (const char* name : {kSequences, kNetGradients}) {
    const fs::path path = fs::path(folder) / name;
    if (fs::exists(path)) paths.push_back(path.string());
  }
  CAFFE_ENFORCE(!paths.empty(), "\"", folder,
                "\" contains no recorded cases (operators/*.pb, ...)");
  return paths;
}

oracle::OperatorCases ReadOperatorCases(const std::string& path) {
  return *Read<oracle::OperatorCases>(path);
}

std::vector<CaseEntry> ReadCaseFile(const std::string& path, const CaseFilter& filter,
                                    const ReplayTarget& target) {
  const fs::path place(path);
  const bool gradients =
      place.filename() == kNetGradients || place.parent_path().filename() == "gradients";
  if (gradients && target.device != CPU) return {};
  if (place.filename() == kSequences) {
    return Entries(
        Read<oracle::SequenceCases>(path), filter,
        [target](const oracle::SequenceCase& recorded) { return ReplaySequence(recorded, target); },
        [&](const oracle::SequenceCase& recorded) -> std::string {
          const bool wanted = filter.op.empty() || Uses(recorded.net(), filter.op);
          return wanted ? "(sequence)" : "";
        });
  }
  if (place.filename() == kNetGradients) {
    return Entries(Read<oracle::NetGradientCases>(path), filter, &ReplayNetGradient,
                   [&](const oracle::NetGradientCase&) -> std::string {
                     return filter.op.empty() ? "(net gradient)" : "";
                   });
  }
  const auto matches = [&](const std::string& type) {
    return filter.op.empty() || type == filter.op;
  };
  if (place.parent_path().filename() == "gradients") {
    return Entries(Read<oracle::GradientCases>(path), filter, &ReplayGradient,
                   [&](const oracle::GradientCase& recorded) -> std::string {
                     const std::string type = TypeOf(recorded.op());
                     return matches(type) ? type + " (gradient)" : "";
                   });
  }
  return Entries(
      Read<oracle::OperatorCases>(path), filter,
      [target](const oracle::OperatorCase& recorded) { return ReplayOperator(recorded, target); },
      [&](const oracle::OperatorCase& recorded) -> std::string {
        const std::string type = TypeOf(recorded.op());
        return matches(type) ? type : "";
      });
}

}  // namespace caffe2rt::test
