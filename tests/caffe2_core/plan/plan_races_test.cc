#include "caffe2_core/plan/plan_races.h"

#include <gtest/gtest.h>

#include "caffe2_core/io/db.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::plan_races_test {
namespace {

using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::kTogether;
using test::Net;
using test::Op;
using test::RunOp;
using test::RunPlanText;
using testing::AllOf;
using testing::HasSubstr;

// Returns the message that the plan throws, or "" if it does not throw.
std::string Refusal(Workspace* ws, const std::string& plan) {
  try {
    EXPECT_TRUE(RunPlanText(ws, plan));
    return "";
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
}

class PlanRacesTest : public testing::Test {
 protected:
  PlanRacesTest() {
    for (const char* name : {"x", "y"}) Feed<float>(&ws_, name, {2}, {1, 2});
    test::ResetPlanCounts();
  }
  std::string Refusal(const std::string& plan) { return plan_races_test::Refusal(&ws_, plan); }

  Workspace ws_;
};

// Regression: both instances resized and wrote one tensor, which overflowed the heap.
TEST_F(PlanRacesTest, RejectsInstancesThatWriteOneBlob) {
  const std::string plan =
      Net("grow", Op("Concat", "yy", "xi", "arg { name: \"axis\" i: 0 }") +
                      Op("Concat", "xxxxxxxx", "zi", "arg { name: \"axis\" i: 0 }")) +
      R"(execution_step { name: "many" num_concurrent_instances: 8
           substep { name: "one" network: "grow" num_iter: 100 } })";
  const std::string refusal = Refusal(plan);
  EXPECT_THAT(refusal, AllOf(HasSubstr("is written by step \"one\" (net \"grow\") while it is"),
                             HasSubstr("by another instance of step \"one\" (net \"grow\")"),
                             HasSubstr("--allow-races (PlanOptions::allow_races)")));
  EXPECT_EQ(refusal.find('\n'), std::string::npos);
}

TEST_F(PlanRacesTest, RejectsASubstepThatReadsWhatAnotherWrites) {
  EXPECT_THAT(Refusal(Net("a", Op("Copy", "x", "z")) + Net("b", Op("Copy", "y", "x")) + kTogether),
              AllOf(HasSubstr("blob \"x\" is read by step \"a\" (net \"a\") while it is written by "
                              "step \"b\" (net \"b\")"),
                    HasSubstr("--allow-races")));
}

TEST_F(PlanRacesTest, AllowsBlobsThatAreOnlyRead) {
  EXPECT_EQ(Refusal(Net("a", Op("Copy", "x", "p")) + Net("b", Op("Copy", "x", "q")) + kTogether),
            "");
  ExpectTensor<float>(ws_, "p", {2}, {1, 2});
  ExpectTensor<float>(ws_, "q", {2}, {1, 2});
}

TEST_F(PlanRacesTest, RejectsANewNameThatTwoSubstepsCreate) {
  EXPECT_THAT(Refusal(Net("a", Op("Copy", "x", "z")) + Net("b", Op("Copy", "y", "z")) + kTogether),
              HasSubstr("blob \"z\""));
}

TEST_F(PlanRacesTest, AChildWorkspaceOwnsNewNamesAlone) {
  const std::string instances = R"(execution_step { num_concurrent_instances: 4
    substep { name: "child" create_workspace: true network: "n" } })";
  EXPECT_EQ(Refusal(Net("n", Op("Copy", "x", "z")) + instances), "");
  EXPECT_FALSE(ws_.HasBlob("z"));
  EXPECT_THAT(Refusal(Net("n", Op("Copy", "x", "y")) + instances),
              HasSubstr("blob \"y\" is written by step \"child\""));
}

TEST_F(PlanRacesTest, AChildWorkspaceSeesWhatASiblingCreatesAroundIt) {
  const std::string nets = Net("a", Op("Copy", "x", "z")) + Net("b", Op("Copy", "y", "z"));
  EXPECT_THAT(Refusal(nets + R"(execution_step { concurrent_substeps: true
                substep { name: "a" network: "a" }
                substep { name: "b" create_workspace: true network: "b" } })"),
              AllOf(HasSubstr("blob \"z\""), HasSubstr("\"a\""), HasSubstr("\"b\"")));
  // The same conflict with a later substep outside the concurrent step.
  Workspace fresh;
  Feed<float>(&fresh, "x", {1}, {1});
  Feed<float>(&fresh, "y", {1}, {1});
  EXPECT_THAT(plan_races_test::Refusal(&fresh, nets + R"(execution_step {
                substep { num_concurrent_instances: 2
                  substep { create_workspace: true network: "b" } }
                substep { network: "a" } })"),
              HasSubstr("blob \"z\" is written by substep 0 of step \"\""));
}

TEST_F(PlanRacesTest, TwoNamesOfOneBlobConflict) {
  Workspace child(&ws_, {{"p", "x"}, {"q", "x"}});
  Feed<float>(&child, "y", {1}, {1});
  EXPECT_THAT(plan_races_test::Refusal(&child, Net("a", Op("Copy", "p", "z")) +
                                                   Net("b", Op("Copy", "y", "q")) + kTogether),
              HasSubstr("blob \"p\" is read by step \"a\" (net \"a\") while \"q\", which is the "
                        "same, is written by step \"b\""));
}

TEST_F(PlanRacesTest, TwoTensorsInOneMemoryConflict) {
  const std::string nets = Net("a", Op("Relu", "x", "x")) + Net("b", Op("Copy", "s", "z"));
  ws_.CreateBlob("s")->GetMutableTensor(CPU)->CopyFrom(ws_.GetBlob("x")->Get<Tensor>());
  EXPECT_EQ(Refusal(nets + kTogether), "");
  Tensor* shared = ws_.GetBlob("s")->GetMutableTensor(CPU);
  shared->ResizeLike(ws_.GetBlob("x")->Get<Tensor>());
  shared->ShareData(ws_.GetBlob("x")->Get<Tensor>());
  EXPECT_THAT(Refusal(nets + kTogether), HasSubstr("\"s\", which is the same"));
}

// Regression: views have addresses of their own, so that writes to the memory were not seen.
TEST_F(PlanRacesTest, AViewConflictsWithTheTensorAndWithViewsThatOverlapIt) {
  Feed<float>(&ws_, "x", {4}, {1, 2, 3, 4});
  Feed<int32_t>(&ws_, "t", {1}, {0});
  const auto view = [](const std::string& output, int offset) {
    return MakeString("op { type: \"rnn_internal_apply_link\" input: \"t\" input: \"x\" output: \"",
                      output, "\" output: \"x\" arg { name: \"offset\" i: ", offset,
                      " } arg { name: \"window\" i: 2 } }");
  };
  EXPECT_EQ(Refusal(Net("views", view("v", 2) + view("w", 1) + view("u", 0)) +
                    "execution_step { network: \"views\" }"),
            "");
  EXPECT_THAT(Refusal(Net("a", Op("Copy", "x", "z")) + Net("b", Op("Relu", "v", "v")) + kTogether),
              HasSubstr("blob \"x\" is read by step \"a\" (net \"a\") while \"v\", which is the "
                        "same, is written by step \"b\""));
  EXPECT_THAT(Refusal(Net("a", Op("Copy", "w", "z")) + Net("b", Op("Relu", "v", "v")) + kTogether),
              HasSubstr("\"v\", which is the same"));
  EXPECT_EQ(Refusal(Net("a", Op("Relu", "u", "u")) + Net("b", Op("Relu", "v", "v")) + kTogether),
            "");
  EXPECT_EQ(Refusal(Net("a", Op("Copy", "x", "p")) + Net("b", Op("Copy", "v", "q")) + kTogether),
            "");
}

// Regression: the outputs of RecurrentNetwork are views of one state.
TEST_F(PlanRacesTest, OutputsOfRecurrentNetworkShareMemory) {
  test::FeedRange<float>(&ws_, "x", {3, 1, 2}, 1);
  Feed<float>(&ws_, "i", {1, 1, 2}, {1, 1});
  RunOp(&ws_, R"(type: "RecurrentNetwork" input: "x" input: "i" output: "a" output: "l" output: "s"
    arg { name: "recurrent_states" strings: "h" }
    arg { name: "initial_recurrent_state_ids" ints: 1 }
    arg { name: "alias_src" strings: "h" strings: "h" }
    arg { name: "alias_dst" strings: "a" strings: "l" } arg { name: "alias_offset" ints: 1 ints: -1 }
    arg { name: "link_internal" strings: "prev" strings: "cur" strings: "in" }
    arg { name: "link_external" strings: "h" strings: "h" strings: "x" }
    arg { name: "link_offset" ints: 0 ints: 1 ints: 0 }
    arg { name: "step_net" n { name: "step"
      op { type: "Sum" input: "in" input: "prev" output: "cur" } } })");
  EXPECT_THAT(Refusal(Net("a", Op("Relu", "l", "l")) + Net("b", Op("Copy", "a", "z")) + kTogether),
              HasSubstr("blob \"l\" is written by step \"a\""));
}

// A Do of the scope S whose net knows `blob` as `inner_name`.
std::string Do(const char* blob, const char* inner_name, const std::string& net) {
  return MakeString(R"(op { type: "Do" input: ")", blob, R"(" input: "S" output: "S" )",
                    R"(arg { name: "inner_blobs" strings: ")", inner_name, "\" } ",
                    R"(arg { name: "outer_blobs_idx" ints: 0 } )",
                    R"(arg { name: "reuse_workspace" i: 1 } )",
                    R"(arg { name: "net" n { name: "inner" )", net, " } } }");
}

// Regression: the names in the net of Do counted as names of the plan.
TEST_F(PlanRacesTest, TheNamesInDoDenoteTheBlobsThatItBinds) {
  const auto run = [](const std::string& inner) {
    return Op("CreateScope", "", "S") + Do("x", "i", inner);
  };
  const std::string reads = Net("b", Op("Copy", "x", "z"));
  EXPECT_THAT(Refusal(Net("a", run(Op("Relu", "i", "i"))) + reads + kTogether),
              HasSubstr("blob \"x\" is written by step \"a\" (net \"a\") while it is read"));
  EXPECT_THAT(Refusal(Net("a", run(Op("Alias", "i", "j"))) + reads + kTogether),
              HasSubstr("blob \"x\" is written by step \"a\""));
  EXPECT_EQ(Refusal(Net("a", run(Op("Copy", "i", "z"))) + reads + kTogether), "");
  // An inner name that a blob of the plan has too.
  EXPECT_EQ(
      Refusal(Net("a", run(Op("Copy", "i", "y"))) + Net("b", Op("Relu", "y", "y")) + kTogether),
      "");
}

// A scope keeps the blobs of its net, and they may share the memory of others.
TEST_F(PlanRacesTest, WhatAScopeHoldsBelongsToIt) {
  const std::string make =
      Net("make", Op("CreateScope", "", "S") + Do("x", "i", Op("Alias", "i", "j")));
  EXPECT_EQ(Refusal(make + R"(execution_step { network: "make" })"), "");
  const std::string write = Net("a", Do("y", "k", Op("Relu", "j", "j")));
  EXPECT_THAT(Refusal(write + Net("b", Op("Copy", "x", "z")) + kTogether),
              HasSubstr("blob \"S\" is written by step \"a\" (net \"a\") while \"x\", which is the "
                        "same"));
  EXPECT_EQ(Refusal(write + Net("b", Op("Copy", "y", "z")) + kTogether), "");
}

// Regression: two mutexes guarded one tensor, which two steps then resized at the same time.
TEST_F(PlanRacesTest, OneMutexMustGuardABlob) {
  const std::string init = Net("init", Op("CreateMutex", "", "m") + Op("CreateMutex", "", "n")) +
                           "execution_step { network: \"init\" }";
  const auto append = [](char mutex) {
    return Op("AtomicAppend", std::string{mutex, 'x', 'y'}, "x");
  };
  EXPECT_EQ(Refusal(init + Net("a", append('m')) + Net("b", append('m')) + kTogether), "");
  EXPECT_THAT(Refusal(init + Net("a", append('m')) + Net("b", append('n')) + kTogether),
              HasSubstr("blob \"x\" is written by step \"a\" (net \"a\") and by step \"b\" (net "
                        "\"b\") under different guards, want one mutex"));
  // A mutex that each child workspace makes for itself guards nothing.
  EXPECT_THAT(Refusal(Net("a", Op("CreateMutex", "", "o") + append('o')) +
                      R"(execution_step { num_concurrent_instances: 2
                           substep { create_workspace: true network: "a" } })"),
              HasSubstr("under different guards"));
}

// Regression: operators that replace the object in a blob counted as synchronized if it
// synchronizes itself.
TEST_F(PlanRacesTest, BuiltinOperatorsReplaceWhatTheyUpdate) {
  const std::string init =
      Net("init",
          Op("CreateMutex", "", "m") + Op("CreateBlobsQueue", "", "q") +
              "op { type: \"ConstantFill\" output: \"k\" arg { name: \"shape\" ints: 1 } arg "
              "{ name: \"dtype\" i: 10 } }") +
      "execution_step { network: \"init\" }";
  const std::string count = Net("b", Op("AtomicIter", "mk", "k"));
  EXPECT_EQ(Refusal(init + Net("a", Op("AtomicIter", "mk", "k")) + count + kTogether), "");
  for (const std::string& replace : {Op("Free", "m", "m"), Op("EnqueueBlobs", "qm", "m")}) {
    EXPECT_THAT(Refusal(init + Net("a", replace) + count + kTogether),
                HasSubstr("blob \"m\" is written by step \"a\""));
  }
}

// Regression: the queue handed on memory that another blob still had, so that both steps wrote it.
TEST_F(PlanRacesTest, AQueueHandsOnItsOwnMemory) {
  EXPECT_EQ(Refusal(Net("init", Op("CreateBlobsQueue", "", "q") + Op("Alias", "x", "y") +
                                    Op("EnqueueBlobs", "qy", "y")) +
                    Net("take", Op("DequeueBlobs", "q", "z")) + Net("a", Op("Add", "xx", "x")) +
                    Net("b", Op("Add", "zz", "z")) +
                    R"(execution_step { network: "init" network: "take" })" + kTogether),
            "");
  ExpectTensor<float>(ws_, "x", {2}, {2, 4});
  ExpectTensor<float>(ws_, "z", {2}, {2, 4});
  EXPECT_THAT(Refusal(Net("init", Op("CreateBlobsQueue", "", "q") + Op("CreateScope", "", "S") +
                                      Op("EnqueueBlobs", "qS", "S")) +
                      R"(execution_step { network: "init" })"),
              HasSubstr("neither a scope nor a queue can enter a queue"));
}

TEST_F(PlanRacesTest, ChecksAgainWhenALoopChangedWhatAScopeHolds) {
  const std::string plan =
      Net("make", Op("CreateScope", "", "S") + Do("x", "i", Op("Copy", "i", "j"))) +
      Net("a", Do("y", "k", Op("Relu", "j", "j"))) + Net("b", Op("Copy", "x", "z")) +
      Net("change", Do("x", "i", Op("Alias", "i", "j"))) +
      R"(execution_step { network: "make" }
         execution_step { num_iter: 2
           substep { concurrent_substeps: true substep { name: "a" network: "a" }
                     substep { name: "b" network: "b" } } )";
  EXPECT_EQ(Refusal(plan + "}"), "");
  EXPECT_THAT(Refusal(plan + R"(substep { network: "change" } })"),
              HasSubstr("blob \"S\" is written by step \"a\" (net \"a\") while \"x\""));
}

// A loop repeats the search for conflicts only after something has changed.
TEST_F(PlanRacesTest, ChecksAgainWhenALoopChangedWhatIsShared) {
  const std::string both = R"(substep { concurrent_substeps: true
      substep { name: "a" network: "a" } substep { name: "b" network: "b" } } )";
  const std::string nets = Net("a", Op("Relu", "x", "x")) + Net("b", Op("Copy", "s", "z"));
  Feed<float>(&ws_, "s", {2}, {3, 4});
  EXPECT_EQ(Refusal(nets + "execution_step { num_iter: 20 " + both + "}"), "");
  EXPECT_THAT(
      Refusal(nets + Net("change", Op("Alias", "x", "s")) + "execution_step { num_iter: 2 " + both +
              R"( substep { network: "change" } })"),
      HasSubstr("\"s\", which is the same"));
  // A name that a child workspace does not find at first.
  PlanOptions options;
  options.should_continue = [this](int i) {
    if (i == 5) Feed<float>(&ws_, "c", {2}, {0, 0});  // only the outer loop gets so far
    return true;
  };
  ExpectThrows(
      [&] {
        RunPlanText(&ws_, Net("n", Op("Copy", "x", "c")) + R"(execution_step { num_iter: 20
            substep { num_concurrent_instances: 2 substep { create_workspace: true network: "n" } }
            })",
                    options);
      },
      "blob \"c\" is written by");
}

TEST_F(PlanRacesTest, AnAliasCountsAsAWriter) {
  EXPECT_THAT(Refusal(Net("a", Op("Alias", "x", "z") + Op("Relu", "z", "z")) +
                      Net("b", Op("Copy", "x", "q")) + kTogether),
              HasSubstr("blob \"x\""));
}

TEST_F(PlanRacesTest, StopBlobsAreRead) {
  Feed<bool>(&ws_, "stop", {1}, {true});
  EXPECT_THAT(Refusal(Net("a", Op("PlanTestCount", "", "")) +
                      Net("b", R"(op { type: "PlanTestCount" output: "stop" })") +
                      R"(execution_step { concurrent_substeps: true
                           substep { name: "a" network: "a" should_stop_blob: "stop" }
                           substep { name: "b" network: "b" } })"),
              HasSubstr("blob \"stop\" is read by step \"a\" while it is written by step \"b\""));
}

TEST_F(PlanRacesTest, NetsInArgumentsAreUsedAndControlInputsAreNot) {
  const std::string b = Net("b", Op("Copy", "y", "x"));
  EXPECT_EQ(Refusal(Net("a", Op("Copy", "y", "z", "control_input: \"x\"")) + b + kTogether), "");
  for (const std::string& argument :
       {"arg { name: \"then_net\" n { " + Op("Copy", "x", "z") + " } }",
        "arg { name: \"nets\" nets { " + Op("Copy", "x", "z") + " } }",
        "arg { name: \"n\" n { op { type: \"If\" arg { name: \"m\" n { " + Op("Copy", "x", "z") +
            " } } } } }"}) {
    EXPECT_THAT(Refusal(Net("a", Op("PlanTestCount", "y", "", argument)) + b + kTogether),
                HasSubstr("blob \"x\" is read by step \"a\""))
        << argument;
  }
}

TEST_F(PlanRacesTest, AllBelowASubstepBelongsToIt) {
  const std::string nets = Net("a", Op("Copy", "x", "z")) + Net("b", Op("Copy", "y", "x"));
  for (const char* nested :
       {R"(substep { substep { network: "a" } })", R"(substep { run_every_ms: 1000 network: "a" })",
        R"(create_workspace: true report_net: "a" report_interval: 9)",
        R"(concurrent_substeps: true substep { network: "a" } substep { })"}) {
    EXPECT_THAT(Refusal(nets + R"(execution_step { concurrent_substeps: true
                  substep { name: "b" network: "b" } substep { name: "deep" )" +
                        nested + "} }"),
                AllOf(HasSubstr("blob \"x\""), HasSubstr("step \"deep\" (net \"a\")")))
        << nested;
  }
}

TEST_F(PlanRacesTest, ReportersOfTheStepAreAccepted) {
  EXPECT_EQ(Refusal(Net("a", Op("Relu", "x", "x")) + Net("b", Op("Copy", "y", "q")) +
                    Net("report", Op("Copy", "x", "z")) +
                    R"(execution_step { concurrent_substeps: true
                         report_net: "report" report_interval: 3600
                         substep { network: "a" num_iter: 50 } substep { network: "b" num_iter: 50 }
                         substep { run_every_ms: 1 network: "report" } })"),
            "");
  ExpectTensor<float>(ws_, "z", {2}, {1, 2});
}

TEST_F(PlanRacesTest, RejectsAReporterThatCreatesAnyBlobAroundChildWorkspaces) {
  const std::string load = R"(op { type: "Load" arg { name: "db" s: "none" }
      arg { name: "db_type" s: "minidb" } arg { name: "load_all" i: 1 } })";
  const std::string inner = R"( substep { num_concurrent_instances: 2
      substep { name: "child" create_workspace: true network: "n" } } })";
  const std::string n = Net("n", Op("Copy", "x", "z"));
  EXPECT_THAT(
      Refusal(n + Net("r", load) + "execution_step { report_net: \"r\" report_interval: 9" + inner),
      HasSubstr("blob \"x\" may be created by the reporter net \"r\" while it is used in a "
                "child workspace by step \"child\""));
  EXPECT_EQ(Refusal(n + Net("r", Op("Copy", "x", "q")) +
                    "execution_step { report_net: \"r\" report_interval: 9" + inner),
            "");
}

TEST_F(PlanRacesTest, OperatorsThatAccessUnlistedBlobsRunAlone) {
  const std::string all =
      R"(op { type: "Load" arg { name: "db" s: "none" } arg { name: "db_type" s: "minidb" }
              arg { name: "load_all" i: 1 } })";
  EXPECT_THAT(Refusal(Net("a", all) + Net("b", Op("Copy", "y", "q")) + kTogether),
              AllOf(HasSubstr("may be accessed by operator Load of step \"a\" (net \"a\")"),
                    HasSubstr("used by step \"b\""), HasSubstr("--allow-races")));
  EXPECT_THAT(Refusal(Net("a", all) + R"(execution_step { num_concurrent_instances: 2
                        substep { name: "a" network: "a" } })"),
              HasSubstr("used by another instance of step \"a\""));
}

TEST_F(PlanRacesTest, OperatorsWithoutSchemaReadInputsAndWriteOutputs) {
  EXPECT_THAT(Refusal(Net("a", Op("PlanTestPlainTally", "x", "y")) +
                      Net("b", Op("Copy", "y", "z")) + kTogether),
              HasSubstr("blob \"y\" is written by step \"a\""));
}

TEST_F(PlanRacesTest, DeclaredTypesAreSharedInPlaceAndOthersAreNot) {
  auto* const tally = ws_.CreateBlob("t")->GetMutable<test::Tally>();
  ws_.CreateBlob("u")->GetMutable<test::PlainTally>();
  const std::string instances = R"(execution_step { num_concurrent_instances: 8
    substep { name: "count" network: "n" num_iter: 10 } })";
  EXPECT_EQ(Refusal(Net("n", Op("PlanTestTally", "t", "t")) + instances), "");
  EXPECT_EQ(tally->count, 80);
  EXPECT_THAT(Refusal(Net("n", Op("PlanTestPlainTally", "u", "u")) + instances),
              HasSubstr("blob \"u\""));
  // Not in place: the operator may replace the object.
  EXPECT_THAT(Refusal(Net("n", Op("PlanTestTally", "", "t")) + instances), HasSubstr("blob \"t\""));
  EXPECT_EQ(tally->count, 80);
}

TEST_F(PlanRacesTest, AReporterThatReplacesAnObjectEndsItsSharing) {
  ws_.CreateBlob("t")->GetMutable<test::Tally>();
  EXPECT_THAT(Refusal(Net("n", Op("PlanTestTally", "t", "t")) + Net("r", Op("Copy", "x", "t")) +
                      R"(execution_step { num_concurrent_instances: 2
                           report_net: "r" report_interval: 9
                           substep { name: "count" network: "n" } })"),
              HasSubstr("blob \"t\""));
}

// Reporters inside the concurrent step and around it.
const char* const kReporters[] = {
    R"(execution_step { concurrent_substeps: true report_net: "r" report_interval: 9
         substep { name: "a" network: "a" } substep { name: "b" network: "b" } })",
    R"(execution_step { substep { run_every_ms: 9000 substep { network: "r" } }
         substep { substep { concurrent_substeps: true
           substep { name: "a" network: "a" } substep { name: "b" network: "b" } } } })"};

TEST_F(PlanRacesTest, ReportersAroundEndTheSharingOfAnObject) {
  const std::string nets =
      Net("a", Op("PlanTestTally", "t", "t")) + Net("b", Op("PlanTestTally", "t", "t"));
  for (const char* steps : kReporters) {
    ws_.CreateBlob("t")->GetMutable<test::Tally>();
    EXPECT_EQ(Refusal(nets + Net("r", Op("Copy", "x", "z")) + steps), "");
    EXPECT_THAT(Refusal(nets + Net("r", Op("Copy", "x", "t")) + steps), HasSubstr("blob \"t\""));
  }
}

TEST_F(PlanRacesTest, AliasesThatReportersMakeAreTheSameMemory) {
  const std::string alias = Net("r", Op("Alias", "x", "p") + Op("Alias", "p", "q"));
  const std::string read = Net("b", Op("Copy", "x", "z"));
  for (const char* steps : kReporters) {
    Feed<float>(&ws_, "q", {2}, {3, 4});  // in memory of its own again
    EXPECT_THAT(Refusal(alias + Net("a", Op("Copy", "y", "q")) + read + steps),
                AllOf(HasSubstr("blob \"q\" is written by step \"a\""),
                      HasSubstr("\"x\", which is the same, is read by step \"b\"")));
    EXPECT_EQ(Refusal(alias + Net("a", Op("Copy", "q", "s")) + read + steps), "");
  }
}

TEST_F(PlanRacesTest, SchemasDeclareSynchronizedAccesses) {
  const std::string guarded = Net("a", Op("PlanTestGuarded", "xy", "x"));
  const auto with = [&](const std::string& b) { return guarded + Net("b", b) + kTogether; };
  EXPECT_EQ(Refusal(with(Op("PlanTestGuarded", "x", "x"))), "");
  EXPECT_EQ(Refusal(with(Op("PlanTestGuarded", "xy", ""))), "");
  EXPECT_THAT(Refusal(with(Op("Relu", "x", "x"))), HasSubstr("blob \"x\""));
  EXPECT_THAT(Refusal(with(Op("Copy", "x", "z"))), HasSubstr("blob \"x\""));
  // Input 1 is not declared synchronized.
  EXPECT_THAT(Refusal(with(Op("Relu", "y", "y"))), HasSubstr("blob \"y\""));
}

TEST_F(PlanRacesTest, ReadersAreSharedButForLoadAndCreateDB) {
  const test::TempDir dir;
  const std::string path = dir.path() + "/keys.minidb";
  {
    const auto db = db::CreateDB("minidb", path, db::NEW);
    const auto transaction = db->NewTransaction();
    for (const char* key : {"k1", "k2", "k3"}) transaction->Put(key, "v");
    transaction->Commit();
  }
  ws_.CreateBlob("r")->GetMutable<db::DBReader>()->Open("minidb", path);
  const std::string read = Net("a", Op("PlanTestReadKey", "r", "r"));
  const auto with = [&](const std::string& b) { return read + Net("b", b) + kTogether; };
  EXPECT_EQ(Refusal(read + R"(execution_step { num_concurrent_instances: 4
                      substep { network: "a" num_iter: 7 } })"),
            "");
  std::string key, value;  // 28 reads of 3 records were made, so the next record is the second
  ws_.GetBlob("r")->Get<db::DBReader>().Read(&key, &value);
  EXPECT_EQ(key, "k2");
  EXPECT_THAT(Refusal(with(Op("Load", "r", "z"))), HasSubstr("blob \"r\""));
  EXPECT_THAT(Refusal(with(Op("CreateDB", "", "r"))), HasSubstr("blob \"r\""));
}

TEST_F(PlanRacesTest, AllowRacesPermitsDataButNeverSharesOperators) {
  PlanOptions options;
  options.allow_races = true;
  // The operators list the blob but do not access it.
  EXPECT_TRUE(RunPlanText(&ws_,
                          Net("n", Op("PlanTestCount", "x", "x")) +
                              R"(execution_step { num_concurrent_instances: 8
                                      substep { network: "n" num_iter: 20 }
                                      substep { network: "n" num_iter: 20 } })",
                          options));
  EXPECT_EQ(test::PlanRuns(), 320);
  EXPECT_EQ(test::PlanOperators(), 16);
  EXPECT_EQ(test::PlanOverlaps(), 0);
}

TEST_F(PlanRacesTest, NewNamesInNetsOfArgumentsAreTheSameBlob) {
  const std::string nested =
      Op("PlanTestCount", "", "", "arg { name: \"n\" n { " + Op("Copy", "x", "z") + " } }");
  EXPECT_THAT(Refusal(Net("a", nested) + Net("b", nested) + kTogether), HasSubstr("blob \"z\""));
}

TEST_F(PlanRacesTest, ChildWorkspacesReadTheNodeId) {
  Feed<int32_t>(&ws_, "NODE_ID", {1}, {1});
  EXPECT_THAT(Refusal(Net("a", "op { type: \"PlanTestCount\" output: \"NODE_ID\" }") +
                      R"(execution_step { concurrent_substeps: true
                           substep { name: "a" network: "a" }
                           substep { name: "b" substep { create_workspace: true } } })"),
              HasSubstr("blob \"NODE_ID\" is written by step \"a\""));
}

}  // namespace
}  // namespace caffe2rt::plan_races_test
