#define _GNU_SOURCE

#include "StrataReader.h"

#include <pthread.h>
#include <stdlib.h>

_Thread_local strata_reader *strata_reader_of_thread = NULL;
uint64_t strata_reader_epoch = 1;

// Two lines of the processor's caches, which it reads together: threads write to their own all the time.
#define READER_BYTES 128
_Static_assert(sizeof(strata_reader) <= READER_BYTES, "a reader has lines of its own");

static strata_reader *readers = NULL;
static uint64_t reader_count = 0;
static pthread_key_t end_of_thread;
static pthread_once_t end_of_thread_once = PTHREAD_ONCE_INIT;

static void give_back(void *value) {
    strata_reader *reader = value;
    // A destructor that runs after this one may read again: it gets a reader anew, and this is called once more.
    strata_reader_of_thread = NULL;
    __atomic_store_n(&reader->is_taken, 0, __ATOMIC_RELEASE);
}

static void make_key(void) {
    if (pthread_key_create(&end_of_thread, give_back) != 0) {
        abort();
    }
}

strata_reader *strata_reader_make(void) {
    pthread_once(&end_of_thread_once, make_key);
    strata_reader *reader = __atomic_load_n(&readers, __ATOMIC_ACQUIRE);
    for (; reader != NULL; reader = reader->next) {
        uint32_t free = 0;
        if (__atomic_compare_exchange_n(&reader->is_taken, &free, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            break;
        }
    }
    if (reader == NULL) {
        if (posix_memalign((void **)&reader, READER_BYTES, READER_BYTES) != 0) {
            abort();
        }
        reader->epoch = 0;
        reader->is_taken = 1;
        reader->number = __atomic_fetch_add(&reader_count, 1, __ATOMIC_RELAXED);
        reader->next = __atomic_load_n(&readers, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(
            &readers, &reader->next, reader, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
        }
    }
    strata_reader_of_thread = reader;
    // Where there is no room for this, the reader is lost when the thread ends, and nothing else.
    pthread_setspecific(end_of_thread, reader);
    return reader;
}

strata_reader *strata_reader_first(void) {
    return __atomic_load_n(&readers, __ATOMIC_SEQ_CST);
}
