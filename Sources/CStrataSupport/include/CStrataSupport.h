#ifndef C_STRATA_SUPPORT_H
#define C_STRATA_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "StrataArguments.h"
#include "StrataClasses.h"
#include "StrataColumns.h"
#include "StrataDigest.h"
#include "StrataEvents.h"
#include "StrataFile.h"
#include "StrataHeap.h"
#include "StrataLock.h"
#include "StrataObject.h"
#include "StrataPages.h"
#include "StrataPrefetch.h"
#include "StrataReader.h"
#include "StrataSearch.h"
#include "StrataSharedPage.h"
#include "StrataThreads.h"
#include "StrataWork.h"

/// CRC-32C (Castagnoli) of `length` bytes, continuing from `crc` (0 to start).
///
/// Uses the processor's CRC instructions where it has them, tables elsewhere; both give the same value.
uint32_t strata_crc32c(uint32_t crc, const void *bytes, size_t length);

#endif
