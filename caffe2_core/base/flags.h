#pragma once
// Command-line flags as plain variables in a table. Caffe2's users define theirs by
// CAFFE2_DEFINE_int and siblings; flags that stand for an option struct of the library set that
// struct.
//
//   int FLAGS_batch = 4;
//   RegisterFlag("batch", &FLAGS_batch, "pictures at once", __FILE__);
//   ParseCommandLineFlags(&argc, &argv);      // --batch=8 or --batch 8
//
// A static registration cannot throw: a name that comes twice is reported by the next
// ParseCommandLineFlags. The table is thread safe, the variables are not.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace caffe2rt {

struct FlagInfo {
  std::string name;
  std::string type;           // "int", "int64", "double", "bool" or "string"
  std::string default_value;  // as text
  std::string help;
  std::string file;
};

// THROWS when the text is no value of the flag's type.
using FlagSetter = std::function<void(const std::string& text)>;

struct Flag {
  FlagInfo info;
  FlagSetter set;
};

// Returns whether the name was new. A deferred flag gives its place, and THROWS when the text it
// was given does not fit.
bool RegisterFlag(FlagInfo info, FlagSetter set);
// A flag of a part that is loaded on demand: the text is checked for its type and kept until the
// part registers the flag. Does nothing when the name is known.
void RegisterDeferredFlag(FlagInfo info);

// A flag that sets a variable, which must outlive the process's use of the table. Its present value
// is the default.
Flag FlagOf(const char* name, int* variable, const char* help, const char* file);
Flag FlagOf(const char* name, int64_t* variable, const char* help, const char* file);
Flag FlagOf(const char* name, double* variable, const char* help, const char* file);
Flag FlagOf(const char* name, bool* variable, const char* help, const char* file);
Flag FlagOf(const char* name, std::string* variable, const char* help, const char* file);
template <class T>
bool RegisterFlag(const char* name, T* variable, const char* help, const char* file) {
  Flag flag = FlagOf(name, variable, help, file);
  return RegisterFlag(std::move(flag.info), std::move(flag.set));
}
// A flag of Caffe2 that changes nothing: its text is checked for its type.
Flag IdleFlag(const char* name, const char* type, const char* default_value, const char* file);

// THROWS for an unknown name (naming what is close) and for a text that does not fit the type.
void SetFlag(const std::string& name, const std::string& text);

// Sorted by name.
std::vector<FlagInfo> RegisteredFlags();

// Takes `--name=value`, `--name value`, `--bool_name` and `--nobool_name` out of the arguments, up
// to `--`; what does not begin with `--` stays. THROWS for an unknown flag or a bad value, after
// the others were set.
void ParseCommandLineFlags(int* argc, char*** argv);
bool CommandLineFlagsHasBeenParsed();
// THROWS the flags that were defined twice and not reported since. ParseCommandLineFlags does it
// too.
void ThrowFlagConflicts();

void SetUsageMessage(const std::string& text);
const std::string& UsageMessage();

// Texts as values. THROW when the text is none: numbers in any C form, true/false/yes/no/1/0 for
// bool.
int64_t ParseFlagInteger(const std::string& text);
double ParseFlagDouble(const std::string& text);
bool ParseFlagBool(const std::string& text);

}  // namespace caffe2rt
