#include "binaries/command_line.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {
namespace {

bool ParseInteger(const std::string& text, int64_t* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t comma = text.find(',', begin);
    parts.push_back(text.substr(begin, comma - begin));
    if (comma == std::string::npos) return parts;
    begin = comma + 1;
  }
}

// An invalid value is an error in the command line.
void SetFlagOrComplain(const std::string& name, const std::string& value) {
  try {
    SetFlag(name, value);
  } catch (const EnforceNotMet& error) {
    throw UsageError(error.message());
  }
}

// Sets a flag of the registry, given as --name=value, --name value, --name or --noname. Returns
// false if `name` is not a flag. Advances `i` past a separate value.
bool TakeFlag(const std::string& name, bool has_value, const std::string& value,
              const std::vector<std::string>& args, size_t* i) {
  for (const FlagInfo& flag : RegisteredFlags()) {
    const bool is_switch = flag.type == "bool";
    if (is_switch && name == "no" + flag.name && !has_value) {
      SetFlagOrComplain(flag.name, "false");
      return true;
    }
    if (name != flag.name) continue;
    if (has_value) {
      SetFlagOrComplain(name, value);
    } else if (is_switch) {
      SetFlagOrComplain(name, "true");
    } else if (*i + 1 < args.size()) {
      SetFlagOrComplain(name, args[++*i]);
    } else {
      throw UsageError("option --" + name + " needs a value");
    }
    return true;
  }
  return false;
}

}  // namespace

void CommandLine::Add(const Option& option, const std::string& value) {
  std::vector<std::string>& values = given_[option.name];
  if (!values.empty() && !option.repeated) {
    throw UsageError(MakeString("option --", option.name, " is given more than once"));
  }
  values.push_back(value);
}

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

int64_t CommandLine::Integer(const std::string& name, int64_t least, int64_t most) const {
  const std::string text = Text(name);
  int64_t value = 0;
  if (!ParseInteger(text, &value) || value < least || value > most) {
    throw UsageError(MakeString("option --", name, " is \"", text, "\", want a number from ", least,
                                " to ", most));
  }
  return value;
}

std::vector<float> CommandLine::Floats(const std::string& name) const {
  std::vector<float> values;
  for (const std::string& part : SplitAtCommas(Text(name))) {
    float value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(value)) {
      throw UsageError(
          MakeString("option --", name, " is \"", Text(name), "\", want comma-separated numbers"));
    }
    values.push_back(value);
  }
  return values;
}

int64_t CommandLine::Bytes(const std::string& name) const {
  std::string text = Text(name);
  int shift = 0;
  const std::string units = "KMG";
  if (!text.empty() && (text.back() == 'B' || text.back() == 'b')) text.pop_back();
  if (!text.empty() && (text.back() == 'i')) text.pop_back();
  if (!text.empty()) {
    const size_t unit = units.find(AsciiUpper(text.back()));
    if (unit != std::string::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      text.pop_back();
    }
  }
  int64_t value = 0;
  if (!ParseInteger(text, &value) || value < 0 || value > (INT64_MAX >> shift)) {
    throw UsageError(
        MakeString("option --", name, " is \"", Text(name), "\", want bytes, such as 512M or 4G"));
  }
  return value << shift;
}

CommandLine ParseCommandLine(const std::vector<Option>& options,
                             const std::vector<std::string>& args) {
  CommandLine line(options);
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--") {
      for (++i; i < args.size(); ++i) line.AddPositional(args[i]);
      break;
    }
    if (arg.size() < 2 || arg[0] != '-') {
      line.AddPositional(arg);
      continue;
    }
    const size_t equals = arg.find('=');
    const std::string name = arg.substr(
        std::min<size_t>(arg.find_first_not_of('-'), arg.size()),
        equals == std::string::npos ? std::string::npos
                                    : equals - std::min(arg.find_first_not_of('-'), equals));
    const bool has_value = equals != std::string::npos;
    const std::string value = has_value ? arg.substr(equals + 1) : "";
    const auto option = std::find_if(options.begin(), options.end(), [&](const Option& o) {
      return arg.starts_with("--") && name == o.name;
    });
    if (option == options.end()) {
      if (TakeFlag(name, has_value, value, args, &i)) continue;
      std::vector<std::string> known;
      for (const Option& o : options) known.push_back(MakeString("--", o.name));
      throw UsageError("option " + arg.substr(0, equals) + " is not known" +
                       DidYouMean("--" + name, known));
    }
    const bool is_switch = option->value[0] == '\0';
    if (is_switch && has_value) throw UsageError("option --" + name + " does not accept a value");
    if (!is_switch && !has_value) {
      if (i + 1 == args.size())
        throw UsageError("option --" + name + " needs a value (" + option->value + ")");
      line.Add(*option, args[++i]);
    } else {
      line.Add(*option, value);
    }
  }
  return line;
}

std::string OptionsHelp(const std::vector<Option>& options) {
  std::string text;
  for (const Option& option : options) {
    std::string head =
        MakeString("  --", option.name, option.value[0] != '\0' ? " " : "", option.value);
    head.resize(std::max<size_t>(head.size() + 2, 27), ' ');
    text += head + option.help;
    if (option.default_value[0] != '\0') text += MakeString(" (", option.default_value, ")");
    text += "\n";
  }
  return text;
}

bool ParseDims(const std::string& text, std::vector<int64_t>* dims) {
  dims->clear();
  for (const std::string& part : SplitAtCommas(text)) {
    int64_t dim = 0;
    if (!ParseInteger(part, &dim) || dim < 0) return false;
    dims->push_back(dim);
  }
  return true;
}

std::string DidYouMean(const std::string& name, const std::vector<std::string>& known) {
  const std::vector<std::string> close = NearestNames(name, known, 1);
  return close.empty() ? "" : "; did you mean " + close[0] + "?";
}

}  // namespace caffe2rt
