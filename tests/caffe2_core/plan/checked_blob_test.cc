// What names denoted when a step was checked for conflicts, and what has changed since then.
#include "caffe2_core/plan/checked_blob.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/plan/plan_races.h"
#include "caffe2_core/tensor/blob_holders.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::checked_blob_test {
namespace {

// An object that holds a blob of its own.
struct Holder {
  Blob held;
};

struct ChangeRow {
  const char* name;
  std::function<void(Workspace*)> change;
  bool is_change_of_object;  // which is not looked at unless the blob is read
};

TEST(CheckedBlobTest, KnowsAnotherBlobObjectStorageOrMemory) {
  DeclareBlobHolder<Holder>(
      [](const Holder& holder, const BlobVisitor& visit) { visit(holder.held); });
  PlainTally tally;
  const ChangeRow rows[] = {
      {"nothing", [](Workspace*) {}, false},
      {"values",
       [](Workspace* ws) { ws->GetBlob("x")->GetMutable<Tensor>()->mutable_data<float>()[0] = 7; },
       false},
      {"another storage",
       [](Workspace* ws) {
         Tensor other({2}, CPU);
         other.mutable_data<float>();
         ws->GetBlob("x")->GetMutable<Tensor>()->ShareData(other);
       },
       true},
      {"a larger memory",
       [](Workspace* ws) {
         Tensor* const x = ws->GetBlob("x")->GetMutable<Tensor>();
         x->Resize(5000);
         x->mutable_data<float>();
       },
       true},
      {"another memory in a held blob",
       [](Workspace* ws) {
         ws->GetBlob("h")->GetMutable<Holder>()->held.GetMutable<Tensor>()->ShareData(
             ws->GetBlob("x")->Get<Tensor>());
       },
       true},
      {"another type at the same address",
       [&](Workspace* ws) {
         ws->GetBlob("e")->ShareExternal(static_cast<void*>(&tally), TypeMeta::Make<Tally>());
       },
       true},
      {"another type", [](Workspace* ws) { ws->GetBlob("t")->GetMutable<std::string>(); }, true},
      {"another object", [](Workspace* ws) { ws->GetBlob("t")->Reset(new PlainTally); }, true},
      {"no object", [](Workspace* ws) { ws->GetBlob("t")->Reset(); }, true}};
  for (const ChangeRow& row : rows) {
    SCOPED_TRACE(row.name);
    for (const bool reads : {true, false}) {
      Workspace ws;
      Feed<float>(&ws, "x", {2}, {1, 2});
      ws.CreateBlob("t")->GetMutable<PlainTally>();
      ws.CreateBlob("e")->ShareExternal<PlainTally>(&tally);
      Tensor* const held = ws.CreateBlob("h")->GetMutable<Holder>()->held.GetMutable<Tensor>();
      held->Resize(2);
      held->mutable_data<float>();
      std::vector<CheckedBlob> checked;
      for (const char* const name : {"x", "t", "e", "h", "none"})
        checked.push_back(DescribeBlob(name, ws.FindBlob(name), reads));
      EXPECT_TRUE(AreUnchanged(checked, ws, true));
      row.change(&ws);
      EXPECT_EQ(AreUnchanged(checked, ws, true), !(reads && row.is_change_of_object));
      EXPECT_EQ(AreUnchanged(checked, ws, false), !(reads && row.is_change_of_object));
    }
  }
}

// A name that denoted nothing is always looked up, others if the step uses child workspaces.
TEST(CheckedBlobTest, LooksUpNames) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  const std::vector<CheckedBlob> x = {DescribeBlob("x", ws.FindBlob("x"), true)};
  const std::vector<CheckedBlob> none = {DescribeBlob("none", ws.FindBlob("none"), true)};
  ws.RemoveBlob("x");
  Feed<float>(&ws, "x", {2}, {1, 2});
  ws.CreateBlob("none");
  EXPECT_FALSE(AreUnchanged(x, ws, true));
  EXPECT_TRUE(AreUnchanged(x, ws, false));
  EXPECT_FALSE(AreUnchanged(none, ws, true));
  EXPECT_FALSE(AreUnchanged(none, ws, false));
}

// A conflict is found as often as the step is checked; only the absence of one is remembered.
TEST(CheckedBlobTest, AConflictIsFoundAgain) {
  const PlanDef plan = ParsePlan(Net("a", Op("Copy", "x", "z")) + Net("b", Op("Copy", "y", "x")) +
                                 Net("c", Op("Copy", "x", "w")) + kTogether +
                                 R"(execution_step { concurrent_substeps: true
                                    substep { network: "a" } substep { network: "c" } })");
  PlanNetDefs defs;
  for (const NetDef& net : plan.network())
    defs.emplace(net.name(), std::make_shared<const NetDef>(net));
  Workspace ws;
  for (const char* const name : {"x", "y", "z", "w"}) Feed<float>(&ws, name, {2}, {1, 2});
  PlanUses uses(&defs);
  std::vector<CheckedBlob> checked;
  for (int check = 0; check < 3; ++check) {
    EXPECT_THAT(FindRace(plan.execution_step(0), &uses, {}, ws, &checked),
                testing::HasSubstr("blob \"x\" is read by step \"a\""));
    EXPECT_THAT(checked, testing::IsEmpty());
  }
  for (int check = 0; check < 3; ++check) {
    EXPECT_EQ(FindRace(plan.execution_step(1), &uses, {}, ws, &checked), "");
    EXPECT_FALSE(checked.empty());
  }
  ws.GetBlob("w")->GetMutable<Tensor>()->ShareData(ws.GetBlob("x")->Get<Tensor>());
  for (int check = 0; check < 2; ++check)
    EXPECT_NE(FindRace(plan.execution_step(1), &uses, {}, ws, &checked), "");
}

}  // namespace
}  // namespace caffe2rt::test::checked_blob_test
