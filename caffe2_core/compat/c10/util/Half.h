#pragma once
#include "c10/util/typeid.h"
