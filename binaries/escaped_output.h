#pragma once
// Names in files may hold the escape sequences of terminals. While an EscapedOutput lives, all that
// goes to its stream is shown as EscapeControls (base/utf8.h) shows it.
//
//   const EscapedOutput out(std::cout), err(std::cerr);
//
// Bytes that must arrive as they are (a binary file, a terminal's own sequences) do not go through
// the stream. Not thread safe, as the stream is not.

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

  // The errno of the first write that failed; 0 if none did.
  int error() const { return error_; }

 private:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;
  bool Write(std::string_view text);
  bool Check(bool written);

  std::ostream& stream_;
  std::streambuf* const target_;
  std::string begun_;  // of a UTF-8 character whose other bytes have not come yet
  int error_ = 0;
};

}  // namespace caffe2rt
