#include "caffe2_core/io/record_checksum.h"

#include <array>
#include <cstring>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/isa.h"

namespace caffe2rt {
namespace {

constexpr std::string_view kMark(
    "\xc2\x3e\x08"
    "crcc",
    7);
constexpr size_t kChecksumBytes = 4;

constexpr std::array<uint32_t, 256> MakeCrcTable() {
  constexpr uint32_t kReversedPolynomial = 0x82f63b78;
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReversedPolynomial : 0);
    table[i] = crc;
  }
  return table;
}

uint32_t CrcOfBytes(std::string_view bytes, uint32_t crc) {
  static constexpr std::array<uint32_t, 256> kTable = MakeCrcTable();
  for (const char c : bytes)
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return crc;
}

#if defined(__x86_64__)
// Every processor with AVX2 has this instruction.
__attribute__((target("sse4.2"))) uint32_t CrcByInstruction(std::string_view bytes) {
  uint64_t crc = 0xffffffff;
  for (; bytes.size() >= sizeof(uint64_t); bytes.remove_prefix(sizeof(uint64_t))) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof(word));
    crc = __builtin_ia32_crc32di(crc, word);
  }
  return CrcOfBytes(bytes, static_cast<uint32_t>(crc));
}
#endif

std::string LittleEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

}  // namespace

uint32_t Crc32c(std::string_view bytes) {
#if defined(__x86_64__)
  if (CpuIsa() != Isa::kPlain) return ~CrcByInstruction(bytes);
#endif
  return ~CrcOfBytes(bytes, 0xffffffff);
}

std::string WithChecksum(std::string record) {
  const std::string checksum = LittleEndian(Crc32c(record));
  record += kMark;
  record += checksum;
  return record;
}

std::string_view CheckedRecord(std::string_view record) {
  if (record.size() < kMark.size() + kChecksumBytes) return record;
  const std::string_view message = record.substr(0, record.size() - kMark.size() - kChecksumBytes);
  if (record.substr(message.size(), kMark.size()) != kMark) return record;
  CAFFE_ENFORCE(
      record.substr(record.size() - kChecksumBytes) == LittleEndian(Crc32c(message)),
      "the record's bytes do not match its checksum: it was damaged after it was written");
  return message;
}

}  // namespace caffe2rt
