// CheckLmdbFile of lmdb_file.h: checks what liblmdb assumes of a file that it opens for writing.
#include <cstring>

#include "caffe2_core/io/lmdb_file.h"

namespace caffe2rt {
namespace db {
namespace internal {
namespace {

uint64_t LoadNumber(const char* from) {
  uint64_t value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// Checks the invariants that liblmdb relies on: no page is used twice, and the keys of a tree are
// in ascending order. Costs one bit per allocated page, and a read of every tree page.
class LmdbChecker {
 public:
  explicit LmdbChecker(const std::string& source) : file_(source) {}

  void Check() {
    // Pages that were freed before being written may lie beyond the end of the file.
    Expect(file_.allocated_pages() <= file_.page_count() + kMaxUnwrittenPages,
           "its last page is far beyond its end");
    used_.resize(file_.allocated_pages(), false);
    Expect(file_.main_tree().flags == 0 && file_.free_tree().flags == kIntegerKeys,
           "its trees have flags that Caffe2 does not use");
    CheckTree(file_.main_tree(), [](const LmdbPosition&) {});
    CheckTree(file_.free_tree(), [this](const LmdbPosition& entry) { CheckFreePages(entry); });
  }

 private:
  static constexpr uint16_t kIntegerKeys = 0x08;
  static constexpr uint64_t kMaxUnwrittenPages = 1 << 20;

  void Expect(bool condition, const char* reason) const {
    if (!condition) file_.ThrowDamaged(reason);
  }
  void Use(uint64_t page) {
    Expect(page >= 2 && page < used_.size() && !used_[page], "a page is used twice");
    used_[page] = true;
  }

  template <class Function>
  void CheckTree(const LmdbTree& tree, Function each) {
    LmdbPosition entry(file_, tree);
    entry.OnPage([this](uint64_t page) { Use(page); });
    std::string before;
    uint64_t entries = 0;
    for (entry.Seek({}); entry.Valid(); entry.Next(), ++entries) {
      Expect(entry.depth() == tree.depth, "its trees do not have the depths that they state");
      Expect(entries == 0 || Rises(before, entry.key(), tree.flags), "its keys are out of order");
      before = entry.key();
      entry.CheckValue();
      const auto [first, count] = entry.OverflowPages();
      for (uint64_t i = 0; i < count; ++i) Use(first + i);
      each(entry);
    }
    Expect(entries == tree.entries, "its number of entries is wrong");
  }

  bool Rises(std::string_view a, std::string_view b, uint16_t flags) const {
    if (flags != kIntegerKeys) return a < b;
    return a.size() == sizeof(uint64_t) && b.size() == sizeof(uint64_t) &&
           LoadNumber(a.data()) < LoadNumber(b.data());
  }

  // The value is a count, followed by that many page numbers in descending order.
  void CheckFreePages(const LmdbPosition& entry) {
    const std::string list = entry.value();
    Expect(entry.key().size() == sizeof(uint64_t) && list.size() >= sizeof(uint64_t) &&
               LoadNumber(list.data()) <= list.size() / sizeof(uint64_t) - 1,
           "its list of free pages is wrong");
    uint64_t above = UINT64_MAX;
    for (uint64_t i = 1; i <= LoadNumber(list.data()); ++i) {
      const uint64_t page = LoadNumber(list.data() + i * sizeof(uint64_t));
      Expect(page < above, "its list of free pages is wrong");
      above = page;
      Use(page);
    }
  }

  const LmdbFile file_;
  std::vector<bool> used_;
};

}  // namespace

void CheckLmdbFile(const std::string& source) { LmdbChecker(source).Check(); }

}  // namespace internal
}  // namespace db
}  // namespace caffe2rt
