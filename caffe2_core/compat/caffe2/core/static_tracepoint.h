#pragma once
// Static tracepoints are not built in.
#define CAFFE_SDT(...) \
  do {                 \
  } while (false)
#define CAFFE_DISABLE_SDT 1
