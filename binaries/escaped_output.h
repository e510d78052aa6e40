#pragma once
// Names in files may contain terminal escape sequences. While an EscapedOutput is alive, everything
// written to its stream is escaped by EscapeControls (base/utf8.h).
//
//   const EscapedOutput out(std::cout), err(std::cerr);
//
// Bytes that must arrive unchanged (a binary file, a deliberate escape sequence) must not be
// written to the stream. Not thread safe, because the stream is not.

#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace caffe2rt {

class EscapedOutput final : private std::streambuf {
 public:
  // `stream` must outlive this.
  explicit EscapedOutput(std::ostream& stream);
  ~EscapedOutput() override;
  EscapedOutput(const EscapedOutput&) = delete;
  EscapedOutput& operator=(const EscapedOutput&) = delete;

  // The errno of the first failed write, or 0 if none failed.
  int error() const { return error_; }

 private:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;
  bool Write(std::string_view text);
  bool Check(bool written);

  std::ostream& stream_;
  std::streambuf* const target_;
  std::string begun_;  // the first bytes of an incomplete UTF-8 character
  int error_ = 0;
};

}  // namespace caffe2rt
