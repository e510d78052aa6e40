#pragma once
// The actions of `caffe2 db`, one file each or two that belong together.

#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "caffe2_core/training/database_copies.h"

namespace caffe2rt {

// An action: `caffe2 db NAME ARGUMENTS`.
struct DatabaseAction {
  const char* name;
  const char* arguments;             // as in the usage
  const char* purpose;               // one line
  std::vector<const char*> options;  // names of those that apply
  // The arguments after the name. Returns the exit code. THROWS UsageError, EnforceNotMet.
  int (*run)(const CommandLine& line, const std::vector<std::string>& arguments);
};

int MakeDatabase(const CommandLine& line, const std::vector<std::string>& arguments);
int ListRecords(const CommandLine& line, const std::vector<std::string>& arguments);
int ShowDatabase(const CommandLine& line, const std::vector<std::string>& arguments);
int ConvertDatabase(const CommandLine& line, const std::vector<std::string>& arguments);
int DivideDatabase(const CommandLine& line, const std::vector<std::string>& arguments);
int TimeDatabase(const CommandLine& line, const std::vector<std::string>& arguments);

// The only argument, an existing database. THROWS UsageError if there is another number of
// arguments, and EnforceNotMet if it is no database.
DatabasePlace GivenDatabase(const std::vector<std::string>& arguments);
// --output, checked: THROWS UsageError if it is missing.
std::string GivenOutput(const CommandLine& line);
// Prints "PATH: N records" or, with --json, the same as an object.
void PrintMade(const CommandLine& line, const std::string& path, int64_t records);

}  // namespace caffe2rt
