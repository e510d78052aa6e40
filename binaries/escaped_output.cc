#include "binaries/escaped_output.h"

#include <algorithm>
#include <cerrno>

#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

// The number of bytes at the end of `text` that form an incomplete UTF-8 character.
size_t BegunBytes(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;  // not the first byte
    const size_t size = byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    return size > back ? back : 0;
  }
  return 0;
}

}  // namespace

EscapedOutput::EscapedOutput(std::ostream& stream) : stream_(stream), target_(stream.rdbuf(this)) {}

EscapedOutput::~EscapedOutput() {
  sync();
  stream_.rdbuf(target_);
}

bool EscapedOutput::Write(std::string_view text) {
  const std::string escaped = EscapeControls(text);
  const auto size = static_cast<std::streamsize>(escaped.size());
  return Check(target_->sputn(escaped.data(), size) == size);
}

bool EscapedOutput::Check(bool written) {
  if (!written && error_ == 0) error_ = errno;
  return written;
}

EscapedOutput::int_type EscapedOutput::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
  const char text = traits_type::to_char_type(c);
  return xsputn(&text, 1) == 1 ? c : traits_type::eof();
}

std::streamsize EscapedOutput::xsputn(const char* text, std::streamsize size) {
  // Write in pieces, because a copy of a long text may exceed the memory limit.
  constexpr size_t kPieceBytes = 8 << 10;
  std::string_view left(text, static_cast<size_t>(size));
  while (!left.empty()) {
    begun_ += left.substr(0, kPieceBytes);
    left.remove_prefix(std::min(left.size(), kPieceBytes));
    const size_t whole = begun_.size() - BegunBytes(begun_);
    const bool written = Write(std::string_view(begun_).substr(0, whole));
    begun_.erase(0, whole);
    if (!written) return 0;
  }
  return size;
}

int EscapedOutput::sync() {
  const bool written = Write(begun_);
  begun_.clear();
  return written && Check(target_->pubsync() == 0) ? 0 : -1;
}

}  // namespace caffe2rt
