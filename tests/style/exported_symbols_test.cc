// The shared libraries, and the program whose modules resolve against it, export what public headers
// declare and nothing else. For builds that hide symbols.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <set>
#include <sstream>

#include "tests/style/header_rules.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::exported_symbols_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// The exported symbols of a library or program, mangled.
std::vector<std::string> ExportedSymbols(const std::string& file) {
  const std::string command = "nm -D --defined-only --format=just-symbols " + file;
  const std::unique_ptr<FILE, int (*)(FILE*)> nm(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), nm.get())) {
    text.append(buffer.data(), n);
  }
  std::vector<std::string> symbols;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) symbols.push_back(line);
  return symbols;
}

// The names that qualify a mangled C++ symbol and its own name, such as {"caffe2rt", "Tensor",
// "dims"}. "std" stands for all of the standard library. Empty for a C symbol, and shorter for
// names such as those of operators and constructors.
std::vector<std::string> NamesOf(const std::string& symbol) {
  static const std::regex prefix(
      "^_Z(T[VITSC]|GV|GR|T(h|v|c)[n0-9]+_([n0-9]+_)?([hv]?[n0-9]+_)*)?[PK]*(Z|N[VK]*[RO]?)*");
  std::smatch match;
  if (!std::regex_search(symbol, match, prefix)) return {};
  std::vector<std::string> names;
  size_t at = static_cast<size_t>(match.length());
  if (symbol.compare(at, 1, "S") == 0) return {"std"};
  while (at < symbol.size() && std::isdigit(static_cast<unsigned char>(symbol[at])) != 0) {
    size_t digits = 0;
    const size_t length = std::stoul(symbol.substr(at), &digits);
    names.push_back(symbol.substr(at + digits, length));
    at += digits + length;
  }
  return names;
}

TEST(NamesOfTest, ReadsMangledNames) {
  EXPECT_THAT(NamesOf("_ZNK8caffe2rt6Tensor4dimsEv"), ElementsAre("caffe2rt", "Tensor", "dims"));
  EXPECT_THAT(NamesOf("_ZTVN8caffe2rt9BaseEventE"), ElementsAre("caffe2rt", "BaseEvent"));
  EXPECT_THAT(NamesOf("_ZThn16_N8caffe2rt3NetD0Ev"), ElementsAre("caffe2rt", "Net"));
  EXPECT_THAT(NamesOf("_ZGVZN8caffe2rt2db6ReaderEvE1t"), ElementsAre("caffe2rt", "db", "Reader"));
  EXPECT_THAT(NamesOf("_ZNSt6vectorIN8caffe2rt6TensorESaIS1_EED2Ev"), ElementsAre("std"));
  EXPECT_THAT(NamesOf("_ZN7leveldb2DB4OpenEv"), ElementsAre("leveldb", "DB", "Open"));
  EXPECT_THAT(NamesOf("caffe2rt_cuda_module"), IsEmpty());
}

// All identifiers in the public headers, in exported parts of internal ones, and in the headers that
// are generated from protos.
std::set<std::string> PublicWords() {
  static const std::regex word("[A-Za-z_][A-Za-z_0-9]*");
  std::set<std::string> words;
  const auto add = [&](const std::string& line) {
    for (std::sregex_iterator it(line.begin(), line.end(), word), end; it != end; ++it) {
      words.insert(it->str());
    }
  };
  for (const SourceFile& file : ReadSourceTree(SourcePath(""))) {
    if (!file.IsHeader()) continue;
    bool exported = IsPublicHeader(file);
    for (const std::string& line : file.lines) {
      if (line.starts_with("#pragma GCC visibility push(default)")) exported = true;
      const bool exported_class =
          line.find("[[gnu::visibility(\"default\")]]") != std::string::npos;
      if (exported || exported_class) add(line.substr(0, line.find("//")));
      if (line == "#pragma GCC visibility pop") exported = false;
    }
  }
  for (const auto& entry : std::filesystem::directory_iterator(BuildPath("gen/caffe2rt"))) {
    if (entry.path().extension() != ".h") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) add(line);
  }
  return words;
}

bool IsOfTheRuntime(const std::string& name) {
  static const std::set<std::string> names = {"std", "__gnu_cxx", "__cxxabiv1"};
  return names.contains(name);
}

// Whether the symbol is a copy of a shared library's data, which the linker makes in a program whose
// code is not position independent enough to reach the original.
bool IsCopiedData(const std::string& symbol) {
  return symbol.find('@') != std::string::npos || symbol.starts_with("_ZN4absl");
}

// Whether the library should export `symbol`.
bool IsPublic(const std::string& symbol, const std::set<std::string>& words) {
  static const std::set<std::string> namespaces = {"caffe2rt", "caffe", "db", "internal", "math"};
  const std::vector<std::string> names = NamesOf(symbol);
  // Operator new and delete, function types, resolvers of functions with several versions, which
  // clang exports, and constants that are variable templates, which g++ exports.
  static const std::regex of_the_compiler(
      "^_Z(n|d)(w|a|l)|^_ZT[IS]P?F|\\.resolver$|^_ZN8caffe2rt[0-9]+k[A-Z][A-Za-z0-9]*I");
  if (std::regex_search(symbol, of_the_compiler)) return true;
  if (names.empty()) {
    // The descriptors of the protos, the entry point of a device module, and the C interface.
    return symbol.starts_with("descriptor_table_caffe2rt_") || symbol == "caffe2rt_cuda_module" ||
           (symbol.starts_with("caffe2rt_") && words.contains(symbol));
  }
  if (IsOfTheRuntime(names[0])) return true;
  // What protoc generates outside the package's namespace.
  if (names[0].starts_with("TableStruct_caffe2rt_")) return true;
  if (symbol.starts_with("_ZN6google8protobuf5Arena18CreateMaybeMessageIN8caffe2rt")) return true;
  if (names[0] != "caffe2rt") return false;
  for (const std::string& name : names) {
    if (!namespaces.contains(name)) return words.contains(name);
  }
  return true;  // an operator
}

class ExportedSymbolsTest : public testing::TestWithParam<const char*> {};

TEST_P(ExportedSymbolsTest, AreDeclaredInPublicHeaders) {
  const std::set<std::string> words = PublicWords();
  const std::vector<std::string> symbols = ExportedSymbols(BuildPath(GetParam()));
  // A program also exports what the linker and the C library define in it.
  static const std::set<std::string> of_every_program = {
      "_IO_stdin_used", "__bss_start", "__data_start", "_edata", "_end",        "_fini",
      "_init",          "_start",      "data_start",   "main",   "__dso_handle"};
  for (const std::string& symbol : symbols) {
    if (of_every_program.contains(symbol) || IsCopiedData(symbol)) continue;
    EXPECT_TRUE(IsPublic(symbol, words)) << symbol;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ExportedSymbolsTest, testing::Values(EXPORTING_FILES),
                         [](const auto& info) {
                           std::string name = std::filesystem::path(info.param).stem().stem();
                           return name.substr(0, name.find('.'));
                         });

// One symbol of each kind that users' programs and modules need.
TEST(ExportedSymbolsOfTheCoreTest, ContainThePublicInterface) {
  const std::vector<std::string> symbols = ExportedSymbols(BuildPath(CORE_FILE));
  for (const char* symbol : {
           "_ZN8caffe2rt9WorkspaceD1Ev",              // a class
           "_ZTIN8caffe2rt13EnforceNotMetE",          // an exception that users catch
           "_ZTVN8caffe2rt12OperatorBaseE",           // a class that users derive from
           "_ZN8caffe2rt8internal7kNoTypeE",          // data that an inline function uses
           "_ZTIN8caffe2rt6NetDefE",                  // a message
           "_ZN8caffe2rt22EnsureBuiltinOperatorsEv",  // a registry of the process
           "caffe2rt_load_from_memory",               // the C interface
           "caffe2rt_load_caffe_from_memory",
       }) {
    EXPECT_THAT(symbols, Contains(symbol));
  }
}

}  // namespace
}  // namespace caffe2rt::test::exported_symbols_test
