#pragma once
// A check that reports the failing line, and the list of this program's tests. Has no dependencies.
#include <cstdio>
#include <vector>

struct StyleTest {
  const char* name;
  void (*run)();
};
inline std::vector<StyleTest>& StyleTests() {
  static std::vector<StyleTest> tests;
  return tests;
}
inline int& StyleFailures() {
  static int failures = 0;
  return failures;
}
struct AddStyleTest {
  AddStyleTest(const char* name, void (*run)()) { StyleTests().push_back({name, run}); }
};
#define STYLE_TEST(name)                              \
  static void name();                                 \
  static const AddStyleTest add_##name(#name, &name); \
  static void name()
#define STYLE_EXPECT(condition)                                            \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::printf("%s:%d: %s is false\n", __FILE__, __LINE__, #condition); \
      ++StyleFailures();                                                   \
    }                                                                      \
  } while (false)
