#pragma once
// Stack traces of crashes.

namespace caffe2rt {

// From now on, a crash of the process (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP) prints
// the stack of the thread with the names of its functions to stderr, and the operators and nets
// that it runs, before the signal ends the process. Call it once, at the beginning of main, with
// argv[0]. Does nothing in a build with a sanitizer, which prints such reports itself.
void InstallCrashHandler(const char* program);

}  // namespace caffe2rt
