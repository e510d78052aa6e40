// The man pages of a program, in troff's man macros.
#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>

#include <algorithm>

#include "binaries/completion.h"
#include "caffe2_core/base/flags.h"

namespace caffe2rt {
namespace {

// Text of a paragraph. Backslashes and, in the first column, dots and quotes have a meaning.
std::string ManText(const std::string& text) {
  std::string escaped = absl::StrReplaceAll(text, {{"\\", "\\e"}, {"-", "\\-"}});
  if (!escaped.empty() && (escaped[0] == '.' || escaped[0] == '\'')) escaped.insert(0, "\\&");
  return escaped;
}

// An argument of a macro.
std::string Quoted(const std::string& text) {
  return absl::StrCat("\"", absl::StrReplaceAll(ManText(text), {{"\"", "\\(dq"}}), "\"");
}

std::string Begin(const ProgramDescription& program, const std::string& page,
                  const std::string& purpose) {
  return absl::StrCat(".TH ", Quoted(absl::AsciiStrToUpper(page)), " 1 \"\" ",
                      Quoted(program.name + " " + program.version), " ", Quoted("User Commands"),
                      "\n.SH NAME\n", ManText(page), " \\- ", ManText(purpose), "\n.SH SYNOPSIS\n");
}

std::string OptionItem(const std::string& name, const std::string& value, const std::string& help,
                       const std::string& default_value) {
  std::string text = absl::StrCat(".TP\n.B ", ManText("--" + name));
  if (!value.empty()) absl::StrAppend(&text, " ", ManText(value));
  absl::StrAppend(&text, "\n", ManText(help.empty() ? "no description" : help));
  if (!default_value.empty()) absl::StrAppend(&text, " (default: ", ManText(default_value), ")");
  return text + "\n";
}

std::string Flags() {
  std::string text =
      ".SH FLAGS OF CAFFE2\nEvery command accepts these flags of Caffe2. Other flags of Caffe2 are "
      "accepted with a warning and have no effect.\n";
  for (const FlagInfo& flag : RegisteredFlags()) {
    if (!flag.idle) text += OptionItem(flag.name, flag.type, flag.help, flag.default_value);
  }
  return text;
}

std::string ExitStatus() {
  return ".SH EXIT STATUS\n.TP\n.B 0\nsuccess\n.TP\n.B 1\nfailure\n.TP\n.B 2\nwrong usage\n";
}

std::string Examples(const std::string& examples) {
  std::string text = ".SH EXAMPLES\n.nf\n";
  for (const absl::string_view line :
       absl::StrSplit(WrappedCommands(examples, "", 70), '\n', absl::SkipEmpty())) {
    absl::StrAppend(&text, ManText(std::string(line)), "\n");
  }
  return text + ".fi\n";
}

std::string ProgramPage(const ProgramDescription& program) {
  std::string text =
      absl::StrCat(Begin(program, program.name, program.purpose), ".B ", ManText(program.name),
                   "\nCOMMAND [options] [files]\n", ".SH COMMANDS\n");
  std::string see_also;
  for (const CommandDescription& command : program.commands) {
    absl::StrAppend(&text, ".TP\n.B ", ManText(command.name), "\n", ManText(command.purpose), "\n");
    absl::StrAppend(&see_also, see_also.empty() ? "" : ",\n", ".BR ",
                    ManText(program.name + "-" + command.name), " (1)");
  }
  return absl::StrCat(text, Flags(), ExitStatus(), ".SH SEE ALSO\n", see_also, "\n");
}

std::string CommandPage(const ProgramDescription& program, const CommandDescription& command) {
  std::string text =
      absl::StrCat(Begin(program, program.name + "-" + command.name, command.purpose), ".B ",
                   ManText(program.name), "\n", ManText(command.usage), "\n.SH OPTIONS\n");
  for (const Option& option : command.options) {
    text += OptionItem(option.name, option.value, option.help, option.default_value);
  }
  text += OptionItem("help", "", "print a summary of the options", "");
  text += OptionItem("help-all", "", "print all options and the flags of Caffe2", "");
  return absl::StrCat(text, Examples(command.examples), ExitStatus(), ".SH SEE ALSO\n.BR ",
                      ManText(program.name), " (1)\n");
}

}  // namespace

std::string ManPage(const ProgramDescription& program, const std::string& command) {
  if (command.empty()) return ProgramPage(program);
  std::vector<std::string> names;
  for (const CommandDescription& candidate : program.commands) {
    if (candidate.name == command) return CommandPage(program, candidate);
    names.push_back(candidate.name);
  }
  throw UsageError("command \"" + command + "\" is not known" + DidYouMean(command, names));
}

}  // namespace caffe2rt
