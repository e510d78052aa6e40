#pragma once
// The enumerations of cblas, unless a cblas header has been included before.
#if !defined(CBLAS_H) && !defined(CBLAS_ENUM_DEFINED_H) && !defined(CBLAS_TRANSPOSE) && \
    !defined(CBLAS_ENUM_ONLY)
#define CBLAS_ENUM_DEFINED_H
enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 };
enum CBLAS_UPLO { CblasUpper = 121, CblasLower = 122 };
enum CBLAS_DIAG { CblasNonUnit = 131, CblasUnit = 132 };
enum CBLAS_SIDE { CblasLeft = 141, CblasRight = 142 };
#endif
