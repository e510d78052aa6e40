// The --help texts that are generated from tables of options.
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <map>

#include "binaries/command_line.h"
#include "caffe2_core/base/flags.h"

namespace caffe2rt {
namespace {

constexpr size_t kNameWidth = 25;  // of the column with the names of options

// Appends words to `text`, whose last line has `indent` columns, with line breaks before `width` and
// further lines indented likewise.
void AppendWrapped(const std::string& words, size_t indent, size_t width, std::string* text) {
  size_t column = indent;
  bool first = true;
  for (const absl::string_view word : absl::StrSplit(words, ' ', absl::SkipEmpty())) {
    if (!first && column + 1 + word.size() > width) {
      absl::StrAppend(text, "\n", std::string(indent, ' '), word);
      column = indent + word.size();
    } else {
      absl::StrAppend(text, first ? "" : " ", word);
      column += word.size() + (first ? 0 : 1);
    }
    first = false;
  }
}

// "  --top N                  classes to print (5)\n"
std::string OptionText(const std::string& name, std::string help, const std::string& default_value,
                       size_t width) {
  std::string text = "  " + name;
  if (help.empty() && default_value.empty()) return text + "\n";
  if (!default_value.empty()) absl::StrAppend(&help, " (", default_value, ")");
  if (name.size() >= kNameWidth) {
    absl::StrAppend(&text, "\n", std::string(kNameWidth + 2, ' '));
  } else {
    text.append(kNameWidth - name.size(), ' ');
  }
  AppendWrapped(help, kNameWidth + 2, width, &text);
  return text + "\n";
}

// The words of a command, with the values of an option behind it.
std::vector<std::string> PartsOf(absl::string_view command) {
  std::vector<std::string> parts;
  for (const absl::string_view word : absl::StrSplit(command, ' ', absl::SkipEmpty())) {
    if (parts.empty() || absl::StartsWith(word, "-") || !absl::StartsWith(parts.back(), "-")) {
      parts.emplace_back(word);
    } else {
      absl::StrAppend(&parts.back(), " ", word);
    }
  }
  return parts;
}

}  // namespace

std::string HelpText(const std::string& purpose, const std::string& usage,
                     const std::vector<Option>& options, const std::string& notes,
                     HelpDetail detail, size_t width) {
  std::string text;
  AppendWrapped(purpose, 0, width, &text);
  text += "\n\nusage: ";
  AppendWrapped(usage, 7, width, &text);
  text += "\n";
  if (!options.empty()) text += "\noptions:\n";
  for (const Option& option : options) {
    if (option.advanced && detail == HelpDetail::kShort) continue;
    const bool is_switch = option.value[0] == '\0';
    const bool is_output = std::string_view(option.name) == "output";
    text += OptionText(
        absl::StrCat(is_output ? "-o, --" : "--", option.name, is_switch ? "" : " ", option.value),
        option.help, option.default_value, width);
  }
  if (!notes.empty()) absl::StrAppend(&text, "\n", notes);
  return text;
}

std::string NamedLine(const std::string& name, size_t name_width, const std::string& text,
                      size_t width) {
  std::string line = "  " + name + std::string(name_width - std::min(name_width, name.size()), ' ');
  AppendWrapped(text, line.size(), width, &line);
  return line + "\n";
}

std::string FlagsText(size_t width) {
  std::map<std::string, std::string> groups;
  for (const FlagInfo& flag : RegisteredFlags()) {
    if (flag.idle) continue;
    groups[flag.group.empty() ? "modules" : flag.group] += OptionText(
        absl::StrCat("--", flag.name, "=", flag.type), flag.help, flag.default_value, width);
  }
  std::string text;
  for (const auto& [group, flags] : groups) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", "flags of Caffe2, ", group, ":\n", flags);
  }
  return text;
}

std::string WrappedCommands(const std::string& commands, const std::string& indent, size_t width) {
  constexpr char kFolder[] = "binaries/demo/stripes";
  std::string joined = absl::StrReplaceAll(commands, {{"\\\n", " "}});
  if (joined.find(kFolder) != std::string::npos) {
    joined = absl::StrCat("D=", kFolder, "\n", absl::StrReplaceAll(joined, {{kFolder, "$D"}}));
  }
  std::string text;
  for (const absl::string_view command : absl::StrSplit(joined, '\n', absl::SkipEmpty())) {
    size_t column = 0;
    for (const std::string& part : PartsOf(command)) {
      if (column == 0) {
        absl::StrAppend(&text, indent, part);
        column = indent.size() + part.size();
      } else if (column + 1 + part.size() + 2 > width) {
        absl::StrAppend(&text, " \\\n", indent, "  ", part);
        column = indent.size() + 2 + part.size();
      } else {
        absl::StrAppend(&text, " ", part);
        column += 1 + part.size();
      }
    }
    text += "\n";
  }
  return text;
}

}  // namespace caffe2rt
