#pragma once
// The tracepoint macros do nothing.
#define CAFFE_SDT(...) \
  do {                 \
  } while (false)
#define CAFFE_DISABLE_SDT 1
