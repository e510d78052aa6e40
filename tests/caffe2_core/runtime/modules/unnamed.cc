// A library that registers nothing.
int module_test_unnamed() { return 1; }
