#pragma once
// The command line of a subcommand: a table of options, what was given, and the --help text made of
// both.
//
//   const std::vector<Option> options = {{"top", "N", "5", "classes to print"}, {"bgr", "", "",
//   "blue first"}}; const CommandLine line = ParseCommandLine(options, {"--top", "3", "cat.jpg"});
//   line.Integer("top", 1, 1000);  line.Has("bgr");  line.positional();
//
// `--name value` and `--name=value` are the same; options and files may be mixed; `--` ends the
// options. Flags of the library's registry (Caffe2's `--caffe2_...`) are taken by every subcommand
// and set at once. Everything that is wrong with what was typed THROWS UsageError.

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace caffe2rt {

// The program prints it and exits with 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Option {
  const char* name;           // without the dashes
  const char* value;          // what stands for the value in --help; "": a switch
  const char* default_value;  // as text; "" when there is none
  const char* help;
  bool repeated = false;  // may be given more than once
};

class CommandLine {
 public:
  explicit CommandLine(const std::vector<Option>& options) : options_(options) {}

  bool Has(const std::string& name) const { return given_.contains(name); }
  // The value given (the last one), else the default.
  std::string Text(const std::string& name) const;
  // All values given.
  std::vector<std::string> All(const std::string& name) const;
  int64_t Integer(const std::string& name, int64_t least, int64_t most) const;
  // Numbers with commas between.
  std::vector<float> Floats(const std::string& name) const;
  // Bytes: a number with an optional K, M or G (powers of 1024).
  int64_t Bytes(const std::string& name) const;
  const std::vector<std::string>& positional() const { return positional_; }

  void Add(const Option& option, const std::string& value);
  void AddPositional(const std::string& text) { positional_.push_back(text); }

 private:
  const std::vector<Option>& options_;  // a table of the program's
  std::map<std::string, std::vector<std::string>> given_;
  std::vector<std::string> positional_;
};

// `options` must outlive the result.
CommandLine ParseCommandLine(const std::vector<Option>& options,
                             const std::vector<std::string>& args);

// "  --top N          classes to print (5)", one line an option.
std::string OptionsHelp(const std::vector<Option>& options);

// A list of numbers with commas between, each at least 0; false when `text` is none.
bool ParseDims(const std::string& text, std::vector<int64_t>* dims);

// "; did you mean X?" or "".
std::string DidYouMean(const std::string& name, const std::vector<std::string>& known);

}  // namespace caffe2rt
