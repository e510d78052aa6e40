#pragma once
// A reader of LMDB files that trusts nothing in the file. liblmdb maps the file and follows its
// offsets unchecked, so a damaged file crashes the process. This reader checks every page, node and
// size, and the number of pages bounds every walk. Used only by lmdb.cc and lmdb_check.cc.
//
// The format (little endian, 64 bit, version 1) is a sequence of pages of P bytes:
//
//   page  {uint64 number, uint16 pad, uint16 flags, uint16 lower, uint16 upper}, then the uint16
//         offsets of the page's nodes; there are (lower - 16) / 2 of them
//   meta  {uint32 magic, uint32 version, uint64 address, uint64 map size, tree of free pages,
//         main tree, uint64 last page, uint64 transaction}
//   tree  {uint32 pad, uint16 flags, uint16 depth, uint64 branch pages, uint64 leaf pages,
//         uint64 overflow pages, uint64 entries, uint64 root}
//   node  {uint16 low, uint16 high, uint16 flags, uint16 key size, key}
//
// Pages 0 and 1 hold a meta each; the one with the higher transaction number is valid. The pad of
// the tree of free pages is P. In a branch page, a node's low, high and flags form the number of
// the child page. In a leaf page, low and high form the size of the value. The value follows the
// key; with node flag 1 it is in overflow pages, and the number of the first one follows the key.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe2_core/io/atomic_file.h"

namespace caffe2rt {
namespace db {
namespace internal {

struct LmdbTree {
  uint16_t flags = 0;
  uint16_t depth = 0;
  uint64_t entries = 0;
  uint64_t root = UINT64_MAX;  // UINT64_MAX: empty
};

// The snapshot described by the newest valid meta page of a file. Const member functions are thread
// safe.
class LmdbFile {
 public:
  // `source` is the folder that contains data.mdb, or the file itself. THROWS if it does not exist
  // or is not an LMDB file.
  explicit LmdbFile(const std::string& source);

  const std::string& path() const { return path_; }
  size_t page_bytes() const { return page_bytes_; }
  // The number of pages present in the file, and the number of pages ever allocated.
  uint64_t page_count() const { return page_count_; }
  uint64_t allocated_pages() const { return allocated_pages_; }
  const LmdbTree& main_tree() const { return main_; }
  const LmdbTree& free_tree() const { return free_; }

  // Returns branch or leaf page `number`. THROWS if its header or offsets are invalid.
  std::string ReadPage(uint64_t number) const;
  // THROWS unless the overflow pages that begin at page `number` hold `size` bytes.
  void CheckOverflow(uint64_t number, uint64_t size) const;
  // Returns these bytes.
  std::string ReadOverflow(uint64_t number, uint64_t size) const;
  [[noreturn]] void ThrowDamaged(const std::string& reason) const;

 private:
  bool ReadMeta(int64_t offset, uint64_t* transaction);

  std::string path_;
  FileDescriptor file_;
  int64_t file_bytes_ = 0;
  size_t page_bytes_ = 0;
  uint64_t page_count_ = 0;
  uint64_t allocated_pages_ = 0;
  LmdbTree free_;
  LmdbTree main_;
};

// An iterator over a tree, in key order. `file` must outlive it. Not thread safe. Next, key, value,
// CheckValue and OverflowPages require Valid().
class LmdbPosition {
 public:
  LmdbPosition(const LmdbFile& file, const LmdbTree& tree) : file_(file), tree_(tree) {}
  // Moves to the first entry whose key is at least `key`, or to the first entry if `key` is empty.
  void Seek(std::string_view key);
  void Next();
  bool Valid() const { return !levels_.empty(); }
  // The number of pages on the path from the root to the entry.
  size_t depth() const { return levels_.size(); }
  std::string_view key() const;
  std::string value() const;
  // THROWS if value() would, without reading a value in overflow pages.
  void CheckValue() const;
  // Sets a function that is called with the number of every tree page read from now on.
  void OnPage(std::function<void(uint64_t)> on_page) { on_page_ = std::move(on_page); }
  // Returns {first page, number of pages} of the entry's value in overflow pages, or {0, 0} if the
  // value is in its node.
  std::pair<uint64_t, uint64_t> OverflowPages() const;

 private:
  struct Level {
    std::string page;
    int index = 0;
  };
  void Push(uint64_t page);
  // Descends from the last level to a leaf: along the path of `key` if `guided`, else along the
  // current index of the last level and the first children below it.
  void Descend(std::string_view key, bool guided);
  void SkipFinishedLevels();

  const LmdbFile& file_;
  const LmdbTree tree_;
  std::vector<Level> levels_;  // from the root
  std::function<void(uint64_t)> on_page_;
  uint64_t pages_left_ = 0;  // stops a walk that would read more pages than the file has
};

// Walks both trees completely, including the lists of free pages. THROWS if anything is invalid.
// Must be called before liblmdb opens an existing file for writing. Reads every tree page once.
void CheckLmdbFile(const std::string& source);

}  // namespace internal
}  // namespace db
}  // namespace caffe2rt
