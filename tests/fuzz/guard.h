#pragma once
// Prints how to repeat the current run if the process crashes, a sanitizer stops it, or the run
// takes more than a minute.
//
//   InstallGuard();
//   StartRun("--seed 1 --first 37 --runs 1");   // before each run
//   EndRun();                                   // after it

#include <string>

namespace caffe2rt::test {

// Installs process-wide signal handlers.
void InstallGuard();

// Sets the options that repeat the current run, and starts its time limit.
void StartRun(const std::string& options);
void EndRun();

}  // namespace caffe2rt::test
