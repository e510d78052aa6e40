// The guards of blobs that several nets, steps and instances update, and memory that reporters may share.
#include <gtest/gtest.h>

#include "caffe2_core/plan/race_users.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::plan_guards_test {
namespace {

using test::Feed;
using test::kTogether;
using test::Net;
using test::Op;
using test::RunPlanText;
using testing::AllOf;
using testing::HasSubstr;

class PlanGuardsTest : public testing::Test {
 protected:
  PlanGuardsTest() {
    for (const char* name : {"x", "y", "s", "p"}) Feed<float>(&ws_, name, {2}, {1, 2});
    for (const char* mutex : {"m", "n", "k"})
      ws_.RunOperatorOnce(test::ParseOp(MakeString("type: 'CreateMutex' output: '", mutex, "'")));
  }
  // The message of the plan, or "".
  std::string Run(const std::string& plan) {
    try {
      EXPECT_TRUE(RunPlanText(&ws_, plan));
      return "";
    } catch (const EnforceNotMet& error) {
      return error.message();
    }
  }
  static std::string Append(char mutex) {
    return Op("AtomicAppend", std::string{mutex, 'x', 'y'}, "x");
  }
  Workspace ws_;
};

const char* const kGuards = "under different guards, want one mutex";
const char* const kThreeSteps = R"(execution_step { name: "all" concurrent_substeps: true
  substep { name: "a" network: "a" } substep { name: "b" network: "b" }
  substep { name: "c" network: "c" } })";

TEST_F(PlanGuardsTest, OneNetNeedsOneMutexForABlob) {
  EXPECT_EQ(Run(Net("a", Append('m') + Append('m')) + Net("b", Append('m')) + kTogether), "");
  for (const std::string& both : {Append('m') + Append('n'), Append('n') + Append('m')}) {
    EXPECT_THAT(Run(Net("a", both) + Net("b", Append('m')) + kTogether), HasSubstr(kGuards));
    EXPECT_THAT(Run(Net("a", Append('m')) + Net("b", both) + kTogether), HasSubstr(kGuards));
    EXPECT_THAT(Run(Net("a", both) + R"(execution_step { num_concurrent_instances: 2
                      substep { network: "a" } })"),
                AllOf(HasSubstr("by another instance of "), HasSubstr(kGuards)));
    EXPECT_EQ(Run(Net("a", both) + R"(execution_step { num_iter: 2 network: "a" })"), "");
  }
}

TEST_F(PlanGuardsTest, AllNetsOfAStepNeedOneMutexForABlob) {
  const std::string nets =
      Net("m", Append('m')) + Net("n", Append('n')) + Net("free", Op("PlanTestGuarded", "x", ""));
  const auto steps = [&](const std::string& a, const std::string& b) {
    return nets + R"(execution_step { concurrent_substeps: true substep { name: "a" )" + a +
           R"( } substep { name: "b" )" + b + " } }";
  };
  const std::string m = R"(network: "m")", n = R"(network: "n")";
  EXPECT_EQ(Run(steps(m + m, m)), "");
  EXPECT_THAT(Run(steps(m + n, m)), HasSubstr(kGuards));
  EXPECT_THAT(Run(steps(n + m, m)), HasSubstr(kGuards));
  EXPECT_THAT(Run(steps(m, n + m)), HasSubstr(kGuards));
  EXPECT_THAT(Run(steps(m, m + m + n + m)), HasSubstr(kGuards));
  EXPECT_THAT(Run(steps("substep { " + m + " } substep { " + n + " }", n)), HasSubstr(kGuards));
  // A use without a guard does not conflict, and does not hide the guard of another one.
  const std::string free = R"(network: "free")";
  EXPECT_EQ(Run(steps(free, m)), "");
  EXPECT_EQ(Run(steps(free + m, m + free)), "");
  EXPECT_EQ(Run(steps(free + m, free)), "");
  EXPECT_THAT(Run(steps(free + m, n)), HasSubstr(kGuards));
  EXPECT_THAT(Run(steps(n, free + m)), HasSubstr(kGuards));
  EXPECT_THAT(Run(steps(m + free, n)), HasSubstr(kGuards));
}

TEST_F(PlanGuardsTest, AllStepsNeedOneMutexForABlob) {
  const std::string free = Op("PlanTestGuarded", "x", "");
  const auto run = [&](const std::string& a, const std::string& b, const std::string& c) {
    return Run(Net("a", a) + Net("b", b) + Net("c", c) + kThreeSteps);
  };
  EXPECT_EQ(run(Append('m'), Append('m'), Append('m')), "");
  EXPECT_EQ(run(free, free, Append('m')), "");
  EXPECT_EQ(run(free, Append('m'), free), "");
  // The first user has no guard; the other two have different ones.
  EXPECT_THAT(run(free, Append('m'), Append('n')),
              AllOf(HasSubstr("by step \"b\" (net \"b\") and by step \"c\""), HasSubstr(kGuards)));
  EXPECT_THAT(run(Append('m'), free, Append('n')),
              AllOf(HasSubstr("by step \"a\" (net \"a\") and by step \"c\""), HasSubstr(kGuards)));
  EXPECT_THAT(run(Append('m'), Append('m'), Append('n')), HasSubstr(kGuards));
  EXPECT_THAT(run(Append('m'), Append('n'), free), HasSubstr(kGuards));
  // The same if one of them writes the blob as well.
  const std::string writes = Op("PlanTestGuarded", "x", "x");
  EXPECT_THAT(run(writes, Append('m'), Append('n')),
              AllOf(HasSubstr("by step \"b\" (net \"b\") and by step \"c\""), HasSubstr(kGuards)));
  EXPECT_THAT(run(Append('m'), writes, Append('n')),
              AllOf(HasSubstr("by step \"a\" (net \"a\") and by step \"c\""), HasSubstr(kGuards)));
  EXPECT_THAT(run(Append('m'), Append('n'), writes),
              AllOf(HasSubstr("by step \"a\" (net \"a\") and by step \"b\""), HasSubstr(kGuards)));
}

// What a scope holds may be aliased to another blob by a reporter.
TEST_F(PlanGuardsTest, AReporterMayShareTheMemoryThatAScopeHolds) {
  const auto run_in_scope = [](const char* blob, const char* name, const std::string& net) {
    return MakeString(R"(op { type: "Do" input: ")", blob, R"(" input: "S" output: "S" )",
                      R"(arg { name: "inner_blobs" strings: ")", name, "\" } ",
                      R"(arg { name: "outer_blobs_idx" ints: 0 } )",
                      R"(arg { name: "reuse_workspace" i: 1 } )",
                      R"(arg { name: "net" n { name: "inner" )", net, " } } }");
  };
  ASSERT_EQ(
      Run(Net("make", Op("CreateScope", "", "S") + run_in_scope("x", "i", Op("Alias", "i", "j"))) +
          R"(execution_step { network: "make" })"),
      "");
  const std::string nets =
      Net("a", run_in_scope("y", "k", Op("Relu", "j", "j"))) + Net("b", Op("Copy", "p", "z"));
  const auto steps = [](const std::string& report) {
    return R"(execution_step { concurrent_substeps: true )" + report +
           R"( substep { name: "a" network: "a" } substep { name: "b" network: "b" } })";
  };
  const std::string report = R"(report_net: "r" report_interval: 9)";
  EXPECT_EQ(Run(nets + steps("")), "");
  EXPECT_EQ(Run(nets + Net("r", Op("Alias", "s", "q")) + steps(report)), "");
  for (const char* const alias : {"xp", "px"}) {
    ws_.GetBlob("p")->Reset();
    Feed<float>(&ws_, "p", {2}, {1, 2});
    EXPECT_THAT(
        Run(nets + Net("r", Op("Alias", std::string(1, alias[0]), std::string(1, alias[1]))) +
            steps(report)),
        AllOf(HasSubstr("blob \"S\" is written by step \"a\""), HasSubstr("\"p\"")))
        << alias;
  }
}

TEST_F(PlanGuardsTest, AReporterMayShareTheMemoryOfOtherBlobs) {
  const auto share = [this](const char* blob, const char* with) {
    Tensor* const tensor = ws_.GetBlob(blob)->GetMutableTensor(CPU);
    tensor->ShareData(ws_.GetBlob(with)->Get<Tensor>());
  };
  const auto feed = [&] {  // after a run of the reporter too
    for (const char* name : {"x", "y", "s", "p"}) {
      ws_.GetBlob(name)->Reset();
      Feed<float>(&ws_, name, {2}, {1, 2});
    }
  };
  const std::string steps = R"(execution_step { concurrent_substeps: true
      report_net: "r" report_interval: 9
      substep { name: "a" network: "a" } substep { name: "b" network: "b" } })";
  const std::string nets = Net("a", Op("Relu", "s", "s")) + Net("b", Op("Copy", "y", "z"));
  EXPECT_EQ(Run(nets + Net("r", Op("Alias", "x", "p")) + steps), "");
  feed();
  share("s", "x");
  share("y", "p");
  EXPECT_EQ(Run(nets + Net("r", Op("Copy", "x", "q")) + steps), "");
  for (const char* const alias : {"xp", "px"}) {
    feed();
    share("s", "x");  // one of the two
    share("y", "p");  // the other one
    const std::string report = Op("Alias", std::string(1, alias[0]), std::string(1, alias[1]));
    EXPECT_THAT(Run(nets + Net("r", report) + steps),
                AllOf(HasSubstr("\"s\""), HasSubstr("\"y\""), HasSubstr("which is the same")))
        << alias;
  }
}

// The reporter of the outer step runs while the inner one does, so that what it aliases cannot be read.
TEST_F(PlanGuardsTest, AReporterAroundAConcurrentStepMayAliasToAnyMemory) {
  const std::string nets = Net("b", Op("Copy", "y", "z")) + Net("c", Op("Copy", "y", "w"));
  const std::string steps = R"(execution_step { concurrent_substeps: true
      report_net: "r" report_interval: 9
      substep { name: "deep" substep { concurrent_substeps: true
        substep { name: "a" network: "a" } substep { name: "b" network: "b" } } }
      substep { name: "c" network: "c" } })";
  const std::string alias = Net("r", Op("Alias", "x", "p"));
  EXPECT_EQ(Run(nets + Net("a", Op("Copy", "s", "q")) + alias + steps), "");
  EXPECT_EQ(Run(nets + Net("a", Op("Copy", "p", "q")) + Net("r", Op("Copy", "x", "k")) + steps),
            "");
  for (const char* const blob : {"p", "x"}) {
    EXPECT_THAT(Run(nets + Net("a", Op("Copy", blob, "q")) + alias + steps),
                HasSubstr(MakeString("blob \"", blob,
                                     "\" may get the memory of any blob from the reporter net "
                                     "\"r\" while it is used by step \"a\" (net \"a\")")));
    EXPECT_THAT(Run(nets + Net("a", Op("Copy", "s", blob)) + alias + steps),
                HasSubstr(MakeString("blob \"", blob, "\" may get the memory of any blob")));
  }
}

TEST(RaceUsersTest, ConflictIfOneWritesAndTheOtherIsNotSynchronized) {
  const unsigned kinds[] = {kWrites, kReads, kWritesSynchronized, kReadsSynchronized};
  const bool want[4][4] = {{true, true, true, true},
                           {true, false, true, false},
                           {true, true, false, false},
                           {true, false, false, false}};
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) EXPECT_EQ(UsesConflict(kinds[i], kinds[j]), want[i][j]) << i << j;
  }
  EXPECT_STREQ(VerbOf(kWrites), "written");
  EXPECT_STREQ(VerbOf(kWritesSynchronized), "written");
  EXPECT_STREQ(VerbOf(kReads), "read");
  EXPECT_STREQ(VerbOf(kReadsSynchronized), "read");
}

TEST(RaceUsersTest, KindsDependOnWhetherTheObjectSynchronizesItself) {
  struct Row {
    unsigned use, unknown, plain, synchronized;
  };
  for (const Row& row : {
           Row{kReads, kReads, kReads, kReadsSynchronized},
           Row{kWrites, kWrites, kWrites, kWrites},
           Row{kUpdates, kReadsSynchronized, kWrites, kWritesSynchronized},
           Row{kUpdatesTensor, kWrites, kWrites, kWrites},
           Row{kReads | kUpdates, kReads | kReadsSynchronized, kReads | kWrites,
               kReadsSynchronized | kWritesSynchronized},
           Row{kWritesSynchronized, kWritesSynchronized, kWritesSynchronized, kWritesSynchronized},
           Row{kReadsSynchronized, kReadsSynchronized, kReadsSynchronized, kReadsSynchronized},
       }) {
    EXPECT_EQ(KindsOf(row.use, std::nullopt), row.unknown) << row.use;
    EXPECT_EQ(KindsOf(row.use, false), row.plain) << row.use;
    EXPECT_EQ(KindsOf(row.use, true), row.synchronized) << row.use;
  }
}

TEST(RaceUsersTest, GuardsOfOneKindAreCombined) {
  const int a = 0, b = 0;
  EXPECT_TRUE(GuardsExclude(&a, &a));
  EXPECT_TRUE(GuardsExclude(nullptr, &a));
  EXPECT_TRUE(GuardsExclude(&a, nullptr));
  EXPECT_TRUE(GuardsExclude(nullptr, kNoCommonGuard));
  EXPECT_FALSE(GuardsExclude(&a, &b));
  EXPECT_FALSE(GuardsExclude(kNoCommonGuard, kNoCommonGuard));
  const std::string name = "x", other = "y";
  struct Row {
    std::vector<BlobGuard> guards;
    BlobGuard want;
  };
  for (const Row& row :
       {Row{{&a}, &a}, Row{{nullptr, &a}, &a}, Row{{&a, nullptr}, &a}, Row{{&a, &a}, &a},
        Row{{&a, &b}, kNoCommonGuard}, Row{{nullptr, &a, &b}, kNoCommonGuard},
        Row{{&a, &b, &a}, kNoCommonGuard}, Row{{nullptr, nullptr}, nullptr}}) {
    BlobUsers users;
    for (size_t i = 0; i < row.guards.size(); ++i) {
      AddBlobUser(
          {.name = i == 0 ? &name : &other, .substep = static_cast<int>(i), .guard = row.guards[i]},
          kWrites | kReadsSynchronized, &users);
    }
    EXPECT_EQ(users[0].guard, row.want);
    EXPECT_EQ(users[3].guard, row.want);
    EXPECT_EQ(users[0].name, &name);  // the first one
    EXPECT_EQ(users[0].substep, 0);
    EXPECT_EQ(users[1].name, nullptr);
    EXPECT_EQ(users[2].name, nullptr);
  }
}

}  // namespace
}  // namespace caffe2rt::plan_guards_test
