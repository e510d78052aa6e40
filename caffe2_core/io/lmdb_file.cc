#include "caffe2_core/io/lmdb_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace db {
namespace internal {
namespace {

constexpr uint32_t kMagic = 0xBEEFC0DE;
constexpr size_t kPageHeaderBytes = 16;
constexpr size_t kNodeHeaderBytes = 8;
constexpr size_t kMetaBytes = 136;
constexpr size_t kMinPageBytes = 512;
constexpr size_t kMaxPageBytes = 65536;
constexpr int kMaxDepth = 32;  // as in liblmdb's cursors

constexpr uint16_t kBranch = 0x01;
constexpr uint16_t kLeaf = 0x02;
constexpr uint16_t kOverflow = 0x04;

constexpr uint16_t kBigValue = 0x01;  // node flags
constexpr uint16_t kSubTree = 0x02;
constexpr uint16_t kDuplicates = 0x04;

template <class T>
T Load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

LmdbTree LoadTree(const char* from) {
  LmdbTree tree;
  tree.flags = Load<uint16_t>(from + 4);
  tree.depth = Load<uint16_t>(from + 6);
  tree.entries = Load<uint64_t>(from + 32);
  tree.root = Load<uint64_t>(from + 40);
  return tree;
}

// A node in a page that ReadPage has checked.
struct Node {
  const char* at;
  size_t room;  // bytes to the end of the page
  uint16_t flags() const { return Load<uint16_t>(at + 4); }
  size_t key_size() const { return Load<uint16_t>(at + 6); }
  std::string_view key() const { return {at + kNodeHeaderBytes, key_size()}; }
  uint64_t value_size() const {
    return Load<uint16_t>(at) | uint64_t{Load<uint16_t>(at + 2)} << 16;
  }
  uint64_t child() const { return value_size() | uint64_t{flags()} << 32; }
  const char* value() const { return at + kNodeHeaderBytes + key_size(); }
};

bool IsBranch(const std::string& page) { return (Load<uint16_t>(page.data() + 10) & kBranch) != 0; }

int NodeCount(const std::string& page) {
  return static_cast<int>((Load<uint16_t>(page.data() + 12) - kPageHeaderBytes) / 2);
}

Node NodeAt(const std::string& page, int index) {
  const size_t offset =
      Load<uint16_t>(page.data() + kPageHeaderBytes + 2 * static_cast<size_t>(index));
  return {page.data() + offset, page.size() - offset};
}

// Whether the node lies in its page.
bool Fits(const Node& node, bool branch) {
  if (node.room < kNodeHeaderBytes || node.room - kNodeHeaderBytes < node.key_size()) return false;
  if (branch) return true;
  const size_t room = node.room - kNodeHeaderBytes - node.key_size();
  return (node.flags() & kBigValue) != 0 ? room >= sizeof(uint64_t) : room >= node.value_size();
}

// The path of the data file. The folder may come from an untrusted source: opening a pipe in it
// would block.
std::string DataPath(const std::string& source) {
  struct stat info;
  if (stat(source.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return source;
  const std::string data = source + "/data.mdb";
  CAFFE_ENFORCE(stat(data.c_str(), &info) != 0 || S_ISREG(info.st_mode), "cannot read lmdb \"",
                source, "\": data.mdb is not a regular file");
  return data;
}

}  // namespace

LmdbFile::LmdbFile(const std::string& source)
    : path_(DataPath(source)), file_(OpenForReading(path_)), file_bytes_(FileSize(file_, path_)) {
  uint64_t transaction = 0;
  if (!ReadMeta(0, &transaction)) ThrowDamaged("its first page has no meta of LMDB version 1");
  // If the second meta is damaged or older, the first one stays in use.
  (void)ReadMeta(static_cast<int64_t>(page_bytes_), &transaction);
}

bool LmdbFile::ReadMeta(int64_t offset, uint64_t* transaction) {
  char page[kPageHeaderBytes + kMetaBytes];
  if (file_bytes_ < offset + static_cast<int64_t>(sizeof(page))) return false;
  ReadAt(file_, path_, offset, page, sizeof(page));
  const char* meta = page + kPageHeaderBytes;
  const size_t page_bytes = Load<uint32_t>(meta + 24);
  const bool valid = Load<uint32_t>(meta) == kMagic && Load<uint32_t>(meta + 4) == 1 &&
                     std::has_single_bit(page_bytes) && page_bytes >= kMinPageBytes &&
                     page_bytes <= kMaxPageBytes && (offset == 0 || page_bytes == page_bytes_);
  if (!valid) return false;
  if (offset != 0 && Load<uint64_t>(meta + 128) <= *transaction) return true;
  *transaction = Load<uint64_t>(meta + 128);
  page_bytes_ = page_bytes;
  allocated_pages_ = Load<uint64_t>(meta + 120) + 1;
  page_count_ = std::min(static_cast<uint64_t>(file_bytes_) / page_bytes, allocated_pages_);
  free_ = LoadTree(meta + 24);
  main_ = LoadTree(meta + 72);
  return true;
}

std::string LmdbFile::ReadPage(uint64_t number) const {
  if (number < 2 || number >= page_count_) {
    ThrowDamaged(MakeString("page ", number, " is out of range, it has ", page_count_));
  }
  std::string page(page_bytes_, '\0');
  ReadAt(file_, path_, static_cast<int64_t>(number * page_bytes_), page.data(), page.size());
  const uint16_t kind = Load<uint16_t>(page.data() + 10);
  const size_t lower = Load<uint16_t>(page.data() + 12);
  const size_t upper = Load<uint16_t>(page.data() + 14);
  const bool full = upper == 0 && page_bytes_ == kMaxPageBytes;  // 65536 in 16 bits
  bool fits = Load<uint64_t>(page.data()) == number && (kind == kBranch || kind == kLeaf) &&
              lower >= kPageHeaderBytes && lower % 2 == 0 && (full || lower <= upper) &&
              lower <= page_bytes_ && upper <= page_bytes_;
  for (int i = 0; fits && i < NodeCount(page); ++i) {
    const size_t offset =
        Load<uint16_t>(page.data() + kPageHeaderBytes + 2 * static_cast<size_t>(i));
    fits = offset >= (full ? lower : upper) && offset % 2 == 0 && offset <= page_bytes_ &&
           Fits(NodeAt(page, i), kind == kBranch);
  }
  if (!fits) ThrowDamaged(MakeString("page ", number, " is not a valid page of a tree"));
  return page;
}

void LmdbFile::CheckOverflow(uint64_t number, uint64_t size) const {
  const uint64_t pages = (kPageHeaderBytes + size + page_bytes_ - 1) / page_bytes_;
  if (number < 2 || number >= page_count_ || pages > page_count_ - number) {
    ThrowDamaged(MakeString("a value of ", ByteSizeText(size), " is in pages that do not exist"));
  }
  const int64_t offset = static_cast<int64_t>(number * page_bytes_);
  char header[kPageHeaderBytes];
  ReadAt(file_, path_, offset, header, sizeof(header));
  if (Load<uint64_t>(header) != number || Load<uint16_t>(header + 10) != kOverflow ||
      Load<uint32_t>(header + 12) < pages) {
    ThrowDamaged(MakeString("page ", number, " does not hold the value that refers to it"));
  }
}

std::string LmdbFile::ReadOverflow(uint64_t number, uint64_t size) const {
  CheckOverflow(number, size);
  std::string value(size, '\0');
  ReadAt(file_, path_, static_cast<int64_t>(number * page_bytes_ + kPageHeaderBytes), value.data(),
         value.size());
  return value;
}

void LmdbFile::ThrowDamaged(const std::string& reason) const {
  CAFFE_THROW("lmdb \"", path_, "\" is damaged or not an LMDB file: ", reason);
}

void LmdbPosition::Push(uint64_t page) {
  if (levels_.size() >= kMaxDepth || pages_left_ == 0) file_.ThrowDamaged("its pages form a cycle");
  --pages_left_;
  if (on_page_) on_page_(page);
  levels_.push_back({file_.ReadPage(page), 0});
  if (NodeCount(levels_.back().page) == 0) file_.ThrowDamaged("a page of a tree is empty");
}

void LmdbPosition::Descend(std::string_view key, bool guided) {
  while (true) {
    Level& level = levels_.back();
    const int count = NodeCount(level.page);
    const bool branch = IsBranch(level.page);
    if (guided) {
      // In a branch, take the last child whose key is not greater than `key`; the key of its first
      // child counts as smaller than all others. In a leaf, take the first entry that is not less
      // than `key`.
      int index = branch ? 1 : 0;
      while (index < count && (branch ? NodeAt(level.page, index).key() <= key
                                      : NodeAt(level.page, index).key() < key)) {
        ++index;
      }
      level.index = branch ? index - 1 : index;
    }
    if (!branch) return SkipFinishedLevels();
    Push(NodeAt(level.page, level.index).child());
  }
}

void LmdbPosition::SkipFinishedLevels() {
  while (!levels_.empty() && levels_.back().index >= NodeCount(levels_.back().page)) {
    levels_.pop_back();
    if (!levels_.empty()) ++levels_.back().index;
  }
  if (!levels_.empty() && IsBranch(levels_.back().page)) {
    Push(NodeAt(levels_.back().page, levels_.back().index).child());
    Descend({}, false);
  }
}

void LmdbPosition::Seek(std::string_view key) {
  levels_.clear();
  pages_left_ = file_.page_count();
  if (tree_.root == UINT64_MAX) return;
  Push(tree_.root);
  Descend(key, !key.empty());
}

void LmdbPosition::Next() {
  ++levels_.back().index;
  SkipFinishedLevels();
}

std::string_view LmdbPosition::key() const {
  return NodeAt(levels_.back().page, levels_.back().index).key();
}

void LmdbPosition::CheckValue() const {
  const Node node = NodeAt(levels_.back().page, levels_.back().index);
  if ((node.flags() & (kSubTree | kDuplicates)) != 0) {
    file_.ThrowDamaged(
        MakeString("entry \"", node.key(),
                   "\" is a nested database or has several values, which Caffe2 does not use"));
  }
  if ((node.flags() & kBigValue) != 0) {
    file_.CheckOverflow(Load<uint64_t>(node.value()), node.value_size());
  }
}

std::string LmdbPosition::value() const {
  CheckValue();
  const Node node = NodeAt(levels_.back().page, levels_.back().index);
  if ((node.flags() & kBigValue) != 0) {
    return file_.ReadOverflow(Load<uint64_t>(node.value()), node.value_size());
  }
  return std::string(node.value(), node.value_size());
}

std::pair<uint64_t, uint64_t> LmdbPosition::OverflowPages() const {
  const Node node = NodeAt(levels_.back().page, levels_.back().index);
  if ((node.flags() & kBigValue) == 0) return {0, 0};
  const uint64_t bytes = kPageHeaderBytes + node.value_size();
  return {Load<uint64_t>(node.value()), (bytes + file_.page_bytes() - 1) / file_.page_bytes()};
}

}  // namespace internal
}  // namespace db
}  // namespace caffe2rt
