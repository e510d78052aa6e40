#pragma once
// The export macros do nothing: operators are not exported to another registry.
#define C10_DECLARE_EXPORT_CAFFE2_OP_TO_C10(...)
#define C10_EXPORT_CAFFE2_OP_TO_C10_CPU(...)
#define C10_EXPORT_CAFFE2_OP_TO_C10_CUDA(...)
#define C10_EXPORT_CAFFE2_OP_TO_C10_SCHEMA_ONLY(...)
#define C10_EXPORT_CAFFE2_OP_TO_C10_CPU_KERNEL_ONLY(...)
