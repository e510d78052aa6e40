#include "caffe2_core/import/caffe/text_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/support/operator_test.h"

namespace caffe2rt::test::text_reader_test {
namespace {

CaffeMessage Parse(const std::string& text) { return ParseCaffeText(text, "net.prototxt"); }

TEST(CaffeTextReaderTest, ReadsFieldsWithoutASchema) {
  const CaffeMessage net = Parse(R"(name: "n" layer { type: 'ReLU' fork_param { a: 1 a: 2 } })");
  EXPECT_EQ(net.Text("name"), "n");
  const CaffeMessage& layer = net.Message("layer");
  EXPECT_EQ(layer.Text("type"), "ReLU");
  EXPECT_EQ(layer.Message("fork_param").Integers("a"), (std::vector<int64_t>{1, 2}));
  EXPECT_TRUE(layer.Message("absent").fields().empty());
}

struct Spelling {
  const char* name;
  std::string text;
};
// Each gives a { x: 1 y: "ab" z: 2 z: 3 }.
const Spelling kSpellings[] = {
    {"Plain", R"(a { x: 1 y: "ab" z: 2 z: 3 })"},
    {"ColonBeforeAMessage", R"(a: { x: 1 y: "ab" z: 2 z: 3 })"},
    {"AngleBrackets", R"(a < x: 1 y: "ab" z: 2 z: 3 >)"},
    {"Semicolons", R"(a { x: 1; y: "ab"; z: 2; z: 3; };)"},
    {"Commas", R"(a { x: 1, y: "ab", z: 2, z: 3 })"},
    {"Lists", R"(a { x: 1 y: "ab" z: [2, 3] })"},
    {"StringsInARow", "a { x: 1 y: \"a\" 'b' z: 2 z: 3 }"},
    {"Comments", "# first\na { x: 1 # } \" \n y: \"ab\" z: 2 z: 3 }"},
    {"WindowsLineEnds", "a {\r\n x: 1\r\n y: \"ab\"\r\n z: 2\r\n z: 3\r\n}\r\n"},
    {"ByteOrderMark",
     "\xef\xbb\xbf"
     R"(a { x: 1 y: "ab" z: 2 z: 3 })"},
    {"Latin1Comment", "# M\xfcller\na { x: 1 y: \"ab\" z: 2 z: 3 }"},
    {"NoSpaces", R"(a{x:1 y:"ab"z:2 z:3})"},
    {"Escapes", R"(a { x: 0x1 y: "\141\x62" z: 2 z: 03 })"},
    {"FloatsAsIntegers", R"(a { x: 1.0 y: "ab" z: 2. z: 3e0 })"},
};

class CaffeSpellingTest : public testing::TestWithParam<Spelling> {};
TEST_P(CaffeSpellingTest, MeansTheSame) {
  const CaffeMessage net = Parse(GetParam().text);
  const CaffeMessage& a = net.Message("a");
  EXPECT_EQ(a.Integer("x", 0), 1);
  EXPECT_EQ(a.Text("y"), "ab");
  EXPECT_EQ(a.Integers("z"), (std::vector<int64_t>{2, 3}));
}
INSTANTIATE_TEST_SUITE_P(Each, CaffeSpellingTest, testing::ValuesIn(kSpellings),
                         [](const auto& info) { return std::string(info.param.name); });

// A digit that the base does not have, and a fourth octal or a third hexadecimal digit, follow the
// number as characters.
TEST(CaffeTextReaderTest, NumbersInStringsEndAtTheFirstOtherCharacter) {
  const struct {
    const char* text;
    std::string value;
  } rows[] = {{R"(y: "\18")",
               "\1"
               "8"},
              {R"(y: "\19")",
               "\1"
               "9"},
              {R"(y: "\78")",
               "\7"
               "8"},
              {R"(y: "\1a")",
               "\1"
               "a"},
              {R"(y: "\1411")", "a1"},
              {R"(y: "\x4g")",
               "\x4"
               "g"},
              {R"(y: "\x6a")", "j"},
              {R"(y: "\x6A")", "j"},
              {R"(y: "\x6F")", "o"},
              {R"(y: "\x611")", "a1"}};
  for (const auto& row : rows) EXPECT_EQ(Parse(row.text).Text("y"), row.value) << row.text;
}

TEST(CaffeTextReaderTest, AnExtensionIsAFieldWithTheNameInBrackets) {
  EXPECT_EQ(Parse("[fork.size]: 7").Integer("fork.size", 0), 7);
  EXPECT_EQ(Parse("[size] { x: 3 } y: 4").Message("size").Integer("x", 0), 3);
  EXPECT_EQ(Parse("[size] { x: 3 } y: 4").Integer("y", 0), 4);
}

TEST(CaffeTextReaderTest, ReadsNumbersBoolsAndWords) {
  const CaffeMessage m =
      Parse("a: -3 b: .5 c: -1.5e-3 d: 2f e: True f: t g: 0 h: MAX i: 1 j: inf k: - 4");
  EXPECT_EQ(m.Integer("a", 0), -3);
  EXPECT_FLOAT_EQ(m.Float("b", 0), 0.5f);
  EXPECT_FLOAT_EQ(m.Float("c", 0), -1.5e-3f);
  EXPECT_FLOAT_EQ(m.Float("d", 0), 2);
  EXPECT_TRUE(m.Bool("e", false));
  EXPECT_TRUE(m.Bool("f", false));
  EXPECT_FALSE(m.Bool("g", true));
  EXPECT_EQ(m.Enum("h", {"AVE", "MAX"}, 0), 1);
  EXPECT_EQ(m.Enum("i", {"AVE", "MAX"}, 0), 1);
  EXPECT_EQ(m.Enum("i", {"SUM", "MEAN"}, 0, {1, 4}), 0);
  EXPECT_EQ(m.Float("j", 0), INFINITY);
  EXPECT_EQ(m.Integer("k", 0), -4);
  ExpectThrows([&] { (void)m.Integer("b", 0); },
               "line 1, column 7: field b is \".5\", want an integer");
  ExpectThrows([&] { (void)m.Enum("h", {"A", "B"}, 0); }, "field h is \"MAX\", want one of A, B");
}

TEST(CaffeTextReaderTest, ErrorsNameThePlace) {
  const auto expect = [](const std::string& text, const std::string& part) {
    ExpectThrows([&] { Parse(text); }, part);
  };
  expect("a: 1\n  b 2", "cannot read \"net.prototxt\": line 2, column 5: got \"2\", want a colon");
  expect("a {\n b: 1\n", "line 3, column 1: want \"}\" for the message a that begins at line 1");
  expect("a: \"x\n\"", "line 1, column 4: a string without a closing \"");
  expect("a: }", "line 1, column 4: got \"}\", want a value");
  expect("a { b: 1 >", "want \"}\" for the message a");
  expect("}", "line 1, column 1: got \"}\", want the name of a field");
  expect("a: [1 2]", "got \"2\", want \",\" or \"]\"");
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "a{";
  expect(deep, "messages are nested more than 64 levels deep");
}

TEST(CaffeTextReaderTest, ErrorsAtTheEndNameWhatIsMissing) {
  const std::pair<std::string, std::string> rows[] = {
      {"a", "line 1, column 2: the text ends here, want a colon or a brace"},
      {"a:", "line 1, column 3: the text ends here, want a value"},
      {"a: # b", "line 1, column 7: the text ends here, want a value"},
      {"a: [", "line 1, column 5: the text ends here, want a value"},
      {"a: [1", "line 1, column 6: the text ends here, want \",\" or \"]\""},
      {"a: [1,", "line 1, column 7: the text ends here, want a value"},
      {"[a", "line 1, column 3: the text ends here, want the name of a field"},
      {"[a]", "line 1, column 4: the text ends here, want a colon or a brace"},
      {"a {", "line 1, column 4: want \"}\" for the message a that begins at line 1"},
      {"a: <\nb: 1", "line 2, column 5: want \">\" for the message a that begins at line 1"},
      {"a < b: 1 }", "line 1, column 10: want \">\" for the message a that begins at line 1"},
      {"a { b < c: 1 } }", "line 1, column 14: want \">\" for the message b that begins at line 1"},
      {"a <\nb { c: 1 > }",
       "line 2, column 10: want \"}\" for the message b that begins at line 2"},
      {"a 2", "line 1, column 3: got \"2\", want a colon or a brace"},
      {"a: ]", "line 1, column 4: got \"]\", want a value"},
      {": 2", "line 1, column 1: got \":\", want the name of a field"},
      {"'a': 2", "line 1, column 1: got \"a\", want the name of a field"},
      {"a: 1 }", "line 1, column 6: got \"}\", want the name of a field"},
      {"a: 1 >", "line 1, column 6: got \">\", want the name of a field"},
      {"[a 'b']: 1", "line 1, column 4: got \"b\", want the name of a field"},
      {"a: 'x\ny'", "line 1, column 4: a string without a closing '"},
      {"a: \"x'", "line 1, column 4: a string without a closing \""},
  };
  for (const auto& [text, message] : rows) {
    SCOPED_TRACE(text);
    try {
      Parse(text);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const EnforceNotMet& error) {
      EXPECT_EQ(error.message(), "cannot read \"net.prototxt\": " + message);
    }
  }
  // Nothing, and what is left out between fields, is no error.
  for (const char* text :
       {"", "# a", ";,;", "a: []", "a {}", "a: <>", "a: '' ''", "\xef\xbb\xbf"}) {
    EXPECT_NO_THROW(Parse(text)) << text;
  }
}

// Writes a random net in the grammar of the three generations, with odd spellings.
class Writer {
 public:
  explicit Writer(unsigned seed) : random_(seed) {}

  std::string Net() {
    std::string text = Pick(4) == 0 ? "\xef\xbb\xbf" : "";
    text += "name: " + String("n");
    const int generation = Pick(3);
    const int layers = 1 + Pick(6);
    for (int i = 0; i < layers; ++i) text += Space() + Layer(generation, i);
    return text + Space();
  }

 private:
  int Pick(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  std::string Space() {
    static const char* const kSpaces[] = {
        " ", "\n", "\r\n", "\t", "; ", ", ", "\n# caf\xe9 { \"\n"};
    return kSpaces[Pick(7)];
  }
  std::string Gap() { return Pick(3) == 0 ? "\n" : " "; }
  std::string String(const std::string& value) {
    switch (Pick(4)) {
      case 0:
        return "'" + value + "'";
      case 1:
        return "\"\" \"" + value + "\"";
      default:
        return "\"" + value + "\"";
    }
  }
  std::string Message(const std::string& name, const std::string& body) {
    const std::string colon = Pick(2) == 0 ? ":" : "";
    return Pick(4) == 0 ? name + colon + " <" + body + Gap() + ">"
                        : name + colon + Gap() + "{" + body + Gap() + "}";
  }
  std::string Layer(int generation, int i) {
    const std::string name = " name: " + String("l" + std::to_string(i));
    const std::string ends = " bottom: 'x'" + Space() + "top: " + String("t" + std::to_string(i));
    const std::string sizes = Pick(2) == 0 ? " kernel_size: [3, 3]" : " kernel_size: 3";
    if (generation == 0) {
      return Message("layers", " " + Message("layer", name + " type: 'conv' kernelsize: 3") + ends);
    }
    const std::string param = " " + Message("convolution_param", sizes + " fork_field: true");
    if (generation == 1) return Message("layers", name + " type: CONVOLUTION" + ends + param);
    return Message("layer", name + " type: " + String("Convolution") + ends + param);
  }

  std::mt19937 random_;
};

TEST(CaffeTextReaderTest, ParsesNetsOfAGrammar) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const std::string text = Writer(seed).Net();
    const CaffeMessage net = Parse(text);
    EXPECT_EQ(net.Text("name"), "n") << text;
    EXPECT_TRUE(net.Has("layer") || net.Has("layers")) << text;
  }
}

TEST(CaffeTextReaderTest, DamagedNetsParseOrFailWithAPlace) {
  std::mt19937 random(1);
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::string text = Writer(seed).Net();
    for (int i = 0; i < 3; ++i) text[random() % text.size()] = "{}<>:\"'[]#\\ a1"[random() % 14];
    try {
      (void)Parse(text);
    } catch (const EnforceNotMet& error) {
      EXPECT_NE(error.message().find(": line "), std::string::npos) << error.message();
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::text_reader_test
