// The operators on stores, in one process, and stores whose folder does not allow what they do.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/runtime/workspace.h"
#include "operators/distributed/store.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::store_operators_test {
namespace {

using std::chrono::milliseconds;

class StoreOperatorsTest : public testing::Test {
 protected:
  StoreOperatorsTest() : store_(MakeFileStore(dir_.path(), "", FileAccess::Free())) {
    *ws_.CreateBlob("store")->GetMutable<StoreBlob>() = store_;
  }
  void Run(const std::string& op) { ASSERT_TRUE(ws_.RunOperatorOnce(ParseOp(op))); }
  const TempDir dir_;
  const StoreBlob store_;
  Workspace ws_;
};

TEST_F(StoreOperatorsTest, HandOnBlobsUnderTheirNamesOrUnderAKey) {
  Feed<float>(&ws_, "x", {2, 1}, {3, 4});
  Feed<int64_t>(&ws_, "y", {}, {5});
  Run("type: 'StoreSet' input: 'store' input: 'x'");
  Run("type: 'StoreSet' input: 'store' input: 'y' arg { name: 'blob_name' s: 'key' }");
  EXPECT_TRUE(store_->Find("x").has_value());
  EXPECT_FALSE(store_->Find("y").has_value());
  Run("type: 'StoreGet' input: 'store' output: 'key'");
  ExpectTensor<int64_t>(ws_, "key", {}, {5});
  Run("type: 'StoreGet' input: 'store' output: 'z' arg { name: 'blob_name' s: 'x' }");
  ExpectTensor<float>(ws_, "z", {2, 1}, {3, 4});
  // The latest value counts, also for an operator that has run.
  NetBase* const net =
      ws_.CreateNet(ParseNet("name: 'n' op { type: 'StoreGet' input: 'store' output: 'z' arg { "
                             "name: 'blob_name' s: 'x' } }"));
  Feed<int32_t>(&ws_, "x", {1}, {9});
  Run("type: 'StoreSet' input: 'store' input: 'x'");
  ASSERT_TRUE(net->Run());
  ExpectTensor<int32_t>(ws_, "z", {1}, {9});
}

// With a prefix, the keys are files of a folder of this name.
TEST_F(StoreOperatorsTest, AreCreatedInTheFolderOfThePathAndThePrefix) {
  const auto create = [&](const std::string& output, const std::string& prefix) {
    Run("type: 'FileStoreHandlerCreate' output: '" + output + "' arg { name: 'path' s: '" +
        dir_.path() + "' } " + prefix);
    ws_.GetBlob(output)->Get<StoreBlob>()->Set("k", output);
  };
  create("plain", "");
  create("one", "arg { name: 'prefix' s: 'run/1' }");
  create("two", "arg { name: 'prefix' s: 'run/2' }");
  EXPECT_EQ(store_->Find("k"), "plain");
  EXPECT_TRUE(std::filesystem::is_regular_file(dir_.path("run%2f1/k")));
  EXPECT_TRUE(std::filesystem::is_regular_file(dir_.path("run%2f2/k")));
  EXPECT_EQ(MakeFileStore(dir_.path(), "run/1", FileAccess::Free())->Find("k"), "one");
  EXPECT_EQ(MakeFileStore(dir_.path(), "run/2", FileAccess::Free())->Find("k"), "two");
  // Its folder goes with the last key and the store.
  ws_.GetBlob("one")->Get<StoreBlob>()->Erase("k");
  ws_.RemoveBlob("one");
  EXPECT_FALSE(std::filesystem::exists(dir_.path("run%2f1")));
}

TEST_F(StoreOperatorsTest, AddToANumber) {
  Run("type: 'StoreAdd' input: 'store' output: 'n'");
  ExpectTensor<int64_t>(ws_, "n", {1}, {1});
  Run("type: 'StoreAdd' input: 'store' output: 'm' arg { name: 'blob_name' s: 'n' } "
      "arg { name: 'add_value' i: -5 }");
  ExpectTensor<int64_t>(ws_, "m", {1}, {-4});
  EXPECT_EQ(store_->Find("n"), "-4");
  EXPECT_EQ(store_->Find("m"), std::nullopt);
}

// A run that is stopped waits for nothing, so that what it would wait for shows.
TEST_F(StoreOperatorsTest, WaitForTheKeysOfTheArgumentOrOfTheInput) {
  store_->Set("a", "");
  store_->Set("b", "");
  Feed<std::string>(&ws_, "ab", {2}, {"a", "b"});
  Feed<std::string>(&ws_, "ac", {1, 2}, {"a", "c"});
  Feed<std::string>(&ws_, "none", {0}, {});
  const std::string names = "arg { name: 'blob_names' strings: 'a' strings: 'b' }";
  const std::string missing = "arg { name: 'blob_names' strings: 'c' }";
  const std::atomic<bool> stopped = true;
  const StopScope scope(stopped);
  const auto waits = [&](const std::string& rest) {
    try {
      (void)ws_.RunOperatorOnce(ParseOp("type: 'StoreWait' input: 'store' " + rest));
      return false;
    } catch (const RunStopped&) {
      return true;
    }
  };
  EXPECT_FALSE(waits(""));
  EXPECT_FALSE(waits(names));
  EXPECT_TRUE(waits(missing));
  EXPECT_TRUE(waits(names + "input: 'ac'"));
  EXPECT_FALSE(waits(missing + "input: 'ab'"));
  EXPECT_FALSE(waits(missing + "input: 'none'"));
  store_->Set("c", "");
  EXPECT_FALSE(waits(names + "input: 'ac'"));
}

TEST_F(StoreOperatorsTest, NeedAStoreAndTheTypeOfTheKeys) {
  ws_.CreateBlob("empty")->GetMutable<StoreBlob>();
  Feed<float>(&ws_, "x", {1}, {1});
  for (const char* const op :
       {"type: 'StoreSet' input: 'empty' input: 'x'", "type: 'StoreGet' input: 'empty' output: 'y'",
        "type: 'StoreAdd' input: 'empty' output: 'y'", "type: 'StoreWait' input: 'empty'"}) {
    ExpectThrows([&] { Run(op); }, "input 0 (handler) holds no store");
  }
  ExpectThrows([&] { Run("type: 'StoreWait' input: 'store' input: 'x'"); }, "float");
  store_->Set("text", "no blob");
  EXPECT_THROW(Run("type: 'StoreGet' input: 'store' output: 'text'"), EnforceNotMet);
  store_->Set("text", "7 and more");
  ExpectThrows([&] { Run("type: 'StoreAdd' input: 'store' output: 'text'"); },
               "the value of key \"text\" in ");
  EXPECT_EQ(store_->Find("text"), "7 and more");
}

// Each is a key whose file is a folder, so that it can neither be read nor replaced.
TEST_F(StoreOperatorsTest, NameTheKeyThatCannotBeUsed) {
  std::filesystem::create_directory(dir_.path("k"));
  std::filesystem::create_directory(dir_.path("k/inner"));
  std::filesystem::create_directory(dir_.path(".lock.l"));
  const std::string in = " in the store in folder \"" + dir_.path() + "\": ";
  EXPECT_EQ(MessageOf([&] { store_->Set("k", "v"); }),
            "cannot set key \"k\"" + in + "Is a directory");
  EXPECT_EQ(MessageOf([&] { (void)store_->Find("k"); }),
            "cannot read key \"k\"" + in + "Is a directory");
  EXPECT_EQ(MessageOf([&] { store_->Erase("k"); }),
            "cannot erase key \"k\"" + in + "Is a directory");
  EXPECT_EQ(MessageOf([&] { (void)store_->Add("l", 1); }),
            "cannot lock key \"l\"" + in + "Is a directory");
  EXPECT_FALSE(store_->SetNew("k", "v"));
  EXPECT_EQ(store_->Find("l"), std::nullopt);
  // No temporary file is left.
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path()))
    EXPECT_TRUE(entry.is_directory()) << entry.path();
}

// The folder's path leaves room for the temporary file, but not for a long key.
TEST(FileStoreFolderTest, NamesAKeyWhosePathIsTooLong) {
  const TempDir dir;
  std::string folder = dir.path();
  constexpr size_t kBytes = 3950;  // of 4095
  while (folder.size() + 1 < kBytes)
    folder += "/" + std::string(std::min<size_t>(200, kBytes - folder.size() - 1), 'f');
  std::filesystem::create_directories(folder);
  const StoreBlob store = MakeFileStore(folder, "", FileAccess::Free());
  const std::string key(215, 'k'), in = " in the store in folder \"" + folder + "\": ";
  const std::string why = "File name too long";
  EXPECT_EQ(MessageOf([&] { (void)store->SetNew(key, "v"); }),
            "cannot set key \"" + key + "\"" + in + why);
  EXPECT_EQ(MessageOf([&] { store->Set(key, "v"); }), "cannot set key \"" + key + "\"" + in + why);
  EXPECT_EQ(MessageOf([&] { (void)store->Find(key); }),
            "cannot read key \"" + key + "\"" + in + why);
  EXPECT_EQ(MessageOf([&] { (void)store->Add(key, 1); }),
            "cannot lock key \"" + key + "\"" + in + why);
  EXPECT_EQ(MessageOf([&] { store->Erase(key); }), "cannot erase key \"" + key + "\"" + in + why);
  EXPECT_TRUE(std::filesystem::is_empty(folder));  // no temporary file is left
  EXPECT_TRUE(store->SetNew("short", "v"));
  EXPECT_FALSE(store->SetNew("short", "w"));
  EXPECT_EQ(store->Find("short"), "v");
}

TEST_F(StoreOperatorsTest, EraseTheLocksOfKeys) {
  EXPECT_EQ(store_->Add("n", 2), 2);
  EXPECT_TRUE(std::filesystem::exists(dir_.path(".lock.n")));
  store_->Erase("n");
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
  EXPECT_EQ(store_->Add("n", 3), 3);
  store_->Set("n", "12");
  EXPECT_EQ(store_->Add("n", -2), 10);
}

TEST_F(StoreOperatorsTest, GetEndsAfterItsTimeoutAndWithItsRun) {
  EXPECT_THROW((void)store_->Get("absent", milliseconds(0)), StoreTimeout);
  EXPECT_THROW((void)store_->Get("absent", milliseconds(-5)), StoreTimeout);
  EXPECT_NO_THROW(store_->Wait({}, milliseconds(0)));
  EXPECT_THROW(store_->Wait({"absent"}, milliseconds(0)), StoreTimeout);
  const std::atomic<bool> stopped = true;
  const StopScope scope(stopped);
  EXPECT_THROW((void)store_->Get("absent"), RunStopped);
  EXPECT_THROW(store_->Wait({"absent"}, milliseconds(100000)), RunStopped);
  store_->Set("present", "v");
  EXPECT_EQ(store_->Get("present"), "v");
}

// Another process may remove the folder of a run when it ends.
TEST(FileStoreFolderTest, IsMadeAgainIfItIsGone) {
  const TempDir dir;
  {
    const StoreBlob store = MakeFileStore(dir.path(), "run", FileAccess::Free());
    std::filesystem::remove(dir.path("run"));
    store->Set("a", "1");
    EXPECT_EQ(store->Find("a"), "1");
    std::filesystem::remove_all(dir.path("run"));
    EXPECT_TRUE(store->SetNew("b", "2"));
    std::filesystem::remove_all(dir.path("run"));
    EXPECT_EQ(store->Add("c", 3), 3);
    std::filesystem::remove_all(dir.path("run"));
    EXPECT_EQ(store->Find("c"), std::nullopt);
    store->Erase("c");
    // Its place is taken.
    const std::string file = dir.Write("run", "");
    const std::string folder = "the store in folder \"" + file + "\"";
    EXPECT_EQ(MessageOf([&] { store->Set("d", "4"); }),
              "cannot write to " + folder + ": Not a directory");
    std::filesystem::remove(file);
    std::filesystem::remove_all(dir.path());
    EXPECT_EQ(MessageOf([&] { store->Set("d", "4"); }),
              "cannot create folder \"" + file + "\" for a store: No such file or directory");
    std::filesystem::create_directory(dir.path());
  }
}

TEST(FileStoreFolderTest, StaysIfItIsThatOfTheUserOrHasKeys) {
  const TempDir dir;
  MakeFileStore(dir.path(), "", FileAccess::Free())->Erase("a");
  EXPECT_TRUE(std::filesystem::is_directory(dir.path()));
  MakeFileStore(dir.path(), "kept", FileAccess::Free())->Set("a", "1");
  EXPECT_EQ(MakeFileStore(dir.path(), "kept", FileAccess::Free())->Find("a"), "1");
  EXPECT_EQ(MessageOf([&] { MakeFileStore("", "run", FileAccess::Free()); }),
            "the path of a file store is empty, want a folder that all ranks see");
  const std::string absent = dir.path("absent");
  EXPECT_EQ(
      MessageOf([&] { MakeFileStore(absent, "run", FileAccess::Free()); }),
      "the path of a file store is \"" + absent + "\", want an existing folder that all ranks see");
}

}  // namespace
}  // namespace caffe2rt::test::store_operators_test
