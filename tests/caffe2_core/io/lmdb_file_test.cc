// The checks of the reader of LMDB files, on files that are written page by page.
#include "caffe2_core/io/lmdb_file.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/io/db.h"
#include "tests/caffe2_core/io/lmdb_pages.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::lmdb_file_test {
namespace {

using db::internal::CheckLmdbFile;
using db::internal::LmdbFile;
using db::internal::LmdbPosition;
using Entries = std::vector<std::pair<std::string, std::string>>;

// A root with two leaves, the second of which refers to a value of 1000 bytes in two overflow pages
// (1000 + 16 bytes of their header). Pages: 2 root, 3 and 4 leaves, 5 and 6 the value.
struct SmallFile {
  LmdbMetaBytes metas[2];
  std::string pages[4];  // from page 2 on
  std::string value = std::string(1000, 'v');

  SmallFile() {
    for (int i = 0; i < 2; ++i) {
      metas[i].main = {.depth = 2, .entries = 4, .root = 2};
      metas[i].last_page = 6;
      metas[i].transaction = static_cast<uint64_t>(i);
    }
    pages[0] = LmdbTreePage(2, true, {LmdbBranchNode("", 3), LmdbBranchNode("c", 4)});
    pages[1] = LmdbTreePage(3, false, {LmdbLeafNode("a", "1"), LmdbLeafNode("b", "22")});
    pages[2] = LmdbTreePage(4, false, {LmdbLeafNode("c", ""), LmdbBigNode("dd", 5, 1000)});
    pages[3] = LmdbOverflowPages(5, value);
  }
  std::string Bytes() const {
    std::string bytes = LmdbMetaPage(0, metas[0]) + LmdbMetaPage(1, metas[1]);
    for (const std::string& page : pages) bytes += page;
    return bytes;
  }
  // Of the page in the file.
  template <class T>
  void Set(size_t page, size_t at, T value) {
    StoreAt(&pages[page - 2], at, value);
  }
};

class LmdbFileTest : public testing::Test {
 protected:
  // The records from the first one with at least this key on.
  Entries Read(const std::string& bytes, const std::string& from = {}) {
    const LmdbFile file(Write(bytes));
    LmdbPosition entry(file, file.main_tree());
    Entries entries;
    for (entry.Seek(from); entry.Valid(); entry.Next())
      entries.emplace_back(entry.key(), entry.value());
    return entries;
  }
  std::string Write(const std::string& bytes) { return dir_.Write("data.mdb", bytes); }
  std::string Damaged(const std::string& reason) const {
    return "lmdb \"" + dir_.path("data.mdb") + "\" is damaged or not an LMDB file: " + reason;
  }
  const TempDir dir_;
  const SmallFile whole_;
  const Entries all_ = {{"a", "1"}, {"b", "22"}, {"c", ""}, {"dd", whole_.value}};
};

TEST_F(LmdbFileTest, ReadsTheTreeInOrder) {
  EXPECT_EQ(Read(whole_.Bytes()), all_);
  const LmdbFile file(dir_.path("data.mdb"));
  EXPECT_EQ(file.page_bytes(), 512u);
  EXPECT_EQ(file.page_count(), 7u);
  EXPECT_EQ(file.allocated_pages(), 7u);
  EXPECT_EQ(file.main_tree().entries, 4u);
  EXPECT_EQ(file.main_tree().depth, 2);
  EXPECT_EQ(file.main_tree().root, 2u);
  EXPECT_EQ(file.free_tree().root, UINT64_MAX);
  EXPECT_EQ(file.free_tree().flags, 8);
  LmdbPosition entry(file, file.main_tree());
  std::vector<uint64_t> pages;
  entry.OnPage([&](uint64_t page) { pages.push_back(page); });
  using Pages = std::pair<uint64_t, uint64_t>;
  entry.Seek("c");
  EXPECT_EQ(entry.OverflowPages(), Pages(0, 0));
  entry.Next();
  EXPECT_EQ(entry.depth(), 2u);
  EXPECT_EQ(entry.OverflowPages(), Pages(5, 2));
  EXPECT_EQ(pages, (std::vector<uint64_t>{2, 4}));
  CheckLmdbFile(dir_.path("data.mdb"));
}

// Each search may read as many pages as the file has.
TEST_F(LmdbFileTest, SeeksAnyNumberOfTimes) {
  const LmdbFile file(Write(whole_.Bytes()));
  LmdbPosition entry(file, file.main_tree());
  for (int i = 0; i < 30; ++i) {
    for (const auto& [key, value] : all_) {
      entry.Seek(key);
      ASSERT_TRUE(entry.Valid());
      ASSERT_EQ(entry.key(), key);
      ASSERT_EQ(entry.value(), value);
    }
  }
}

// A value and the header of its first page may fill whole pages: 496 and 1008 bytes of 512 and 1024.
TEST_F(LmdbFileTest, ValuesFillThePagesThatTheyNeed) {
  const std::pair<size_t, uint64_t> rows[] = {{1, 1},    {495, 1},  {496, 1},  {497, 2},
                                              {1007, 2}, {1008, 2}, {1009, 3}, {1520, 3}};
  for (const auto& [bytes, pages] : rows) {
    SCOPED_TRACE(bytes);
    SmallFile file;
    file.value = std::string(bytes, 'w');
    file.pages[2] = LmdbTreePage(
        4, false, {LmdbLeafNode("c", ""), LmdbBigNode("dd", 5, static_cast<uint32_t>(bytes))});
    file.pages[3] = LmdbOverflowPages(5, file.value);
    for (LmdbMetaBytes& meta : file.metas) meta.last_page = 4 + pages;
    EXPECT_EQ(Read(file.Bytes(), "dd"), (Entries{{"dd", file.value}}));
    const LmdbFile opened(dir_.path("data.mdb"));
    LmdbPosition entry(opened, opened.main_tree());
    entry.Seek("dd");
    EXPECT_EQ(entry.OverflowPages(), (std::pair<uint64_t, uint64_t>(5, pages)));
    CheckLmdbFile(dir_.path("data.mdb"));
    // The page behind the value may be another page's, or missing: a page less is too few.
    for (LmdbMetaBytes& meta : file.metas) meta.last_page = 3 + pages;
    ExpectRefusals({{[&] { Read(file.Bytes(), "dd"); },
                     Damaged(MakeString("a value of ", ByteSizeText(bytes),
                                        " is in pages that do not exist"))}});
  }
}

TEST_F(LmdbFileTest, SeeksAmongLeaves) {
  const std::pair<const char*, size_t> rows[] = {{"", 0},   {"A", 0},   {"a", 0}, {"aa", 1},
                                                 {"b", 1},  {"bb", 2},  {"c", 2}, {"ca", 3},
                                                 {"dd", 3}, {"dda", 4}, {"z", 4}};
  for (const auto& [key, first] : rows) {
    EXPECT_EQ(Read(whole_.Bytes(), key),
              Entries(all_.begin() + static_cast<ptrdiff_t>(first), all_.end()))
        << key;
  }
}

TEST_F(LmdbFileTest, TheNewerMetaIsValid) {
  // The second meta has an empty tree.
  const auto count = [&](uint64_t first, uint64_t second) {
    SmallFile file;
    file.metas[0].transaction = first;
    file.metas[1].transaction = second;
    file.metas[1].main = {};
    return Read(file.Bytes()).size();
  };
  EXPECT_EQ(count(7, 8), 0u);
  EXPECT_EQ(count(8, 7), 4u);
  EXPECT_EQ(count(7, 7), 4u);
}

// The first meta stays in use where the second is none.
TEST_F(LmdbFileTest, ASecondMetaThatIsWrongIsNotUsed) {
  const std::function<void(LmdbMetaBytes*)> rows[] = {
      [](LmdbMetaBytes* meta) { meta->magic ^= 1; }, [](LmdbMetaBytes* meta) { meta->version = 2; },
      [](LmdbMetaBytes* meta) { meta->page_bytes = 1024; }};
  for (const auto& damage : rows) {
    SmallFile file;
    file.metas[1].main = {};
    damage(&file.metas[1]);
    EXPECT_EQ(Read(file.Bytes()), all_);
  }
}

TEST_F(LmdbFileTest, AFirstMetaThatIsWrongEndsInAnError) {
  const std::string want = Damaged("its first page has no meta of LMDB version 1");
  const std::function<void(LmdbMetaBytes*)> rows[] = {
      [](LmdbMetaBytes* meta) { meta->magic ^= 0x100; },
      [](LmdbMetaBytes* meta) { meta->version = 0; },
      [](LmdbMetaBytes* meta) { meta->version = 2; },
      [](LmdbMetaBytes* meta) { meta->page_bytes = 256; },
      [](LmdbMetaBytes* meta) { meta->page_bytes = 131072; },
      [](LmdbMetaBytes* meta) { meta->page_bytes = 1000; },
      [](LmdbMetaBytes* meta) { meta->page_bytes = 0; }};
  for (const auto& damage : rows) {
    SmallFile file;
    damage(&file.metas[0]);
    ExpectRefusals({{[&] { Read(file.Bytes()); }, want}});
  }
  // A meta has 16 + 136 bytes.
  const std::string empty = LmdbMetaPage(0, {});
  ExpectRefusals({{[&] { Read(empty.substr(0, 151)); }, want}, {[&] { Read(""); }, want}});
  EXPECT_EQ(Read(empty.substr(0, 152)), Entries());
}

TEST_F(LmdbFileTest, ReadsTheLargestPages) {
  for (const size_t bytes : {size_t{1024}, size_t{65536}}) {
    LmdbMetaBytes meta{.page_bytes = static_cast<uint32_t>(bytes)};
    meta.main = {.depth = 1, .entries = 1, .root = 2};
    meta.last_page = 2;
    const std::string metas = LmdbMetaPage(0, meta, bytes) + LmdbMetaPage(1, meta, bytes);
    EXPECT_EQ(Read(metas + LmdbTreePage(2, false, {LmdbLeafNode("k", "v")}, bytes)),
              (Entries{{"k", "v"}}));
    // Without nodes, its upper end is the page's size: 0 in 16 bits for the largest pages.
    ExpectRefusals({{[&] { Read(metas + LmdbTreePage(2, false, {}, bytes)); },
                     Damaged("a page of a tree is empty")}});
  }
}

// Where the pages of a tree are wrong: a change of the file, and the reason in the error.
TEST_F(LmdbFileTest, NamesWhatIsWrongWithATree) {
  const std::string page2 = "page 2 is not a valid page of a tree",
                    page3 = "page 3 is not a valid page of a tree";
  const struct {
    std::function<void(SmallFile*)> change;
    std::string reason;
  } rows[] = {
      {[](SmallFile* f) { f->Set<uint64_t>(3, 0, 4); }, page3},      // another number
      {[](SmallFile* f) { f->Set<uint16_t>(3, 10, 0); }, page3},     // of no kind
      {[](SmallFile* f) { f->Set<uint16_t>(3, 10, 3); }, page3},     // of both
      {[](SmallFile* f) { f->Set<uint16_t>(3, 10, 4); }, page3},     // of a value
      {[](SmallFile* f) { f->Set<uint16_t>(3, 10, 0x22); }, page3},  // with a flag
      {[](SmallFile* f) { f->Set<uint16_t>(3, 12, 15); }, page3},    // lower in the header
      {[](SmallFile* f) { f->Set<uint16_t>(3, 12, 14); }, page3},
      {[](SmallFile* f) { f->Set<uint16_t>(3, 12, 17); }, page3},   // odd
      {[](SmallFile* f) { f->Set<uint16_t>(3, 14, 18); }, page3},   // upper below lower
      {[](SmallFile* f) { f->Set<uint16_t>(3, 14, 514); }, page3},  // upper behind the page
      {[](SmallFile* f) { f->Set<uint16_t>(3, 14, 0); }, page3},    // 0 means 65536 in large pages
      {[](SmallFile* f) { f->Set<uint16_t>(3, 16, 488); }, page3},  // a node below upper
      {[](SmallFile* f) { f->Set<uint16_t>(3, 16, 503); }, page3},  // a node at an odd offset
      {[](SmallFile* f) { f->Set<uint16_t>(3, 16, 514); }, page3},  // a node behind the page
      {[](SmallFile* f) { f->Set<uint16_t>(3, 16, 506); }, page3},  // a node without its header
      {[](SmallFile* f) { f->Set<uint16_t>(3, 502 + 6, 5); }, page3},  // a key behind the page
      {[](SmallFile* f) { f->Set<uint16_t>(3, 502, 2); }, page3},      // a value behind the page
      {[](SmallFile* f) { f->Set<uint16_t>(3, 502 + 2, 1); }, page3},  // 65537 bytes
      {[](SmallFile* f) { f->Set<uint16_t>(3, 502 + 4, 1); }, page3},  // no room for a number
      {[](SmallFile* f) {
         f->Set<uint16_t>(2, 14, 20);
         f->Set<uint16_t>(2, 12, 22);
       },
       page2},
      {[](SmallFile* f) { f->Set<uint16_t>(2, 504 + 6, 1); }, page2},  // a key of a branch
      {[](SmallFile* f) { f->Set<uint16_t>(3, 12, 16); }, "a page of a tree is empty"},
      {[](SmallFile* f) { f->Set<uint16_t>(2, 504, 2); }, "its pages form a cycle"},
      {[](SmallFile* f) { f->Set<uint16_t>(2, 504, 7); }, "page 7 is out of range, it has 7"},
      {[](SmallFile* f) { f->Set<uint16_t>(2, 504, 1); }, "page 1 is out of range, it has 7"},
      {[](SmallFile* f) { f->Set<uint16_t>(2, 504 + 2, 1); },
       "page 65539 is out of range, it has 7"},
      {[](SmallFile* f) { f->Set<uint16_t>(2, 504 + 4, 1); },
       "page 4294967299 is out of range, it has 7"},
      {[](SmallFile* f) { f->metas[1].main.root = 7; }, "page 7 is out of range, it has 7"},
      {[](SmallFile* f) { f->metas[1].last_page = 2; }, "page 3 is out of range, it has 3"},
      {[](SmallFile* f) {
         f->pages[3].clear();
         f->pages[2].resize(511);
       },
       "page 4 is out of range, it has 4"},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    SCOPED_TRACE(i);
    SmallFile file;
    rows[i].change(&file);
    ExpectRefusals({{[&] { Read(file.Bytes()); }, Damaged(rows[i].reason)}});
  }
}

TEST_F(LmdbFileTest, NamesWhatIsWrongWithAValue) {
  // The second node of page 4 begins at 484: 8 bytes of header, "dd", and the number of a page.
  constexpr size_t kNode = 484, kPage = kNode + 8 + 2;
  const std::string nested =
      "entry \"dd\" is a nested database or has several values, which Caffe2 does not use";
  const std::string other = "page 5 does not hold the value that refers to it";
  const struct {
    std::function<void(SmallFile*)> change;
    std::string reason;
  } rows[] = {
      {[](SmallFile* f) {
         f->Set<uint16_t>(4, kNode, 8);
         f->Set<uint16_t>(4, kNode + 4, 2);
       },
       nested},
      {[](SmallFile* f) {
         f->Set<uint16_t>(4, kNode, 8);
         f->Set<uint16_t>(4, kNode + 4, 4);
       },
       nested},
      {[](SmallFile* f) { f->Set<uint64_t>(4, kPage, 1); },
       "a value of 1000 bytes is in pages that do not exist"},
      {[](SmallFile* f) { f->Set<uint64_t>(4, kPage, 7); },
       "a value of 1000 bytes is in pages that do not exist"},
      {[](SmallFile* f) { f->Set<uint64_t>(4, kPage, 8); },
       "a value of 1000 bytes is in pages that do not exist"},
      {[](SmallFile* f) { f->Set<uint64_t>(4, kPage, UINT64_MAX); },
       "a value of 1000 bytes is in pages that do not exist"},
      {[](SmallFile* f) { f->Set<uint64_t>(4, kPage, 6); },  // its second page would be the eighth
       "a value of 1000 bytes is in pages that do not exist"},
      {[](SmallFile* f) { f->Set<uint16_t>(4, kNode, 1009); },  // 3 pages
       "a value of 1009 bytes is in pages that do not exist"},
      {[](SmallFile* f) { f->Set<uint64_t>(5, 0, 6); }, other},
      {[](SmallFile* f) { f->Set<uint16_t>(5, 10, 2); }, other},
      {[](SmallFile* f) { f->Set<uint32_t>(5, 12, 1); }, other},  // one page
      {[](SmallFile* f) { f->Set<uint64_t>(4, kPage, 4); },
       "page 4 does not hold the value that refers to it"},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    SCOPED_TRACE(i);
    SmallFile file;
    rows[i].change(&file);
    ExpectRefusals({{[&] { Read(file.Bytes()); }, Damaged(rows[i].reason)}});
    // The records before it can be read.
    const LmdbFile opened(Write(file.Bytes()));
    LmdbPosition entry(opened, opened.main_tree());
    entry.Seek("c");
    EXPECT_EQ(entry.value(), "");
    entry.Next();
    EXPECT_EQ(entry.key(), "dd");
  }
  // The largest value of two pages: 2 * 512 - 16 bytes. A third page in the header is not too many.
  SmallFile file;
  file.Set<uint16_t>(4, kNode, 1008);
  file.Set<uint32_t>(5, 12, 3);
  EXPECT_EQ(Read(file.Bytes(), "dd")[0].second, whole_.value + std::string(8, '\0'));
}

// What liblmdb relies on, which readers need not check.
TEST_F(LmdbFileTest, WritersCheckMore) {
  const struct {
    std::function<void(SmallFile*)> change;
    std::string reason;
  } rows[] = {
      {[](SmallFile* f) { f->metas[1].last_page = 7 + (1 << 20); },
       "its last page is far beyond its end"},
      {[](SmallFile* f) { f->metas[1].main.flags = 2; },
       "its trees have flags that Caffe2 does not use"},
      {[](SmallFile* f) { f->metas[1].free.flags = 0; },
       "its trees have flags that Caffe2 does not use"},
      {[](SmallFile* f) { f->metas[1].main.depth = 1; },
       "its trees do not have the depths that they state"},
      {[](SmallFile* f) { f->metas[1].main.entries = 3; }, "its number of entries is wrong"},
      {[](SmallFile* f) { f->metas[1].main.entries = 5; }, "its number of entries is wrong"},
      {[](SmallFile* f) {
         f->pages[1] = LmdbTreePage(3, false, {LmdbLeafNode("b", ""), LmdbLeafNode("a", "")});
       },
       "its keys are out of order"},
      {[](SmallFile* f) {
         f->pages[1] = LmdbTreePage(3, false, {LmdbLeafNode("b", ""), LmdbLeafNode("b", "")});
       },
       "its keys are out of order"},
      {[](SmallFile* f) {
         f->pages[1] = LmdbTreePage(3, false, {LmdbLeafNode("a", ""), LmdbLeafNode("c", "")});
       },
       "its keys are out of order"},
      {[](SmallFile* f) {
         f->pages[2] =
             LmdbTreePage(4, false, {LmdbBigNode("c", 5, 1000), LmdbBigNode("d", 5, 1000)});
       },
       "a page is used twice"},
      {[](SmallFile* f) {
         f->pages[0] = LmdbTreePage(2, true, {LmdbBranchNode("", 3), LmdbBranchNode("c", 3)});
       },
       "a page is used twice"},      // Values that readers reject when they come to them.
      {[](SmallFile* f) {
         f->Set<uint16_t>(4, 484, 8);
         f->Set<uint16_t>(4, 484 + 4, 2);
       },
       "entry \"dd\" is a nested database or has several values, which Caffe2 does not use"},
      {[](SmallFile* f) { f->Set<uint32_t>(5, 12, 1); },
       "page 5 does not hold the value that refers to it"},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    SCOPED_TRACE(i);
    SmallFile file;
    rows[i].change(&file);
    const std::string path = Write(file.Bytes());
    ExpectRefusals(
        {{[&] { CheckLmdbFile(path); }, Damaged(rows[i].reason)},
         {[&] { db::CreateDB("lmdb", dir_.path(), db::WRITE); }, Damaged(rows[i].reason)}});
  }
  SmallFile file;
  file.metas[1].last_page = 6 + (1 << 20);  // pages that were freed before they were written
  CheckLmdbFile(Write(file.Bytes()));
}

// The list of free pages: an entry for each transaction, {count, page numbers in descending order}.
TEST_F(LmdbFileTest, WritersCheckTheListOfFreePages) {
  const auto number = [](uint64_t value) {
    std::string bytes(8, '\0');
    StoreAt(&bytes, 0, value);
    return bytes;
  };
  const auto list = [&](const std::vector<uint64_t>& values) {
    std::string bytes;
    for (const uint64_t value : values) bytes += number(value);
    return bytes;
  };
  struct Row {
    std::vector<std::string> nodes;
    std::string reason;  // "": none
  };
  const std::string key = number(3), wrong = "its list of free pages is wrong";
  const Row rows[] = {
      {{LmdbLeafNode(key, list({2, 9, 8}))}, ""},
      {{LmdbLeafNode(key, list({1, 9, 8}))}, ""},  // the rest of the list is not in use
      {{LmdbLeafNode(key, list({0}))}, ""},
      {{LmdbLeafNode(number(255), list({1, 9})), LmdbLeafNode(number(256), list({1, 8}))}, ""},
      {{LmdbLeafNode(key, list({2, 8, 9}))}, wrong},
      {{LmdbLeafNode(key, list({2, 9, 9}))}, wrong},
      {{LmdbLeafNode(key, list({3, 9, 8}))}, wrong},
      {{LmdbLeafNode(key, "")}, wrong},
      {{LmdbLeafNode(key, std::string(7, '\0'))}, wrong},
      {{LmdbLeafNode("key", list({1, 9}))}, wrong},
      {{LmdbLeafNode(key, list({1, 10}))}, "a page is used twice"},  // behind the last page
      {{LmdbLeafNode(key, list({1, 1}))}, "a page is used twice"},   // of a meta
      {{LmdbLeafNode(key, list({1, 7}))}, "a page is used twice"},   // of the list itself
      {{LmdbLeafNode(key, list({1, 3}))}, "a page is used twice"},
      {{LmdbLeafNode(key, list({1, 6}))}, "a page is used twice"},  // the second page of the value
      {{LmdbLeafNode(number(256), list({1, 9})), LmdbLeafNode(number(255), list({1, 8}))},
       "its keys are out of order"},
      {{LmdbLeafNode(key, list({1, 9})), LmdbLeafNode(key, list({1, 8}))},
       "its keys are out of order"},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    SCOPED_TRACE(i);
    SmallFile file;
    file.metas[1].free = {.flags = 8, .depth = 1, .entries = rows[i].nodes.size(), .root = 7};
    file.metas[1].last_page = 9;
    const std::string path = Write(file.Bytes() + LmdbTreePage(7, false, rows[i].nodes));
    EXPECT_EQ(MessageOf([&] { CheckLmdbFile(path); }),
              rows[i].reason.empty() ? "(nothing was thrown)" : Damaged(rows[i].reason));
    EXPECT_EQ(Read(file.Bytes() + LmdbTreePage(7, false, rows[i].nodes)), all_);
  }
}

// A cursor that has met damage stays on no record until it is moved to one.
TEST_F(LmdbFileTest, ACursorIsOnNoRecordAfterDamage) {
  SmallFile file;
  file.Set<uint16_t>(4, 10, 0);
  Write(file.Bytes());
  const auto database = db::CreateDB("lmdb", dir_.path(), db::READ);
  const auto cursor = database->NewCursor();
  cursor->Next();
  EXPECT_EQ(cursor->key(), "b");
  const std::string damaged = Damaged("page 4 is not a valid page of a tree");
  ExpectRefusals({{[&] { cursor->Next(); }, damaged}});
  EXPECT_FALSE(cursor->Valid());
  EXPECT_FALSE(cursor->IsBehindDamage());
  const std::string past =
      "lmdb \"" + dir_.path("data.mdb") + "\": the cursor is past the last record";
  ExpectRefusals({{[&] { cursor->key(); }, past},
                  {[&] { cursor->value(); }, past},
                  {[&] { cursor->Next(); }, past},
                  {[&] { cursor->Seek("c"); }, damaged}});
  EXPECT_FALSE(cursor->Valid());
  cursor->Seek("aa");
  EXPECT_EQ(cursor->value(), "22");
}

}  // namespace
}  // namespace caffe2rt::test::lmdb_file_test
