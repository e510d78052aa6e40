#pragma once
// The command line of a subcommand: a table of options, the values given, and the --help text
// generated from the table.
//
//   const std::vector<Option> options = {{"top", "N", "5", "classes to print"},
//                                        {"bgr", "", "", "blue first"}};
//   const CommandLine line = ParseCommandLine(options, {"--top", "3", "cat.jpg"});
//   line.Integer("top", 1, 1000);
//   line.Has("bgr");
//   line.positional();
//
// `--name value` and `--name=value` are equivalent. Options and files may be mixed; `--` ends the
// options. Every subcommand accepts the flags of the library's registry (Caffe2's `--caffe2_...`);
// the parser sets them immediately. Every error in the command line THROWS UsageError.

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace caffe2rt {

// A wrong command line. The program prints the message and exits with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Option {
  const char* name;           // without the dashes
  const char* value;          // the name of the value in --help; "" for a switch
  const char* default_value;  // as text; "" if there is none
  const char* help;
  bool repeated = false;  // may be given more than once
};

class CommandLine {
 public:
  explicit CommandLine(const std::vector<Option>& options) : options_(options) {}

  bool Has(const std::string& name) const { return given_.contains(name); }
  // The value given (the last one if repeated), or the default.
  std::string Text(const std::string& name) const;
  // All values given.
  std::vector<std::string> All(const std::string& name) const;
  int64_t Integer(const std::string& name, int64_t least, int64_t most) const;
  // Comma-separated numbers.
  std::vector<float> Floats(const std::string& name) const;
  // A size in bytes: a number with an optional K, M or G (powers of 1024).
  int64_t Bytes(const std::string& name) const;
  const std::vector<std::string>& positional() const { return positional_; }

  void Add(const Option& option, const std::string& value);
  void AddPositional(const std::string& text) { positional_.push_back(text); }

 private:
  const std::vector<Option>& options_;  // the table passed to the constructor
  std::map<std::string, std::vector<std::string>> given_;
  std::vector<std::string> positional_;
};

// `options` must outlive the result.
CommandLine ParseCommandLine(const std::vector<Option>& options,
                             const std::vector<std::string>& args);

// Returns lines such as "  --top N          classes to print (5)", one per option.
std::string OptionsHelp(const std::vector<Option>& options);

// Parses comma-separated numbers, each at least 0. Returns false if `text` is not such a list.
bool ParseDims(const std::string& text, std::vector<int64_t>* dims);

// Returns "; did you mean X?" with the name in `known` that is closest to `name`, or "" if none is
// close.
std::string DidYouMean(const std::string& name, const std::vector<std::string>& known);

}  // namespace caffe2rt
