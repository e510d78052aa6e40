// Net definitions without weights: all parse, and what is missing here is named, no more and no
// less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/net_validation.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/shared.h"

namespace caffe2rt::test {
namespace {

constexpr char kFolder[] = "models/c2_netdefs_only";

std::vector<std::string> NetFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(SharedPath(kFolder))) {
    if (entry.path().extension() != ".tsv") files.push_back(entry.path().string());
  }
  return files;
}

// The nets of a file: one, or those of a plan.
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

// Every type of the net and of nets in its arguments.
void CollectTypes(const NetDef& net, std::set<std::string>* types) {
  for (const OperatorDef& op : net.op()) {
    types->insert(op.type());
    for (const Argument& arg : op.arg()) {
      if (arg.has_n()) CollectTypes(arg.n(), types);
      for (const NetDef& nested : arg.nets()) CollectTypes(nested, types);
    }
  }
}

TEST(NetdefsTest, CheckReportsExactlyTheOperatorsThatAreMissing) {
  SKIP_WITHOUT_SHARED(kFolder);
  for (const std::string& file : NetFiles()) {
    for (const NetDef& net : NetsOf(file)) {
      SCOPED_TRACE(file + ": " + net.name());
      std::set<std::string> types, missing, reported;
      CollectTypes(net, &types);
      for (const std::string& type : types) {
        if (!HasOperator(CPU, type)) missing.insert(type);
      }
      for (const NetFinding& finding : ValidateNet(net)) {
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

TEST(NetdefsTest, MissingOperatorsAreKnownToTheOriginal) {
  SKIP_WITHOUT_SHARED(kFolder);
  // Two types that even the original's CPU build did not have.
  const std::set<std::string> foreign = {"AddRemovePadding", "SigridTransforms"};
  for (const std::string& file : NetFiles()) {
    for (const NetDef& net : NetsOf(file)) {
      for (const OperatorDef& op : net.op()) {
        if (HasOperator(CPU, op.type())) continue;
        EXPECT_EQ(IsKnownCaffe2Operator(op.type()), !foreign.contains(op.type())) << op.type();
        EXPECT_THAT(ExplainMissingOperator(op.type(), CPU), testing::HasSubstr(op.type()));
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test
