/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1 /* clock_nanosleep, pthread_attr_setstacksize */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tenon/batch/signer.h"
#include "tenon/p256.h"

/*
 * A signer under load, over software keys behind one lock in which each command takes a given time, as a TPM's does.
 *
 *   load callers MS THREADS SECONDS    each thread signs one request after another
 *   load arrivals MS RATE SECONDS      requests come at a rate, whatever became of those before
 *   load one MS TIMES                  one caller, beside the key alone
 *   load two MS RATE SECONDS           two keys in one TPM: requests at this rate for one, one a second for the other
 *
 * Latencies are in commands, and without the command that signs the request itself.
 */

enum { STACK = 128 << 10, POOL_MAX = 6000, SAMPLES_MAX = 1 << 19 };

static const char usage[] =
    "usage: load callers MS THREADS SECONDS | arrivals MS RATE SECONDS | one MS TIMES | two MS RATE SECONDS\n";

/* ---- One TPM, and keys in it ---- */

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t turn;
    uint64_t next, serving;
    uint32_t ms;
    atomic_uint commands;
} slow_tpm;

typedef struct {
    slow_tpm *tpm;
    tenon_key *inner;
    tenon_key *key;
    tenon_signer *signer;
} slow_key;

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "load: %s\n", what);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void sleep_until(double moment)
{
    const struct timespec at = {.tv_sec = (time_t)moment, .tv_nsec = (long)((moment - (double)(time_t)moment) * 1e9)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0)
        continue;
}

static tenon_status slow_sign(void *context, tenon_signature *out, const tenon_digest *digest)
{
    const slow_key *self = context;
    slow_tpm *tpm = self->tpm;
    pthread_mutex_lock(&tpm->mutex);
    const uint64_t mine = tpm->next++;
    while (tpm->serving != mine)
        pthread_cond_wait(&tpm->turn, &tpm->mutex);
    pthread_mutex_unlock(&tpm->mutex);
    const double end = now() + tpm->ms / 1e3;
    tenon_status status = tenon_key_sign_digest(self->inner, out, digest);
    sleep_until(end);
    atomic_fetch_add(&tpm->commands, 1);
    pthread_mutex_lock(&tpm->mutex);
    tpm->serving++;
    pthread_cond_broadcast(&tpm->turn);
    pthread_mutex_unlock(&tpm->mutex);
    return status;
}

static tenon_status slow_public_key(void *context, tenon_public_key *out)
{
    const slow_key *self = context;
    return tenon_key_public_key(self->inner, out);
}

static void begin_key(slow_key *self, slow_tpm *tpm)
{
    const tenon_key_ops ops = {.size = sizeof ops, .sign = slow_sign, .public_key = slow_public_key};
    self->tpm = tpm;
    must(tenon_software_key_generate(&self->inner, TENON_KEY_SIGNS_DIGESTS) == TENON_OK &&
             tenon_key_new(&self->key, &ops, self) == TENON_OK &&
             tenon_signer_new(&self->signer, self->key, NULL) == TENON_OK,
         "a key could not be made");
}

static void end_key(slow_key *self)
{
    tenon_signer_free(&self->signer);
    tenon_key_free(&self->key);
    tenon_key_free(&self->inner);
}

static tenon_status sign_one(tenon_signer *signer)
{
#define TEXT(literal) ((tenon_text){(literal), sizeof(literal) - 1})
    char input[TENON_SIGNATURE_INPUT_MAX], signature[TENON_SIGNATURE_VALUE_MAX];
    const uint64_t created = (uint64_t)time(NULL);
    size_t input_n, signature_n;
    const tenon_request2 request = {
        .method = TEXT("POST"),
        .authority = TEXT("api.example.com"),
        .path = TEXT("/ingest/v1/events"),
        .query = TEXT("?"),
        .content_type = TEXT("application/json"),
        .app_id = TEXT("com.example.app"),
        .device_id = TEXT("dev_0123456789abcdef"),
        .created = created,
        .expires = created + TENON_VALIDITY_MAX,
    };
    return tenon_signer_sign(signer, input, sizeof input, &input_n, signature, sizeof signature, &signature_n,
                             &request);
}

/* ---- Threads ---- */

typedef struct {
    slow_key *key;
    double begin, end, rate; /* rate 0: one after another */
    atomic_size_t next, signed_n, refused_n;
    atomic_size_t samples_n;
    float *samples;
} stream;

static void count(stream *of, tenon_status status, double asked)
{
    if (status != TENON_OK) {
        atomic_fetch_add(&of->refused_n, 1);
        return;
    }
    atomic_fetch_add(&of->signed_n, 1);
    const size_t at = atomic_fetch_add(&of->samples_n, 1);
    if (at < SAMPLES_MAX)
        of->samples[at] = (float)((now() - asked) * 1e3 / of->key->tpm->ms - 1);
}

static void *work(void *context)
{
    stream *of = context;
    for (;;) {
        double asked = now();
        if (of->rate > 0) {
            asked = of->begin + (double)atomic_fetch_add(&of->next, 1) / of->rate;
            if (asked < of->end)
                sleep_until(asked);
        }
        if (asked >= of->end)
            return NULL;
        count(of, sign_one(of->key->signer), asked);
    }
}

static void begin_stream(stream *of, slow_key *key, double rate, double seconds, pthread_t *threads, size_t count_n)
{
    pthread_attr_t attributes;
    memset(of, 0, sizeof *of);
    of->key = key;
    of->rate = rate;
    of->samples = calloc(SAMPLES_MAX, sizeof *of->samples);
    of->begin = now() + 0.2;
    of->end = of->begin + seconds;
    must(of->samples != NULL && pthread_attr_init(&attributes) == 0, "no memory");
    pthread_attr_setstacksize(&attributes, STACK);
    for (size_t i = 0; i < count_n; i++)
        must(pthread_create(&threads[i], &attributes, work, of) == 0, "a thread could not be made");
    pthread_attr_destroy(&attributes);
}

static int compare(const void *a, const void *b)
{
    const float *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static void end_stream(stream *of, const char *name, double seconds, const pthread_t *threads, size_t count_n)
{
    for (size_t i = 0; i < count_n; i++)
        pthread_join(threads[i], NULL);
    const size_t taken = atomic_load(&of->samples_n), n = taken < SAMPLES_MAX ? taken : SAMPLES_MAX;
    qsort(of->samples, n, sizeof *of->samples, compare);
    printf("%s: %.0f signed/s, %zu refused, added latency in commands: p50 %.2f, p99 %.2f, most %.2f\n", name,
           (double)atomic_load(&of->signed_n) / seconds, (size_t)atomic_load(&of->refused_n),
           n == 0 ? 0 : (double)of->samples[n / 2], n == 0 ? 0 : (double)of->samples[n * 99 / 100],
           n == 0 ? 0 : (double)of->samples[n - 1]);
    free(of->samples);
}

/* ---- What is asked for ---- */

static size_t pool_of(double rate, uint32_t ms)
{
    const double wanted = 4 * rate * ms / 1e3 + 100;
    return wanted > POOL_MAX ? POOL_MAX : (size_t)wanted;
}

static void load(slow_tpm *tpm, double rate, size_t threads_n, double seconds, bool is_two)
{
    static pthread_t threads[POOL_MAX], other_threads[4];
    static slow_key key, other;
    stream fast, slow;
    begin_key(&key, tpm);
    if (is_two) {
        begin_key(&other, tpm);
        begin_stream(&slow, &other, 1, seconds, other_threads, 4);
    }
    begin_stream(&fast, &key, rate, seconds, threads, threads_n);
    const unsigned before = atomic_load(&tpm->commands);
    end_stream(&fast, rate > 0 ? "arrivals" : "callers", seconds, threads, threads_n);
    printf("  %.1f commands/s of %u ms\n", (atomic_load(&tpm->commands) - before) / seconds, tpm->ms);
    if (is_two) {
        end_stream(&slow, "the slow key", seconds, other_threads, 4);
        end_key(&other);
    }
    end_key(&key);
}

static void one(slow_tpm *tpm, unsigned long times)
{
    slow_key key;
    tenon_digest digest = {{1}};
    tenon_signature signature;
    double alone = 0, shared = 0;
    begin_key(&key, tpm);
    for (unsigned long i = 0; i < times; i++) {
        const double first = now();
        must(slow_sign(&key, &signature, &digest) == TENON_OK, "the key failed");
        const double second = now();
        must(sign_one(key.signer) == TENON_OK, "the signer failed");
        alone += second - first;
        shared += now() - second;
    }
    printf("one caller: %.4f of the time of the key alone\n", shared / alone);
    end_key(&key);
}

int main(int argc, char **argv)
{
    slow_tpm tpm = {.mutex = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER};
    const double numbers[] = {argc > 2 ? atof(argv[2]) : 0, argc > 3 ? atof(argv[3]) : 0, argc > 4 ? atof(argv[4]) : 0};
    tpm.ms = (uint32_t)numbers[0];
    if (argc == 4 && strcmp(argv[1], "one") == 0)
        one(&tpm, (unsigned long)numbers[1]);
    else if (argc == 5 && strcmp(argv[1], "callers") == 0 && numbers[1] <= POOL_MAX)
        load(&tpm, 0, (size_t)numbers[1], numbers[2], false);
    else if (argc == 5 && strcmp(argv[1], "arrivals") == 0)
        load(&tpm, numbers[1], pool_of(numbers[1], tpm.ms), numbers[2], false);
    else if (argc == 5 && strcmp(argv[1], "two") == 0)
        load(&tpm, numbers[1], pool_of(numbers[1], tpm.ms), numbers[2], true);
    else
        fputs(usage, stderr);
    return 0;
}
