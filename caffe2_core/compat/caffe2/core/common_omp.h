#pragma once
// OpenMP, where the compiler has it on.
#ifdef _OPENMP
#include <omp.h>
#endif
