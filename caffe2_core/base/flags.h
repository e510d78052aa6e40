#pragma once
// Command-line flags: a table of names, each with a function that sets a value. Users of Caffe2
// define flags with CAFFE2_DEFINE_int and siblings. The library's own flags set fields of its
// option structs.
//
//   int FLAGS_batch = 4;
//   RegisterFlag("batch", &FLAGS_batch, "images per batch", __FILE__);
//   ParseCommandLineFlags(&argc, &argv);      // --batch=8 or --batch 8
//
// A static registration cannot throw, so a name that is registered twice is reported by the next
// ParseCommandLineFlags. The table is thread safe; the variables are not.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

struct FlagInfo {
  std::string name;
  std::string type;           // "int", "int64", "double", "bool" or "string"
  std::string default_value;  // as text
  std::string help;
  std::string file;
  std::string group = {};  // heading under which --help-all lists the flag; "" for users' flags
  bool idle = false;       // accepted for compatibility; has no effect
};

// Sets the flag to the value of `text`. THROWS if `text` is not a value of the flag's type.
using FlagSetter = std::function<void(const std::string& text)>;

struct Flag {
  FlagInfo info;
  FlagSetter set;
};

// Registers a flag. Returns false and records a conflict if the name is already registered. A
// deferred flag of the same name is replaced, and the new flag is set to the value that was given;
// THROWS if that value is invalid.
bool RegisterFlag(FlagInfo info, FlagSetter set);
// Registers a flag of a component that is loaded on demand. A value that is given to it is checked
// for its type and kept until the component registers the flag. Does nothing if the name is already
// registered.
void RegisterDeferredFlag(FlagInfo info);

// A flag that sets `*variable`, which must stay valid as long as the table is used. The current
// value of the variable is the default.
Flag FlagOf(const char* name, int* variable, const char* help, const char* file,
            const char* group = "");
Flag FlagOf(const char* name, int64_t* variable, const char* help, const char* file,
            const char* group = "");
Flag FlagOf(const char* name, double* variable, const char* help, const char* file,
            const char* group = "");
Flag FlagOf(const char* name, bool* variable, const char* help, const char* file,
            const char* group = "");
Flag FlagOf(const char* name, std::string* variable, const char* help, const char* file,
            const char* group = "");
template <class T>
bool RegisterFlag(const char* name, T* variable, const char* help, const char* file,
                  const char* group = "") {
  Flag flag = FlagOf(name, variable, help, file, group);
  return RegisterFlag(std::move(flag.info), std::move(flag.set));
}
// A flag of Caffe2 that is accepted and has no effect. Its value is checked for its type.
Flag IdleFlag(const char* name, const char* type, const char* default_value, const char* file);

// Sets a flag. THROWS for an unknown name (the error suggests similar names) and for a value that
// does not fit the type.
void SetFlag(const std::string& name, const std::string& text);

// All flags, sorted by name.
std::vector<FlagInfo> RegisteredFlags();
// The idle flags that were set since the last call, each once, so that a program can warn.
std::vector<std::string> TakeIdleFlagsGiven();

// Sets the flags that the arguments name and removes those arguments. Accepts `--name=value`,
// `--name value`, `--bool_name` and `--nobool_name`. Arguments that do not begin with `--` stay, as
// does everything from a lone `--` on. THROWS, after all valid flags have been set, if a flag is
// unknown, has an invalid value or was registered twice.
void ParseCommandLineFlags(int* argc, char*** argv);
// Whether ParseCommandLineFlags has been called.
bool CommandLineFlagsHasBeenParsed();
// THROWS if a flag was registered twice and the conflict has not been reported yet.
void ThrowFlagConflicts();

// The text that describes the program. Not thread safe: set it before other threads start.
void SetUsageMessage(const std::string& text);
const std::string& UsageMessage();

// Parse a value. Integers may be decimal, octal or hexadecimal, and floating-point numbers decimal
// or hexadecimal, as in C. Booleans are true, True, t, yes, 1, false, False, f, no and 0. THROW if
// the text is not a value of the type.
int64_t ParseFlagInteger(const std::string& text);
double ParseFlagDouble(const std::string& text);
bool ParseFlagBool(const std::string& text);

}  // namespace caffe2rt
#pragma GCC visibility pop
