#include "binaries/escaped_output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <streambuf>
#include <string>

namespace caffe2rt::escaped_output_test {
namespace {

TEST(EscapedOutputTest, ShowsControlCharactersWhileItLives) {
  std::ostringstream stream;
  {
    const EscapedOutput escaped(stream);
    stream << "\x1b[2J" << 7 << '\x07' << "\n";
    EXPECT_EQ(escaped.error(), 0);
  }
  stream << "\x1b";
  EXPECT_EQ(stream.str(), "\\x1b[2J7\\x07\n\x1b");
}

TEST(EscapedOutputTest, PutsCharactersTogetherThatComeInPieces) {
  std::ostringstream stream;
  {
    const EscapedOutput escaped(stream);
    for (const char c : std::string("\xe2\x82\xac \xc2\x9b \xf0\x9f\x98\x80")) stream << c;
    stream << "\xc3";  // an incomplete character is escaped at the end
  }
  EXPECT_EQ(stream.str(), "\xe2\x82\xac \\xc2\\x9b \xf0\x9f\x98\x80\\xc3");
}

// Records the length of the longest single write.
class PieceRecorder : public std::streambuf {
 public:
  size_t longest = 0;
  std::string text;

 private:
  std::streamsize xsputn(const char* piece, std::streamsize size) override {
    longest = std::max(longest, static_cast<size_t>(size));
    text.append(piece, static_cast<size_t>(size));
    return size;
  }
};

TEST(EscapedOutputTest, CopiesALongTextInSmallPieces) {
  PieceRecorder recorder;
  std::ostream stream(&recorder);
  std::string euros;
  for (int i = 0; i < 100000; ++i) euros += "\xe2\x82\xac";
  {
    const EscapedOutput escaped(stream);
    stream << euros;
  }
  EXPECT_EQ(recorder.text, euros);
  EXPECT_LE(recorder.longest, 64u << 10);
}

TEST(EscapedOutputTest, ShowsHalfACharacterAtAFlush) {
  std::ostringstream stream;
  const EscapedOutput escaped(stream);
  stream << "\xe2\x82" << std::flush;
  EXPECT_EQ(stream.str(), "\\xe2\\x82");
}

}  // namespace
}  // namespace caffe2rt::escaped_output_test
