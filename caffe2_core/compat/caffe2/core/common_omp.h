#pragma once
// Includes OpenMP if the compiler enables it.
#ifdef _OPENMP
#include <omp.h>
#endif
