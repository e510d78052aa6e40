#include "binaries/escaped_output.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
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

// What has been written by a flush does not return with the next text.
TEST(EscapedOutputTest, AFlushEndsACharacter) {
  std::ostringstream stream;
  const EscapedOutput escaped(stream);
  stream << "a\xe2\x82" << std::flush;
  EXPECT_EQ(stream.str(), "a\\xe2\\x82");
  stream << "b" << std::flush << std::flush;
  EXPECT_EQ(stream.str(), "a\\xe2\\x82b");
  stream << "\xac\xc3" << std::flush << "\xa9";
  stream << "c\xc3"
         << "\xa9" << std::flush;
  EXPECT_EQ(stream.str(), "a\\xe2\\x82b\\xac\\xc3\\xa9c\xc3\xa9");
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

// Accepts `bytes` bytes; each later write or flush fails with the next errno.
class FullBuffer : public std::streambuf {
 public:
  explicit FullBuffer(size_t bytes) : left_(bytes) {}
  std::string text;
  int next_errno = ENOSPC;

 private:
  std::streamsize xsputn(const char* piece, std::streamsize size) override {
    const size_t count = std::min(left_, static_cast<size_t>(size));
    text.append(piece, count);
    left_ -= count;
    if (count < static_cast<size_t>(size)) errno = next_errno;
    return static_cast<std::streamsize>(count);
  }
  int sync() override {
    if (left_ > 0) return 0;
    errno = next_errno;
    return -1;
  }
  size_t left_;
};

TEST(EscapedOutputTest, KeepsTheErrorOfTheFirstWriteThatFails) {
  FullBuffer buffer(3);
  std::ostream stream(&buffer);
  const EscapedOutput escaped(stream);
  stream << "ab";
  EXPECT_TRUE(stream.good());
  EXPECT_EQ(escaped.error(), 0);
  stream << "cde";
  EXPECT_FALSE(stream.good());
  EXPECT_EQ(escaped.error(), ENOSPC);
  stream.clear();
  buffer.next_errno = EIO;
  stream << "f";
  EXPECT_FALSE(stream.good());
  stream.clear();
  stream.flush();
  EXPECT_FALSE(stream.good());
  EXPECT_EQ(escaped.error(), ENOSPC);
  EXPECT_EQ(buffer.text, "abc");
}

// Of a text of several pieces nothing is written behind the piece that fails.
TEST(EscapedOutputTest, ALongTextEndsAtTheFirstWriteThatFails) {
  FullBuffer buffer(10000);
  std::ostream stream(&buffer);
  const EscapedOutput escaped(stream);
  stream << std::string(20000, 'x');
  EXPECT_FALSE(stream.good());
  EXPECT_EQ(buffer.text, std::string(10000, 'x'));
  EXPECT_EQ(escaped.error(), ENOSPC);
  // A single character, too.
  stream.clear();
  stream.put('y');
  EXPECT_FALSE(stream.good());
}

TEST(EscapedOutputTest, AFlushThatFailsIsAnError) {
  FullBuffer buffer(1);
  std::ostream stream(&buffer);
  const EscapedOutput escaped(stream);
  stream << "a" << std::flush;
  EXPECT_FALSE(stream.good());
  EXPECT_EQ(escaped.error(), ENOSPC);
}

// Characters of 2, 3 and 4 bytes, divided behind each of their bytes.
TEST(EscapedOutputTest, CharactersMayBeDividedAnywhere) {
  for (const std::string text : {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    for (size_t first = 1; first < text.size(); ++first) {
      for (size_t second = first; second < text.size(); ++second) {
        std::ostringstream stream;
        const EscapedOutput escaped(stream);
        stream << text.substr(0, first);
        EXPECT_EQ(stream.str(), "");
        stream << text.substr(first, second - first) << text.substr(second) << "z";
        EXPECT_EQ(stream.str(), text + "z") << first << " " << second;
      }
    }
  }
}

// What cannot become a character does not wait for more.
TEST(EscapedOutputTest, BytesOfNoCharacterAreEscapedAtOnce) {
  std::ostringstream stream;
  const EscapedOutput escaped(stream);
  stream << "\x80";
  EXPECT_EQ(stream.str(), "\\x80");
  stream << "a\x80\x80\x80\x80";
  EXPECT_EQ(stream.str(), "\\x80a\\x80\\x80\\x80\\x80");
}

}  // namespace
}  // namespace caffe2rt::escaped_output_test
