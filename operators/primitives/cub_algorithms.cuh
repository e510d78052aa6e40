#pragma once
// CUB's algorithms. For more than one architecture, g++ 12 warns of an uninitialized variable in the
// functions that choose the kernel's variant, where nothing is wrong.

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
