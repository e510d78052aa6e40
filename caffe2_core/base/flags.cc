#include "caffe2_core/base/flags.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>
#include <absl/strings/strip.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "caffe2_core/base/conflicts.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/suggest.h"

namespace caffe2rt {
namespace {

struct Entry {
  FlagInfo info;
  FlagSetter set;
  bool deferred = false;
  std::optional<std::string> text = std::nullopt;  // the value given to a deferred flag
};

struct Table {
  Mutex mutex;
  std::map<std::string, Entry> entries ABSL_GUARDED_BY(mutex);
  std::vector<std::string> conflicts ABSL_GUARDED_BY(mutex);
  std::set<std::string> idle_given ABSL_GUARDED_BY(mutex);
  std::string usage;
  std::atomic<bool> parsed{false};
};

Table& TheTable() {
  static Table* const table = new Table;
  return *table;
}

std::optional<Entry> Find(const std::string& name) {
  Table& table = TheTable();
  const MutexLock lock(table.mutex);
  const auto it = table.entries.find(name);
  if (it == table.entries.end()) return std::nullopt;
  return it->second;
}

// Gives the flag a value.
void Set(const Entry& flag, const std::string& text) {
  flag.set(text);
  if (!flag.info.idle) return;
  const MutexLock lock(TheTable().mutex);
  TheTable().idle_given.insert(flag.info.name);
}

bool IsBoolText(const std::string& text) {
  static constexpr const char* kTexts[] = {"true", "false", "yes",   "no", "1",
                                           "0",    "True",  "False", "t",  "f"};
  return std::find(std::begin(kTexts), std::end(kTexts), text) != std::end(kTexts);
}

// Sets the flag that `argument`, which begins with "--", names. `next` is the argument after it, or
// null. Returns how many arguments were used.
int TakeFlag(const std::string& argument, const char* next) {
  const size_t equals = argument.find('=');
  std::string name = argument.substr(2, equals == std::string::npos ? equals : equals - 2);
  if (equals != std::string::npos) {
    SetFlag(name, argument.substr(equals + 1));
    return 1;
  }
  std::optional<Entry> flag = Find(name);
  if (!flag.has_value() && name.starts_with("no")) {
    flag = Find(name.substr(2));
    if (flag.has_value() && flag->info.type == "bool") {
      Set(*flag, "false");
      return 1;
    }
  }
  if (flag.has_value() && flag->info.type == "bool" && (next == nullptr || !IsBoolText(next))) {
    Set(*flag, "true");
    return 1;
  }
  CAFFE_ENFORCE(!flag.has_value() || next != nullptr, "flag --", name,
                " is last, want a value after it");
  SetFlag(name, next != nullptr ? next : "");
  return 2;
}

// Replaces a deferred flag. Returns the value that it was given, if any.
std::optional<std::string> TakeOver(Entry* deferred, FlagInfo info, FlagSetter set) {
  std::optional<std::string> text = std::move(deferred->text);
  *deferred = Entry{std::move(info), std::move(set)};
  return text;
}

void CheckType(const std::string& type, const std::string& text) {
  if (type == "int" || type == "int64") ParseFlagInteger(text);
  if (type == "bool") ParseFlagBool(text);
  if (type == "double") ParseFlagDouble(text);
}

void KeepText(const std::string& name, const std::string& type, const std::string& text) {
  CheckType(type, text);
  const MutexLock lock(TheTable().mutex);
  TheTable().entries.at(name).text = text;
}

}  // namespace

int64_t ParseFlagInteger(const std::string& text) {
  errno = 0;
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 0);
  CAFFE_ENFORCE(!text.empty() && *end == '\0' && errno == 0, "\"", text, "\" is not an integer");
  return value;
}

double ParseFlagDouble(const std::string& text) {
  // Accept what strtod accepts and std::from_chars does not: leading spaces, a plus sign and the
  // prefix 0x.
  absl::string_view rest = absl::StripLeadingAsciiWhitespace(text);
  const bool negative = absl::ConsumePrefix(&rest, "-");
  if (!negative) absl::ConsumePrefix(&rest, "+");
  const bool hexadecimal = absl::ConsumePrefix(&rest, "0x") || absl::ConsumePrefix(&rest, "0X");
  double value = 0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), value,
                      hexadecimal ? std::chars_format::hex : std::chars_format::general);
  CAFFE_ENFORCE(error == std::errc() && end == rest.data() + rest.size() && rest[0] != '-', "\"",
                text, "\" is not a number");
  return negative ? -value : value;
}

bool ParseFlagBool(const std::string& text) {
  CAFFE_ENFORCE(IsBoolText(text), "\"", text, "\" is neither true nor false");
  return text[0] == 't' || text[0] == 'T' || text[0] == 'y' || text[0] == '1';
}

bool RegisterFlag(FlagInfo info, FlagSetter set) {
  Table& table = TheTable();
  const std::string name = info.name;
  const std::string file = info.file;
  std::optional<std::string> text;
  {
    const MutexLock lock(table.mutex);
    const auto it = table.entries.find(name);
    if (it == table.entries.end()) {
      table.entries.emplace(name, Entry{std::move(info), std::move(set)});
      return true;
    }
    if (!it->second.deferred) {
      table.conflicts.push_back(MakeString("flag --", name, " is defined twice: in ",
                                           it->second.info.file, " and in ", file));
      return false;
    }
    text = TakeOver(&it->second, std::move(info), std::move(set));
  }
  if (text.has_value()) SetFlag(name, *text);
  return true;
}

void RegisterDeferredFlag(FlagInfo info) {
  Table& table = TheTable();
  const std::string name = info.name;
  const std::string type = info.type;
  const MutexLock lock(table.mutex);
  Entry entry{std::move(info),
              [name, type](const std::string& text) { KeepText(name, type, text); }};
  entry.deferred = true;
  table.entries.try_emplace(name, std::move(entry));
}

Flag FlagOf(const char* name, int* variable, const char* help, const char* file,
            const char* group) {
  return {{name, "int", MakeString(*variable), help, file, group},
          [variable](const std::string& text) {
            const int64_t value = ParseFlagInteger(text);
            CAFFE_ENFORCE(value >= INT_MIN && value <= INT_MAX, value, " does not fit into int");
            *variable = static_cast<int>(value);
          }};
}

Flag FlagOf(const char* name, int64_t* variable, const char* help, const char* file,
            const char* group) {
  return {{name, "int64", MakeString(*variable), help, file, group},
          [variable](const std::string& text) { *variable = ParseFlagInteger(text); }};
}

Flag FlagOf(const char* name, double* variable, const char* help, const char* file,
            const char* group) {
  return {{name, "double", MakeString(*variable), help, file, group},
          [variable](const std::string& text) { *variable = ParseFlagDouble(text); }};
}

Flag FlagOf(const char* name, bool* variable, const char* help, const char* file,
            const char* group) {
  return {{name, "bool", *variable ? "true" : "false", help, file, group},
          [variable](const std::string& text) { *variable = ParseFlagBool(text); }};
}

Flag FlagOf(const char* name, std::string* variable, const char* help, const char* file,
            const char* group) {
  return {{name, "string", *variable, help, file, group},
          [variable](const std::string& text) { *variable = text; }};
}

Flag IdleFlag(const char* name, const char* type, const char* default_value, const char* file) {
  // Not in one expression with `info`: g++ 12 destroys the other member twice if this allocation
  // fails.
  FlagSetter set = [type = std::string(type)](const std::string& text) { CheckType(type, text); };
  return {{name, type, default_value, "accepted for compatibility; has no effect", file,
           /*group=*/"", /*idle=*/true},
          std::move(set)};
}

void SetFlag(const std::string& name, const std::string& text) {
  const std::optional<Entry> flag = Find(name);
  if (!flag.has_value()) {
    std::vector<std::string> names;
    for (const FlagInfo& info : RegisteredFlags()) names.push_back(info.name);
    const std::string close = absl::StrJoin(NearestNames(name, names), ", --");
    CAFFE_THROW("flag --", name, " is not known", close.empty() ? "" : "; close: --", close);
  }
  try {
    Set(*flag, text);
  } catch (const EnforceNotMet& error) {
    CAFFE_THROW("flag --", name, ": ", error.message());
  }
}

std::vector<FlagInfo> RegisteredFlags() {
  Table& table = TheTable();
  const MutexLock lock(table.mutex);
  std::vector<FlagInfo> flags;
  for (const auto& [name, entry] : table.entries) flags.push_back(entry.info);
  return flags;
}

std::vector<std::string> TakeIdleFlagsGiven() {
  const MutexLock lock(TheTable().mutex);
  const std::set<std::string> names = std::exchange(TheTable().idle_given, {});
  return {names.begin(), names.end()};
}

void ThrowFlagConflicts() {
  std::vector<std::string> conflicts;
  {
    const MutexLock lock(TheTable().mutex);
    conflicts.swap(TheTable().conflicts);
  }
  ThrowAny(conflicts);
}

void ParseCommandLineFlags(int* argc, char*** argv) {
  std::vector<std::string> problems;
  {
    const MutexLock lock(TheTable().mutex);
    problems.swap(TheTable().conflicts);
  }
  if (argc != nullptr && argv != nullptr && *argc > 0) {
    int kept = 1;
    int i = 1;
    while (i < *argc) {
      const std::string argument = (*argv)[i];
      if (!argument.starts_with("--") || argument == "--") {
        // Arguments after a lone "--" are not flags.
        const int stop = argument == "--" ? *argc : i + 1;
        while (i < stop) (*argv)[kept++] = (*argv)[i++];
        continue;
      }
      int used = 1;
      try {
        used = TakeFlag(argument, i + 1 < *argc ? (*argv)[i + 1] : nullptr);
      } catch (const EnforceNotMet& error) {
        problems.push_back(error.message());
      }
      i += used;
    }
    *argc = kept;
  }
  TheTable().parsed.store(true);
  ThrowAny(problems);
}

bool CommandLineFlagsHasBeenParsed() { return TheTable().parsed.load(); }

void SetUsageMessage(const std::string& text) { TheTable().usage = text; }

const std::string& UsageMessage() { return TheTable().usage; }

}  // namespace caffe2rt
