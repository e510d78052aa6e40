// Which built-in types of blobs concurrent steps may share: those that synchronize themselves, and
// no others.
#include <gtest/gtest.h>

#include "caffe2_core/io/db.h"
#include "caffe2_core/tensor/synchronized_types.h"
#include "tests/caffe2_core/plan/plan_operators.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::plan_types_test {
namespace {

using testing::HasSubstr;

struct BlobType {
  const char* name;
  std::string create;  // operators that make the blob "o"
  // Another operator on the object, whose schema declares its access synchronized; "" for none.
  std::string use;
};

std::string Text(const char* name, const std::string& value) {
  return MakeString("arg { name: \"", name, "\" s: \"", value, "\" } ");
}

std::vector<BlobType> SynchronizedTypes(const TempDir& dir) {
  dir.Write("lines.txt", "1\n2\n3\n");
  {
    const auto database = db::CreateDB("minidb", dir.path("db"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("key", "value");
    transaction->Commit();
  }
  const std::string world = "name: \"w\" arg { name: \"size\" i: 1 } arg { name: \"rank\" i: 0 }";
  return {
      {"mutex", Op("CreateMutex", "", "o"), Op("AtomicAppend", "oxy", "x")},
      {"queue", Op("CreateBlobsQueue", "", "o"), Op("CloseBlobsQueue", "o", "")},
      {"rebatching queue", Op("CreateRebatchingQueue", "", "o"),
       Op("CloseRebatchingQueue", "o", "")},
      {"common world", Op("CreateCommonWorld", "", "o", world), Op("Barrier", "o", "")},
      {"store", Op("FileStoreHandlerCreate", "", "o", Text("path", dir.path())),
       Op("StoreSet", "ox", "")},
      {"statistics", Op("StatRegistryCreate", "", "o"), Op("StatRegistryExport", "o", "uvw")},
      {"index of int32", Op("IntIndexCreate", "", "o"), Op("IndexSize", "o", "u")},
      {"index of int64", Op("LongIndexCreate", "", "o"), Op("IndexStore", "o", "u")},
      {"index of strings", Op("StringIndexCreate", "", "o"), Op("IndexSize", "o", "u")},
      {"counter", Op("CreateCounter", "", "o"), Op("CountUp", "o", "u")},
      {"text reader",
       Op("CreateTextFileReader", "", "o",
          Text("filename", dir.path("lines.txt")) + "arg { name: \"field_types\" ints: 1 }"),
       Op("TextFileReaderRead", "o", "u")},
      {"tree cursor", Op("CreateTreeCursor", "", "o", "arg { name: \"fields\" strings: \"f\" }"),
       Op("ResetCursor", "o", "")},
      {"database", Op("CreateDB", "", "o", Text("db_type", "minidb") + Text("db", dir.path("db"))),
       ""},
      {"database of a queue", Op("CreateBlobsQueue", "", "q") + Op("CreateBlobsQueueDB", "q", "o"),
       ""},
  };
}

std::vector<BlobType> OtherTypes() {
  return {
      {"tensor", Op("ConstantFill", "", "o", "arg { name: \"shape\" ints: 2 }"), ""},
      {"tensor of strings",
       Op("GivenTensorStringFill", "", "o",
          "arg { name: \"shape\" ints: 1 } arg { name: \"values\" strings: \"s\" }"),
       ""},
      {"tensor of bytes",
       Op("Int8GivenTensorFill", "", "o",
          "arg { name: \"shape\" ints: 1 } arg { name: \"values\" s: \"b\" }"),
       ""},
      {"map", Op("CreateMap", "", "o"), ""},
      {"timer", Op("TimerBegin", "", "o"), ""},
      {"scope", Op("CreateScope", "", "o"), ""},
  };
}

// Runs the plan in a new workspace. Returns the message that it throws, or "".
std::string Refusal(const BlobType& type, const std::string& nets, const std::string& step) {
  Workspace ws;
  for (const char* name : {"x", "y"}) Feed<float>(&ws, name, {1}, {1});
  const std::string make = Net("make", type.create) + nets;
  const std::string message =
      MessageOf([&] { RunPlanText(&ws, make + "execution_step { network: \"make\" }" + step); });
  EXPECT_TRUE(ws.HasBlob("o"));
  return message == "(nothing was thrown)" ? "" : message;
}

// A user's operator that declares nothing, in place on the blob and as its reader.
const std::string kUpdate = Op("PlanTestCount", "o", "o"), kRead = Op("PlanTestCount", "o", "");
constexpr char kInstances[] = R"(execution_step { num_concurrent_instances: 2
    substep { name: "a" network: "a" } })";

TEST(PlanTypesTest, StepsMayShareObjectsThatSynchronizeThemselves) {
  const TempDir dir;
  for (const BlobType& type : SynchronizedTypes(dir)) {
    SCOPED_TRACE(type.name);
    const std::string update = Net("a", kUpdate);
    EXPECT_EQ(Refusal(type, update + Net("b", kUpdate), kTogether), "");
    EXPECT_EQ(Refusal(type, update + Net("b", kRead), kTogether), "");
    EXPECT_EQ(Refusal(type, update, kInstances), "");
    if (!type.use.empty()) {
      EXPECT_EQ(Refusal(type, update + Net("b", type.use), kTogether), "");
    }
  }
}

TEST(PlanTypesTest, StepsMayNotShareOtherObjects) {
  for (const BlobType& type : OtherTypes()) {
    SCOPED_TRACE(type.name);
    const std::string update = Net("a", kUpdate), written = "blob \"o\" is written by step \"a\"";
    EXPECT_THAT(Refusal(type, update + Net("b", kUpdate), kTogether), HasSubstr(written));
    EXPECT_THAT(Refusal(type, update + Net("b", kRead), kTogether), HasSubstr(written));
    EXPECT_THAT(Refusal(type, update, kInstances), HasSubstr(written));
    EXPECT_EQ(Refusal(type, Net("a", kRead) + Net("b", kRead), kTogether), "");
  }
}

// Also an object that synchronizes itself may not be replaced while it is used.
TEST(PlanTypesTest, StepsMayNotReplaceAnyObject) {
  const TempDir dir;
  for (const BlobType& type : SynchronizedTypes(dir)) {
    SCOPED_TRACE(type.name);
    const std::string written = "blob \"o\" is written by step \"a\"";
    for (const std::string& replace : {type.create, Op("Free", "o", "o")}) {
      EXPECT_THAT(Refusal(type, Net("a", replace) + Net("b", kRead), kTogether),
                  HasSubstr(written));
      EXPECT_THAT(Refusal(type, Net("a", replace) + Net("b", kUpdate), kTogether),
                  HasSubstr(written));
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::plan_types_test
