#pragma once
// The command line of a program or a subcommand: a table of options, the values given, and the
// --help text generated from the table. CLI11 parses the words and lays out the text; only
// command_line.cc includes its headers, which are slow to compile.
//
//   const std::vector<Option> options = {{"top", "N", "5", "classes to print"},
//                                        {"bgr", "", "", "blue first"}};
//   const CommandLine line = ParseCommandLine(options, {"--top", "3", "cat.jpg"});
//   line.Integer("top", 1, 1000);
//   line.Has("bgr");
//   line.positional();
//
// `--name value` and `--name=value` are equivalent, and `-o` is short for `--output`. Options and
// files may be mixed; `--` ends the options. Every command line accepts -h, --help and --help-all,
// and the flags of the library's registry (Caffe2's `--caffe2_...`); the parser sets the flags
// immediately. Every error in the command line THROWS UsageError.

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
  bool advanced = false;  // rarely used: only --help-all lists it
  // The values that a shell offers; null if they are not a fixed set.
  std::vector<std::string> (*values)() = nullptr;
};

class CommandLine {
 public:
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

 private:
  friend CommandLine ParseCommandLine(const std::vector<Option>& options,
                                      const std::vector<std::string>& args,
                                      void (*load_modules)(const CommandLine& line));
  explicit CommandLine(const std::vector<Option>& options) : options_(options) {}

  const std::vector<Option>& options_;  // the table passed to the constructor
  std::map<std::string, std::vector<std::string>> given_;
  std::vector<std::string> positional_;
};

// `options` must outlive the result. If --help or --help-all is given, the result has the option
// "help" or "help-all" and nothing else. `load_modules`, if not null, is called with the values of the options before the
// flags are set, because modules may define flags.
CommandLine ParseCommandLine(const std::vector<Option>& options,
                             const std::vector<std::string>& args,
                             void (*load_modules)(const CommandLine& line) = nullptr);

// THROWS UsageError unless `least` to `most` positional arguments are given. `what` names them in
// the error.
void CheckPositional(const CommandLine& line, size_t least, size_t most, const char* what);

// How much a --help text has: all options, or those that are not `advanced`.
enum class HelpDetail { kShort, kAll };
// Returns the text of --help: the purpose, "usage: " and `usage`, a line such as
// "  --top N                  classes to print (5)" for each option, and `notes`. Lines of options are
// wrapped at `width` columns.
std::string HelpText(const std::string& purpose, const std::string& usage,
                     const std::vector<Option>& options, const std::string& notes,
                     HelpDetail detail = HelpDetail::kShort, size_t width = 80);
// Returns the flags of the library's registry that have an effect, in their groups, as --help-all
// lists them.
std::string FlagsText(size_t width = 80);
// Returns `commands`, one shell command on each line, with lines that are wider than `width` continued
// on the next one. `indent` precedes each command. The demo's folder becomes a variable, $D.
std::string WrappedCommands(const std::string& commands, const std::string& indent,
                            size_t width = 80);
// Returns "  NAME    TEXT\n" with the name in a column of `name_width` and the text wrapped.
std::string NamedLine(const std::string& name, size_t name_width, const std::string& text,
                      size_t width = 80);

// Parses comma-separated numbers, each at least 0. Returns false if `text` is not such a list.
bool ParseDims(const std::string& text, std::vector<int64_t>* dims);

// Returns "; did you mean X?" with the name in `known` that is closest to `name`, or "" if none is
// close.
std::string DidYouMean(const std::string& name, const std::vector<std::string>& known);

}  // namespace caffe2rt
