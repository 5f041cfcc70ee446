/* SPDX-License-Identifier: Apache-2.0
 * <kiln/kiln.h> - libkiln: ask a Kiln daemon for compiled code, load it, call it.
 *
 *   struct kiln_error e = KILN_ERROR_INIT;
 *   struct kiln_connection *c;
 *   struct kiln_artifact *a;
 *   struct kiln_library *lib;
 *   kiln_connect(NULL, &c, &e);                        finds a daemon, or starts one for this user
 *   kiln_compile(c, &(struct kiln_compile){ .kind = KILN_KIR, ... }, &a, &e);
 *   kiln_load(a, &lib, &e);                            checks CPU and key, maps, binds
 *   kiln_library_entry(lib)(ret, args, NULL, &exc);    <kiln/abi.h> says how values lie in memory
 *
 * Errors: a function that can fail returns 0 or a negative KILN_E_* and fills *e, which may be NULL. An
 * error must start as KILN_ERROR_INIT; a failing function first clears what was in it. Nothing here ever
 * logs, exits or raises a signal. On failure outputs are NULL (or untouched where not pointers).
 * Threads: a connection may be used by any number of threads at once; many requests may be in flight on
 * it. A struct kiln_pending belongs to one thread at a time. Artifacts and libraries may be shared and are
 * counted: every kiln_*_ref needs its kiln_*_free. Fork: a child may go on using a connection of its
 * parent; it connects anew by itself. Strings are UTF-8 and NUL-terminated.
 * Structs that callers fill (options, requests) are to be zeroed first; zero means the default. */
#ifndef KILN_KILN_H
#define KILN_KILN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kiln/abi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KILN_API __attribute__((visibility("default")))
#define KILN_DIGEST_BYTES 32

/* ---- errors ------------------------------------------------------------------------------------ */

#ifndef KILN_CODES /* the project's own err.h defines the same list */
#define KILN_CODES
enum kiln_code {
    KILN_OK = 0,
#define X(NAME, wire, py, exit, text) KILN_E_##NAME = wire,
#include <kiln/err.def>
#undef X
};
#endif

struct kiln_note {
    const char *message;
    int32_t function, node; /* as in the KIR module; -1: none */
};

/* One mistake that the compiler found. */
struct kiln_diagnostic {
    int32_t code; /* KILN_E_* */
    int32_t function, node;
    const char *message;
    const char *hint; /* what to write instead; "" if there is none */
    const struct kiln_note *notes;
    uint32_t n_notes;
};

struct kiln_error {
    int32_t code;           /* KILN_E_*, positive; 0: nothing failed */
    int32_t sys;            /* errno at the failure, 0 if none */
    int32_t function, node; /* the place in the module, -1: none */
    uint32_t retry_ms;      /* KILN_E_BUSY: try again after */
    uint32_t n_diagnostics;
    const struct kiln_diagnostic *diagnostics; /* owned by the error */
    const char *hint;                          /* NULL or owned by the error */
    void *details;                             /* private */
    char message[512];                         /* cut at a character boundary */
};
#define KILN_ERROR_INIT                                                                                      \
    {                                                                                                        \
        0, 0, -1, -1, 0, 0, NULL, NULL, NULL, ""                                                             \
    }

/* Forget and free. Safe on KILN_ERROR_INIT; e may be NULL. */
KILN_API void kiln_error_clear(struct kiln_error *e);
/* Columns of err.def: "TYPE", "type error in the function", "KilnTypeError", exit status. Static strings. */
KILN_API const char *kiln_code_name(int code);
KILN_API const char *kiln_code_text(int code);
KILN_API const char *kiln_code_python(int code);
KILN_API int kiln_code_exit(int code);

/* "0.1.0" */
KILN_API const char *kiln_version(void);

/* Free what a function gave through a pointer to struct (signature, state, counters, rows, detail); its
 * parts live as long. NULL is fine. */
KILN_API void kiln_result_free(void *result);

/* ---- connections ------------------------------------------------------------------------------- */

struct kiln_connection;

/* A client's answer to the server's `resolve`: KIR of user overload `overload` at these types. Called in a
 * thread that is waiting on the connection, with no lock held. Return 0 with *ret_body from malloc (freed by
 * libkiln; NULL: no such overload), or a negative code with a message. */
typedef int (*kiln_resolve_fn)(void *user, uint64_t overload, const char *const *types, uint32_t n_types,
                               void **ret_body, size_t *ret_len, char message[256]);

struct kiln_options {
    const char *socket;           /* only this one. NULL: KILN_SOCKET, the user's, the system's */
    bool no_start;                /* don't start a per-user daemon when none answers */
    const char *daemon;           /* program to start. NULL: KILN_DAEMON, beside libkiln, PATH */
    uint32_t timeout_ms;          /* for finding, starting and greeting. 0: 10,000 */
    const char *client_name;      /* for the server's log. NULL: "libkiln" and the version */
    const uint32_t *trusted_uids; /* besides root, ourselves and KILN_TRUSTED_UIDS ("kiln,1001") */
    uint32_t n_trusted_uids;
    kiln_resolve_fn resolve; /* NULL: the server is told that we can't */
    void *resolve_user;
    /* Asked every 50 ms or sooner while a connection is made: nonzero gives up with KILN_E_CANCELLED. */
    int (*interrupted)(void *user);
    void *interrupted_user;
};

/* Find a daemon (or start one) and greet it. The daemon must run as root, as us, as user `kiln`'s or
 * another trusted uid: KILN_E_PEER otherwise. KILN_E_CONNECT says which sockets were tried and why each
 * failed. `options` may be NULL and is copied. */
KILN_API int kiln_connect(const struct kiln_options *options, struct kiln_connection **ret,
                          struct kiln_error *e);
/* As kiln_connect, but connects at the first request. Fails only for bad options or lack of memory. */
KILN_API int kiln_connect_lazily(const struct kiln_options *options, struct kiln_connection **ret,
                                 struct kiln_error *e);
/* Close. No request of any thread may be in flight. NULL is fine. Artifacts and libraries live on. */
KILN_API void kiln_disconnect(struct kiln_connection *c);

struct kiln_server {
    char socket[108];
    char version[32]; /* of the server */
    uint32_t protocol;
    uint32_t pid, uid;
    uint32_t kir_min, kir_max; /* versions of KIR that it takes */
    unsigned char toolchain[KILN_DIGEST_BYTES];
};
/* Who answers; connects if need be. */
KILN_API int kiln_server_info(struct kiln_connection *c, struct kiln_server *ret, struct kiln_error *e);

/* ---- compiling --------------------------------------------------------------------------------- */

enum kiln_kind { KILN_KIR, KILN_LLVM /* bitcode or textual LLVM IR */ };
enum kiln_emit { KILN_SO, KILN_OBJ, KILN_ASM, KILN_LLVM_IR, KILN_LLVM_OPT, KILN_TYPED };

struct kiln_compile {
    enum kiln_kind kind;
    /* The payload. Only its digest is sent at first; the body follows when the server lacks the entry.
     * With body NULL `digest` is asked alone: KILN_E_NEED_BODY when the server lacks it. */
    const void *body;
    size_t body_len;
    const unsigned char *digest; /* BLAKE2b-256 of body; NULL: computed here */
    const char *signature;       /* docs/signatures.md: "(float64[::1], pyint)" */
    const char *const *env;      /* types of the environment's slots */
    uint32_t n_env;
    const char *entry;  /* LLVM: the function; KIR: for display */
    const char *target; /* docs/targets.md; NULL: this machine's level (kiln_target_default) */
    enum kiln_emit emit;
    uint32_t flags; /* KIR_FLAG bits of the entry: fast-math, bounds check, ... */
    bool numba;     /* semantics="numba" */
    bool checked, debug, no_contract;
    const char *symbol;    /* export this plain C symbol too */
    const void *positions; /* debug builds only */
    size_t positions_len;
    uint32_t deadline_ms; /* 0: the server's */
    bool want_inline;     /* never a descriptor */
    bool is_private;      /* serve to this user only */
    bool send_body;       /* with the first frame: for requests that nobody waits for soon */
};

/* A request in flight: `submit` makes one, `wait` drives it, `take_*` gives the answer, `free` ends it. */
struct kiln_pending;
struct kiln_artifact;

/* Send; everything of *r is copied. Connects when that has not been done. */
KILN_API int kiln_submit_compile(struct kiln_connection *c, const struct kiln_compile *r,
                                 struct kiln_pending **ret, struct kiln_error *e);
/* Wait up to timeout_ms (-1: no limit, 0: only look). 0: answered, take it. 1: not yet, wait again.
 * Negative: the request failed (the server's error, or the connection's after one transparent retry). A
 * waiting thread reads for all others of the connection. A signal ends a wait early with 1. */
KILN_API int kiln_wait(struct kiln_pending *p, int timeout_ms, struct kiln_error *e);
/* The artifact of an answered compile or get; the caller's reference. At most once. */
KILN_API int kiln_take_artifact(struct kiln_pending *p, struct kiln_artifact **ret, struct kiln_error *e);
/* Tell the server that nobody waits any more, and fail later waits with KILN_E_CANCELLED. Never blocks
 * for an answer. A compile that others wait for goes on. */
KILN_API void kiln_cancel(struct kiln_pending *p);
/* Ends the request (cancels it if it is not answered). NULL is fine. */
KILN_API void kiln_pending_free(struct kiln_pending *p);

/* submit + wait + take. */
KILN_API int kiln_compile(struct kiln_connection *c, const struct kiln_compile *r, struct kiln_artifact **ret,
                          struct kiln_error *e);

struct kiln_hit {
    bool known;
    unsigned char key[KILN_KEY_BYTES];
    uint64_t size; /* bytes, where known */
};
/* Ask for n requests at once whether the server has them; bodies aren't sent. hits is the caller's, n long.
 * n up to 1,024. */
KILN_API int kiln_lookup(struct kiln_connection *c, const struct kiln_compile *requests, uint32_t n,
                         struct kiln_hit *hits, struct kiln_error *e);
/* An artifact by its key. */
KILN_API int kiln_get(struct kiln_connection *c, const unsigned char key[KILN_KEY_BYTES], bool want_inline,
                      struct kiln_artifact **ret, struct kiln_error *e);

/* BLAKE2b-256. */
KILN_API void kiln_digest(const void *data, size_t len, unsigned char ret[KILN_DIGEST_BYTES]);

/* ---- artifacts --------------------------------------------------------------------------------- */

struct kiln_artifact_info {
    const unsigned char *key; /* KILN_KEY_BYTES; pointers live as long as the artifact */
    const char *source;       /* "memory", "disk", "compiled", "joined"; "" if made here */
    uint64_t size;            /* bytes */
    uint64_t compile_us;      /* what the compile cost, whenever it was */
    const void *manifest;     /* msgpack, docs/manifest.md */
    size_t manifest_len;
};
KILN_API void kiln_artifact_info(const struct kiln_artifact *a, struct kiln_artifact_info *ret);
/* The bytes, mapped or copied; valid while the artifact lives. */
KILN_API int kiln_artifact_bytes(struct kiln_artifact *a, const void **ret, size_t *ret_len,
                                 struct kiln_error *e);
/* An artifact from bytes at hand (copied), for example a file written earlier. The manifest may be NULL:
 * then its ELF note is used where there is one. */
KILN_API int kiln_artifact_make(const unsigned char key[KILN_KEY_BYTES], const void *bytes, size_t len,
                                const void *manifest, size_t manifest_len, struct kiln_artifact **ret,
                                struct kiln_error *e);
KILN_API struct kiln_artifact *kiln_artifact_ref(struct kiln_artifact *a);
KILN_API void kiln_artifact_free(struct kiln_artifact *a);

/* What the manifest says, decoded; pointers live as long as the artifact. Absent fields are "" or 0. */
struct kiln_manifest {
    const char *entry, *signature, *ret, *target, *glibc;
    const char *const *params; /* type texts */
    uint32_t n_params;
    const char *const *env;
    uint32_t n_env;
    const char *const *isa; /* features that the code needs, names of docs/targets.md */
    uint32_t n_isa;
    const char *symbol;
    uint32_t abi;
};
KILN_API int kiln_artifact_manifest(struct kiln_artifact *a, const struct kiln_manifest **ret,
                                    struct kiln_error *e);

/* ---- loading ----------------------------------------------------------------------------------- */

struct kiln_library;

/* Map an artifact of emit KILN_SO: the CPU's features are checked first (KILN_E_ISA), then the key inside
 * against the artifact's (KILN_E_LOAD), then kiln_bind is called with kiln_host(). The library keeps
 * what it needs of the artifact. Two loads of one artifact are two libraries over the same mapping. */
KILN_API int kiln_load(struct kiln_artifact *a, struct kiln_library **ret, struct kiln_error *e);
/* The uniform entry of <kiln/abi.h>; NULL for artifacts from LLVM IR without one. */
KILN_API kiln_entry_fn kiln_library_entry(const struct kiln_library *lib);
/* Any exported symbol, or NULL with KILN_E_NOTFOUND. */
KILN_API void *kiln_library_symbol(const struct kiln_library *lib, const char *name, struct kiln_error *e);
KILN_API struct kiln_library *kiln_library_ref(struct kiln_library *lib);
/* The last one unmaps the code: nobody may be running it, or hold data of it, any more. */
KILN_API void kiln_library_free(struct kiln_library *lib);

/* ---- services for compiled code ---------------------------------------------------------------- */

/* The process's table that every loaded artifact is bound to. Static. */
KILN_API const struct kiln_host *kiln_host(void);
/* Replace how compiled code prints (default: to stdout) and whether it should stop (default: never).
 * NULL restores the default. Any thread, at any time; the callback may run in any thread. */
KILN_API void kiln_host_set_print(int32_t (*print)(const char *text, int64_t len));
KILN_API void kiln_host_set_interrupted(int32_t (*interrupted)(void));
/* What `with objmode` calls: see struct kiln_host in <kiln/abi.h>. Default: every call fails. */
typedef int32_t (*kiln_call_python_fn)(int64_t number, const char *arg_types, const void *args, const char *ret_type,
                                       void *ret);
KILN_API void kiln_host_set_python(kiln_call_python_fn call);
/* What hash() of text and bytes gives in compiled code; NULL: a hash of libkiln's own. Set it before any call. */
KILN_API void kiln_host_set_hash(int64_t (*hash)(const void *bytes, int64_t size));
/* Threads that parallel loops use, the caller included. 0: one a CPU of this process (KILN_NUM_THREADS
 * sets the default). Returns the number in use. */
KILN_API uint32_t kiln_host_set_threads(uint32_t n);

/* Memory that compiled code and its callers share: refs 1, aligned to 64, uncleared; NULL when none. */
KILN_API struct kiln_mem *kiln_mem_alloc(int64_t size);
static inline void kiln_mem_ref(struct kiln_mem *m)
{
    if (m)
        (void)__atomic_add_fetch(&m->refs, 1, __ATOMIC_RELAXED);
}
static inline void kiln_mem_unref(struct kiln_mem *m)
{
    if (m && __atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL) == 0)
        m->release(m);
}

struct kiln_counts {
    int64_t mem_live, mem_bytes, mem_total; /* blocks alive, their bytes, blocks ever */
    int64_t libraries_live, loads_total;
};
/* Counters of this process, for tests of leaks. */
KILN_API void kiln_counts(struct kiln_counts *ret);

/* ---- types: how values lie in memory ------------------------------------------------------------- */

enum kiln_type_kind {
    KILN_T_NONE,
    KILN_T_BOOL,
    KILN_T_INT,
    KILN_T_UINT,
    KILN_T_FLOAT,
    KILN_T_COMPLEX,
    KILN_T_PYINT,
    KILN_T_PYFLOAT,
    KILN_T_PYCOMPLEX, /* weak Python scalars */
    KILN_T_ARRAY,
    KILN_T_TUPLE,
    KILN_T_OPTIONAL,
    KILN_T_OTHER,
    KILN_T_NAMEDTUPLE, /* laid out as a tuple */
    KILN_T_ENUM,       /* int32_t: the member's position */
    KILN_T_INTENUM,    /* int64_t: the member's value */
    KILN_T_RECORD,     /* struct kiln_mem *owner; void *data */
    KILN_T_TYPE,       /* nothing: which type is meant is part of the type */
    KILN_T_FUNCTION,   /* nothing, likewise */
    KILN_T_STR,        /* struct kiln_str */
    KILN_T_BYTES,      /* struct kiln_bytes */
    KILN_T_LIST,
    KILN_T_SET,
    KILN_T_DICT,
    KILN_T_OBJECT,     /* struct kiln_mem *: an object of a jitclass */
    KILN_T_DATETIME,   /* int64_t: NumPy's count since 1970, INT64_MIN for NaT; the unit is in the text */
    KILN_T_TIMEDELTA   /* likewise */
};
struct kiln_type {
    enum kiln_type_kind kind;
    int32_t numpy;        /* type_num of scalars, of an array's elements; -1: none */
    uint32_t size, align; /* bytes */
    uint32_t offset;      /* in the block or tuple that holds it */
    uint32_t ndim;        /* arrays */
    char layout;          /* arrays: 'C', 'F', 'A' */
    bool readonly, unaligned;
    uint32_t n_items; /* tuples: items; arrays, optionals, lists, sets: 1, the element; dicts: 2, key and value */
    const struct kiln_type *items;
    const char *text; /* canonical spelling */
    uint32_t user;    /* named tuples, enums: user type of the module; functions: function of it */
};
struct kiln_signature {
    uint32_t n_params;
    const struct kiln_type *params; /* offsets are those in the argument block */
    const struct kiln_type *ret;    /* NULL where not stated */
    uint32_t args_size, args_align;
    const char *text; /* canonical: "(a, b)" or "ret(a, b)" */
};
/* From the text form (docs/signatures.md), or from n texts of types and one of the result (NULL: not
 * stated). Free with kiln_result_free. KILN_E_SIGNATURE. */
KILN_API int kiln_signature_parse(const char *text, struct kiln_signature **ret, struct kiln_error *e);
KILN_API int kiln_signature_make(const char *const *params, uint32_t n, const char *result,
                                 struct kiln_signature **ret, struct kiln_error *e);

/* ---- targets ----------------------------------------------------------------------------------- */

/* Canonical text of a target (docs/targets.md). name: NULL or "": this machine's level with generic
 * tuning, which a mixed cluster shares; "native": this machine's features; anything else is returned as it
 * is. Static or cached for the process: don't free. NULL only when out of memory. */
KILN_API const char *kiln_target_default(void);
KILN_API const char *kiln_target_resolve(const char *name);
/* Whether this CPU has a feature by its LLVM name ("avx2"). Unknown names: false. */
KILN_API bool kiln_cpu_has(const char *feature);

/* ---- looking after the daemon ------------------------------------------------------------------ */

struct kiln_worker {
    uint32_t pid;
    const char *state; /* starting, idle, busy */
    uint64_t jobs, rss;
};
struct kiln_state {
    uint32_t pid;
    const char *version, *socket, *cache_dir, *llvm, *notice;
    uint64_t uptime_s, connections, queued, queue_limit, rss;
    bool draining;
    unsigned char toolchain[KILN_DIGEST_BYTES];
    const struct kiln_worker *workers;
    uint32_t n_workers;
};
KILN_API int kiln_status(struct kiln_connection *c, struct kiln_state **ret, struct kiln_error *e);

struct kiln_counter {
    const char *name; /* docs/operations.md */
    uint64_t value;
};
struct kiln_counters {
    const struct kiln_counter *items;
    uint32_t n;
};
KILN_API int kiln_stats(struct kiln_connection *c, struct kiln_counters **ret, struct kiln_error *e);

struct kiln_row {
    unsigned char key[KILN_KEY_BYTES];
    const char *entry, *signature, *target, *emit;
    uint64_t bytes, compile_us;
    uint64_t created, last_used; /* Unix seconds */
    uint64_t hits;
    uint32_t owner; /* uid */
};
struct kiln_rows {
    const struct kiln_row *items;
    uint32_t n;
    bool more; /* ask again with after = items[n - 1].key */
};
struct kiln_list {
    const char *entry;          /* substring of the name; NULL: all */
    const char *target;         /* NULL: all */
    uint32_t limit;             /* rows of one answer; 0: the server's */
    const unsigned char *after; /* key of the last row seen, or NULL */
};
KILN_API int kiln_list(struct kiln_connection *c, const struct kiln_list *query, struct kiln_rows **ret,
                       struct kiln_error *e);

struct kiln_detail {
    struct kiln_row row;
    const void *manifest;
    size_t manifest_len;
    const void *ir; /* the payload as sent; NULL unless the caller owns it or is an administrator */
    size_t ir_len;
    const char *options;
    const unsigned char *ir_digest, *toolchain; /* KILN_DIGEST_BYTES, or NULL */
};
/* key: 4 to 32 bytes, a unique prefix. KILN_E_NOTFOUND. */
KILN_API int kiln_show(struct kiln_connection *c, const unsigned char *key, size_t key_len,
                       struct kiln_detail **ret, struct kiln_error *e);

/* Criteria are joined by "and"; none and not `all`: KILN_E_INVALID. */
struct kiln_purge {
    const unsigned char (*keys)[KILN_KEY_BYTES];
    uint32_t n_keys;
    const char *entry;
    bool all;
    uint64_t unused_s;
    bool dry_run;
};
KILN_API int kiln_purge(struct kiln_connection *c, const struct kiln_purge *what, uint64_t *ret_entries,
                        uint64_t *ret_bytes, struct kiln_error *e);
/* Ask the daemon to leave; `now`: without finishing its jobs. Starts none. */
KILN_API int kiln_stop(struct kiln_connection *c, bool now, struct kiln_error *e);

#ifdef __cplusplus
}
#endif
#endif
