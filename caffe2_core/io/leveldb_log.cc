#include "caffe2_core/io/leveldb_log.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/record_checksum.h"

namespace caffe2rt::db::internal {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlock = 32768, kHeader = 7, kBatchHeader = 12;
constexpr unsigned char kZero = 0, kWhole = 1, kFirst = 2, kLast = 4;  // types

uint32_t NumberAt(std::string_view bytes, size_t at, size_t count) {
  uint32_t number = 0;
  for (size_t i = 0; i < count; ++i)
    number |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return number;
}

// LevelDB stores checksums of data that may contain checksums in another form.
uint32_t Masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

// Takes a length and as many bytes from the front. Returns false if there are fewer.
bool TakeBytes(std::string_view* rest, std::string_view* bytes) {
  uint64_t length = 0;
  size_t used = 0;
  for (int shift = 0;; shift += 7) {
    if (used == rest->size() || shift > 28) return false;
    const auto byte = static_cast<unsigned char>((*rest)[used++]);
    length |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) break;
  }
  if (length > rest->size() - used) return false;
  *bytes = rest->substr(used, length);
  rest->remove_prefix(used + length);
  return true;
}

// The last key in the beginning of a batch; `key` stays if it has none.
void FindLastKey(std::string_view batch, std::string* key) {
  batch.remove_prefix(std::min(kBatchHeader, batch.size()));
  while (!batch.empty()) {
    const bool puts = batch[0] == 1;
    batch.remove_prefix(1);
    std::string_view bytes;
    if (!TakeBytes(&batch, &bytes)) return;
    *key = bytes;
    if (puts && !TakeBytes(&batch, &bytes)) return;
  }
}

// The place of the first fragment that is not as it was written, and the last key before it.
struct Damage {
  bool found = false;
  size_t byte = 0;
  std::string key;
};

Damage DamageOf(std::string_view log) {
  Damage damage;
  std::string batch;
  for (size_t at = 0; at + kHeader <= log.size();) {
    const size_t left = kBlock - at % kBlock;
    const size_t length = left < kHeader ? 0 : NumberAt(log, at + 4, 2);
    const unsigned char type = left < kHeader ? kZero : static_cast<unsigned char>(log[at + 6]);
    if (type == kZero && length == 0) {  // the end of a block
      at += left;
      continue;
    }
    const bool fits = kHeader + length <= std::min(left, log.size() - at);
    if (!fits || NumberAt(log, at, 4) != Masked(Crc32c(log.substr(at + 6, length + 1)))) {
      damage.found = true;
      damage.byte = at;
      break;
    }
    if (type == kWhole || type == kFirst) batch.clear();
    batch += log.substr(at + kHeader, length);
    if (type == kWhole || type == kLast) FindLastKey(batch, &damage.key);
    at += kHeader + length;
  }
  if (damage.found) FindLastKey(batch, &damage.key);
  return damage;
}

}  // namespace

std::string LevelDBLogDamage(const std::string& folder) {
  std::vector<fs::path> logs;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  std::sort(logs.begin(), logs.end());
  for (const fs::path& log : logs) {
    const Damage damage = DamageOf(ReadWholeFile(log.string()));
    if (!damage.found) continue;
    return MakeString("; log \"", log.filename().string(), "\" is damaged at byte ", damage.byte,
                      damage.key.empty() ? "" : ", at or after the record ",
                      damage.key.empty() ? "" : "\"" + damage.key + "\"");
  }
  return "";
}

}  // namespace caffe2rt::db::internal
