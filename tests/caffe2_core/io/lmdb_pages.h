#pragma once
// Writes LMDB files page by page, also wrong ones, as lmdb_file.h describes them.

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace caffe2rt::test {

template <class T>
void StoreAt(std::string* bytes, size_t at, T value) {
  std::memcpy(bytes->data() + at, &value, sizeof(value));
}

struct LmdbTreeBytes {
  uint16_t flags = 0, depth = 0;
  uint64_t entries = 0, root = UINT64_MAX;
};

struct LmdbMetaBytes {
  uint32_t magic = 0xBEEFC0DE, version = 1, page_bytes = 512;
  LmdbTreeBytes free{.flags = 0x08}, main;
  uint64_t last_page = 1, transaction = 0;
};

inline std::string LmdbMetaPage(uint64_t number, const LmdbMetaBytes& meta,
                                size_t page_bytes = 512) {
  std::string page(page_bytes, '\0');
  StoreAt(&page, 0, number);
  StoreAt<uint16_t>(&page, 10, 0x08);
  StoreAt(&page, 16, meta.magic);
  StoreAt(&page, 20, meta.version);
  StoreAt(&page, 40, meta.page_bytes);
  size_t at = 40;
  for (const LmdbTreeBytes& tree : {meta.free, meta.main}) {
    StoreAt(&page, at + 4, tree.flags);
    StoreAt(&page, at + 6, tree.depth);
    StoreAt(&page, at + 32, tree.entries);
    StoreAt(&page, at + 40, tree.root);
    at += 48;
  }
  StoreAt(&page, 136, meta.last_page);
  StoreAt(&page, 144, meta.transaction);
  return page;
}

// An entry of a leaf: its value, or the number of the first page that holds it (flag 1) and its
// size.
inline std::string LmdbLeafNode(const std::string& key, const std::string& value,
                                uint16_t flags = 0, uint32_t size = UINT32_MAX) {
  if (size == UINT32_MAX) size = static_cast<uint32_t>(value.size());
  std::string node(8, '\0');
  StoreAt(&node, 0, static_cast<uint16_t>(size & 0xffff));
  StoreAt(&node, 2, static_cast<uint16_t>(size >> 16));
  StoreAt(&node, 4, flags);
  StoreAt(&node, 6, static_cast<uint16_t>(key.size()));
  return node + key + value;
}

inline std::string LmdbBigNode(const std::string& key, uint64_t page, uint32_t size) {
  std::string number(8, '\0');
  StoreAt(&number, 0, page);
  return LmdbLeafNode(key, number, 1, size);
}

inline std::string LmdbBranchNode(const std::string& key, uint64_t child) {
  std::string node(8, '\0');
  StoreAt(&node, 0, static_cast<uint16_t>(child));
  StoreAt(&node, 2, static_cast<uint16_t>(child >> 16));
  StoreAt(&node, 4, static_cast<uint16_t>(child >> 32));
  StoreAt(&node, 6, static_cast<uint16_t>(key.size()));
  return node + key;
}

// A page of a tree, with its nodes at the end, the first one last, each at an even offset.
inline std::string LmdbTreePage(uint64_t number, bool branch, const std::vector<std::string>& nodes,
                                size_t page_bytes = 512) {
  std::string page(page_bytes, '\0');
  size_t upper = page_bytes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    upper = (upper - nodes[i].size()) & ~size_t{1};
    page.replace(upper, nodes[i].size(), nodes[i]);
    StoreAt(&page, 16 + 2 * i, static_cast<uint16_t>(upper));
  }
  StoreAt(&page, 0, number);
  StoreAt<uint16_t>(&page, 10, branch ? 1 : 2);
  StoreAt(&page, 12, static_cast<uint16_t>(16 + 2 * nodes.size()));
  StoreAt(&page, 14, static_cast<uint16_t>(upper));
  return page;
}

// The pages that hold one value.
inline std::string LmdbOverflowPages(uint64_t number, const std::string& value,
                                     size_t page_bytes = 512) {
  const size_t pages = (16 + value.size() + page_bytes - 1) / page_bytes;
  std::string bytes(pages * page_bytes, '\0');
  StoreAt(&bytes, 0, number);
  StoreAt<uint16_t>(&bytes, 10, 4);
  StoreAt(&bytes, 12, static_cast<uint32_t>(pages));
  return bytes.replace(16, value.size(), value);
}

}  // namespace caffe2rt::test
