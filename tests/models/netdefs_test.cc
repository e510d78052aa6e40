// Net definitions without weights: all parse, and exactly the missing operators are reported.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/inspect/net_validation.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::netdefs_test {
namespace {

constexpr char kFolder[] = "models/c2_netdefs_only";

std::vector<std::string> NetFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(SharedPath(kFolder))) {
    if (entry.path().extension() != ".tsv") files.push_back(entry.path().string());
  }
  return files;
}

// The nets of a file: the net itself, or those of a plan.
std::vector<NetDef> NetsOf(const std::string& path) {
  if (DetectFileKind(path).kind == FileKind::kPlanDef) {
    PlanDef plan;
    LoadProto(path, &plan);
    return {plan.network().begin(), plan.network().end()};
  }
  NetDef net;
  LoadProto(path, &net);
  return {net};
}

TEST(NetdefsTest, AllParse) {
  SKIP_WITHOUT_SHARED(kFolder);
  const std::vector<std::string> files = NetFiles();
  EXPECT_GE(files.size(), 26u);
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const FileKind kind = DetectFileKind(file).kind;
    EXPECT_TRUE(kind == FileKind::kNetDef || kind == FileKind::kPlanDef) << FileKindName(kind);
    for (const NetDef& net : NetsOf(file)) EXPECT_GT(net.op_size(), 0);
  }
}

TEST(NetdefsTest, FlowOfDataIsRight) {
  SKIP_WITHOUT_SHARED(kFolder);
  for (const std::string& file : NetFiles()) {
    for (const NetDef& net : NetsOf(file)) {
      SCOPED_TRACE(file + ": " + net.name());
      for (const NetProblem& problem : CheckNetDataflow(net)) ADD_FAILURE() << problem.text;
    }
  }
}

// One line of ORIGINAL.tsv: what the original found in a net.
struct OriginalNet {
  std::string name;
  std::set<std::string> types;    // nested nets included
  std::set<std::string> foreign;  // types that the original's CPU build does not have
};

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
  return parts;
}

// The nets by file, in the file's order.
std::map<std::string, std::vector<OriginalNet>> ReadOriginal() {
  std::map<std::string, std::vector<OriginalNet>> files;
  std::ifstream in(SharedPath(std::string(kFolder) + "/ORIGINAL.tsv"));
  std::string line;
  std::getline(in, line);  // the header line
  while (std::getline(in, line)) {
    const std::vector<std::string> columns = Split(line, '\t');
    OriginalNet net{columns[1], {}, {}};
    for (const std::string& item : Split(columns[4], ' ')) {
      net.types.insert(item.substr(0, item.rfind(':')));
    }
    for (const std::string& item : Split(columns[6], ' ')) {
      if (item != "-") net.foreign.insert(item.substr(0, item.find_first_of(",:")));
    }
    files[columns[0]].push_back(net);
  }
  return files;
}

TEST(NetdefsTest, CheckReportsExactlyTheOperatorsThatAreMissing) {
  SKIP_WITHOUT_SHARED(kFolder);
  const auto original = ReadOriginal();
  EXPECT_GE(original.size(), 26u);
  for (const auto& [file, nets] : original) {
    const std::vector<NetDef> defs = NetsOf(SharedPath(std::string(kFolder) + "/" + file));
    ASSERT_EQ(defs.size(), nets.size()) << file;
    for (size_t i = 0; i < nets.size(); ++i) {
      SCOPED_TRACE(file + ": " + nets[i].name);
      std::set<std::string> missing, reported;
      for (const std::string& type : nets[i].types) {
        if (HasOperator(CPU, type)) continue;
        missing.insert(type);
        EXPECT_EQ(IsKnownCaffe2Operator(type), !nets[i].foreign.contains(type)) << type;
        EXPECT_THAT(ExplainMissingOperator(type, CPU), testing::HasSubstr(type));
      }
      for (const NetFinding& finding : ValidateNet(defs[i])) {
        if (!finding.missing_type.empty()) {
          reported.insert(finding.missing_type);
        } else {
          EXPECT_NE(finding.kind, NetFindingKind::kError) << finding.text;
        }
      }
      EXPECT_EQ(reported, missing);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::netdefs_test
