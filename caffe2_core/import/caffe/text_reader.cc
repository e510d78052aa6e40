#include "caffe2_core/import/caffe/text_reader.h"

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxTextBytes = size_t{256} << 20;

bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '+' || c == '.' || c == '/';
}

struct Token {
  enum Kind { kEnd, kWord, kString, kSign };
  Kind kind = kEnd;
  std::string text;  // a string without its quotes
  CaffePlace place;
  bool Is(char sign) const { return kind == kSign && text[0] == sign; }
};

class Tokenizer {
 public:
  Tokenizer(std::string_view text, const std::string& subject) : text_(text), subject_(subject) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  }

  Token Next() {
    SkipSpace();
    Token token;
    token.place = place_;
    if (at_ == text_.size()) return token;
    const char c = text_[at_];
    if (c == '"' || c == '\'') {
      token.kind = Token::kString;
      ReadString(c, &token.text);
    } else if (IsWordByte(c)) {
      token.kind = Token::kWord;
      while (at_ < text_.size() && IsWordByte(text_[at_])) token.text.push_back(Take());
    } else {
      token.kind = Token::kSign;
      token.text.push_back(Take());
    }
    return token;
  }

  template <class... Parts>
  [[noreturn]] void Throw(CaffePlace place, const Parts&... parts) const {
    CAFFE_THROW("cannot read \"", subject_, "\": ", PlaceText(place), parts...);
  }

 private:
  char Take() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++place_.line;
      place_.column = 1;
    } else {
      ++place_.column;
    }
    return c;
  }

  void SkipSpace() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') Take();
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v') {
        Take();
      } else {
        return;
      }
    }
  }

  void ReadString(char quote, std::string* value) {
    const CaffePlace begin = place_;
    Take();
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\n') break;
      const char c = Take();
      if (c == '\\' && at_ < text_.size()) {
        ReadEscape(value);
      } else {
        value->push_back(c);
      }
    }
    if (at_ == text_.size() || text_[at_] != quote) {
      Throw(begin, "a string without a closing ", quote);
    }
    Take();
  }

  // A number of `base` with at most `digits` digits.
  void ReadNumber(int base, int digits, std::string* value) {
    int number = 0;
    for (; digits > 0 && at_ < text_.size(); --digits) {
      const char c = text_[at_];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : 99;
      if (digit >= base) break;
      number = number * base + digit;
      Take();
    }
    value->push_back(static_cast<char>(number));
  }

  void ReadEscape(std::string* value) {
    const char c = text_[at_];
    if (c >= '0' && c <= '7') return ReadNumber(8, 3, value);
    Take();
    switch (c) {
      case 'n':
        return value->push_back('\n');
      case 't':
        return value->push_back('\t');
      case 'r':
        return value->push_back('\r');
      case 'a':
        return value->push_back('\a');
      case 'b':
        return value->push_back('\b');
      case 'f':
        return value->push_back('\f');
      case 'v':
        return value->push_back('\v');
      case 'x':
        return ReadNumber(16, 2, value);
      default:
        return value->push_back(c);
    }
  }

  std::string_view text_;
  const std::string& subject_;
  size_t at_ = 0;
  CaffePlace place_ = {1, 1};
};

class TextParser {
 public:
  TextParser(std::string_view text, const std::string& subject) : tokens_(text, subject) { Step(); }

  CaffeMessage ParseAll() {
    CaffeMessage root;
    ParseFields(0, &root);
    if (token_.kind != Token::kEnd) Fail("want the name of a field");
    return root;
  }

 private:
  void Step() { token_ = tokens_.Next(); }

  [[noreturn]] void Fail(const char* want) {
    if (token_.kind == Token::kEnd) tokens_.Throw(token_.place, "the text ends here, ", want);
    tokens_.Throw(token_.place, "got \"", Shortened(token_.text), "\", ", want);
  }

  void CountField(CaffePlace place) {
    if (++fields_ > kMaxCaffeFields) {
      tokens_.Throw(place, "the text has more than ", kMaxCaffeFields, " fields");
    }
  }

  // Fields up to the end of the text or of the message.
  void ParseFields(int depth, CaffeMessage* message) {
    while (true) {
      while (token_.Is(',') || token_.Is(';')) Step();
      if (token_.kind == Token::kEnd || token_.Is('}') || token_.Is('>')) return;
      const CaffePlace place = token_.place;
      ParseValueOf(ParseName(), place, depth, message);
    }
  }

  std::string ParseName() {
    if (token_.kind == Token::kWord) {
      std::string name = token_.text;
      Step();
      return name;
    }
    if (!token_.Is('[')) Fail("want the name of a field");
    std::string name;  // of an extension
    for (Step(); !token_.Is(']'); Step()) {
      if (token_.kind != Token::kWord) Fail("want the name of a field");
      name += token_.text;
    }
    Step();
    return name;
  }

  void ParseValueOf(const std::string& name, CaffePlace place, int depth, CaffeMessage* message) {
    const bool colon = token_.Is(':');
    if (colon) Step();
    if (!token_.Is('[')) {
      if (!colon && !token_.Is('{') && !token_.Is('<')) Fail("want a colon or a brace");
      return ParseOne(name, place, depth, message);
    }
    Step();
    while (!token_.Is(']')) {
      ParseOne(name, token_.place, depth, message);
      if (token_.Is(',')) {
        Step();
      } else if (!token_.Is(']')) {
        Fail("want \",\" or \"]\"");
      }
    }
    Step();
  }

  void ParseOne(const std::string& name, CaffePlace place, int depth, CaffeMessage* message) {
    if (token_.Is('{') || token_.Is('<')) return ParseMessage(name, place, depth, message);
    CountField(place);
    CaffeField& field = message->Add(name, place);
    if (token_.kind == Token::kWord) {
      field.text = token_.text;
      Step();
      if (field.text != "-" || token_.kind != Token::kWord) return;
      field.text += token_.text;  // a sign and, behind a space, its number
      return Step();
    }
    if (token_.kind != Token::kString) Fail("want a value");
    for (; token_.kind == Token::kString; Step()) field.text += token_.text;
  }

  void ParseMessage(const std::string& name, CaffePlace place, int depth, CaffeMessage* message) {
    CountField(place);
    if (depth == kMaxDepth) tokens_.Throw(place, "messages are nested more than 64 levels deep");
    const char close = token_.Is('{') ? '}' : '>';
    Step();
    auto inner = std::make_unique<CaffeMessage>();
    ParseFields(depth + 1, inner.get());
    if (!token_.Is(close)) {
      tokens_.Throw(token_.place, "want \"", close, "\" for the message ", Shortened(name),
                    " that begins at line ", place.line);
    }
    Step();
    message->Add(name, place).message = std::move(inner);
  }

  Tokenizer tokens_;
  Token token_;
  int64_t fields_ = 0;
};

}  // namespace

CaffeMessage ParseCaffeText(std::string_view text, const std::string& subject) {
  CAFFE_ENFORCE_LE(text.size(), kMaxTextBytes, "size of \"", subject, "\"");
  return TextParser(text, subject).ParseAll();
}

}  // namespace caffe2rt
