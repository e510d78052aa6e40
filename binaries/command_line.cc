#include "binaries/command_line.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>
#include <absl/strings/strip.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <span>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {
namespace {

using Words = std::vector<std::string>;

// For `--name=`, CLI11 takes the next word as the value. A zero byte, which no argument contains,
// stands for the empty value while CLI11 parses; c_str() ends before it.
constexpr char kEmptyValue = '\0';

bool IsSwitch(const Option& option) { return option.value[0] == '\0'; }

// Returns the options of the app, in the order of the table. They are not looked up by name later:
// CLI11 does that in a function that is noexcept and allocates.
std::vector<const CLI::Option*> AddOptions(const std::vector<Option>& options, CLI::App* app) {
  std::vector<const CLI::Option*> all;
  for (const Option& option : options) {
    const bool is_output = std::string_view(option.name) == "output";
    const std::string name = MakeString(is_output ? "-o,--" : "--", option.name);
    CLI::Option* const added = IsSwitch(option) ? app->add_flag(name) : app->add_option(name);
    all.push_back(added->take_all()->option_text(option.value));
  }
  return all;
}

// Returns the words that belong to none of the app's options, in order.
Words ParseOptions(Words words, CLI::App* app) {
  const std::string last = words.empty() ? "" : words.back();
  for (std::string& word : words) {
    if (word.ends_with('=')) word += kEmptyValue;
  }
  std::reverse(words.begin(), words.end());  // the order that CLI11 expects
  app->allow_extras();
  try {
    app->parse(std::move(words));
  } catch (const CLI::ArgumentMismatch&) {
    // Each option accepts any number of single values, so only the last word can lack one.
    std::string text;
    for (const CLI::Option* option : app->get_options()) {
      if (option->check_name(last)) text = option->get_option_text();
    }
    throw UsageError("option " + last + " needs a value (" + text + ")");
  }
  return app->remaining();
}

// Returns the values given to an option. THROWS UsageError if they do not fit the table.
Words ValuesOf(const Option& option, const CLI::Option& parsed) {
  Words values;
  for (const std::string& value : parsed.results()) {
    values.emplace_back(value.c_str());
  }
  if (values.size() > 1 && !option.repeated) {
    throw UsageError(MakeString("option --", option.name, " is given more than once"));
  }
  if (IsSwitch(option) && !values.empty() && values[0] != "true") {
    throw UsageError(MakeString("option --", option.name, " does not accept a value"));
  }
  return values;
}

// Whether the word is --name, --name=value or --noname of a flag of the registry.
bool NamesFlag(const std::string& word) {
  const std::string given = word.substr(0, word.find('='));
  const std::vector<FlagInfo> flags = RegisteredFlags();
  return std::any_of(flags.begin(), flags.end(), [&](const FlagInfo& flag) {
    return given == "--" + flag.name || (flag.type == "bool" && word == "--no" + flag.name);
  });
}

[[noreturn]] void ThrowUnknownOption(const std::string& word, const std::vector<Option>& options) {
  const std::string given = word.substr(0, word.find('='));
  Words known = {"--help", "--help-all"};
  for (const Option& option : options) known.push_back(MakeString("--", option.name));
  for (const FlagInfo& flag : RegisteredFlags()) known.push_back("--" + flag.name);
  const std::string name(absl::StripPrefix(absl::StripPrefix(given, "-"), "-"));
  throw UsageError("option " + given + " is not known" + DidYouMean("--" + name, known));
}

// Sets the flags that the words name. Returns the other words: the files.
Words SetFlags(Words words, const std::vector<Option>& options) {
  const auto end = std::find(words.begin(), words.end(), "--");
  for (auto word = words.begin(); word != end; ++word) {
    if (word->starts_with("--")) {
      if (!NamesFlag(*word)) ThrowUnknownOption(*word, options);
    } else if (word->starts_with('-') && NamesFlag("-" + *word)) {
      word->insert(0, "-");  // Caffe2's programs accept flags with one dash
    }
  }
  std::string program;
  std::vector<char*> argv = {program.data()};
  for (std::string& word : words) argv.push_back(word.data());
  int argc = static_cast<int>(argv.size());
  char** kept = argv.data();
  try {
    ParseCommandLineFlags(&argc, &kept);
  } catch (const EnforceNotMet& error) {
    throw UsageError(error.message());
  }
  Words files;
  bool options_ended = false;
  for (const std::string word : std::span(kept, static_cast<size_t>(argc)).subspan(1)) {
    if (!options_ended && word == "--") {
      options_ended = true;
      continue;
    }
    if (!options_ended && word.size() > 1 && word[0] == '-') ThrowUnknownOption(word, options);
    files.push_back(word);
  }
  return files;
}

Words SplitAtCommas(const std::string& text) { return absl::StrSplit(text, ','); }

}  // namespace

std::string CommandLine::Text(const std::string& name) const {
  if (const auto it = given_.find(name); it != given_.end()) return it->second.back();
  for (const Option& option : options_) {
    if (option.name == name) return option.default_value;
  }
  return "";
}

std::vector<std::string> CommandLine::All(const std::string& name) const {
  const auto it = given_.find(name);
  return it == given_.end() ? std::vector<std::string>{} : it->second;
}

// CLI11's own conversions are not used: they read 010 as octal, and its sizes and floating-point
// numbers depend on the process's locale.
int64_t CommandLine::Integer(const std::string& name, int64_t least, int64_t most) const {
  const std::string text = Text(name);
  int64_t value = 0;
  if (!ParseNumber(text, &value) || value < least || value > most) {
    throw UsageError(MakeString("option --", name, " is \"", text, "\", want a number from ", least,
                                " to ", most));
  }
  return value;
}

std::vector<float> CommandLine::Floats(const std::string& name) const {
  std::vector<float> values;
  for (const std::string& part : SplitAtCommas(Text(name))) {
    float value = 0;
    if (!ParseNumber(part, &value) || !std::isfinite(value)) {
      throw UsageError(
          MakeString("option --", name, " is \"", Text(name), "\", want comma-separated numbers"));
    }
    values.push_back(value);
  }
  return values;
}

int64_t CommandLine::Bytes(const std::string& name) const {
  const std::string text = Text(name);
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string unit = absl::AsciiStrToUpper(text.substr(digits));
  int shift = -1;
  for (const auto& [letter, bits] : {std::pair("", 0), {"K", 10}, {"M", 20}, {"G", 30}}) {
    for (const char* ending : {"", "B", "I", "IB"}) {
      if (unit == MakeString(letter, ending)) shift = bits;
    }
  }
  int64_t value = 0;
  if (shift < 0 || !ParseNumber(text.substr(0, digits), &value) || value > (INT64_MAX >> shift)) {
    throw UsageError(
        MakeString("option --", name, " is \"", text, "\", want bytes, such as 512M or 4G"));
  }
  return value << shift;
}

CommandLine ParseCommandLine(const std::vector<Option>& options,
                             const std::vector<std::string>& args,
                             void (*load_modules)(const CommandLine& line)) {
  CLI::App app;
  app.set_help_flag();
  const CLI::Option* const help = app.add_flag("-h,--help");
  const CLI::Option* const help_all = app.add_flag("--help-all");
  const std::vector<const CLI::Option*> parsed = AddOptions(options, &app);
  const Words rest = ParseOptions(args, &app);
  CommandLine line(options);
  if (!help->empty() || !help_all->empty()) {
    line.given_[help_all->empty() ? "help" : "help-all"] = {"true"};
    return line;
  }
  for (size_t i = 0; i < options.size(); ++i) {
    if (Words values = ValuesOf(options[i], *parsed[i]); !values.empty()) {
      line.given_[options[i].name] = std::move(values);
    }
  }
  if (load_modules != nullptr) load_modules(line);
  line.positional_ = SetFlags(rest, options);
  return line;
}

void CheckPositional(const CommandLine& line, size_t least, size_t most, const char* what) {
  const size_t count = line.positional().size();
  if (count < least) throw UsageError(std::string("want ") + what + ", see --help");
  if (count > most) {
    throw UsageError(
        "argument \"" + line.positional()[most] + "\" is unexpected" +
        (most == 0 ? "; this command reads files from options, see --help" : ", see --help"));
  }
}

bool ParseDims(const std::string& text, std::vector<int64_t>* dims) {
  dims->clear();
  for (const std::string& part : SplitAtCommas(text)) {
    int64_t dim = 0;
    if (!ParseNumber(part, &dim) || dim < 0) return false;
    dims->push_back(dim);
  }
  return true;
}

std::string DidYouMean(const std::string& name, const std::vector<std::string>& known) {
  const std::vector<std::string> close = NearestNames(name, known, 1);
  return close.empty() ? "" : "; did you mean " + close[0] + "?";
}

}  // namespace caffe2rt
