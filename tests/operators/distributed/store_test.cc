#include "operators/distributed/store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/support/file_limit.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::store_test {
namespace {

using std::chrono::milliseconds;

TEST(FileStoreTest, KeepsValuesUnderAnyKeyAndRemovesItsFolder) {
  const TempDir dir;
  {
    const StoreBlob store = MakeFileStore(dir.path(), "run/7", FileAccess::Free());
    const std::string value("a\0b\n", 4);
    for (const char* key : {"plain", "world/rank_0", "../up", ".hidden", "with space", "100%"}) {
      EXPECT_FALSE(store->Find(key));
      store->Set(key, "first");
      store->Set(key, value);
      EXPECT_EQ(store->Find(key), value);
      EXPECT_FALSE(store->SetNew(key, "second"));
      EXPECT_EQ(store->Get(key, milliseconds(0)), value);
      store->Erase(key);
      store->Erase(key);
      EXPECT_TRUE(store->SetNew(key, ""));
      EXPECT_EQ(store->Find(key), "");
      store->Erase(key);
    }
    EXPECT_TRUE(std::filesystem::exists(dir.path("run%2f7")));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(FileStoreTest, NoticesAFullDisk) {
  const TempDir dir;
  const StoreBlob store = MakeFileStore(dir.path(), "", FileAccess::Free());
  {
    const FileLimit limit(100);
    ExpectThrows([&] { store->Set("k", std::string(1000, 'x')); }, "cannot write to ");
    EXPECT_EQ(store->Find("k"), std::nullopt);
    store->Set("short", "value");
  }
  EXPECT_EQ(store->Find("short"), "value");
  store->Set("k", std::string(1000, 'x'));
  EXPECT_EQ(store->Find("k"), std::string(1000, 'x'));
}

// Names of folders, and of the store's own files, are keys as any other.
TEST(FileStoreTest, KeysMayBeginWithADot) {
  const TempDir dir;
  const StoreBlob store = MakeFileStore(dir.path(), "", FileAccess::Free());
  EXPECT_EQ(store->Add("n", 3), 3);
  for (const char* key : {".", "..", ".lock.n", ".new.n", "...", ".a.b"}) {
    EXPECT_EQ(store->Find(key), std::nullopt) << key;
    store->Set(key, "value");
    EXPECT_EQ(store->Find(key), "value");
    EXPECT_FALSE(store->SetNew(key, "other"));
  }
  EXPECT_TRUE(std::filesystem::exists(dir.path("%2e.")));  // a dot inside a name is one
  EXPECT_TRUE(std::filesystem::exists(dir.path("%2ea.b")));
  EXPECT_EQ(store->Add("n", 4), 7);
  store->Erase("n");
  EXPECT_EQ(store->Find(".lock.n"), "value");
  for (const char* key : {".", "..", ".lock.n", ".new.n", "...", ".a.b"}) store->Erase(key);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST(FileStoreTest, AddsNumbersOfSeveralThreads) {
  const TempDir dir;
  const auto add = [&dir] {
    const StoreBlob store = MakeFileStore(dir.path(), "run", FileAccess::Free());
    for (int i = 0; i < 50; ++i) store->Add("n", 2);
  };
  const StoreBlob store = MakeFileStore(dir.path(), "run", FileAccess::Free());
  std::thread one(add), other(add);
  one.join();
  other.join();
  EXPECT_EQ(store->Add("n", -1), 199);
  EXPECT_EQ(store->Get("n"), "199");
  store->Set("text", "x");
  ExpectThrows([&] { store->Add("text", 1); }, "the value of key \"text\" in the store in folder ");
}

TEST(FileStoreTest, KeysHaveUpTo215Characters) {
  const TempDir dir;
  const StoreBlob store = MakeFileStore(dir.path(), "", FileAccess::Free());
  for (const std::string& key : {std::string(215, 'k'), std::string(71, '/')}) {
    store->Set(key, "value");
    EXPECT_EQ(store->Find(key), "value");
  }
  for (const std::string& key : {std::string(216, 'k'), std::string(72, '/'), std::string()}) {
    ExpectThrows([&] { store->Set(key, ""); },
                 MakeString("has ", key.size(),
                            " characters, want 1 to 215 (other than letters and "
                            "digits count three times)"));
  }
}

TEST(FileStoreTest, NamesKeysThatDoNotAppear) {
  const TempDir dir;
  const StoreBlob store = MakeFileStore(dir.path(), "", FileAccess::Free());
  store->Set("here", "");
  ExpectThrows([&] { store->Wait({"here", "a", "b"}, milliseconds(20)); }, " within 20 ms: a, b");
  std::thread later([&] { store->Set("a", "late"); });
  EXPECT_EQ(store->Get("a"), "late");
  later.join();
}

}  // namespace
}  // namespace caffe2rt::test::store_test
