#pragma once
// A reader of LMDB's file that trusts nothing in it. liblmdb maps the file and follows what stands
// there, so a damaged one crashes the process; here every page, node and size is checked, and a
// walk is bounded by the number of pages. For lmdb.cc alone.
//
// The format (little endian, 64 bit; version 1): pages of P bytes. A page begins with {uint64
// number, uint16 pad, uint16 flags, uint16 lower, uint16 upper}, then the uint16 offsets of its
// nodes, (lower - 16) / 2 of them. Pages 0 and 1 are metas: {uint32 magic, uint32 version, uint64
// address, uint64 map size, tree of free pages, main tree, uint64 last page, uint64 transaction},
// of which the one with the higher transaction counts. A tree is {uint32 pad, uint16 flags, uint16
// depth, uint64 branch pages, leaf pages, overflow pages, entries, root}; the pad of the first is
// P. A node is {uint16 low, uint16 high, uint16 flags, uint16 key size, key}; in a branch low, high
// and flags are the child page; in a leaf low and high are the size of the value, which follows the
// key, or, with flag 1, stands in overflow pages whose number follows the key.

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

// The snapshot that the file's newest valid meta describes.
class LmdbFile {
 public:
  // `source`: the folder of data.mdb, or the file. THROWS when it is not there or no LMDB file.
  explicit LmdbFile(const std::string& source);

  const std::string& path() const { return path_; }
  size_t page_bytes() const { return page_bytes_; }
  // Pages that are there, and pages that were ever given out.
  uint64_t page_count() const { return page_count_; }
  uint64_t allocated_pages() const { return allocated_pages_; }
  const LmdbTree& main_tree() const { return main_; }
  const LmdbTree& free_tree() const { return free_; }

  // Branch or leaf page `number`, its header and offsets checked.
  std::string ReadPage(uint64_t number) const;
  // THROWS unless `size` bytes stand in overflow pages that begin with `number`.
  void CheckOverflow(uint64_t number, uint64_t size) const;
  // These bytes.
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

// A position in a tree. The file must outlive it.
class LmdbPosition {
 public:
  LmdbPosition(const LmdbFile& file, const LmdbTree& tree) : file_(file), tree_(tree) {}
  // To the first entry whose key is at least `key`; with an empty key to the first one.
  void Seek(std::string_view key);
  void Next();
  bool Valid() const { return !levels_.empty(); }
  // Pages from the root to the entry.
  size_t depth() const { return levels_.size(); }
  std::string_view key() const;
  std::string value() const;
  // THROWS what value() would, without reading a long one.
  void CheckValue() const;
  // Calls it with each page that a walk reads.
  void OnPage(std::function<void(uint64_t)> on_page) { on_page_ = std::move(on_page); }
  // With each run of overflow pages {first, number}; 0 of them where the value stands in its node.
  std::pair<uint64_t, uint64_t> OverflowPages() const;

 private:
  struct Level {
    std::string page;
    int index = 0;
  };
  void Push(uint64_t page);
  // From the top level down to a leaf; the way is that of `key` while `guided`.
  void Descend(std::string_view key, bool guided);
  void SkipFinishedLevels();

  const LmdbFile& file_;
  const LmdbTree tree_;
  std::vector<Level> levels_;  // from the root
  std::function<void(uint64_t)> on_page_;
  uint64_t pages_left_ = 0;  // a walk that reads more pages than there are goes in circles
};

// Walks both trees to the end, the lists of free pages too. THROWS when anything is wrong: to be
// called before liblmdb opens a file for writing.
void CheckLmdbFile(const std::string& source);

}  // namespace internal
}  // namespace db
}  // namespace caffe2rt
