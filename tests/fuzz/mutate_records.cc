#include "tests/fuzz/mutate_records.h"

#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/fuzz/mutate_net.h"

namespace caffe2rt::test {
namespace {

struct Record {
  std::string key;
  std::string value;
};

constexpr size_t kMaxMutatedRecords = 100;

// The format: caffe2_core/io/minidb.cc. Stops at the first damaged record.
std::vector<Record> ReadRecords(const std::string& bytes) {
  std::vector<Record> records;
  size_t at = 0;
  int32_t sizes[2];
  while (bytes.size() - at >= sizeof(sizes) && records.size() < kMaxMutatedRecords) {
    std::memcpy(sizes, bytes.data() + at, sizeof(sizes));
    at += sizeof(sizes);
    if (sizes[0] <= 0 || sizes[1] <= 0) break;
    const auto key = static_cast<size_t>(sizes[0]), value = static_cast<size_t>(sizes[1]);
    if (key + value > bytes.size() - at) break;
    records.push_back({bytes.substr(at, key), bytes.substr(at + key, value)});
    at += key + value;
  }
  return records;
}

std::string WriteRecords(const std::vector<Record>& records) {
  std::string bytes;
  for (const Record& record : records) {
    const int32_t sizes[2] = {static_cast<int32_t>(record.key.size()),
                              static_cast<int32_t>(record.value.size())};
    bytes.append(reinterpret_cast<const char*>(sizes), sizeof(sizes));
    bytes += record.key + record.value;
  }
  return bytes;
}

bool MutateNets(Random* random, std::string* value) {
  BlobProto blob;
  MetaNetDef meta;
  if (!blob.ParseFromString(*value) || !meta.ParseFromString(blob.content())) return false;
  if (meta.nets_size() == 0) return false;
  MutateMetaNet(random, &meta);
  blob.set_content(meta.SerializePartialAsString());
  *value = blob.SerializePartialAsString();
  return true;
}

}  // namespace

bool MutateRecords(Random* random, const BytesMutator& mutate_bytes, std::string* bytes) {
  std::vector<Record> records = ReadRecords(*bytes);
  if (records.empty()) return false;
  const size_t at = random->Below(records.size());
  Record& record = records[at];
  switch (random->Below(8)) {
    case 0:
      mutate_bytes(random, &record.key);
      break;
    case 1:
      records.push_back(Record(record));
      break;
    case 2:
      std::swap(record, records.back());
      break;
    case 3:
      if (records.size() > 1) records.erase(records.begin() + static_cast<std::ptrdiff_t>(at));
      break;
    default:
      if (random->OneIn(8) || !MutateNets(random, &record.value)) {
        mutate_bytes(random, &record.value);
      }
  }
  *bytes = WriteRecords(records);
  return true;
}

}  // namespace caffe2rt::test
